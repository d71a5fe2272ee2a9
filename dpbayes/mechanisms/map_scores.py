"""The posterior masses of cells of (0, 1), and how far one record changes them: docs/proofs.md has the proof."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import STIRLING
from dpbayes.posteriors.trimmed import distinct_pairs

MOST_CELLS = 1000
"""The largest number of cells of (0, 1)."""

_SHIFT = 10.0


def cell_masses(a: ArrayLike, b: ArrayLike, *, cells: int) -> FloatArray:
    """Return the mass that Beta(a, b) gives each of G equal cells of (0, 1): (..., G), from a and b of (...).

    Cells above the median are differences of the upper tail, so that small masses keep their digits on both sides.
    """
    first, second = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    first, second = first[..., None], second[..., None]
    edges = np.arange(1, cells) / cells
    below = special.betainc(first, second, edges)
    upper = below > 0.5
    above = 1 - below
    special.betaincc(first, second, edges, out=above, where=upper)
    none, all_ = np.zeros(first.shape), np.ones(first.shape)
    from_below = np.diff(below, prepend=none, append=all_)
    from_above = -np.diff(above, prepend=all_, append=none)
    is_upper = np.concatenate([upper, np.ones(first.shape, dtype=bool)], axis=-1)
    return np.maximum(np.where(is_upper, from_above, from_below), 0.0)


# Sensitivities that hold for every n


def added_bound(a: ArrayLike) -> FloatArray:
    """Return D(a) = a^a e^-a / Gamma(a + 1): the largest change of a cell's mass if a parameter >= `a` grows by 1."""
    a = np.asarray(a, dtype=np.float64)
    small, large = np.minimum(a, _SHIFT), np.maximum(a, _SHIFT)
    near = special.xlogy(small, small) - small - special.gammaln(small + 1)
    far = -np.log(2 * np.pi * large) / 2 - np.polynomial.polynomial.polyval(large**-2, STIRLING) / large
    return np.exp(np.where(a < _SHIFT, near, far))


def replaced_bound(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Return D(a) D(b) / D(a + b), the total variation between Beta(a + 1, b) and Beta(a, b + 1); it falls in both."""
    return added_bound(a) * added_bound(b) / added_bound(np.add(a, b))


def node_sensitivities(prior: Dirichlets) -> FloatArray:
    """Return the largest change of the sum of all decisions' masses by one replaced record, at every node: (|I|,).

    The record moves from one state to another. Decisions on one of their paths only lose or gain one count, and the
    decision where the paths separate has one replaced count. A batch of priors (..., K) has one bound, by the smallest
    values.
    """
    network = prior.network
    decisions = Decisions(network)
    a, b = decisions.parameters(prior.alpha.reshape(-1, network.cell_count).min(axis=0))
    left, right = children(decisions.spans)
    one, other, place = distinct_pairs(a.ravel(), b.ravel())
    to_left, to_right, apart = (
        bounds[place] for bounds in (added_bound(one), added_bound(other), replaced_bound(one, other))
    )
    way = np.zeros(len(a) + 1)  # the largest sum over paths from a decision; the last entry is for single states
    for _ in range(int(decisions.depths.max())):
        way[:-1] = np.maximum(to_left + way[left], to_right + way[right])
    parted = apart + way[left] + way[right]
    row = network.row_of_cell[decisions.spans[:, 0]]
    worst = np.zeros(len(network.names))
    np.maximum.at(worst, network.node_of_row[row], parted)
    rows, tops = np.unique(row, return_index=True)
    nodes = network.node_of_row[rows]
    order = np.lexsort((way[tops], nodes))
    last, next_to_last = order[1:], order[:-1]
    same_node = nodes[last] == nodes[next_to_last]
    np.maximum.at(worst, nodes[last][same_node], (way[tops[last]] + way[tops[next_to_last]])[same_node])
    return worst


def children(spans: IntArray) -> tuple[IntArray, IntArray]:
    """Return the decision that splits each decision's first and second half, or their number if there is none."""
    start, middle, end = spans.T
    here = np.arange(len(spans))
    left = np.where(middle - start > 1, here + 1, len(spans))
    right = np.where(end - middle > 1, here + middle - start, len(spans))
    return left, right
