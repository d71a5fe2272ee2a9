"""The plan of an accuracy experiment: network and target, records, methods and the grid of epsilons."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from dpbayes.base.parameters import Parameter, check_parameters
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.experiments.accuracy.methods import AWARE_REPEATS, METHODS, Method, refusal
from dpbayes.experiments.accuracy.setting import PredictionSetting
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.synthetic import MAX_RECORDS

MOST_EPSILONS = 200

MOST_DECISIONS, MOST_DRAWN, MOST_SCORED, MOST_RESULTS = 150_000, 50_000_000, 1 << 25, 1 << 23
"""What fits in memory: decisions of the CPTs, values of one repeat's records, patterns times states, and results."""

_TOGETHER, _NUMBERS, _COLUMNS = 256, 1 << 21, 32
"""Most repeats of a block, most numbers of one kind in it, and numbers of a curve for each column of the design."""

RECORDS = Parameter("", low=2, high=MAX_RECORDS, typical=1000, log=True, whole=True, title="synthetic records")
STRENGTH = Parameter(
    "",
    low=0,
    high=1,
    typical=1,
    title="strength of the model",
    description="At 1, every probability is uniform on (0, 1). At 0.4, it is uniform on (0.3, 0.7). At 0, all are 0.5.",
)


LOW = Parameter("", EPSILON.low, EPSILON.high, typical=0.1, log=True, title="smallest epsilon")
HIGH = Parameter("", EPSILON.low, EPSILON.high, typical=100, log=True, title="largest epsilon")
POINTS = Parameter(
    "",
    low=1,
    high=MOST_EPSILONS,
    typical=19,
    log=True,
    whole=True,
    title="values of epsilon",
    description="The number of values from the smallest to the largest epsilon, evenly spaced on a logarithmic scale.",
)


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
class AccuracyPlan(PredictionSetting):
    """P(target | all other nodes) learnt from `training` records, scored on the rest. [Zhang16] Section 5.1, Figure 1.

    `source` is synthetic, with a new model in every repeat, or a table, with a new split in every repeat. At most
    `testing` of the remaining records are test records; if fewer remain, the field becomes their number. `prior` is a
    rule, a pseudo-count of every cell, or a text such as "capped". `stealth`, `draws` and `cells` are parameters of the
    Fourier, sampling and MAP methods, and `noise` of all methods that add noise.

    Errors: InputError for unknown targets, targets of one state, too few records, an empty or falling grid, methods
    that do not fit the network, and experiments that do not fit in memory.
    """

    source: Synthetic | Dataset = field(default_factory=Synthetic)
    methods: tuple[Method, ...] = tuple(METHODS.values())

    def __post_init__(self) -> None:
        check_parameters(self)
        object.__setattr__(self, "epsilons", checked_epsilons(self.epsilons))
        if self.states < 2:
            raise InputError(f"The target {brief(self.target)} has only one state, so there is nothing to predict.")
        for method in self.methods:
            why = refusal(method, self.network)
            if why:
                raise InputError(why)
        for method in self.methods:
            if self.noise not in method.noises:
                raise InputError(
                    f'"{method.title}" adds only {method.noises[0].value}. Leave it out when mechanisms add '
                    f"{self.noise.value}."
                )
        if not self.methods:
            raise InputError("There is no method to compare. Name at least one.")
        if self.training >= self.records:
            raise InputError(
                f"With {self.training:,} training records of {self.records:,} records, no test record is left. Use "
                "fewer training records."
            )
        object.__setattr__(self, "testing", min(self.testing, self.records - self.training))
        if isinstance(self.source, Dataset):
            self._refuse_other_tables(self.source)
        self._refuse_too_much()

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

    def _refuse_too_much(self) -> None:
        """Refuse what does not fit in memory."""
        if self.network.cell_count - self.network.row_count > MOST_DECISIONS:
            raise InputError(
                f"The network has {self.network.cell_count:,} cells, too many for releases of many repeats. Use a "
                "smaller network."
            )
        if self._drawn > MOST_DRAWN:
            raise InputError(
                f"The records of one repeat have {self._drawn:,} values; the limit is {MOST_DRAWN:,}. Use fewer "
                "training and test records, or a smaller network."
            )
        if self.states * self.patterns > MOST_SCORED:
            raise InputError(
                f"{self.patterns:,} test records with {self.states:,} states of the target do not fit in memory. Use "
                "fewer test records."
            )
        if self.repeats * len(self.epsilons) * len(self.methods) > MOST_RESULTS:
            raise InputError(
                f"The results of {self.repeats:,} repeats at {len(self.epsilons):,} epsilons do not fit in memory. Use "
                "fewer repeats or epsilons."
            )

    def _refuse_other_tables(self, table: Dataset) -> None:
        for name, states in zip(self.network.names, self.network.states, strict=True):
            if table.domain(name) != states:
                raise InputError(f"The node {brief(name)} and the table's column have different states.")
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


MOST_MAJORITY = 0.9
"""Largest share of one state in a default target; above it, the majority class is almost always right."""


def default_target(network: Network, table: Dataset | None = None) -> str:
    """Return the node that is in the most families, the first of those: the class of a naive Bayes network.

    Args:
        network: The network that predicts.
        table: The records to predict, if they are known. Columns in which more than `MOST_MAJORITY` of the records
            have the same state are then left out, unless all columns are like that.

    Returns:
        The name of a node with at least two states, if there is one.
    """
    families = np.bincount(np.concatenate([np.array(family) for family in network.families]))
    families[network.cards < 2] = 0
    if table is not None:
        uneven = [_majority(table, name) > MOST_MAJORITY for name in network.names]
        if not all(uneven):
            families[uneven] = 0
    return network.names[int(families.argmax())]


def _majority(table: Dataset, name: str) -> float:
    """Return the share of a column's most frequent state; 1 for a node without a column, and without records."""
    if name not in table.position or not table.n:
        return 1.0
    return float(np.bincount(table.column(name)).max() / table.n)
