"""The plan of an accuracy experiment: network and target, records, methods and the grid of epsilons."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.parameters import Parameter, check_parameters, parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.experiments.accuracy.blanket import Blanket
from dpbayes.mechanisms.base import NetworkMechanism
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.map import CELLS
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import EPSILON, MOST_DRAWS, NOISE, Calibration, Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.mechanisms.stealth import increment_for, needed_increments
from dpbayes.model.dataset import Counts, Dataset, require_columns
from dpbayes.model.network import Network
from dpbayes.model.synthetic import MAX_RECORDS
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PRIOR, PriorRule, rule_for

MOST_EPSILONS = 200

MOST_DECISIONS, MOST_DRAWN, MOST_SCORED, MOST_RESULTS = 150_000, 50_000_000, 1 << 25, 1 << 23
"""What fits in memory: decisions of the CPTs, values of one repeat's records, patterns times states, and results."""

AWARE_REPEATS = 50
"""The number of repeats of noise-aware curves, whose posteriors take a thousand times as long as the releases."""

MOST_SETS = 4096
"""The search for the best noise on so many sets of nodes takes at most ten seconds; on 16,000, half a minute."""

_TOGETHER, _NUMBERS, _COLUMNS = 256, 1 << 21, 32
"""Most repeats of a block, most numbers of one kind in it, and numbers of a curve for each column of the design."""

TRAINING = Parameter(
    "n",
    low=1,
    high=MAX_RECORDS,
    typical=50,
    log=True,
    whole=True,
    title="training records",
    description="The number of records from which each release is made.",
)
REPEATS = Parameter(
    "",
    low=2,
    high=10_000,
    typical=100,
    log=True,
    whole=True,
    title="repeats",
    description="Every repeat uses a new split and, for synthetic records, a new random model.",
)
TESTING = Parameter(
    "",
    low=1,
    high=MAX_RECORDS,
    typical=100_000,
    log=True,
    whole=True,
    title="test records (at most)",
    description="If fewer records are left after training, all of them are test records.",
)
STEALTH = Parameter(
    "",
    low=0.5,
    high=0.99,
    typical=0.9,
    title="share of non-negative releases",
    description="The share of Fourier releases without a negative count; it sets the increment t.",
)
DRAWS = Parameter(
    "N",
    low=1,
    high=MOST_DRAWS,
    typical=100,
    log=True,
    whole=True,
    title="samples of the paper's sampler",
    description="The number of posterior samples in one release. Predictions use their average.",
)

RECORDS = Parameter("", low=2, high=MAX_RECORDS, typical=1000, log=True, whole=True, title="synthetic records")
STRENGTH = Parameter(
    "",
    low=0,
    high=1,
    typical=1,
    title="strength of the model",
    description="At 1, every probability is uniform on (0, 1). At 0.4, it is uniform on (0.3, 0.7). At 0, all are 0.5.",
)

AnyMechanism = NetworkMechanism[Outcome]


def typical(kind: type[AnyMechanism], *, prior: Dirichlets, **chosen: object) -> AnyMechanism:
    """Return a mechanism with the `chosen` values of its parameters, and typical values of all others.

    Args:
        kind: The class of the mechanism.
        prior: The prior over the rows of a network.
        chosen: Values by parameter; those of parameters that the mechanism does not have are left out.

    Returns:
        The mechanism.

    Raises:
        InputError: The mechanism does not fit the network.
    """
    usual = {
        name: parameter.typical if isinstance(parameter, Parameter) else next(iter(parameter.options))
        for name, parameter in parameters_of(kind).items()
    }
    return kind(prior=prior, **{name: chosen.get(name, value) for name, value in usual.items()})


