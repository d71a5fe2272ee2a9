"""The influence of the prior on an answer.

Near the posterior mean, an answer is a sum over nodes of c_j, the sum of slope times probability over the cells of node
j. Before the release, c_j has a mean mu_j and a variance tau_j^2. This variance is small if node j has many independent
rows, whatever the parameters of a row are. After the release, let c_j have the mean m_j and the variance rho^2 tau_j^2.
If both distributions are nearly normal, the release alone states c_j ~ N(x_j, v_j), with

    x_j = mu_j + (m_j - mu_j) / (1 - rho^2),    v_j = tau_j^2 rho^2 / (1 - rho^2).

A vague prior has c_j uniform between the least and the largest value that any CPTs give it. Under this prior, c_j has
the normal distribution of the release, truncated to this range. The probability of the 95% interval is then near 95% if
the release determines the answer, and if the prior is as wide as the vague one. It is small if the interval is narrow
because of the prior. docs/calibration.md has measurements.
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
"""The prior variance of c_j below which node j does not matter to the answer."""

_TAILS = 0.025, 0.975


def vague_coverage(
    network: Network, alpha: FloatArray, draws: FloatArray, target: str, evidence: Mapping[str, str]
) -> FloatArray:
    """Return the probability under a vague prior of the 95% intervals of an answer (..., r).

    Args:
        network: The network.
        alpha: The prior's parameters (K,).
        draws: CPTs (S, ..., K), sampled from the posterior.
        target: The node in question.
        evidence: States of other nodes, by name.

    Returns:
        The probability for every state of the target.

    Raises:
        InputError: The errors of `query`.
    """
    slopes = query_slopes(network, draws.mean(axis=0), target, evidence)
    centre, variance, low, high = _before(network, alpha, slopes)
    states = range(slopes.shape[-2])
    parts = np.stack([_over_nodes(network, draws * slopes[..., state, :]) for state in states], axis=-2)
    mean = parts.mean(axis=0)
    matters = variance > _LEAST_VARIANCE
    ratio = np.clip(parts.var(axis=0) / np.where(matters, variance, 1.0), _LEAST, _MOST)
    place = np.clip(centre + (mean - centre) / (1 - ratio), low, high)
    sd = np.sqrt(np.where(matters, variance, 1.0) * ratio / (1 - ratio))
    start, end = (special.ndtr((edge - place) / sd)[..., None] for edge in (low, high))
    scores = special.ndtri(start + (end - start) * spread_points(_POINTS, len(network.names)))
    vague = np.clip(place[..., None] + sd[..., None] * scores, low[..., None], high[..., None]) - mean[..., None]
    moved = np.where(matters[..., None], vague, 0.0).sum(axis=-2)
    ends = np.quantile(parts.sum(axis=-1), _TAILS, axis=0) - mean.sum(axis=-1)
    return np.asarray(((moved >= ends[0][..., None]) & (moved <= ends[1][..., None])).mean(axis=-1))


def _before(
    network: Network, alpha: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the prior's mean and variance of c_j, and the least and the largest c_j: (..., r, nodes) each."""
    rows, nodes = network.row_starts, network.row_offsets[:-1]
    totals = network.row_sums(alpha)
    means = alpha / network.over_cells(totals)
    first = network.row_sums(slopes * means)
    spread = (network.row_sums(slopes**2 * means) - first**2) / (totals + 1)
    low, high = np.minimum.reduceat(slopes, rows, axis=-1), np.maximum.reduceat(slopes, rows, axis=-1)
    centre, variance, least, most = (np.add.reduceat(of_rows, nodes, axis=-1) for of_rows in (first, spread, low, high))
    return centre, variance, least, most


def _over_nodes(network: Network, cells: FloatArray) -> FloatArray:
    """Return the sums over the cells of every node: (..., nodes)."""
    return np.asarray(np.add.reduceat(cells, network.cell_offsets[:-1], axis=-1))
