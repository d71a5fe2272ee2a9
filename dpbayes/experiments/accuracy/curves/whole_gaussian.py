"""Gaussian noise of whole numbers at many parameters from the same normal draws: luck is shared, and none is rejected.

`dpbayes.mechanisms.noise.law.gaussian_noise` draws the exact law, but how many numbers it takes depends on the
parameter. Here the distribution function is exact to 1e-6, which an average over thousands of simulated releases does
not notice.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray

ROUNDED_FROM = 8.0
"""From this s on a rounded normal number stands for a whole one. By the midpoint rule, P(K <= k) is
Phi(x) + x phi(x)/(24 s^2) at x = (k + 1/2)/s, up to terms of s^-4: that of N(0, s^2 - 1/12), rounded."""

_REACH = 9 * int(ROUNDED_FROM)
"""Numbers beyond have a probability below 1e-18."""


def whole_gaussian(normal: FloatArray, scales: ArrayLike) -> FloatArray:
    """Return whole noise (...) with P[k] ~ exp(-k^2/(2 s^2)) from standard normal samples (...) and s; none at s = 0.

    The samples and `scales` broadcast together. A sample of u = Phi(z) becomes the least k whose distribution function
    reaches u.
    """
    s = np.asarray(scales, dtype=np.float64)
    drawn = np.rint(normal * np.sqrt(np.maximum(s**2 - 1 / 12, 0.0)))
    if np.all(s >= ROUNDED_FROM):
        return drawn
    distinct, kinds = np.unique(np.minimum(s, ROUNDED_FROM), return_inverse=True)
    kinds = np.broadcast_to(kinds.reshape(s.shape), drawn.shape)
    # One ascending list of all distribution functions, each between two whole numbers of its own.
    steps = np.arange(len(distinct))[:, None] + _distribution_functions(distinct)
    place = np.searchsorted(steps.ravel(), kinds + special.ndtr(normal))
    looked_up = place - kinds * steps.shape[1] - _REACH
    return np.where(s >= ROUNDED_FROM, drawn, np.clip(looked_up, -_REACH, _REACH).astype(np.float64))


def _distribution_functions(scales: FloatArray) -> FloatArray:
    """P(K <= k) for k from -_REACH to _REACH: (scales, 2 * _REACH + 1)."""
    k = np.arange(-_REACH, _REACH + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.where(k == 0, 0.0, -((k / scales[:, None]) ** 2) / 2)
    weights = np.exp(exponents)
    return np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
