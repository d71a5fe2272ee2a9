"""The tables whose releases a board simulates: the true one, for the curator alone, or planned ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network


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
    """Tables that are sampled from public probabilities, which do not depend on any record.

    Attributes:
        network: The network.
        probabilities: Its public probabilities (K,).
        n: The public number of records.
        seed: The seed of the tables.
    """

    network: Network
    probabilities: FloatArray
    n: int
    seed: int = 1
    is_private: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """The tables in a sentence."""
        return f"of tables of {many(self.n, 'record')} sampled from public probabilities"

    def of(self, releases: int) -> Counts:
        """Return the counts of a sampled table for each release: (releases, K)."""
        rng = stream(self.seed, "planned", "tables")
        return planned_tables(self.network, self.probabilities, self.n, releases, rng)


Tables = TrueTable | PlannedTables
