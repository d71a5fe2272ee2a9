"""What an accuracy experiment is about: a network and its target, the records, the methods and the grid of epsilons."""

import enum
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from dpbayes.dataset import Dataset
from dpbayes.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.fourier import require_binary
from dpbayes.mechanisms.base import EPSILON, Calibration
from dpbayes.mechanisms.map_exponential import CELLS
from dpbayes.mechanisms.posterior_sampler import MOST_DRAWS
from dpbayes.network import Network
from dpbayes.parameters import Parameter, check_parameters
from dpbayes.synthetic import MAX_RECORDS
from dpbayes.validation import InputError, brief, finite_number, whole_number

FloatArray = NDArray[np.float64]

MOST_EPSILONS = 200
MOST_UNITS = 3e10
_UNITS_PER_SECOND = 3e8
"""Predictions and drawn cells per second, roughly, on two cores: what a refusal's estimate of the time rests on."""


class Method(enum.Enum):
    """What predicts: the two baselines, then every mechanism in the calibrations that there are."""

    EXACT = "exact (not private)"
    MAJORITY = "majority class"
    LAPLACE = "Laplace"
    FOURIER = "Fourier, certified"
    FOURIER_PRINTED = "Fourier, as printed"
    SAMPLER = "sampling, certified, 1 draw"
    SAMPLER_PRINTED = "sampling, as printed, 1 draw"
    SAMPLER_MANY = "sampling, as printed, N draws"
    MAP = "private MAP"

    @property
    def is_baseline(self) -> bool:
        """Whether epsilon means nothing to it."""
        return self in (Method.EXACT, Method.MAJORITY)

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        """The calibrations it belongs to; Laplace noise is the same in both."""
        if self in (Method.FOURIER, Method.SAMPLER, Method.MAP):
            return (Calibration.CERTIFIED,)
        if self in (Method.FOURIER_PRINTED, Method.SAMPLER_PRINTED, Method.SAMPLER_MANY):
            return (Calibration.AS_PRINTED,)
        return tuple(Calibration)


