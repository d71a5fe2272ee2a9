"""Markov chains over all records and theta, for noise so large that a release determines little of a table.

Given theta, records are independent; given the records, theta is Dirichlet. A move selects a row of a node and samples
its theta given the records. Then the move changes theta and the records together, in a way that preserves their joint
prior distribution:

- theta' is sampled from the posterior of theta after c artificial records that are sampled from theta. This preserves
  Dirichlet(alpha). The step is small for large c, and theta' is independent of theta for c = 0.
- Of the row's records in state k, a share max(0, 1 - theta'_k/theta_k) leaves the state and enters states in proportion
  to max(0, theta'_l - theta_l). The values of the descendants of the node are resampled for these records.

The acceptance probability depends only on the likelihood of the release: exp(-|Y - N| / b) after the move, divided by
its value before. A second move keeps theta and resamples a share of the row's records. Chains that alternate between
theta and the records mix slowly if the release determines little of either (Papaspiliopoulos, Roberts and Skold 2007,
on non-centred chains).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.libraries import nx
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.dirichlet import Dirichlets


@dataclass(frozen=True, eq=False)
class _RowMove:
    """A row to move: its node's states, its cells (r,), and the kinds of records (G L,) in this row.

    The kinds are sorted first by the G values that a move keeps (of all nodes except the node and its descendants), and
    then by what it resamples: `states` (G L,) of the node, and in `drawn` (G L, D) the cells of its descendants.
    """

    cells: IntArray
    kinds: IntArray
    states: IntArray
    drawn: IntArray
    groups: int


@dataclass(frozen=True, eq=False)
class RecordChains:
    """Chains of the numbers of records of each kind, given released tables (K,) with Laplace noise of scale b."""

    prior: Dirichlets
    scale: float
    released: FloatArray
    n: int

    def drawn(self, cpts: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray | None]:
        """Start with n records sampled from each CPT (chains, K); yield counts (chains, K) after a sweep, else None."""
        chance = np.ones((len(cpts), len(self._cells)))
        for cells in self._cells.T:
            chance *= cpts[:, cells]
        records = rng.multinomial(self.n, chance / chance.sum(axis=-1, keepdims=True))
        counts = np.asarray(records @ self._counted)
        while True:
            cpts = self.prior.updated(counts).sample(rng)
            for move in self._moves:
                self._stepped(move, records, counts, cpts, rng)
                self._renewed(move, records, counts, cpts, rng)
                yield None
            yield counts

    def _stepped(
        self, move: _RowMove, records: IntArray, counts: FloatArray, cpts: FloatArray, rng: np.random.Generator
    ) -> None:
        """Move theta and the records together; changes records (chains, kinds), counts and CPTs (chains, K)."""
        alpha = self.prior.alpha[move.cells]
        now = _dirichlet(alpha + counts[:, move.cells], rng)
        made_up = np.floor(np.exp(rng.random(len(records)) * np.log(self.n + 1))).astype(np.int64) - 1
        then = _dirichlet(alpha + rng.multinomial(made_up, now), rng)
        cpts[:, move.cells] = now
        more = np.maximum(then - now, 0.0)
        total = more.sum(axis=-1, keepdims=True)
        entered = np.where(total > 0, more / np.where(total > 0, total, 1.0), now)
        left = np.maximum(1 - then / np.maximum(now, np.finfo(float).tiny), 0.0)
        taken = self._tried(move, records, counts, cpts, (left, entered), rng)
        cpts[:, move.cells] = np.where(taken[:, None], then, now)

    def _renewed(
        self, move: _RowMove, records: IntArray, counts: FloatArray, cpts: FloatArray, rng: np.random.Generator
    ) -> None:
        """Resample a share of the row's records; small and large shares are equally likely."""
        share = np.exp(-rng.random((len(records), 1)) * np.log(self.n + 1))
        entered = cpts[:, move.cells]
        self._tried(move, records, counts, cpts, (np.broadcast_to(share, entered.shape), entered), rng)

    def _tried(
        self,
        move: _RowMove,
        records: IntArray,
        counts: FloatArray,
        cpts: FloatArray,
        shares: tuple[FloatArray, FloatArray],
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose state changes for shares (chains, r) of a row's records; return the accepting chains (chains,)."""
        left, entered = shares
        out = rng.binomial(records[:, move.kinds], left[:, move.states])
        chance = entered[:, move.states]
        for cells in move.drawn.T:
            chance = chance * cpts[:, cells]
        chance = chance.reshape(len(records), move.groups, -1)
        chance /= chance.sum(axis=-1, keepdims=True)
        into = rng.multinomial(out.reshape(chance.shape).sum(axis=-1), chance).reshape(out.shape)
        change = into - out
        after = counts + change @ self._counted[move.kinds]
        gain = (np.abs(counts - self.released) - np.abs(after - self.released)).sum(axis=-1) / self.scale
        taken = np.log(rng.random(len(records))) < gain
        records[:, move.kinds] += np.where(taken[:, None], change, 0)
        counts[taken] = after[taken]
        return np.asarray(taken)

    @cached_property
    def _codes(self) -> IntArray:
        """All kinds of records: (kinds, |I|)."""
        cards = self.prior.network.cards
        return np.indices(tuple(cards)).reshape(len(cards), -1).T

    @cached_property
    def _cells(self) -> IntArray:
        """The cell of every node that counts a kind of record: (kinds, |I|)."""
        network = self.prior.network
        return np.stack(
            [
                network.cell_offsets[node]
                + np.ravel_multi_index(tuple(self._codes[:, list(family)].T), network.cards[list(family)])
                for node, family in enumerate(network.families)
            ],
            axis=1,
        )

    @cached_property
    def _counted(self) -> FloatArray:
        """1 in every cell that counts a kind of record: (kinds, K)."""
        counted = np.zeros((len(self._cells), self.prior.network.cell_count))
        np.put_along_axis(counted, self._cells, 1.0, axis=1)
        return counted

    @cached_property
    def _moves(self) -> list[_RowMove]:
        """Every row of a node with several states, if there is a record to move."""
        network = self.prior.network
        several = np.flatnonzero(network.cards[network.node_of_row] > 1)
        return [self._move(int(row)) for row in several] if self.n else []

    def _move(self, row: int) -> _RowMove:
        network = self.prior.network
        node = int(network.node_of_row[row])
        below = sorted(network.index(name) for name in nx.descendants(network.graph, network.names[node]))
        others = [other for other in range(len(network.names)) if other != node and other not in below]
        kinds = np.flatnonzero(network.row_of_cell[self._cells[:, node]] == row)
        kinds = kinds[np.lexsort(self._codes[kinds][:, [*below, node, *others]].T)]
        drawn = int(network.cards[[node, *below]].prod())
        cells = network.row_starts[row] + np.arange(network.cards[node])
        return _RowMove(cells, kinds, self._codes[kinds, node], self._cells[kinds][:, below], len(kinds) // drawn)


def _dirichlet(alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sample Dirichlet distributions (..., r) in log space, which avoids 0/0 for tiny parameters."""
    # G(a) = G(a + 1) U^(1/a) keeps the logarithm finite where the sample itself would underflow.
    logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / alpha
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
