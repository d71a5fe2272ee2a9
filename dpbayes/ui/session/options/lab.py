"""The options of the page Lab: the experiment, and what each experiment varies."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.accuracy import plan


class Experiment(enum.Enum):
    """The experiments of the page."""

    ACCURACY = "Accuracy (Figure 1)"
    REGRESSION = "Regression (Figure 2)"
    SAMPLING = "Posterior sampling"
    DIE = "A die: Hellinger or Laplace"
    NON_NEGATIVITY = "Non-negativity (Fourier)"
    COMPARISON = "Mechanisms compared"


@dataclass(frozen=True, kw_only=True)
class LabOptions:
    """The experiment that is shown."""

    experiment: Annotated[Experiment, Choice(Experiment, title="experiment")]


# Accuracy


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


class MechanismsShown(enum.Enum):
    """Which curves are drawn: by default those of Figure 1, and the chosen mechanism."""

    FIGURE_1 = "Figure 1"
    READERS = "naive and noise-aware"
    ALL = "all"


class EpsilonRange(enum.Enum):
    """The epsilons of the curves."""

    WIDE = "0.01 to 100"
    SMALL = "0.01 to 1"
    MIDDLE = "0.1 to 10"
    LARGE = "1 to 100"

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest epsilon."""
        low, _, high = self.value.partition(" to ")
        return float(low), float(high)


MECHANISMS = Choice(
    MechanismsShown,
    title="mechanisms",
    labels=("of Figure 1", "noise-aware too", "all"),
    description="A noise-aware reader models the added noise. Such curves take longer and use fewer repeats.",
)
SCENE = Choice(
    Scene,
    title="records to predict",
    labels=("my table", "my graph, synthetic", "Figure 1, synthetic"),
)
CALIBRATIONS = Choice(CalibrationsShown, title="calibration", labels=("proved", "as stated in the paper", "both"))


@dataclass(frozen=True, kw_only=True)
class AccuracyOptions:
    """The records that are predicted, the calibrations, and the size of the simulation."""

    scene: Annotated[Scene, SCENE]
    mechanisms: Annotated[MechanismsShown, MECHANISMS]
    curves: Annotated[CalibrationsShown, CALIBRATIONS]
    range: Annotated[EpsilonRange, Choice(EpsilonRange, title="range of ε")]
    training: Annotated[int, plan.TRAINING]
    repeats: Annotated[int, plan.REPEATS]


# Posterior sampling


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """The query game: two hypothetical tables, and the epsilon of one answer."""

    answers: Annotated[
        int, Parameter("j", low=1, high=2000, typical=100, log=True, whole=True, title="number of answers")
    ]
    answer_epsilon: Annotated[
        float, Parameter(r"\epsilon_1", low=0.01, high=100, typical=1, log=True, title="epsilon of one answer")
    ]
    columns: Annotated[
        int,
        Parameter("|I|", low=1, high=64, typical=1, log=True, whole=True, title="columns that the record changes"),
    ]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of successes")]
    concentration: Annotated[
        float, Parameter("a", low=0.1, high=10_000, typical=1, log=True, title="prior concentration")
    ]
