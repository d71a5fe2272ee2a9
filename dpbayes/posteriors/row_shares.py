"""The prior law of how many records meet the parents of a row."""

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.posteriors.dirichlet import Dirichlets

MOST_SIZE = 1e9
"""Largest sum of the two parameters: beyond it the share is certain."""

_LEAST = 1e-300
"""Stands for a parameter of zero, whose gamma function is infinite."""


def row_shares(prior: Dirichlets) -> FloatArray:
    """Return Beta parameters of the share of records that every row's parents have, one prior (K,): (2, m).

    The Beta law has the mean and the variance of P(parents = row) under the prior, worked out for two records of the
    same unknown network, from parents to children, as if a node's parents were independent: exactly so in trees. A
    root's row has all records.
    """
    network = prior.network
    pairs: dict[int, FloatArray] = {}
    shares = np.empty((2, network.row_count))
    for node in network.order:
        parents = network.families[node][:-1]
        once, twice = np.ones(1), np.ones(1)
        for parent in parents:
            once = np.multiply.outer(once, pairs[parent].sum(axis=0)).ravel()
            twice = np.multiply.outer(twice, np.diag(pairs[parent])).ravel()
        pairs[node] = _pair(prior, node, [pairs[parent] for parent in parents], twice)
        rows = slice(network.row_offsets[node], network.row_offsets[node + 1])
        shares[:, rows] = _beta(once, twice)
    return shares


def _pair(prior: Dirichlets, node: int, parents: list[FloatArray], same: FloatArray) -> FloatArray:
    """P(x = a, x' = b) of the node in two records (r, r); `same` (rows,) is the chance that both are of a row."""
    network = prior.network
    mean = network.table(prior.mean, node)
    other = mean
    for axis, pair in enumerate(parents):
        other = np.moveaxis(np.tensordot(pair, other, axes=(1, axis)), 0, axis)
    r = mean.shape[-1]
    mean, other = mean.reshape(-1, r), other.reshape(-1, r)
    apart = other.T @ mean
    # Two records of the same row share its unknown probabilities: their covariance comes in addition.
    certain = same / (network.table(prior.totals, node).reshape(-1, r)[:, 0] + 1)
    return np.asarray(apart + np.diag(certain @ mean) - (certain[:, None] * mean).T @ mean)


def _beta(mean: FloatArray, square: FloatArray) -> FloatArray:
    """Return the parameters of Beta laws of these first and second moments: (2, rows)."""
    spread = np.maximum(square - mean**2, 1 / MOST_SIZE * mean)
    size = np.clip(mean * (1 - mean) / spread - 1, 1e-6, MOST_SIZE)
    return np.maximum(np.stack((mean, 1 - mean)) * size, _LEAST)
