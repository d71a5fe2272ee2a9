"""The influence of the prior on an answer.

A noise-aware recipient does not know the counts k. The interval of an answer should contain the exact answer, which is
that of the posterior given k under the same prior. Near the posterior mean, it is a sum over nodes of a_j, the sum of
slope times (alpha + k) / (alpha_0 + T) over the cells of node j. Before the release, a_j has a mean mu_j and a variance
tau_j^2. This variance is small if node j has many independent rows, whatever the parameters of a row are. After the
release, let a_j have the mean m_j and the variance rho^2 tau_j^2. If both distributions are nearly normal, the release
alone states a_j ~ N(x_j, v_j), with

    x_j = mu_j + (m_j - mu_j) / (1 - rho^2),    v_j = tau_j^2 rho^2 / (1 - rho^2).

A vague prior has a_j uniform between the least and the largest value that any CPTs give it. Under this prior, a_j has
the normal distribution of the release, truncated to this range. The probability that the 95% interval contains the
exact answer is then near 1 if the noise is small, and near 95% if the prior is as wide as the vague one. It is small if
the interval is narrow because of the prior. docs/calibration.md has measurements.
"""

from collections.abc import Mapping

import numpy as np
from scipy import special

from dpbayes.base.quadrature import spread_points
from dpbayes.base.types import FloatArray
from dpbayes.model.network import Network
from dpbayes.model.query import query_slopes

_POINTS = 256
"""Points of the distribution of an answer under the vague prior."""

_LEAST, _MOST = 1e-9, 1 - 1e-6
"""Limits of rho^2: samples of a posterior may vary more than the prior."""

_LEAST_VARIANCE = 1e-14
"""The prior variance of a_j below which node j does not matter to the answer."""

_TAILS = 0.025, 0.975


def vague_coverage(
    network: Network,
    alpha: FloatArray,
    exact: tuple[FloatArray, FloatArray],
    draws: FloatArray,
    target: str,
    evidence: Mapping[str, str],
) -> FloatArray:
    """Return the probability under a vague prior that the 95% intervals contain the exact answer (..., r).

    Args:
        network: The network.
        alpha: The prior's parameters (K,).
        exact: Cells of exact answers (S, ..., K), sampled as the recipient knows them, and the mean weight of the
            records of a row in them (..., m), T / (alpha_0 + T).
        draws: CPTs (D, ..., K), sampled from the recipient's posterior.
        target: The node in question.
        evidence: States of other nodes, by name.

    Returns:
        The probability for every state of the target.

    Raises:
        InputError: The errors of `query`.
    """
    slopes = query_slopes(network, draws.mean(axis=0), target, evidence)
    means, learned = exact
    centre, variance, low, high = _before(network, alpha, slopes, learned[..., None, :])
    states = range(slopes.shape[-2])
    parts = np.stack([_over_nodes(network, means * slopes[..., state, :]) for state in states], axis=-2)
    mean = parts.mean(axis=0)
    matters = variance > _LEAST_VARIANCE
    ratio = np.clip(parts.var(axis=0) / np.where(matters, variance, 1.0), _LEAST, _MOST)
    place = np.clip(centre + (mean - centre) / (1 - ratio), low, high)
    sd = np.sqrt(np.where(matters, variance, 1.0) * ratio / (1 - ratio))
    start, end = (special.ndtr((edge - place) / sd)[..., None] for edge in (low, high))
    scores = special.ndtri(start + (end - start) * spread_points(_POINTS, len(network.names)))
    vague = np.clip(place[..., None] + sd[..., None] * scores, low[..., None], high[..., None])
    answers = np.where(matters[..., None], vague, mean[..., None]).sum(axis=-2)
    ends = np.quantile(np.einsum("d...k,...rk->d...r", draws, slopes), _TAILS, axis=0)[..., None]
    return np.asarray(((answers >= ends[0]) & (answers <= ends[1])).mean(axis=-1))


def exact_cells(network: Network, alpha: FloatArray, given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return `exact` of `vague_coverage` from the parameters (S, ..., K) of posteriors given sampled counts."""
    totals = network.row_sums(given)
    return given / network.over_cells(totals), (1 - network.row_sums(alpha) / totals).mean(axis=0)


def _before(
    network: Network, alpha: FloatArray, slopes: FloatArray, learned: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the prior's mean and variance of a_j, and the least and the largest a_j: (..., r, nodes) each.

    `learned` (..., 1, m) is the weight of the records of a row.
    """
    rows, nodes = network.row_starts, network.row_offsets[:-1]
    totals = network.row_sums(alpha)
    means = alpha / network.over_cells(totals)
    first = network.row_sums(slopes * means)
    spread = learned * (network.row_sums(slopes**2 * means) - first**2) / (totals + 1)
    low, high = np.minimum.reduceat(slopes, rows, axis=-1), np.maximum.reduceat(slopes, rows, axis=-1)
    centre, variance, least, most = (np.add.reduceat(of_rows, nodes, axis=-1) for of_rows in (first, spread, low, high))
    return centre, variance, least, most


def _over_nodes(network: Network, cells: FloatArray) -> FloatArray:
    """Return the sums over the cells of every node: (..., nodes)."""
    return np.asarray(np.add.reduceat(cells, network.cell_offsets[:-1], axis=-1))
