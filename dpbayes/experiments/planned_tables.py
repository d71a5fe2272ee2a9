"""The tables whose releases are simulated: the true one, for the curator alone, or made-up tables of public numbers."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.steps import slices
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.cpts import checked_cpts
from dpbayes.model.dataset import Counts, places
from dpbayes.model.network import Network
from dpbayes.model.synthetic import MAX_RECORDS, sample_dataset

MOST_JOINT = 4096
"""Most joint states of all nodes for which the records of a table are sampled as one multinomial sample."""

MOST_DRAWN = 100_000_000
"""Most records that are sampled one by one."""

MOST_COUNTS = 50_000_000
"""Most counts of all tables together."""

_AT_ONCE, _CODES_AT_ONCE = 1 << 20, 1 << 24
"""Most records that are sampled one by one at a time, and most codes of all their nodes."""


@dataclass(frozen=True, eq=False)
class TrueTable:
    """The table itself: what is computed from its counts is not private."""

    counts: Counts
    is_private: ClassVar[bool] = True

    @property
    def network(self) -> Network:
        """The network of the counts."""
        return self.counts.network

    @property
    def text(self) -> str:
        """The tables in a sentence."""
        return "of the table"

    def of(self, releases: int) -> Counts:
        """Return the same counts once for each release: (releases, K)."""
        values = np.broadcast_to(self.counts.values, (releases, len(self.counts.values)))
        return Counts(self.network, np.array(values), self.counts.n)


@dataclass(frozen=True, eq=False)
class PlannedTables:
    """Tables that are sampled from probabilities that do not depend on any record.

    Attributes:
        network: The network.
        probabilities: Its probabilities (K,).
        n: The public number of records.
        seed: The seed of the tables.
        source: What the tables are sampled from, after "made-up tables of 1,000 records".
    """

    network: Network
    probabilities: FloatArray
    n: int
    seed: int = 1
    source: str = "with this example’s known probabilities"
    is_private: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """The tables in a sentence."""
        return f"of made-up tables of {many(self.n, 'record')} {self.source}"

    def of(self, releases: int) -> Counts:
        """Return the counts of a sampled table for each release: (releases, K)."""
        rng = stream(self.seed, "planned", "tables")
        return planned_tables(self.network, self.probabilities, self.n, releases, rng)


Tables = TrueTable | PlannedTables


def planned_tables(network: Network, probabilities: ArrayLike, n: int, draws: int, rng: np.random.Generator) -> Counts:
    """Return counts of planned tables whose records are drawn from a public joint distribution.

    A table with few joint states is one multinomial sample, whose time does not depend on n; otherwise its records are
    sampled.

    Args:
        network: The network that the records are drawn from.
        probabilities: Its CPTs (K,).
        n: Records of each table.
        draws: How many tables.
        rng: The source of randomness.

    Returns:
        The counts (draws, K).

    Raises:
        InputError: For bad numbers, and more records or counts than can be drawn.
    """
    n = whole_number("The number of records", n, low=0, high=MAX_RECORDS)
    draws = whole_number("The number of tables", draws, low=1, high=MOST_COUNTS)
    cpts = checked_cpts(network, probabilities)
    if draws * network.cell_count > MOST_COUNTS:
        raise InputError(f"{draws:,} tables of a network of {network.cell_count:,} cells are too many; choose fewer.")
    if np.prod(network.cards.astype(np.float64)) <= MOST_JOINT:
        return Counts(network, joint_counts(network, cpts, n, rng, draws=draws), n)
    if draws * n > MOST_DRAWN:
        raise InputError(
            f"{draws:,} tables of {n:,} records are too many to sample. Choose fewer tables or fewer records."
        )
    return Counts(network, _of_records(network, cpts, n, draws, rng), n)


def has_columns(source: Network, fitted: Network) -> bool:
    """Return whether every node of a network is a column of the source, with the same states in the same order."""
    columns = dict(zip(source.names, source.states, strict=True))
    return all(columns.get(name) == states for name, states in zip(fitted.names, fitted.states, strict=True))


def joint_counts(
    network: Network, cpts: FloatArray, n: int, rng: np.random.Generator, *, draws: int | None = None
) -> IntArray:
    """Return counts of tables of n records, each sampled as one multinomial number of all joint states.

    Args:
        network: The network of the records, with few joint states.
        cpts: The CPTs, (K,) for all tables or (R, K) for one table each.
        n: Records of each table.
        rng: The source of randomness.
        draws: The number of tables, for CPTs (K,).

    Returns:
        The counts (draws, K) or (R, K).
    """
    states = np.indices(tuple(network.cards.tolist())).reshape(len(network.names), -1).T
    cells = np.stack([start + places(network, node, states.T) for node, start in enumerate(network.cell_offsets[:-1])])
    probabilities = cpts[..., cells].prod(axis=-2)
    drawn = rng.multinomial(n, probabilities / probabilities.sum(axis=-1, keepdims=True), size=draws)
    member = np.zeros((len(states), network.cell_count))
    member[np.arange(len(states)), cells] = 1.0
    return np.rint(drawn @ member).astype(np.int64)


def _of_records(network: Network, cpts: FloatArray, n: int, draws: int, rng: np.random.Generator) -> IntArray:
    values = np.empty((draws, network.cell_count), dtype=np.int64)
    records = min(_AT_ONCE, _CODES_AT_ONCE // len(network.names))
    for part in slices(draws, records // max(n, 1)):
        tables = part.stop - part.start
        codes = sample_dataset(network, cpts, tables * n, rng).codes
        table = np.repeat(np.arange(tables), n)
        for node, (start, end) in enumerate(pairwise(network.cell_offsets.tolist())):
            cells = table * (end - start) + places(network, node, codes.T)
            values[part, start:end] = np.bincount(cells, minlength=tables * (end - start)).reshape(tables, -1)
    return values