TRAINING = Parameter("n", low=1, high=MAX_RECORDS, typical=50, log=True, whole=True, title="records to train on")
REPEATS = Parameter(
    "",
    low=2,
    high=10**9,
    typical=100,
    log=True,
    whole=True,
    title="repeats",
    description="Every repeat has a split of its own, and a model of its own where the records are synthetic.",
)
RECORDS = Parameter("", low=2, high=MAX_RECORDS, typical=1000, log=True, whole=True, title="records in all")
STRENGTH = Parameter(
    "",
    low=0,
    high=1,
    typical=1,
    title="strength of the model",
    description="1: every probability is drawn from (0, 1). 0.4: from (0.3, 0.7). 0: all are even; nothing to learn.",
)
STEALTH = Parameter(
    "",
    low=0.5,
    high=0.999,
    typical=0.9,
    title="stealth, share of releases",
    description="How often a Fourier release should hold no negative count; it sets the increment t.",
)
DRAWS = Parameter(
    "N", low=1, high=MOST_DRAWS, typical=100, log=True, whole=True, title="draws, where the paper repeats many times"
)


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """`records` drawn from a new random model in every repeat, `strength` as STRENGTH describes it.

    A target without parents has even probabilities. At strength 1 and on a naive Bayes network this is our reading of
    the generator of [Zhang16] section 5.1, which the paper does not state.
    """

    records: Annotated[int, RECORDS] = 1000
    strength: Annotated[float, STRENGTH] = 1.0

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, kw_only=True)
class AccuracyPlan:
    """P(target | all other nodes) learnt from `training` records, scored on the rest. [Zhang16] section 5.1, Figure 1.

    `source` is synthetic, a new model in every repeat, or a table of which every repeat takes a new split. `prior` is
    every Dirichlet parameter; `stealth`, `draws` and `cells` belong to the Fourier, sampling and MAP methods.

    Errors: InputError for unknown targets, targets of one state, too few records, an empty or falling grid, methods
    that do not fit the network, and experiments that would take too long.
    """

    network: Network
    target: str
    source: Synthetic | Dataset = field(default_factory=Synthetic)
    epsilons: tuple[float, ...]
    methods: tuple[Method, ...] = tuple(Method)
    training: Annotated[int, TRAINING] = 50
    repeats: Annotated[int, REPEATS] = 100
    prior: float = 1.0
    stealth: Annotated[float, STEALTH] = 0.9
    draws: Annotated[int, DRAWS] = 100
    cells: Annotated[int, CELLS] = 20
    seed: int = 1

    def __post_init__(self) -> None:
        check_parameters(self)
        finite_number("The prior", self.prior, low=LEAST_PRIOR, high=MOST_PRIOR)
        object.__setattr__(self, "epsilons", checked_epsilons(self.epsilons))
        if self.network.cards[self.network.index(self.target)] < 2:
            raise InputError(f"The target {brief(self.target)} has one state only: there is nothing to predict.")
        if {Method.FOURIER, Method.FOURIER_PRINTED} & set(self.methods):
            require_binary(self.network)
        if not self.methods:
            raise InputError("There is no method to compare; name at least one.")
        if self.training >= self.records:
            raise InputError(
                f"Of {self.records:,} records, {self.training:,} cannot be trained on: at least one must be left to "
                "test. Train on fewer."
            )
        self._refuse_long_runs()
        if isinstance(self.source, Dataset):
            self._refuse_other_tables(self.source)

    @property
    def records(self) -> int:
        """All records of one repeat, those to train on and those to test on."""
        return self.source.n if isinstance(self.source, Dataset) else self.source.records

    @cached_property
    def grid(self) -> FloatArray:
        """The epsilons: (E,)."""
        return np.array(self.epsilons)

    @property
    def private(self) -> tuple[Method, ...]:
        """The methods that are no baselines."""
        return tuple(method for method in self.methods if not method.is_baseline)

    def _refuse_long_runs(self) -> None:
        draws = self.draws if Method.SAMPLER_MANY in self.methods else 1
        per_method = self.records - self.training + self.network.cell_count
        each = self.records * len(self.network.names)
        each += len(self.epsilons) * (per_method * len(self.methods) + draws * self.network.cell_count)
        units = float(self.repeats) * each
        if units > MOST_UNITS:
            most = int(MOST_UNITS // each)
            advice = f"use at most {most:,} repeats" if most >= REPEATS.low else "use fewer records or epsilons"
            predictions = float(self.repeats) * len(self.epsilons) * len(self.methods) * (self.records - self.training)
            raise InputError(
                f"{self.repeats:,} repeats make {predictions:.2g} predictions, which would take about "
                f"{_time(units / _UNITS_PER_SECOND)}; {advice}."
            )

    def _refuse_other_tables(self, table: Dataset) -> None:
        for name, states in zip(self.network.names, self.network.states, strict=True):
            if table.domain(name) != states:
                raise InputError(f"The node {brief(name)} and the table's column have different states.")
        if len(np.unique(table.column(self.target))) < 2:
            raise InputError(
                f"All {table.n:,} records have the same {brief(self.target)}: there is nothing to predict. "
                "Choose another target."
            )


def epsilon_grid(low: float, high: float, *, points: int) -> tuple[float, ...]:
    """Return `points` epsilons of four digits, evenly from low to high on a logarithmic scale. Errors: InputError."""
    low = _four_digits(finite_number("The smallest epsilon", low, low=EPSILON.low, high=EPSILON.high))
    high = _four_digits(finite_number("The largest epsilon", high, low=EPSILON.low, high=EPSILON.high))
    points = whole_number("The number of epsilons", points, low=1, high=MOST_EPSILONS)
    if low > high or (low == high and points > 1):
        raise InputError(
            f"The smallest epsilon must be below the largest; {low:g} and {high:g} are the wrong way round or equal."
        )
    if points == 1:
        return (low,)
    return checked_epsilons([_four_digits(epsilon) for epsilon in np.geomspace(low, high, points)])


def _four_digits(epsilon: float) -> float:
    return float(f"{epsilon:.4g}")


def checked_epsilons(epsilons: Sequence[float]) -> tuple[float, ...]:
    """Return a grid that rises. Errors: InputError for an empty one, one that falls, values out of range."""
    found = tuple(finite_number("epsilon", epsilon, low=EPSILON.low, high=EPSILON.high) for epsilon in epsilons)
    if not 1 <= len(found) <= MOST_EPSILONS:
        raise InputError(f"The grid must hold 1 to {MOST_EPSILONS} values of epsilon; it has {len(found)}.")
    if any(later <= earlier for earlier, later in itertools.pairwise(found)):
        raise InputError("The values of epsilon must rise, each above the one before.")
    return found


def default_target(network: Network) -> str:
    """Return the node that is in the most families, the first of those: the class of a naive Bayes network."""
    families = np.bincount(np.concatenate([np.array(family) for family in network.families]))
    families[network.cards < 2] = 0
    return network.names[int(families.argmax())]


def methods_for(network: Network, calibrations: Sequence[Calibration]) -> tuple[Method, ...]:
    """Return the methods of these calibrations that fit the network; Fourier needs binary nodes."""
    fit = set(Method) if network.is_binary else set(Method) - {Method.FOURIER, Method.FOURIER_PRINTED}
    return tuple(m for m in Method if m in fit and set(m.calibrations) & set(calibrations))


def _time(seconds: float) -> str:
    for unit, size in (("year", 31_557_600), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = math.ceil(seconds / size)
            return f"{count:,} {unit}{'s' if count != 1 else ''}"
    return f"{math.ceil(seconds)} seconds"
