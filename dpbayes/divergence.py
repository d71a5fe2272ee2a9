"""How far two distributions are apart: closed forms that stay accurate from tiny counts to 10^9.

Everything for Dirichlet rows rests on one function, the Bregman divergence of ln Gamma,
d(x, y) = ln Gamma(y) - ln Gamma(x) - (y - x) psi(x) >= 0, evaluated as a sum of non-negative terms. With a_0 the
row's total:

    KL(Dir(a) || Dir(b))   = sum_k d(a_k, b_k) - d(a_0, b_0)
    ln BC(Dir(a), Dir(b))  = -1/2 sum_k [d(s_k, a_k) + d(s_k, b_k)] + 1/2 [d(s_0, a_0) + d(s_0, b_0)],  s = (a + b)/2
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from dpbayes.dirichlet import Dirichlets

FloatArray = NDArray[np.float64]

_SHIFT = 9.0
"""Arguments are raised to at least this before Stirling's series is used; its error there is below 1e-15."""

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of x^-1, x^-3, ... in ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2."""


_CANCELS = 1e-2
"""Where d is less than this share of the terms that it is the difference of, it is summed another way."""

_FAR, _TAIL = 1e6, -700.0
"""Logits: where the search for crossings of two Beta densities ends, and where expit is about to underflow."""


def log1p_excess(u: ArrayLike) -> FloatArray:
    """Return u - ln(1 + u) >= 0 without cancellation, for u > -1."""
    u = np.asarray(u, dtype=np.float64)
    s = u / (2 + u)
    square = s * s
    # ln(1+u) = 2 atanh(s); near zero u - 2s = s u and atanh(s) - s has a short series.
    series = square * s * np.polynomial.polynomial.polyval(square, [1 / (2 * k + 3) for k in range(10)])
    with np.errstate(divide="ignore"):
        return np.where(np.abs(u) < 0.3, s * u - 2 * series, u - np.log1p(u))


def bregman_loggamma(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return d(x, y) = ln Gamma(y) - ln Gamma(x) - (y - x) psi(x) for positive x, y, elementwise.

    As it stands where that cancels little, which is quick: x may have fewer values than y. Elsewhere, and near x = y
    above all, as a sum of non-negative terms; 0 where x = y.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known, slope, difference = special.gammaln(x), special.digamma(x), y - x
    sought, linear = special.gammaln(y), difference * slope
    found = np.asarray(sought - known - linear)
    size = np.abs(sought) + np.abs(known) + np.abs(linear) + np.abs(difference)
    cancels = ~(found > _CANCELS * size)
    found[cancels & (difference == 0)] = 0.0
    cancels &= difference != 0
    if np.any(cancels):
        x, y = np.broadcast_arrays(x, y)
        found[cancels] = _bregman_summed(x[cancels], y[cancels])
    return found


def _bregman_summed(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return d(x, y) without cancellation, for arrays (...) of one shape."""
    low = np.minimum(x, y)
    total = np.zeros(x.shape)
    steps = np.maximum(np.ceil(_SHIFT - low), 0)
    for step in range(int(steps.max(initial=0))):
        # ln Gamma(x) = ln Gamma(x+1) - ln x turns each step into u - ln(1+u) with u = (y - x)/x.
        small = steps > step
        shifted = x[small] + step
        total[small] += log1p_excess((y[small] - x[small]) / shifted)
    return total + _bregman_stirling(x + steps, y + steps)


def _bregman_stirling(x: FloatArray, y: FloatArray) -> FloatArray:
    difference = y - x
    u = difference / x
    excess = log1p_excess(u)
    # x [(1+u) ln(1+u) - u] + 1/2 [u - ln(1+u)]; near zero the bracket is u^2 - (1+u) excess, about u^2/2.
    bracket = np.where(np.abs(u) < 0.5, u * u - (1 + u) * excess, (1 + u) * np.log1p(u) - u)
    main = x * bracket + excess / 2
    tail = STIRLING[0] * difference**2 / (x * x * y)
    for k, coefficient in enumerate(STIRLING[1:], start=1):
        power = 2 * k + 1
        tail = tail + coefficient * (y**-power - x**-power + power * difference * x ** -(power + 1))
    return main + tail


