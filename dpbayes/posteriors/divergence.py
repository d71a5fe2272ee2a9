"""Divergences between distributions: closed forms for tiny counts up to 10^9.

All formulas for Dirichlet rows use one function, the Bregman divergence of ln Gamma, d(x, y) = ln Gamma(y) - ln
Gamma(x) - (y - x) psi(x) >= 0. With a_0 the row's total:

    KL(Dir(a) || Dir(b))    = sum_k d(a_k, b_k) - d(a_0, b_0)
    -2 ln BC(Dir(a), Dir(b)) = KL(Dir(s) || Dir(a)) + KL(Dir(s) || Dir(b)),  s = (a + b)/2

The total's term takes off most of the sum if the proportions of a row hardly change. The relative error is then about
1e-12 times the row's records, and far smaller in other rows.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.dirichlet import Dirichlets

_SHIFT = 9.0
"""Arguments are raised to at least this before Stirling's series is used; its error there is below 1e-15."""

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of x^-1, x^-3, ... in ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2."""

_CANCELS = 1e-2
"""If d is less than this share of the terms whose difference it is, another sum is used."""

_EXP_EXCESS = [1 / math.factorial(k + 2) for k in range(14)]
_ATANH_EXCESS = [1 / (2 * k + 3) for k in range(10)]


def log1p_excess(u: ArrayLike) -> FloatArray:
    """Return u - ln(1 + u) >= 0 without cancellation, for u > -1."""
    u = np.asarray(u, dtype=np.float64)
    s = u / (2 + u)
    square = s * s
    # ln(1+u) = 2 atanh(s); near zero u - 2s = s u and atanh(s) - s has a short series.
    series = square * s * np.polynomial.polynomial.polyval(square, _ATANH_EXCESS)
    with np.errstate(divide="ignore"):
        return np.where(np.abs(u) < 0.3, s * u - 2 * series, u - np.log1p(u))


def expm1_excess(d: ArrayLike) -> FloatArray:
    """Return exp(d) - 1 - d >= 0 without cancellation."""
    d = np.asarray(d, dtype=np.float64)
    near = np.abs(d) < 0.5
    small = np.where(near, d, 0.0)
    return np.where(near, small * small * np.polynomial.polynomial.polyval(small, _EXP_EXCESS), np.expm1(d) - d)


def bregman_loggamma(x: ArrayLike, y: ArrayLike, moved: ArrayLike | None = None) -> FloatArray:
    """Return d(x, y) = ln Gamma(y) - ln Gamma(x) - (y - x) psi(x) for positive x, y, elementwise.

    The fast direct formula is used where it has little cancellation; x may have fewer values than y. Elsewhere,
    especially near x = y, d is computed as a sum of non-negative terms. It is 0 where x = y. `moved` may be a more
    accurate y - x.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    gammaln_x, slope, difference = special.gammaln(x), special.digamma(x), np.asarray(y - x if moved is None else moved)
    sought, linear = special.gammaln(y), difference * slope
    gap = np.asarray(sought - gammaln_x - linear)
    size = np.abs(sought) + np.abs(gammaln_x) + np.abs(linear) + np.abs(difference)
    cancels = ~(gap > _CANCELS * size)
    gap[cancels & (difference == 0)] = 0.0
    cancels &= difference != 0
    if np.any(cancels):
        x, y, difference = np.broadcast_arrays(x, y, difference)
        gap[cancels] = _bregman_summed(x[cancels], y[cancels], difference[cancels])
    return gap


def _bregman_summed(x: FloatArray, y: FloatArray, difference: FloatArray) -> FloatArray:
    """Return d(x, y) without cancellation, for arrays (...) of one shape with this `difference` y - x."""
    low = np.minimum(x, y)
    total = np.zeros(x.shape)
    steps = np.maximum(np.ceil(_SHIFT - low), 0)
    for step in range(int(steps.max(initial=0))):
        # ln Gamma(x) = ln Gamma(x+1) - ln x turns each step into u - ln(1+u) with u = (y - x)/x.
        small = steps > step
        shifted = x[small] + step
        total[small] += log1p_excess(difference[small] / shifted)
    return total + _bregman_stirling(x + steps, y + steps, difference)


