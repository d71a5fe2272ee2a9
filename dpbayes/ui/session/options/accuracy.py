"""What the Accuracy page lets a person set."""

import enum
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Any

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.accuracy import plan, setting
from dpbayes.experiments.accuracy.methods import ALL_METHODS, AWARE, Method
from dpbayes.mechanisms.map.exponential import CELLS
from dpbayes.sources.named_networks import MAX_FEATURES


class Scene(enum.Enum):
    """Which network predicts which records: by default the chosen table and graph."""

    TABLE = "the table and its network"
    NETWORK = "the drawn network, synthetic"
    NAIVE_BAYES = "naive Bayes, synthetic"


class CalibrationsShown(enum.Enum):
    """Which calibrations are compared: by default those whose epsilon is proved."""

    CERTIFIED = "certified"
    AS_PRINTED = "as printed"
    BOTH = "both"


class Shown(enum.Enum):
    """What is drawn against which epsilon."""

    CLAIMED = "accuracy by ε claimed"
    PROVED = "accuracy by ε proved"
    LOG_LOSS = "log loss"


class Drawn(enum.Enum):
    """Whether a mechanism is compared."""

    YES = "yes"
    NO = "no"


class Added(enum.Enum):
    """Whether a mechanism is compared that by default is not."""

    NO = "no"
    YES = "yes"


SCENE = Choice(
    Scene,
    title="records to predict",
    labels=("my table", "my graph, synthetic records", "naive Bayes, synthetic records"),
)
CALIBRATIONS = Choice(CalibrationsShown, title="calibration", labels=("proved", "as stated in the paper", "both"))
SHOWN = Choice(Shown, title="quantity shown", labels=("accuracy by stated ε", "accuracy by proved ε", "log loss"))

_PRIVATE = [method for method in ALL_METHODS.values() if not method.is_baseline]
_TITLES = dict(method.option for method in _PRIVATE)

CURVES_LEFT_OUT = {name: tuple(method for method in _PRIVATE if method.option[0] == name) for name in _TITLES}
"""The curves that may be left out together, by the option that says so."""

ADDED = {"private_map", "consistent", "gaussian", *(method.option[0] for method in AWARE)}
"""Curves that are not drawn by default: a picture with all of them is unreadable. The chosen one is always drawn."""


def _drawn(name: str) -> type[enum.Enum]:
    return Added if name in ADDED else Drawn


_Mechanisms: Any = make_dataclass(
    "_Mechanisms",
    [(name, Annotated[_drawn(name), Choice(_drawn(name), title=title)]) for name, title in _TITLES.items()],
    frozen=True,
    kw_only=True,
)


@dataclass(frozen=True, kw_only=True)
class AccuracyOptions(_Mechanisms):  # type: ignore[misc]  # an option for each mechanism that there is
    """The Accuracy page: the chosen table and graph by default; [Zhang16] Figure 1 is naive Bayes."""

    scene: Annotated[Scene, SCENE]
    features: Annotated[
        int, Parameter("d", low=1, high=MAX_FEATURES, typical=16, log=True, whole=True, title="features")
    ]
    records: Annotated[int, plan.RECORDS]
    strength: Annotated[float, plan.STRENGTH]
    training: Annotated[int, setting.TRAINING]
    testing: Annotated[int, setting.TESTING]
    repeats: Annotated[int, setting.REPEATS]
    low: Annotated[float, plan.LOW]
    high: Annotated[float, plan.HIGH]
    points: Annotated[int, plan.POINTS]
    curves: Annotated[CalibrationsShown, CALIBRATIONS]
    shown: Annotated[Shown, SHOWN]
    stealth: Annotated[float, setting.STEALTH]
    draws: Annotated[int, setting.DRAWS]
    cells: Annotated[int, CELLS]

    def draws_curves(self, name: str) -> bool:
        """Whether the curves of this option are compared."""
        return bool(getattr(self, name).value == Drawn.YES.value)

    @staticmethod
    def choice_of(name: str, drawn: object) -> enum.Enum:
        """Return the value of this option that draws its curves, or leaves them out where `drawn` is false."""
        return _drawn(name)("yes" if drawn else "no")

    @property
    def left_out(self) -> frozenset[Method]:
        """The curves that are not to be drawn."""
        return frozenset(m for name, curves in CURVES_LEFT_OUT.items() if not self.draws_curves(name) for m in curves)
