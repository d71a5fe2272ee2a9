"""Exact privacy of draws from a Gaussian posterior cut to a ball, for moments that differ in one record.

With ln p(w | D) = -w'Pw/2 + h'w - ln Z for ||w|| <= B, the loss of (D, D') at w is a quadratic, the difference of two
records' log-likelihoods, less ln Z - ln Z'. Independent draws from the same table add up: N of them lose N times this.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbayes.gaussian import log_ball_mass, weights_posterior
from dpbayes.regression import Moments
from dpbayes.validation import InputError

FloatArray = NDArray[np.float64]

_HALVINGS = 100


def exact_loss(
    first: Moments, second: Moments, *, prior_precision: float, noise_variance: float, norm_bound: float
) -> FloatArray:
    """Return the largest ln p(w | first) - ln p(w | second) of one draw over the ball: (...), at least 0.

    For one or two features, where ln Z is a quadrature; batch axes broadcast. Ordered: ask for both orders. Errors:
    InputError for more features, and for tables of different size.
    """
    masses = [
        log_ball_mass(
            weights_posterior(part, prior_precision=prior_precision, noise_variance=noise_variance), norm_bound
        )
        for part in (first, second)
    ]
    curvature, slope = _difference(first, second, noise_variance)
    loss = largest_in_ball(curvature, slope, norm_bound) - (masses[0] - masses[1])
    # Both densities integrate to one, so the largest loss is not negative; rounding may be.
    return np.maximum(loss, 0.0)


def likelihood_range(first: Moments, second: Moments, *, noise_variance: float, norm_bound: float) -> FloatArray:
    """Return by how much ln p(first | w) - ln p(second | w) varies over the ball: (...), for any number of features.

    ln Z - ln Z' lies within that range, so for one replaced record no loss exceeds it, whatever the other records are.
    """
    curvature, slope = _difference(first, second, noise_variance)
    return largest_in_ball(curvature, slope, norm_bound) + largest_in_ball(-curvature, -slope, norm_bound)


def largest_in_ball(curvature: ArrayLike, slope: ArrayLike, radius: ArrayLike) -> FloatArray:
    """Return the largest w'Aw/2 + g'w over ||w|| <= B for symmetric A (..., d, d) and g (..., d): (...).

    It equals the smallest, over nu >= 0 with nu I - A positive semi-definite, of g'(nu I - A)^-1 g/2 + nu B^2/2, which
    is convex in nu: strong duality holds for one quadratic constraint. Every such nu gives an upper bound.
    """
    bent, axes = np.linalg.eigh(np.asarray(curvature, dtype=np.float64))
    g = np.einsum("...ji,...j->...i", axes, np.asarray(slope, dtype=np.float64))
    bound = np.asarray(radius, dtype=np.float64)
    low = np.maximum(bent[..., -1], 0.0)
    # A hair above low, lest a slope that rounding left on the steepest axis be divided by nothing.
    high = low * (1 + 1e-15) + np.abs(g).sum(axis=-1) / bound
    low, high = (np.broadcast_to(end, np.broadcast_shapes(low.shape, high.shape)) for end in (low, high))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = np.hypot.reduce(_share(g, middle[..., None] - bent), axis=-1) > bound
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return ((g * _share(g, high[..., None] - bent)).sum(axis=-1) + high * bound**2) / 2


def _share(g: FloatArray, gap: FloatArray) -> FloatArray:
    """g/gap, where nothing over nothing is nothing."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(g, gap, out=np.zeros(np.broadcast_shapes(g.shape, gap.shape)), where=g != 0)


def _difference(first: Moments, second: Moments, noise_variance: float) -> tuple[FloatArray, FloatArray]:
    """Return A and g such that ln p(first | w) - ln p(second | w) = w'Aw/2 + g'w, up to a constant."""
    if first.n != second.n or first.d != second.d:
        raise InputError("Neighbours have the same number of records and features.")
    return (second.gram - first.gram) / noise_variance, (first.cross - second.cross) / noise_variance