def kl_rows(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return KL(p || q) of every CPT row in nats: (..., m)."""
    network = p.network
    cells = network.row_sums(bregman_loggamma(p.alpha, q.alpha))
    totals = bregman_loggamma(network.row_sums(p.alpha), network.row_sums(q.alpha))
    return np.maximum(cells - totals, 0.0)


def kl(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return KL(p || q) between whole posteriors in nats: (...,). Rows are independent, so their KLs add."""
    total: FloatArray = kl_rows(p, q).sum(axis=-1)
    return total


def log_bhattacharyya_rows(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return ln of the Bhattacharyya coefficient of every CPT row: (..., m), never positive."""
    network = p.network

    def gap(a: FloatArray, b: FloatArray) -> FloatArray:
        middle = (a + b) / 2
        return (bregman_loggamma(middle, a) + bregman_loggamma(middle, b)) / 2

    cells = network.row_sums(gap(p.alpha, q.alpha))
    totals = gap(network.row_sums(p.alpha), network.row_sums(q.alpha))
    return np.minimum(totals - cells, 0.0)


def hellinger(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return the Hellinger distance sqrt(1 - BC) in [0, 1] between whole posteriors: (...,)."""
    log_bc = log_bhattacharyya_rows(p, q).sum(axis=-1)
    return np.sqrt(-np.expm1(log_bc))


def hellinger_rows(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return the Hellinger distance of every CPT row: (..., m)."""
    return np.sqrt(-np.expm1(log_bhattacharyya_rows(p, q)))


def total_variation_cells(p: Dirichlets, q: Dirichlets) -> FloatArray:
    """Return the total variation distance between the Beta marginals of every cell: (..., K).

    The log density ratio has at most one turning point, hence the densities cross at most twice and the distance is a
    difference of distribution functions at the crossings, which are found by bisection on the logit scale.
    """
    a, b, c, d = np.broadcast_arrays(p.alpha, p.rest, q.alpha, q.rest)
    live = (b > 0) & (d > 0) & ((a != c) | (b != d))
    distance = np.zeros(a.shape)
    distance[live] = _beta_total_variation(a[live], b[live], c[live], d[live])
    return distance


def _beta_total_variation(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    offset = special.betaln(c, d) - special.betaln(a, b)
    e, f = a - c, b - d

    def log_ratio(z: FloatArray) -> FloatArray:
        return e * special.log_expit(z) + f * special.log_expit(-z) + offset

    with np.errstate(divide="ignore", invalid="ignore"):
        turning = np.where(e * f > 0, np.log(np.abs(e) / np.abs(f)), np.nan)
    far = np.full(a.shape, _FAR)
    one_sided = np.isnan(turning)
    first = _bisect(log_ratio, -far, np.where(one_sided, far, turning))
    second = np.where(one_sided, far, _bisect(log_ratio, np.where(one_sided, -far, turning), far))

    def between(s: FloatArray, t: FloatArray) -> FloatArray:
        return _beta_below(s, t, second) - _beta_below(s, t, first)

    return np.clip(np.abs(between(a, b) - between(c, d)), 0.0, 1.0)


def _beta_below(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """Return P(theta < expit(z)) for theta ~ Beta(a, b), also where expit(z) rounds to zero or one."""
    s, t = np.where(z < 0, a, b), np.where(z < 0, b, a)
    tail_at = -np.abs(z)
    # Far out, the integral of theta^(s-1) alone; the part left out is of relative size expit(z).
    far_tail = np.exp(np.minimum(s * tail_at - np.log(s) - special.betaln(s, t), 0.0))
    tail = np.where(tail_at < _TAIL, far_tail, special.betainc(s, t, special.expit(tail_at)))
    return np.where(z < 0, tail, 1 - tail)


def _bisect(function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    rising = function(high) > function(low)
    for _ in range(70):
        middle = (low + high) / 2
        above = (function(middle) > 0) == rising
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2