Means = Callable[["AccuracyPlan", float, Counts, np.random.Generator], FloatArray]
"""Takes the counts of R tables, and returns the CPTs (R, all) that a recipient concludes at an epsilon."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A curve: its `name`, and its look and title, in which "N samples" becomes the plan's number.

    `kind` is the class of its mechanism; None for a baseline, which has no epsilon. `option` is the option of the page
    that leaves the curve out: its name in the link, and its title. `certified` returns the proved epsilon. `noises` are
    the kinds of noise that it can sample. The curve of an `is_aware` recipient is measured only in the first
    AWARE_REPEATS repeats of a study.
    """

    name: str
    titled: Look = field(compare=False)
    means: Means = field(compare=False)
    certified: Callable[["AccuracyPlan", float], float] = field(compare=False, default=lambda plan, epsilon: epsilon)
    kind: type[AnyMechanism] | None = field(compare=False, default=None)
    option: tuple[str, str] = field(compare=False, default=("", ""))
    calibrations: tuple[Calibration, ...] = field(compare=False, default=tuple(Calibration))
    noises: tuple[Noise, ...] = field(compare=False, default=tuple(Noise))
    is_aware: bool = field(compare=False, default=False)

    @property
    def title(self) -> str:
        """Its name in a legend."""
        return self.titled.name

    @property
    def is_baseline(self) -> bool:
        """Whether it has no epsilon."""
        return self.kind is None

    def called(self, draws: int) -> str:
        """Return its title with the number of samples."""
        return self.title.replace("N samples", many(draws, "sample"))

    def look(self, draws: int) -> Look:
        """Return how its curve looks."""
        return self.titled.called(self.called(draws))

    def refusal(self, network: Network) -> str:
        """Return why it does not fit a network, as a sentence; an empty text if it fits."""
        if self.kind is None:
            return ""
        is_searched = hasattr(self.kind, "design")
        try:
            sets = len(network.closure) if is_searched or self.is_aware else 0  # refuses families of too many nodes
            if is_searched and sets > MOST_SETS:
                return (
                    f"This network has {sets:,} sets of nodes within its families, but the optimal noise is computed "
                    f"for at most {MOST_SETS:,} here. Remove some parents, or leave out the mechanisms that need it."
                )
            typical(self.kind, prior=Dirichlets.symmetric(network), epsilon=1.0)
        except InputError as error:
            return str(error)
        return ""


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """`records` sampled from a new random model in every repeat; STRENGTH describes `strength`.

    A target without parents has equal probabilities. The generator of [Zhang16] section 5.1 is not stated in the paper;
    strength 1 on a naive Bayes network is our reconstruction of it.
    """

    records: Annotated[int, RECORDS] = 1000
    strength: Annotated[float, STRENGTH] = 1.0

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, kw_only=True)
class AccuracyPlan:
    """P(target | all other nodes) learnt from `training` records, scored on the rest. [Zhang16] Section 5.1, Figure 1.

    `source` is synthetic, with a new model in every repeat, or a table, with a new split in every repeat. At most
    `testing` of the remaining records are test records; if fewer remain, the field becomes their number. `prior` is a
    rule, a pseudo-count of every cell, or a text such as "capped". `stealth`, `draws` and `cells` are parameters of the
    Fourier, sampling and MAP methods, and `noise` of all methods that add noise.

    Errors: InputError for unknown targets, targets of one state, too few records, an empty or falling grid, methods
    that do not fit the network, and experiments that do not fit in memory.
    """

    network: Network
    target: str
    epsilons: tuple[float, ...]
    methods: tuple[Method, ...]
    source: Synthetic | Dataset = field(default_factory=Synthetic)
    training: Annotated[int, TRAINING] = 50
    testing: Annotated[int, TESTING] = MAX_RECORDS
    repeats: Annotated[int, REPEATS] = 100
    prior: Annotated[PriorRule, PRIOR] = PriorRule()
    stealth: Annotated[float, STEALTH] = 0.9
    draws: Annotated[int, DRAWS] = 100
    cells: Annotated[int, CELLS] = 20
    noise: Annotated[Noise, NOISE] = Noise.REAL
    seed: Annotated[int, Parameter("", low=0, high=2**32 - 1, typical=1, whole=True, title="seed")] = 1

    def __post_init__(self) -> None:
        check_parameters(self)
        object.__setattr__(self, "epsilons", checked_epsilons(self.epsilons))
        if self.states < 2:
            raise InputError(f"The target {brief(self.target)} has only one state, so there is nothing to predict.")
        if not self.methods:
            raise InputError("There is no method to compare. Name at least one.")
        for method in self.methods:
            if why := method.refusal(self.network):
                raise InputError(why)
            if self.noise not in method.noises:
                raise InputError(
                    f'"{method.title}" adds only {method.noises[0].value}. Leave it out when mechanisms add '
                    f"{self.noise.value}."
                )
        if self.training >= self.records:
            raise InputError(
                f"With {self.training:,} training records of {self.records:,} records, no test record is left. Use "
                "fewer training records."
            )
        object.__setattr__(self, "testing", min(self.testing, self.records - self.training))
        if isinstance(self.source, Dataset):
            self._refuse_other_tables(self.source)
        self._refuse_too_much()

    def _refuse_too_much(self) -> None:
        """Refuse what does not fit in memory."""
        decisions = self.network.cell_count - self.network.row_count
        results = self.repeats * len(self.epsilons) * len(self.methods)
        for size, most, what, less in (
            (decisions, MOST_DECISIONS, "decisions within the cells of the network", "a smaller network"),
            (self._drawn, MOST_DRAWN, "values in the records of one repeat", "fewer records, or a smaller network"),
            (self.states * self.patterns, MOST_SCORED, "test records times states of the target", "fewer test records"),
            (results, MOST_RESULTS, "results", "fewer repeats or epsilons"),
        ):
            if size > most:
                raise InputError(f"{size:,} {what} do not fit in memory; the limit is {most:,}. Use {less}.")

    @cached_property
    def grid(self) -> FloatArray:
        """The epsilons: (E,)."""
        return np.array(self.epsilons)

    @cached_property
    def blanket(self) -> Blanket:
        """The families that contain the target, which alone matter to a prediction."""
        return Blanket(self.network, self.network.index(self.target))

    @property
    def states(self) -> int:
        """How many states the target has."""
        return self.blanket.states

    def mechanism(self, kind: type[Any], epsilon: float, **chosen: object) -> Any:
        """Return a mechanism at an epsilon, with the plan's prior, noise and cells."""
        prior = rule_for(kind, self.prior).on(self.network)
        shared = {"epsilon": epsilon, "noise": self.noise, "cells": self.cells}
        return typical(kind, prior=prior, **(shared | chosen))

    @cached_property
    def increments(self) -> Mapping[float, float]:
        """The certified Fourier increment t by epsilon; with real-valued noise, t is the same for all of them."""
        laws = {epsilon: UNIT for epsilon in self.epsilons}
        if self.noise is not Noise.REAL:
            laws = {epsilon: self.mechanism(LaplaceFourier, epsilon).noise_law for epsilon in self.epsilons}
        simulated = {law: self._increment(law) for law in dict.fromkeys(laws.values())}
        return {epsilon: simulated[law] for epsilon, law in laws.items()}

    def _increment(self, law: NoiseLaw) -> float:
        draws, rng = 10_000 if self.network.cell_count < 1000 else 2_000, stream(0, "stealth")
        needed = needed_increments(self.network, Calibration.CERTIFIED, rng, draws=draws, law=law)
        return increment_for(self.stealth, needed)

    @property
    def records(self) -> int:
        """The number of records of one repeat, for training and for testing."""
        return self.source.n if isinstance(self.source, Dataset) else self.source.records

    @property
    def private(self) -> tuple[Method, ...]:
        """The methods that are not baselines."""
        return tuple(method for method in self.methods if not method.is_baseline)

    @property
    def patterns(self) -> int:
        """The most patterns of test records in one repeat: joint states of the blanket, if those are fewer."""
        return min(self.testing if isinstance(self.source, Synthetic) else self.records, self.blanket.configurations)

    @property
    def _drawn(self) -> int:
        """The number of values of the records that are sampled, or split, in one repeat."""
        if isinstance(self.source, Dataset):
            return self.records
        return (self.training + self.testing) * len(self.network.names)

    def blocks(self) -> Iterator[slice]:
        """Yield blocks of repeats: a few first, for an early picture, then as many as fit in memory.

        They depend on the network and the records alone. Noise-aware curves end with a block.
        """
        columns = _COLUMNS * self.blanket.columns * (self.states - 1)
        largest = max(self._drawn, 2 * self.network.cell_count, self.states * self.patterns, columns)
        most, start, size = max(1, min(_TOGETHER, _NUMBERS // largest)), 0, 2
        while start < self.repeats:
            end = min(self.repeats, start + min(size, most))
            stop = AWARE_REPEATS if start < AWARE_REPEATS < end else end
            yield slice(start, stop)
            start, size = stop, 2 * size

    def _refuse_other_tables(self, table: Dataset) -> None:
        require_columns(self.network, table)
        column = table.column(self.target)
        if (column == column[0]).all():
            raise InputError(
                f"All {table.n:,} records have the same {brief(self.target)}: there is nothing to predict. "
                "Choose another target."
            )


def epsilon_grid(low: float, high: float, *, points: int) -> tuple[float, ...]:
    """Return `points` epsilons in four digits, evenly spaced from low to high on a log scale. Errors: InputError."""
    low = _four_digits(finite_number("The smallest epsilon", low, low=EPSILON.low, high=EPSILON.high))
    high = _four_digits(finite_number("The largest epsilon", high, low=EPSILON.low, high=EPSILON.high))
    points = whole_number("The number of epsilons", points, low=1, high=MOST_EPSILONS)
    if low > high or (low == high and points > 1):
        raise InputError(
            f"The smallest epsilon must be below the largest; {numeral(low, 6)} is not below {numeral(high, 6)}."
        )
    if points == 1:
        return (low,)
    return checked_epsilons([_four_digits(epsilon) for epsilon in np.geomspace(low, high, points)])


def _four_digits(epsilon: float) -> float:
    return float(f"{epsilon:.4g}")


def checked_epsilons(epsilons: Sequence[float]) -> tuple[float, ...]:
    """Return an increasing grid. Errors: InputError for an empty grid, another order, and values out of range."""
    numbers = tuple(finite_number("epsilon", epsilon, low=EPSILON.low, high=EPSILON.high) for epsilon in epsilons)
    if not 1 <= len(numbers) <= MOST_EPSILONS:
        raise InputError(f"The grid must have 1 to {MOST_EPSILONS} values of epsilon; it has {len(numbers)}.")
    if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
        raise InputError("The values of epsilon must be in increasing order.")
    return numbers
