"""What the Accuracy page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.experiments.accuracy_plan import (
    DRAWS,
    MOST_EPSILONS,
    RECORDS,
    REPEATS,
    STEALTH,
    STRENGTH,
    TRAINING,
)
from dpbayes.mechanisms.map_exponential import CELLS
from dpbayes.networks import MAX_FEATURES
from dpbayes.parameters import Choice, Parameter


class Scene(enum.Enum):
    """Which network predicts which records."""

    NAIVE_BAYES = "naive Bayes, synthetic"
    NETWORK = "the drawn network, synthetic"
    TABLE = "the table and its network"


class Curves(enum.Enum):
    """Which calibrations are compared."""

    BOTH = "both"
    CERTIFIED = "certified"
    AS_PRINTED = "as printed"


class Shown(enum.Enum):
    """What is drawn against which epsilon."""

    CLAIMED = "accuracy by ε claimed"
    PROVED = "accuracy by ε proved"
    LOG_LOSS = "log loss"


@dataclass(frozen=True, kw_only=True)
class AccuracyOptions:
    """The Accuracy page: the paper's Figure 1 by default."""

    scene: Annotated[Scene, Choice(Scene, title="network and records")]
    features: Annotated[
        int, Parameter("d", low=1, high=MAX_FEATURES, typical=16, log=True, whole=True, title="features")
    ]
    records: Annotated[int, RECORDS]
    strength: Annotated[float, STRENGTH]
    training: Annotated[int, TRAINING]
    repeats: Annotated[int, REPEATS]
    low: Annotated[float, Parameter("", low=1e-3, high=1e3, typical=0.1, log=True, title="smallest epsilon")]
    high: Annotated[float, Parameter("", low=1e-3, high=1e3, typical=100, log=True, title="largest epsilon")]
    points: Annotated[int, Parameter("", low=1, high=MOST_EPSILONS, typical=20, log=True, whole=True, title="epsilons")]
    curves: Annotated[Curves, Choice(Curves, title="calibration")]
    shown: Annotated[Shown, Choice(Shown, title="shown")]
    stealth: Annotated[float, STEALTH]
    draws: Annotated[int, DRAWS]
    cells: Annotated[int, CELLS]
