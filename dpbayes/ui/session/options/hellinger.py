"""What the Hellinger page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.experiments.hellinger.scenario import (
    BALANCE,
    CALIBRATION,
    DELTA,
    PRIOR,
    SHARE,
    SIDES,
    THROWS,
    Balance,
    SmoothRun,
)


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

    sides: Annotated[int, SIDES]
    n: Annotated[int, THROWS]
    balance: Annotated[Balance, BALANCE]
    share: Annotated[float, SHARE]
    prior: Annotated[float, PRIOR]
    delta: Annotated[float, DELTA]
    calibration: Annotated[SmoothRun, CALIBRATION]
    shown: Annotated[ShownSensitivity, Choice(ShownSensitivity, title="sensitivity shown")]
    range: Annotated[OutputRange, Choice(OutputRange, title="range shown")]
