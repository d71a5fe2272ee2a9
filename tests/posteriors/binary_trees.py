"""The exact posterior mean on trees of binary nodes, by belief propagation over how many records are in a first state.

Given how many records each node has in its first state, the tables of families are independent: these numbers form a
Markov tree. Each is one of 0, .., n, so that messages are sums over all pairs of counts of a child's two rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes import Dirichlets


@dataclass(frozen=True, eq=False)
class Tree:
    """A prior on a forest of binary nodes with at most one parent each, and noisy cells (K,) of n records."""

    prior: Dirichlets
    released: np.ndarray
    n: int
    scale: float

    def mean(self) -> np.ndarray:
        """E theta of every cell: (K,)."""
        network, mean = self.prior.network, np.empty(self.prior.network.cell_count)
        families = network.families
        children = [[w for w, f in enumerate(families) if f[:-1] == (v,)] for v in range(len(families))]
        every = np.arange(self.n + 1)
        rows = [self._rows(v) for v in range(len(families))]
        sums = every[:, None] + every
        below: dict[int, np.ndarray] = {}  # of each node: what all below it say of its number
        upward: dict[int, np.ndarray] = {}  # of each node: what it and all below say of its parent's number
        for v in reversed(network.order):
            below[v] = np.prod([np.ones(self.n + 1), *(upward[w] for w in children[v])], axis=0)
            if families[v][:-1]:
                first, second = rows[v]
                upward[v] = ((first @ self._hankel(below[v], sums)) * second).sum(axis=1)
                upward[v] /= upward[v].max()
        above: dict[int, np.ndarray] = {}
        for v in network.order:
            cells = network.cell_offsets[v]
            if not families[v][:-1]:
                above[v] = rows[v][0][-1]
                self._tell(mean, cells, (above[v] * below[v])[None], np.array([self.n]))
            else:
                (u,) = families[v][:-1]
                outside = above[u] * np.prod([np.ones(self.n + 1), *(upward[w] for w in children[u] if w != v)], axis=0)
                (first, second), after = rows[v], self._hankel(below[v], sums)
                pairs = (first * outside[:, None]).T @ second
                above[v] = np.bincount(sums.ravel(), pairs.ravel())[: self.n + 1]
                outside = outside[:, None]
                self._tell(mean, cells, outside * first * (second @ after.T), every)
                self._tell(mean, cells + 2, outside * second * (first @ after), self.n - every)
        return mean

    def _hankel(self, message: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """The message at the sum of two counts, 0 beyond n."""
        return np.where(sums <= self.n, message[np.minimum(sums, self.n)], 0.0)

    def _rows(self, v: int) -> list[np.ndarray]:
        """P(k in the first state | T) times the release's chance, for all T and k: of both rows; of a root one."""
        network, every = self.prior.network, np.arange(self.n + 1)
        starts = network.cell_offsets[v] + np.array([0, 2][: 2 if network.families[v][:-1] else 1])
        return [self._row(start, total) for start, total in zip(starts, (every, self.n - every), strict=False)]

    def _row(self, start: int, totals: np.ndarray) -> np.ndarray:
        total, k = totals[:, None], np.arange(self.n + 1)[None]
        here = np.minimum(k, total)
        (a, b), (y, z) = self.prior.alpha[start : start + 2], self.released[start : start + 2]
        log = special.betaln(here + a, total - here + b) - special.betaln(a, b) - np.log(total + 1)
        log -= special.betaln(here + 1, total - here + 1) + (np.abs(here - y) + np.abs(total - here - z)) / self.scale
        return np.where(k <= total, np.exp(log - log.max()), 0.0)

    def _tell(self, mean: np.ndarray, start: int, joint: np.ndarray, totals: np.ndarray) -> None:
        """Write a row's means from the law of its total and its first count (totals, k)."""
        a, b = self.prior.alpha[start : start + 2]
        theta = (a + np.arange(self.n + 1)) / (a + b + totals[:, None])
        mean[start] = (joint * theta).sum() / joint.sum()
        mean[start + 1] = 1 - mean[start]
