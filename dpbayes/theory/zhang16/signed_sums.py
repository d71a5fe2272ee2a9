"""How probably a sum of independent Laplace draws is large: a cell of a table is such a sum of noisy coefficients."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.bisection import turning_point
from dpbayes.base.types import BoolArray, FloatArray

MANY_TERMS = 1024
"""From so many terms on, the tail of their sum is an integral instead of as many incomplete gamma functions."""

_HALVINGS = 24
_STEP, _REACH = 0.25, 12.0
"""Of the integral, in standard deviations of ln Gamma at the largest value of what is integrated."""


def signed_sum_tail(terms: int, x: ArrayLike) -> FloatArray:
    """Return P(X_1 + ... + X_terms > x) of independent standard Laplace draws, x >= 0 (...), exactly.

    The sum is a difference of two Gamma(terms, 1) draws; above zero that is a mixture of Gamma(terms - k, 1) with
    weights C(terms - 1 + k, k) 2^-(terms + k), k = 0 .. terms - 1, all positive.
    """
    x = np.asarray(x, dtype=np.float64)
    if terms >= MANY_TERMS:
        return _tail_of_many(terms, x)
    k = np.arange(terms)
    logs = special.gammaln(terms + k) - special.gammaln(terms) - special.gammaln(k + 1) - (terms + k) * np.log(2)
    return special.gammaincc(terms - k, x[..., None]) @ np.exp(logs)


def _tail_of_many(terms: int, x: FloatArray) -> FloatArray:
    """Return `signed_sum_tail` as an integral, whose work does not grow with the terms.

    A Laplace draw is normal with twice an exponential variance, so that with G = n e^v of Gamma(n, 1) the tail is
    E[Q(x / sqrt(2 G))], Q the normal one. The logarithm of the integrand is concave in v and smooth: the trapezoidal
    rule around its largest value is exact to rounding.
    """
    z = x[..., None] / np.sqrt(2 * terms)

    def log_integrand(v: FloatArray) -> FloatArray:
        return special.log_ndtr(-z * np.exp(-v / 2)) - terms * (np.expm1(v) - v)

    def rises(v: FloatArray) -> BoolArray:
        # The slope: n (1 - e^v) + z h(z) / 2, h = density over tail.
        at = z * np.exp(-v / 2)
        hazard = np.exp(-at * at / 2 - special.log_ndtr(-at)) * at
        return np.asarray(hazard / np.sqrt(8 * np.pi) > terms * np.expm1(v))

    low, _ = turning_point(rises, 0.0, np.log1p((z * z + 2) / (2 * terms)), halvings=_HALVINGS)
    step = _STEP / np.sqrt(terms * np.exp(low))
    logs = log_integrand(low + step * np.arange(-_REACH / _STEP, _REACH / _STEP + 1))
    # ln of n^n e^-n / Gamma(n), by Stirling.
    density = np.log(terms / (2 * np.pi)) / 2 - 1 / (12 * terms) + 1 / (360 * terms**3)
    tail: FloatArray = np.exp(special.logsumexp(logs + np.log(step), axis=-1) + density)
    return tail
