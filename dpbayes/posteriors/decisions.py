"""CPT rows as binary decisions, so that a Dirichlet row can be trimmed and sampled exactly.

A row's states are split into a first and a second half, each half again, and so on down to single states. A row of r
states has r - 1 decisions, and a state's probability is the product over the at most ceil(log2 r) decisions that lead
to it. Under a Dirichlet distribution the decisions are independent Betas, whose parameters are the sums of alpha over
the two halves. If every decision is trimmed to log-odds in [-bound, bound], the decisions are therefore independent
trimmed Betas for all data.

The remaining region is public and the same for all data. With w = 1/(1 + exp(bound)), the region is [w, 1 - w] for a
binary row. For r states, every probability in the region is at least w^ceil(log2 r). The region is smaller than
{theta_k >= omega}: a Dirichlet distribution trimmed to that set has no independent parts, and we know no exact sampler
without rejection for all counts.

Proved bound: for two states x, y of one node, in one row or in two, ln theta_x - ln theta_y is a sum over the decisions
that lead to x and to y. Over the region, each decision contributes a range of length `bound` (2 * bound where the two
paths separate). The range of the sum is therefore at most 2 * depth * bound. One replaced record changes the log
density of one sample by at most 2 * bound * (sum of the nodes' depths), which is 2 |I| ln((1 - w)/w) for binary nodes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import distinct_log_mass, log_odds_quantile


@dataclass(frozen=True)
class Decisions:
    """The K - m decisions of a network's m CPT rows."""

    network: Network

    @cached_property
    def depths(self) -> IntArray:
        """ceil(log2 r_i): the largest number of decisions that lead to a state, for every node. Shape (|I|,)."""
        return np.array([int(card - 1).bit_length() for card in self.network.cards], dtype=np.int64)

    @cached_property
    def spans(self) -> IntArray:
        """First cell, first cell of the second half, and the cell after the last one, of every decision: (K - m, 3)."""
        lengths = self.network.cards[self.network.node_of_row].tolist()
        of_length = {length: np.array(_halvings(length), dtype=np.int64).reshape(-1, 3) for length in set(lengths)}
        rows = zip(self.network.row_starts, lengths, strict=True)
        return np.concatenate([start + of_length[length] for start, length in rows])

    def parameters(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Beta parameters of every decision, from alpha (..., K): two arrays (..., K - m)."""
        if self.network.is_binary:
            return alpha[..., 0::2], alpha[..., 1::2]
        padded = np.concatenate([alpha, np.zeros((*alpha.shape[:-1], 1))], axis=-1)
        return _range_sums(padded, self.spans[:, :2]), _range_sums(padded, self.spans[:, 1:])

    def probabilities(self, log_odds: FloatArray) -> FloatArray:
        """Return every cell's probability (..., K) from the log-odds of all decisions (..., K - m)."""
        if self.network.is_binary:
            both = np.stack((special.expit(log_odds), special.expit(-log_odds)), axis=-1)
            return both.reshape(*log_odds.shape[:-1], self.network.cell_count)
        decision, is_first, cells, starts = self._paths
        signed = np.where(is_first, log_odds[..., decision], -log_odds[..., decision])
        theta = np.ones((*log_odds.shape[:-1], self.network.cell_count))
        if len(cells):  # the others are the only states of their rows
            theta[..., cells] = np.multiply.reduceat(special.expit(signed), starts, axis=-1)
        return theta

    @cached_property
    def _paths(self) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
        """The decisions that lead to every cell, and whether to the first half; the cells, and where each begins."""
        first, middle, end = self.spans.T
        decision = np.repeat(np.arange(len(first)), end - first)
        cell = np.concatenate([np.arange(*span) for span in self.spans[:, ::2].tolist()] or [first])
        order = np.argsort(cell, kind="stable")
        cells, starts = np.unique(cell[order], return_index=True)
        return decision[order], (cell < middle[decision])[order], cells, starts


def _halvings(states: int) -> list[tuple[int, int, int]]:
    spans, waiting = [], [(0, states)]
    while waiting:
        start, end = waiting.pop()
        if end - start < 2:
            continue
        middle = (start + end + 1) // 2
        spans.append((start, middle, end))
        waiting += [(middle, end), (start, middle)]
    return spans


def _range_sums(values: FloatArray, ranges: IntArray) -> FloatArray:
    """Sum `values` (..., K + 1) over [start, end) of every range: (..., ranges)."""
    if not len(ranges):
        return np.zeros((*values.shape[:-1], 0))
    # reduceat sums between consecutive indices; every other sum is between two ranges and is dropped.
    sums: FloatArray = np.add.reduceat(values, ranges.ravel(), axis=-1)
    return sums[..., ::2]


def sample_trimmed(
    posterior: Dirichlets, bound: float, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> FloatArray:
    """Sample CPTs with all decisions trimmed to log-odds in [-bound, bound], without rejection: (*size, ..., K)."""
    decisions = Decisions(posterior.network)
    a, b = decisions.parameters(posterior.alpha)
    return decisions.probabilities(log_odds_quantile(rng.random((*size, *a.shape)), a, b, bound))


def log_mass_trimmed(posterior: Dirichlets, bound: float) -> FloatArray:
    """Return ln of the integral of prod theta^(alpha - 1) over the trimmed region of all rows: (...,)."""
    a, b = Decisions(posterior.network).parameters(posterior.alpha)
    total: FloatArray = distinct_log_mass(a, b, bound).sum(axis=-1)
    return total
