"""Divergences between distributions: closed forms that are accurate from tiny counts to 10^9.

All formulas for Dirichlet rows use one function, the Bregman divergence of ln Gamma, d(x, y) = ln Gamma(y) - ln
Gamma(x) - (y - x) psi(x) >= 0. With a_0 the row's total:

    KL(Dir(a) || Dir(b))    = sum_k d(a_k, b_k) - d(a_0, b_0)
    -2 ln BC(Dir(a), Dir(b)) = KL(Dir(s) || Dir(a)) + KL(Dir(s) || Dir(b)),  s = (a + b)/2

The subtraction of the total's term cancels nearly everything if the proportions of a row do not change. Such rows use
another sum. Write ln Gamma(x) = x ln x - x - ln(x)/2 + c + mu(x), with Binet's mu, and with d_mu for mu's divergence, p
= a/a_0, q = b/b_0, u = b/a - 1, v = q/p - 1:

    KL(Dir(a) || Dir(b)) = b_0 sum_k p_k [(1 + v_k) ln(1 + v_k) - v_k]
                           + 1/2 sum_k {(1 - p_k) [u_k - ln(1 + u_k)] + p_k [v_k - ln(1 + v_k)]}
                           + sum_k d_mu(a_k, b_k) - d_mu(a_0, b_0).

All terms except the last are non-negative, and the last term is small compared with the others.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, require_type
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

_SHIFT = 9.0
"""Arguments are raised to at least this before Stirling's series is used; its error there is below 1e-15."""

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of x^-1, x^-3, ... in ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2."""


_CANCELS = 1e-2
"""If d is less than this share of the terms whose difference it is, another sum is used."""

_LOST = 2e-14
"""The largest relative rounding error of one divergence of ln Gamma."""

_DIGITS = 1e-9
"""The largest accepted relative rounding error of a row's divergence."""

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
    """Return KL(p || q) of every CPT row in nats: (..., m)."""
    return _row_gaps(p.network, p.alpha, q.alpha)


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
    middle = (p.alpha + q.alpha) / 2
    return -(_row_gaps(p.network, middle, p.alpha) + _row_gaps(p.network, middle, q.alpha)) / 2


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
    for name, posterior in (("p", p), ("q", q)):
        require_type(name, posterior, Dirichlets, "Pass the posterior of a release: release.posterior.")
    if p.network is not q.network and p.network != q.network:
        raise InputError("p and q are posteriors of different networks. Compare posteriors of one network.")


# Rows


def _row_gaps(network: Network, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return sum_k d(x_k, y_k) - d(x_0, y_0) of every row, for x and y of (..., K): (..., m).

    The fast direct formula is used where its rounding error is acceptable.
    """
    cells = network.row_sums(bregman_loggamma(x, y))
    first, second = network.row_sums(x), network.row_sums(y)
    totals = bregman_loggamma(first, second)
    gaps = np.maximum(cells - totals, 0.0)
    # The rounding errors of the divergences and of the totals.
    lost = _LOST * (cells + totals + np.abs(second - first) * (1 + 1 / first) / 16)
    doubtful = (lost > _DIGITS * gaps) & (lost > 0)
    if np.any(doubtful):
        x, y = np.broadcast_arrays(x, y)
        gaps[doubtful] = _row_gaps_summed(network, x, y, doubtful)
    return gaps


def _row_gaps_summed(network: Network, x: FloatArray, y: FloatArray, rows: BoolArray) -> FloatArray:
    """Return the same for the selected `rows` (..., m) by the sum in the module docstring: (picked,)."""
    *batch, row = np.nonzero(rows)
    lengths = network.cards[network.node_of_row[row]]
    starts = np.cumsum(lengths) - lengths
    cells = np.repeat(network.row_starts[row] - starts, lengths) + np.arange(lengths.sum())
    places = (*(np.repeat(place, lengths) for place in batch), cells)
    x, y = x[places], y[places]
    moved = y - x
    total, more = np.add.reduceat(x, starts), np.add.reduceat(moved, starts)
    share = x / np.repeat(total, lengths)
    u, lift = moved / x, np.repeat(more / total, lengths)
    v = (u - lift) / (1 + lift)
    other = 1 - share
    cells_terms = np.repeat(total + more, lengths) * share * _entropy_excess(v)
    cells_terms += (other * log1p_excess(u) + share * log1p_excess(v)) / 2 + _binet_gap(x, moved)
    return np.maximum(np.add.reduceat(cells_terms, starts) - _binet_gap(total, more), 0.0)


def _binet_gap(x: FloatArray, moved: FloatArray) -> FloatArray:
    """Return d_mu(x, y) >= 0 for y = x + `moved`, all (N,)."""
    y, u = x + moved, moved / x
    gap = _binet(y) - _binet(x) - moved * _binet_slope(x)
    near = np.abs(u) < 0.3
    large = near & (np.minimum(x, y) >= _SHIFT)
    gap[large] = _stirling_gap(x[large], y[large], moved[large])
    small = near & ~large
    rest = x[small] * _entropy_excess(u[small]) + log1p_excess(u[small]) / 2
    gap[small] = _bregman_summed(x[small], y[small], moved[small]) - rest
    return gap


def _binet(x: FloatArray) -> FloatArray:
    """mu(x) = ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2."""
    safe = np.maximum(x, _SHIFT)
    series = np.polynomial.polynomial.polyval(safe**-2, STIRLING) / safe
    return np.where(x < _SHIFT, special.gammaln(x) - special.xlogy(x - 0.5, x) + x - np.log(2 * np.pi) / 2, series)


def _binet_slope(x: FloatArray) -> FloatArray:
    """mu'(x) = psi(x) - ln x + 1/(2 x)."""
    safe = np.maximum(x, _SHIFT)
    odd = [-(2 * k + 1) * coefficient for k, coefficient in enumerate(STIRLING)]
    series = np.polynomial.polynomial.polyval(safe**-2, odd) / safe**2
    return np.where(x < _SHIFT, special.digamma(x) - np.log(x) + 1 / (2 * x), series)
