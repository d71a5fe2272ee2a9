"""What an observer sees of releases who knows of no mechanism: do their tables agree, and look like counts?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import Estimate
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.mechanisms import Mechanism, ReleasedPosterior
from dpbayes.mechanisms.stealth import BLOCK
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network

_WHOLE = 1e-6
"""Numbers so close to a whole one are whole: floating point moves them."""


def sharing_families(network: Network, node: int) -> tuple[int, ...]:
    """Return the nodes whose families hold `node`, itself first."""
    return (node, *(k for k, family in enumerate(network.families) if node in family and k != node))


def said_of(network: Network, updates: FloatArray, *, node: int, families: Sequence[int]) -> FloatArray:
    """Return how many records each family's table (..., K) gives to the node's telling state: (..., families)."""
    said = []
    for k in families:
        family = network.families[k]
        table = np.moveaxis(network.table(updates, k), updates.ndim - 1 + family.index(node), updates.ndim - 1)
        said.append(table[..., :].take(network.telling_state(node), axis=updates.ndim - 1))
        said[-1] = said[-1].reshape(*updates.shape[:-1], -1).sum(axis=-1)
    return np.stack(said, axis=-1)


def largest_gap(said: FloatArray) -> FloatArray:
    """Return the largest less the smallest of `said` (..., k), 0 where only floating point tells them apart: (...)."""
    gaps: FloatArray = np.ptp(said, axis=-1)
    return np.where(gaps > 1e-9 * np.abs(said).max(axis=-1), gaps, 0.0)


@dataclass(frozen=True, eq=False)
class Noticed:
    """What shows in simulated releases of n records, of each release by itself.

    `totals` (releases, |I|) of the nodes' tables, the share of cells that are whole numbers, `whole_cells` (releases,),
    and whether any is negative, `any_negative` (releases,); `said` (releases, families), as `said_of` has it.
    """

    totals: FloatArray
    whole_cells: FloatArray
    any_negative: BoolArray
    said: FloatArray

    @classmethod
    def joined(cls, parts: "Sequence[Noticed]") -> "Noticed":
        """Return all releases together."""
        return cls(
            np.concatenate([part.totals for part in parts]),
            np.concatenate([part.whole_cells for part in parts]),
            np.concatenate([part.any_negative for part in parts]),
            np.concatenate([part.said for part in parts]),
        )

    @property
    def total(self) -> Estimate:
        """The mean total of a table, in records; n in truth."""
        return Estimate.of(self.totals.mean(axis=-1))

    @property
    def spread(self) -> Estimate:
        """How far the largest total of a release's tables is from its smallest on average, in records; 0 in truth."""
        return Estimate.of(largest_gap(self.totals))

    @property
    def whole(self) -> Estimate:
        """The share of cells that are whole numbers; all in truth."""
        return Estimate.of(self.whole_cells)

    @property
    def negative(self) -> Estimate:
        """The share of releases with a negative cell; none in truth."""
        return Estimate.share(int(self.any_negative.sum()), draws=len(self.any_negative))


def noticed(
    mechanism: Mechanism[ReleasedPosterior],
    counts: Counts,
    rng: np.random.Generator,
    *,
    releases: int,
    node: int = 0,
    families: Sequence[int] = (0,),
) -> Noticed:
    """Simulate releases of the same counts; keep what shows, and what some families' tables say of a node of theirs."""
    network, parts = counts.network, []
    block = max(1, BLOCK // network.cell_count)
    for start in range(0, releases, block):
        updates = mechanism.release(counts, rng, (min(block, releases - start),)).outcome.updates
        parts.append(
            Noticed(
                np.add.reduceat(updates, network.cell_offsets[:-1], axis=-1),
                (np.abs(updates - np.round(updates)) <= _WHOLE).mean(axis=-1),
                np.asarray((updates < 0).any(axis=-1)),
                said_of(network, updates, node=node, families=families),
            )
        )
    return Noticed.joined(parts)
