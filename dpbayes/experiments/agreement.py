"""Properties of releases that an observer sees without knowledge of the mechanism: agreement, whole numbers, signs."""

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
"""Numbers this close to a whole number count as whole, because of rounding."""


def sharing_families(network: Network, node: int) -> tuple[int, ...]:
    """Return the nodes whose families contain `node`, itself first."""
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
    """Return the range of `said` (..., k); 0 if it is only rounding: (...)."""
    gaps: FloatArray = np.ptp(said, axis=-1)
    return np.where(gaps > 1e-9 * np.abs(said).max(axis=-1), gaps, 0.0)


@dataclass(frozen=True, eq=False)
class Noticed:
    """Visible properties of simulated releases of n records, for each release.

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
        """The mean total of a table, in records; n for true tables."""
        return Estimate.of(self.totals.mean(axis=-1))

    @property
    def spread(self) -> Estimate:
        """The mean range of the totals of a release's tables, in records; 0 for true tables."""
        return Estimate.of(largest_gap(self.totals))

    @property
    def whole(self) -> Estimate:
        """The share of cells that are whole numbers; 1 for true tables."""
        return Estimate.of(self.whole_cells)

    @property
    def negative(self) -> Estimate:
        """The share of releases with a negative cell; 0 for true tables."""
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
    """Simulate releases of the same counts; return their properties, and some families' counts of one node."""
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
