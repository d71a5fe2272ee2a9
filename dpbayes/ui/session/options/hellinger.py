"""What the Hellinger page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.experiments.hellinger import scenario


class ShownSensitivity(enum.Enum):
    """Which sensitivity colours the candidates of a die of three sides."""

    SMOOTH = "smooth"
    LOCAL = "local"


class OutputRange(enum.Enum):
    """How much of what may be released is in the picture."""

    NEAR = "near the data"
    ALL = "all counts"


@dataclass(frozen=True, kw_only=True)
class HellingerOptions:
    """The Hellinger page: a die, its hypothetical throws, delta and how the smooth mechanism is run."""

    sides: Annotated[int, scenario.SIDES]
    n: Annotated[int, scenario.THROWS]
    balance: Annotated[scenario.Balance, scenario.BALANCE]
    share: Annotated[float, scenario.SHARE]
    prior: Annotated[float, scenario.PRIOR]
    delta: Annotated[float, scenario.DELTA]
    calibration: Annotated[scenario.SmoothRun, scenario.CALIBRATION]
    shown: Annotated[ShownSensitivity, Choice(ShownSensitivity, title="sensitivity shown")]
    range: Annotated[OutputRange, Choice(OutputRange, title="range shown")]