def _bregman_stirling(x: FloatArray, y: FloatArray, difference: FloatArray) -> FloatArray:
    """d(x, y) for x, y >= 9, with their `difference` computed before the shift of both."""
    u = difference / x
    return x * _entropy_excess(u) + log1p_excess(u) / 2 + _stirling_gap(x, y, difference)


def _entropy_excess(u: FloatArray) -> FloatArray:
    """(1+u) ln(1+u) - u >= 0; near zero u^2 - (1+u) [u - ln(1+u)], about u^2/2."""
    return np.where(np.abs(u) < 0.5, u * u - (1 + u) * log1p_excess(u), special.xlog1py(1 + u, u) - u)


def _stirling_gap(x: FloatArray, y: FloatArray, difference: FloatArray) -> FloatArray:
    """d_mu(x, y) by Stirling's series, for x and y of 9 or more."""
    square, far = (difference / x) ** 2, 1 / x
    # For each power, gap = y^-n - x^-n + n (y - x) x^-(n + 1) follows from the previous one without cancellation.
    gap = square / y
    tail = STIRLING[0] * gap
    for n in range(2, 2 * len(STIRLING)):
        gap = (gap + n * square * far) / y
        far = far / x
        if n % 2:
            tail += STIRLING[n // 2] * gap
    return tail


def kl_rows(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return KL(p || q) of every CPT row in nats, sum_k d(a_k, b_k) - d(a_0, b_0): (..., m)."""
    network = p.network
    totals = bregman_loggamma(network.row_sums(p.alpha), network.row_sums(q.alpha))
    return np.maximum(network.row_sums(bregman_loggamma(p.alpha, q.alpha)) - totals, 0.0)


def kl(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return the Kullback-Leibler divergence KL(p || q) between whole posteriors.

    Rows are independent, so the divergence is the sum over the rows.

    Args:
        p: The first posterior, alpha of (..., K).
        q: The second one, of the same network.

    Returns:
        The divergences (...,), in nats.

    Raises:
        InputError: They are not posteriors of one network.

    Example:
        >>> prior = dp.Dirichlets.symmetric(dp.chain(2))
        >>> round(float(dp.kl(prior.updated([7, 3, 6, 1, 1, 2]), prior)), 3)
        1.572
    """
    _require_one_network(p, q)
    total: FloatArray = kl_rows(p, q).sum(axis=-1)
    return total


def log_bhattacharyya_rows(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return ln of the Bhattacharyya coefficient of every CPT row: (..., m), never positive."""
    middle = Dirichlets(p.network, (p.alpha + q.alpha) / 2)
    return -(kl_rows(middle, p) + kl_rows(middle, q)) / 2


def hellinger(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return the Hellinger distance sqrt(1 - BC) between whole posteriors, BC being the Bhattacharyya coefficient.

    Args:
        p: The first posterior, alpha of (..., K).
        q: The second one, of the same network.

    Returns:
        The distances (...,), from 0 to 1.

    Raises:
        InputError: They are not posteriors of one network.

    Example:
        >>> prior = dp.Dirichlets.symmetric(dp.chain(2))
        >>> float(dp.hellinger(prior, prior))
        0.0
    """
    _require_one_network(p, q)
    log_bc = log_bhattacharyya_rows(p, q).sum(axis=-1)
    return np.sqrt(np.abs(np.expm1(log_bc)))  # the logarithm is never positive


def _require_one_network(p: Dirichlets, q: Dirichlets) -> None:
    if p.network is not q.network and p.network != q.network:
        raise InputError("p and q are posteriors of different networks. Compare posteriors of one network.")
