"""What the Stealth page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.mechanisms.stealth import Sense


class StealthAim(enum.Enum):
    """How the increment of the Stealth page is chosen."""

    TARGET = "by probability"
    INCREMENT = "by t"


@dataclass(frozen=True, kw_only=True)
class StealthOptions:
    """The Stealth page: what has to be non-negative, and the increment, given or found for a probability."""

    sense: Annotated[Sense, Choice(Sense, title="what has to be non-negative")]
    aim: Annotated[StealthAim, Choice(StealthAim, title="choose the increment")]
    target: Annotated[float, Parameter("P", low=0.5, high=1, typical=0.9, title="probability of non-negativity")]
    t: Annotated[float, Parameter("t", low=0, high=50, typical=0.25, title="stealth increment")]
