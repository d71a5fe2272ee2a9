"""Exact privacy of draws from a Gaussian posterior cut to a ball, for moments that differ in one record.

The loss at w is a quadratic minus ln Z - ln Z'. N independent draws lose N times as much.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import log_integral, turning_point
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError
from dpbayes.model.regression import Moments
from dpbayes.posteriors.gaussian import Gaussian, log_ball_mass, weights_posterior


def exact_loss(
    first: Moments,
    second: Moments,
    *,
    prior_precision: float,
    noise_variance: float,
    norm_bound: float,
    spare: int = 0,
) -> FloatArray:
    """Return the largest ln p(w | first) - ln p(w | second) of one draw over the ball: (...), at least 0.

    For one or two features, where ln Z is a quadrature; batch axes broadcast. With one feature there may be `spare`
    further ones that are zero in every record. Ordered: ask for both orders. Errors: InputError for more features, and
    for tables of different size.
    """
    masses = [
        log_posterior_mass(
            part, prior_precision=prior_precision, noise_variance=noise_variance, norm_bound=norm_bound, spare=spare
        )
        for part in (first, second)
    ]
    curvature, slope = likelihood_difference(first, second, noise_variance)
    loss = largest_in_ball(curvature, slope, norm_bound) - (masses[0] - masses[1])
    # Both densities integrate to one, so the largest loss is not negative; rounding may be.
    return np.maximum(loss, 0.0)


def log_posterior_mass(
    table: Moments, *, prior_precision: float, noise_variance: float, norm_bound: float, spare: int = 0
) -> FloatArray:
    """Return ln Z of a table's posterior (...), less what depends on b, B and the number of weights alone.

    Errors: InputError for more than two features, and for two with `spare` ones.
    """
    posterior = weights_posterior(table, prior_precision=prior_precision, noise_variance=noise_variance)
    if not spare:
        return log_ball_mass(posterior, norm_bound)
    if posterior.d > 1 or posterior.batch:
        raise InputError("The mass with zero features is computed only for a single table with one other feature.")
    return np.asarray(_log_mass_beside(posterior, norm_bound, prior_precision, spare))


def _log_mass_beside(posterior: Gaussian, bound: float, prior_precision: float, spare: int) -> float:
    """ln of the integral over |w| <= B of exp(-p w^2/2 + h w) P(chi^2 of the other weights <= b (B^2 - w^2))."""
    p, h = float(posterior.precisions[0]), float(posterior.shifts[0])

    def log_f(angle: FloatArray) -> FloatArray:
        along, across = bound * np.sin(angle), bound * np.cos(angle)
        inside = _log_lower_gamma(spare / 2, prior_precision * across**2 / 2)
        return along * (h - p * along / 2) + np.log(across) + inside

    return float(log_integral(log_f, np.asarray(math.pi / 2)))


def _log_lower_gamma(shape: float, x: FloatArray) -> FloatArray:
    """ln of the regularised lower incomplete gamma function, by its series where it is too small for a float."""
    value = special.gammainc(shape, x)
    series = shape * np.log(x) - x - special.gammaln(shape + 1)
    small = value < 1e-280
    tail = np.log(special.hyp1f1(1.0, shape + 1, np.where(small, x, 0.0)))
    return np.where(small, series + tail, np.log(np.where(small, 1.0, value)))


def largest_in_ball(curvature: ArrayLike, slope: ArrayLike, radius: ArrayLike) -> FloatArray:
    """Return the largest w'Aw/2 + g'w over ||w|| <= B for symmetric A (..., d, d) and g (..., d): (...).

    It equals the smallest, over nu >= 0 with nu I - A positive semi-definite, of g'(nu I - A)^-1 g/2 + nu B^2/2, which
    is convex in nu: strong duality holds for one quadratic constraint. Every such nu gives an upper bound.
    """
    bent, axes = np.linalg.eigh(np.asarray(curvature, dtype=np.float64))
    g = np.einsum("...ji,...j->...i", axes, np.asarray(slope, dtype=np.float64))
    bound = np.asarray(radius, dtype=np.float64)
    low = np.maximum(bent[..., -1], 0.0)
    # Slightly above low, so that a rounding error of the slope on the steepest axis is not divided by zero.
    high = low * (1 + 1e-15) + np.abs(g).sum(axis=-1) / bound

    def outside(nu: FloatArray) -> BoolArray:
        return np.asarray(np.hypot.reduce(_share(g, nu[..., None] - bent), axis=-1) > bound)

    _, high = turning_point(outside, low, high, halvings=100)
    return ((g * _share(g, high[..., None] - bent)).sum(axis=-1) + high * bound**2) / 2


def _share(g: FloatArray, gap: FloatArray) -> FloatArray:
    """g/gap, where nothing over nothing is nothing."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(g, gap, out=np.zeros(np.broadcast_shapes(g.shape, gap.shape)), where=g != 0)


def likelihood_difference(first: Moments, second: Moments, noise_variance: float) -> tuple[FloatArray, FloatArray]:
    """Return A and g such that ln p(first | w) - ln p(second | w) = w'Aw/2 + g'w, up to a constant.

    Errors: InputError for tables of different size.
    """
    if first.n != second.n or first.d != second.d:
        raise InputError("Neighbours have the same number of records and features.")
    return (second.gram - first.gram) / noise_variance, (first.cross - second.cross) / noise_variance
