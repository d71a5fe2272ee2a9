"""How far the pairs of columns of a table are from what was released so far: the scores of the private choices.

s_ij = sum_ab |U N_ij(a, b) - E_ij(a, b)| for the counts N_ij and integers E_ij that depend on earlier releases only.
"""

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.dataset import Dataset

UNIT = 1 << 10
"""U: expected counts are rounded to whole numbers of parts of so many."""

SENSITIVITY = 2 * UNIT
"""How far one replaced record changes the score of a pair at most."""

MOST_RECORDS = 2**31 - 1
"""Most records: then every score fits 64 bits, as a pair has at most 2^16 cells."""

_BLOCK = 1 << 14
"""Records that are compared at once. Single precision holds their counts exactly."""


def values_of_pairs(columns: int, n: int) -> int:
    """Return how many values of n records the scores of all pairs of columns depend on."""
    return n * columns * (columns - 1) // 2


def state_starts(data: Dataset) -> IntArray:
    """Return the place of every column's first state on the axis of all states, and the number of states: (d + 1,)."""
    return np.concatenate(([0], np.cumsum([len(states) for states in data.states]))).astype(np.int64)


def pair_counts(data: Dataset) -> IntArray:
    """Return how many records have every two states of all columns: (R, R), a column's own counts on its diagonal."""
    starts = state_starts(data)
    counts = np.zeros((starts[-1], starts[-1]), dtype=np.int64)
    for first in range(0, data.n, _BLOCK):
        block = data.codes[first : first + _BLOCK]
        has_state = np.zeros((len(block), starts[-1]), dtype=np.float32)
        has_state[np.arange(len(block))[:, None], starts[:-1] + block] = 1
        counts += np.rint(has_state.T @ has_state).astype(np.int64)
    return counts


def whole_expected(expected: FloatArray) -> IntArray:
    """Return expected counts (R, R) in whole parts of 1/U."""
    return np.rint(UNIT * expected).astype(np.int64)


def pair_scores(counts: IntArray, expected: IntArray, starts: IntArray) -> IntArray:
    """Return s_ij of all pairs of columns, from counts and whole expected counts (R, R): (d, d)."""
    away = np.abs(UNIT * counts - expected)
    return np.asarray(np.add.reduceat(np.add.reduceat(away, starts[:-1], axis=0), starts[:-1], axis=1))
