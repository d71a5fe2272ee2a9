"""The posterior of regression weights, and exact sampling of it inside a ball. [Zhang16] Appendix D, Lemma D.1.

A Gaussian N(mu, P^-1) truncated to ||w|| <= B is sampled by rejection, which is fast even if the ball contains almost
none of the Gaussian's mass. For any lambda >= 0 and every w in the ball

    exp(-(w - mu)'P(w - mu)/2) <= exp(-(w - mu)'P(w - mu)/2 + lambda (B^2 - ||w||^2)/2),

and the right side is proportional to a Gaussian with precision P + lambda I, whose mean m solves (P + lambda I) m = P
mu. A proposal from this Gaussian is accepted with probability exp(-lambda (B^2 - ||w||^2)/2) inside the ball, and never
outside. Accepted proposals follow the truncated Gaussian exactly for every lambda, without a Markov chain or a
fallback. lambda determines only the acceptance rate. It is chosen so that E||w||^2 = B^2 under the proposal, or 0 if
E||w||^2 is at most B^2 without it. At least about one proposal in sqrt(2 pi (d/2 + lambda B^2)) is then accepted, and
lambda B^2 <= d + B ||P mu||.

The number of proposals depends on the data, and so does the run time. This side channel is outside the guarantee.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.quadrature import DEPTH, log_integral, panel_rule, turning_point
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.regression import Moments

_BLOCK = 1 << 18
"""The number of coordinates in one batch of proposals."""


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(mu, P^-1) in the principal axes V of its precision: P = V diag(precisions) V', V' P mu = shifts.

    `axes` (..., d, d) has the axes as columns, `precisions` (..., d) is positive, and `shifts` has shape (..., d); the
    batch axes broadcast. Errors: InputError for other shapes, and for precisions that are not positive and finite.
    """

    axes: FloatArray
    precisions: FloatArray
    shifts: FloatArray

    def __post_init__(self) -> None:
        d = self.precisions.shape[-1]
        if self.axes.shape[-2:] != (d, d) or self.shifts.shape[-1:] != (d,):
            raise InputError("A Gaussian needs one precision, one shift and one axis for each of its dimensions.")
        if not (np.all(self.precisions > 0) and np.isfinite(self.precisions).all() and np.isfinite(self.shifts).all()):
            raise InputError("The precisions of a Gaussian must be positive, finite numbers.")

    @property
    def d(self) -> int:
        return self.precisions.shape[-1]

    @property
    def batch(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.axes.shape[:-2], self.precisions.shape[:-1], self.shifts.shape[:-1])

    @cached_property
    def mean(self) -> FloatArray:
        """mu: (..., d)."""
        return np.einsum("...ij,...j->...i", self.axes, self.shifts / self.precisions)

    @cached_property
    def precision(self) -> FloatArray:
        """P: (..., d, d)."""
        return (self.axes * self.precisions[..., None, :]) @ self.axes.swapaxes(-1, -2)

    def sample(self, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Sample from the Gaussian without truncation: (*size, ..., d)."""
        noise = rng.standard_normal((*size, *self.batch, self.d)) / np.sqrt(self.precisions)
        return np.einsum("...ij,...j->...i", self.axes, self.shifts / self.precisions + noise)


def weights_posterior(moments: Moments, *, prior_precision: ArrayLike, noise_variance: ArrayLike) -> Gaussian:
    """Return N(mu_n, P^-1): P = X'X/sigma^2 + b I and P mu_n = X'y/sigma^2, without truncation. [Zhang16] Lemma D.1.

    `prior_precision` b and `noise_variance` sigma^2 broadcast against the moments' batch. The axes are those of X'X, so
    P is accurate even if b is tiny. Errors: InputError unless both are positive and finite.
    """
    b, variance = _positive("The prior precision", prior_precision), _positive("The noise variance", noise_variance)
    spread, axes = np.linalg.eigh(moments.gram)
    precisions = np.maximum(spread, 0.0) / variance[..., None] + b[..., None]
    shifts = np.einsum("...ji,...j->...i", axes, moments.cross) / variance[..., None]
    return Gaussian(axes, precisions, shifts)


# Sampling inside the ball


@dataclass(frozen=True, eq=False)
class _Proposals:
    """For J posteriors: lambda (J,), B^2 (J,), and the mean and sd (J, d) of the proposals in principal axes."""

    tilt: FloatArray
    limit: FloatArray
    mean: FloatArray
    sd: FloatArray

    def draw(self, rng: np.random.Generator, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return proposals (k, d) for the posteriors `which` (k,), and B^2 - ||w||^2 (k,)."""
        points = self.mean[which] + self.sd[which] * rng.standard_normal((len(which), self.mean.shape[1]))
        return points, self.limit[which] - np.einsum("kd,kd->k", points, points)


def tilt(gaussian: Gaussian, radius: ArrayLike) -> FloatArray:
    """Return the lambda >= 0 of the module docstring: (...). `radius` B broadcasts against the batch."""
    limit = _radius(radius) ** 2
    squares = (gaussian.shifts**2).sum(axis=-1)
    d, precisions = gaussian.d, gaussian.precisions
    # There E||w||^2 <= d/lambda + ||P mu||^2/lambda^2 = B^2.
    high = (d + np.sqrt(d * d + 4 * limit * squares)) / (2 * limit)
    high = np.broadcast_to(high, np.broadcast_shapes(high.shape, gaussian.batch))

    def too_wide(more: FloatArray) -> BoolArray:
        return _mean_square(precisions + more[..., None], gaussian.shifts) > limit

    return np.where(too_wide(np.zeros(())), turning_point(too_wide, 0.0, high)[1], 0.0)


def sample_in_ball(
    gaussian: Gaussian, radius: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> FloatArray:
    """Sample the Gaussian truncated to ||w|| <= radius exactly: (*size, ..., d). `radius` broadcasts with the batch.

    The run time depends on the posterior and therefore on the data. Errors: InputError unless radii are positive and
    finite.
    """
    batch = np.broadcast_shapes(gaussian.batch, np.shape(radius))
    drawn = _accepted(_proposals(gaussian, radius), rng, math.prod(size))
    axes = np.broadcast_to(gaussian.axes, (*batch, gaussian.d, gaussian.d)).reshape(-1, gaussian.d, gaussian.d)
    weights = drawn @ axes.swapaxes(-1, -2)
    return np.moveaxis(weights, 0, 1).reshape(*size, *batch, gaussian.d)


def _proposals(gaussian: Gaussian, radius: ArrayLike) -> _Proposals:
    limit = _radius(radius) ** 2
    batch = np.broadcast_shapes(gaussian.batch, limit.shape)
    tilts = np.broadcast_to(tilt(gaussian, radius), batch)
    precisions = gaussian.precisions + tilts[..., None]
    flat = (math.prod(batch), gaussian.d)
    mean = np.broadcast_to(gaussian.shifts / precisions, (*batch, gaussian.d)).reshape(flat)
    limits = np.broadcast_to(limit, batch).ravel()
    return _Proposals(tilts.ravel(), limits, mean, 1 / np.sqrt(precisions).reshape(flat))


def _accepted(source: _Proposals, rng: np.random.Generator, wanted: int) -> FloatArray:
    """Return the first `wanted` accepted proposals of each of the J posteriors: (J, wanted, d)."""
    count, d = source.mean.shape
    accepted = np.empty((count, wanted, d))
    kept, tried = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    while np.any(missing := np.maximum(wanted - kept, 0)):
        # One in (tried + 2)/(kept + 1) has been accepted so far; a few extra proposals avoid another round.
        attempts = np.ceil(1.1 * missing * (tried + 2) / (kept + 1)) + 8
        most = max(1, _BLOCK // (d * np.count_nonzero(missing)))
        attempts = np.where(missing, np.minimum(attempts, most), 0).astype(np.int64)
        which = np.repeat(np.arange(count), attempts)
        points, short = source.draw(rng, which)
        keep = (short >= 0) & (rng.standard_exponential(len(which)) >= source.tilt[which] * short / 2)
        owner = which[keep]
        place = kept[owner] + np.arange(len(owner)) - np.searchsorted(owner, owner)
        needed = place < wanted
        accepted[owner[needed], place[needed]] = points[keep][needed]
        kept += np.bincount(owner, minlength=count)
        tried += attempts
    return accepted


def _mean_square(precisions: FloatArray, shifts: FloatArray) -> FloatArray:
    """E||w||^2 = sum over the axes of 1/p + (h/p)^2."""
    return (1 / precisions + (shifts / precisions) ** 2).sum(axis=-1)


# The mass inside the ball


_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=8)


def log_interval_mass(precision: ArrayLike, shift: ArrayLike, half_width: ArrayLike) -> FloatArray:
    """Return ln of the integral of exp(-p w^2/2 + h w) over [-c, c], elementwise, by quadrature around its mode."""
    p, h, c = (np.asarray(part, dtype=np.float64) for part in (precision, shift, half_width))
    mode = np.clip(h / p, -c, c)
    slope = np.where(np.abs(h) < p * c, 0.0, np.abs(h - p * mode))
    most = 2 * DEPTH / (slope + np.sqrt(slope * slope + 2 * p * DEPTH))
    total = np.zeros(np.broadcast_shapes(p.shape, h.shape, c.shape))
    for room in (c - mode, c + mode):
        width = np.minimum(most, room)
        steps = width[..., None] * _SHARES
        drop = steps * (slope[..., None] + p[..., None] * steps / 2)
        total = total + width * (np.exp(-drop) @ _WEIGHTS)
    return mode * (h - p * mode / 2) + np.log(total)


def log_ball_mass(gaussian: Gaussian, radius: ArrayLike) -> FloatArray:
    """Return ln of the integral of exp(-w'Pw/2 + (P mu)'w) over ||w|| <= radius, for one or two dimensions: (...).

    In two dimensions, w = B sin(phi) along one principal axis, and `log_interval_mass` integrates over the
    perpendicular chord. The integrand has one peak, because it is log-concave in w. Errors: InputError for more
    dimensions.
    """
    bound, p, h = _radius(radius), gaussian.precisions, gaussian.shifts
    if gaussian.d > 2:
        raise InputError("The mass inside a ball is computed for one or two weights only.")
    if gaussian.d == 1:
        return log_interval_mass(p[..., 0], h[..., 0], bound)
    batch = np.broadcast_shapes(gaussian.batch, bound.shape)
    p, h = (np.broadcast_to(part, (*batch, 2))[..., None, :] for part in (p, h))
    wide = np.broadcast_to(bound, batch)[..., None]

    def log_integrand(phi: FloatArray) -> FloatArray:
        along, chord = wide * np.sin(phi), wide * np.cos(phi)
        return (
            along * (h[..., 0] - p[..., 0] * along / 2) + np.log(chord) + log_interval_mass(p[..., 1], h[..., 1], chord)
        )

    return log_integral(log_integrand, np.full(batch, math.pi / 2))


def _radius(radius: ArrayLike) -> FloatArray:
    return _positive("The radius", radius)


def _positive(name: str, value: ArrayLike) -> FloatArray:
    values = np.asarray(value, dtype=np.float64)
    if not (np.all(values > 0) and np.isfinite(values).all()):
        raise InputError(f"{name} must be a positive, finite number.")
    return values
