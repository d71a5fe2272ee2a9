"""The error of all tables of two columns."""

import numpy as np

from dpbayes.base.types import FloatArray, IntArray


def mean_pair_distance(first: FloatArray, second: FloatArray, starts: IntArray) -> FloatArray:
    """Return the mean total variation over all pairs of columns between two arrays of distributions.

    Args:
        first: P(x_i = a, x_j = b) of all pairs of states, (..., R, R), as `pair_marginals` returns it.
        second: The same of another distribution.
        starts: The place of every column's first state, and the number of states: (d + 1,).

    Returns:
        The mean total variations (...); of a single column, its total variation.
    """
    away = np.abs(first - second)
    sums = np.add.reduceat(np.add.reduceat(away, starts[:-1], axis=-2), starts[:-1], axis=-1) / 2
    left, right = np.triu_indices(len(starts) - 1, 1) if len(starts) > 2 else ([0], [0])
    return np.asarray(sums[..., left, right].mean(axis=-1))
