"""The Beta distribution trimmed to an interval: mass, quantiles without rejection, and expectations, by quadrature.

Tests require an error of the distribution function of at most 1e-14, plus the effect of rounding log-odds to double
precision. The work for a distribution is the same for every a and b.

On the scale of log-odds z = ln(theta / (1 - theta)) the density of Beta(a, b) is log-concave for all a, b > 0,

    g(z) = a ln s(z) + b ln s(-z),    s(z) = 1 / (1 + exp(-z)),

so its maximum inside the interval is at m: the mode ln(a/b), or the nearer end of the interval if the mode is outside.
Densities are computed relative to the density at m, as exp(-drop(z - m)), where with n = a + b and p = s(m)

    drop(d) = n [ln(1 + p (exp(d) - 1)) - p d] - d [a - n p] >= 0,

which is evaluated without cancellation, even for an interval that contains almost none of the mass. The range with drop
<= DEPTH = 40 is divided into panels. A 12-point Gauss-Legendre rule gives each panel's mass, and the integral of the
polynomial through its nodes gives the distribution function inside the panel. By concavity, the omitted mass is at most
exp(-DEPTH) / (1 - exp(-DEPTH)) < 5e-18 of the total.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.libraries import pd
from dpbayes.base.quadrature import DEPTH, last_reached, panel_rule, turning_point
from dpbayes.base.steps import slices
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.posteriors.divergence import expm1_excess, log1p_excess

LEAST_OMEGA = 1e-300
"""The smallest accepted omega; log-odds are then within +-691."""

_ROWS, _DRAWS = 512, 1 << 14
"""Distributions and draws in one step, few enough for the processor's cache."""

_NODES = 12
_EVEN, _ARC = 16, 12
"""Panels on each side of m that are even in z, and even in arcsin(sqrt(theta)), a scale that suits Betas."""

_HALVINGS = 14
"""Halvings of the logarithm of a ratio below 1e13, which leave an error below 0.2%."""

_NEWTON = 3
_BELOW_ONE = 1 - 2.0**-53


def log_odds_bound(omega: float) -> float:
    """Return ln((1 - omega)/omega), the largest log-odds in [omega, 1 - omega].

    Errors: InputError unless LEAST_OMEGA <= omega < 1/2.
    """
    value = finite_number("omega", omega, low=LEAST_OMEGA, high=0.5)
    if value == 0.5:
        raise InputError("omega must be below 1/2; at 1/2 only even odds are allowed.")
    # Near 1/2, where a logarithm of the odds would cancel, 1 - 2 omega is exact.
    return math.log1p((1 - 2 * value) / value)


def log_mass(a: ArrayLike, b: ArrayLike, omega: float) -> FloatArray:
    """Return ln of the integral of theta^(a-1) (1-theta)^(b-1) over [omega, 1 - omega], elementwise.

    The value is ln(B(a, b) (I_{1-omega}(a, b) - I_omega(a, b))), and is finite even if the two I are equal in double
    precision. The error is about 1e-15, relative plus absolute.
    """
    bound = log_odds_bound(omega)
    return log_mass_between(a, b, -bound, bound)


def log_mass_between(a: ArrayLike, b: ArrayLike, low: float, high: float) -> FloatArray:
    """Return ln of the integral of s(z)^a s(-z)^b over log-odds z in [low, high], elementwise; see `log_mass`.

    s(z) = 1 / (1 + exp(-z)).
    """
    first, second, shape = _positive_pair(a, b)
    log_masses = np.empty(len(first))
    for rows in slices(len(first), _ROWS):
        log_masses[rows] = panels_of(first[rows], second[rows], low, high).log_mass
    return log_masses.reshape(shape)


def distinct_log_mass(a: FloatArray, b: FloatArray, bound: float) -> FloatArray:
    """Return `log_mass_between` of -bound and bound; equal pairs of a and b and mirrored ones are integrated once."""
    pairs, place = np.unique(np.minimum(a, b).ravel() + 1j * np.maximum(a, b).ravel(), return_inverse=True)
    return log_mass_between(pairs.real, pairs.imag, -bound, bound)[place].reshape(a.shape)


def log_odds_quantile(u: ArrayLike, a: ArrayLike, b: ArrayLike, bound: float) -> FloatArray:
    """Return the log-odds z in [-bound, bound] below which Beta(a, b), trimmed to this interval, has probability u.

    `u` is (*size, ...) for a and b that broadcast to (...). For uniform u, the values are exact samples. They are
    continuous and increasing in u, and equal -z for 1 - u with a and b exchanged. Rows with equal a and b share the
    computation, so the run time depends on how many are different.
    """
    first, second, shape = _positive_pair(a, b)
    levels = _levels(u, shape)
    first, second, place = distinct_pairs(first, second)
    log_odds, order = np.empty(levels.shape), np.argsort(place, kind="stable")
    for block in slices(len(first), _ROWS):
        panels = panels_of(first[block], second[block], -bound, bound)
        rows_of_these = order[slice(*np.searchsorted(place[order], (block.start, block.stop)))]
        for rows in (rows_of_these[part] for part in slices(len(rows_of_these), _DRAWS)):
            for draws in slices(len(levels), _DRAWS // len(rows)):
                log_odds[draws, rows] = panels.inverse(levels[draws, rows], place[rows] - block.start)
    return np.clip(log_odds, -bound, bound).reshape(np.shape(u))


def distinct_pairs(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the distinct pairs of a and b (rows,) as two arrays, and the index of every row's pair (rows,)."""
    first, of_a = pd.factorize(a)
    second, of_b = pd.factorize(b)
    place, pairs = pd.factorize(first * len(of_b) + second)
    return of_a[pairs // len(of_b)], of_b[pairs % len(of_b)], place


@dataclass(frozen=True, eq=False)
class LogOdds:
    """A quadrature rule for z = logit theta, theta ~ Beta(a, b) trimmed to |z| <= bound: nodes and weights (..., Q)."""

    nodes: FloatArray
    weights: FloatArray
    log_mass: FloatArray
    """ln of the integral of s(z)^a s(-z)^b over the interval: (...,)."""

    def mean(self, values: FloatArray) -> FloatArray:
        """Return the expectation of a function from its values at the nodes (..., Q): (...,)."""
        return np.asarray((self.weights * values).sum(axis=-1))


def log_odds_rule(a: ArrayLike, b: ArrayLike, bound: ArrayLike = math.inf) -> LogOdds:
    """Return the rule for broadcast a, b > 0 and bound > 0, infinite for no trimming."""
    first, second, bounds = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (a, b, bound)))
    end = np.minimum(bounds, 50 + 50 / np.minimum(first, second)).ravel()  # almost no mass is beyond
    panels = panels_of(first.ravel(), second.ravel(), -end, end)
    z = panels.mode[:, None, None] + panels.points
    nodes = np.where(panels.flipped[:, None, None], -z, z)
    shape = (*first.shape, nodes.shape[1] * nodes.shape[2])
    return LogOdds(nodes.reshape(shape), panels.shares.reshape(shape), panels.log_mass.reshape(first.shape))


def _levels(u: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return levels (*size, ...) as (draws, rows), for parameters of shape (...)."""
    levels = np.asarray(u, dtype=np.float64)
    size = levels.shape[: levels.ndim - len(shape)]
    if levels.shape != (*size, *shape):
        raise ValueError(f"Levels of shape {levels.shape} do not end with the parameters' shape {shape}.")
    return levels.reshape(math.prod(size), math.prod(shape))


def _positive_pair(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    first, second = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    for values in (first, second):
        if not (np.all(values > 0) and np.all(np.isfinite(values))):
            raise InputError("Both parameters of a Beta distribution must be positive, finite numbers.")
    return first.ravel(), second.ravel(), first.shape


# Panels


@dataclass(frozen=True, eq=False)
class Panels:
    """The distribution functions of R trimmed Betas, reflected so that m <= 0; P panels each, from left to right."""

    flipped: BoolArray
    mode: FloatArray
    edges: FloatArray
    """(R, P + 1): distances from m."""
    slopes: FloatArray
    """(R, P): the increase of the log density across a panel."""
    levels: FloatArray
    """(R, P + 1): the distribution function at the edges."""
    polynomials: FloatArray
    """(_NODES + 1, R, P): the share of a panel's mass to the left of x in [-1, 1], as coefficients of x^k."""
    log_mass: FloatArray
    points: FloatArray
    """(R, P, _NODES): distances from m of the nodes of quadrature."""
    shares: FloatArray
    """(R, P, _NODES): their weights, with sum 1."""

    def inverse(self, u: FloatArray, row: IntArray) -> FloatArray:
        """Return the quantiles (draws, n) at levels u (draws, n) of the distributions with these indices (n,)."""
        flipped = self.flipped[row]
        u = np.minimum(np.where(flipped, 1 - u, u), _BELOW_ONE)
        panel = last_reached(self.levels[:, :-1], u, row)  # its left level is at most u, and the right one is above
        count = self.slopes.shape[1]
        edge = panel + row * (count + 1)
        cell = panel + row * count
        start, end = self.levels.ravel()[edge], self.levels.ravel()[edge + 1]
        share = np.clip((u - start) / (end - start), 0.0, 1.0)
        x = self._invert_within(share, cell)
        left, right = self.edges.ravel()[edge], self.edges.ravel()[edge + 1]
        z = self.mode[row] + (left + (right - left) * ((x + 1) / 2))
        return np.where(flipped, -z, z)

    def _invert_within(self, share: FloatArray, cell: IntArray) -> FloatArray:
        # A log density that is linear across the panel gives the initial value; three Newton steps then suffice.
        slope = self.slopes.ravel()[cell]
        x = 2 * np.log1p(share * np.expm1(slope)) / slope - 1
        coefficients = self.polynomials.reshape(_NODES + 1, -1)
        for _ in range(_NEWTON):
            value = coefficients[_NODES][cell]
            derivative = np.zeros_like(x)
            for k in range(_NODES - 1, -1, -1):
                derivative = derivative * x + value
                value = value * x + coefficients[k][cell]
            x = np.clip(x - (value - share) / derivative, -1.0, 1.0)
        return x


def panels_of(a: FloatArray, b: FloatArray, low: ArrayLike, high: ArrayLike) -> Panels:
    """Return the distribution functions of Beta(a, b), both (R,), trimmed to log-odds in [low, high]."""
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), a.shape) for end in (low, high))
    mode = np.clip(np.log(a) - np.log(b), low, high)
    flipped = mode > 0
    a, b = np.where(flipped, b, a), np.where(flipped, a, b)
    mode, left, right = -np.abs(mode), np.where(flipped, -high, low), np.where(flipped, -low, high)
    curve = _DensityDrop(mode, a, b, inside=(left < mode) & (mode < right))
    panels = max(2, math.ceil(2 * (np.arcsinh(high / np.pi) - np.arcsinh(low / np.pi)).max(initial=0.0)))
    down, up = curve.extent(np.stack([left - mode, right - mode], axis=1)).T
    below, above = _breaks(curve, -1, down, panels), _breaks(curve, 1, up, panels)
    edges = np.concatenate([-below[:, ::-1], above[:, 1:]], axis=1)
    widths = np.diff(edges)
    points = edges[:, :-1, None] + widths[..., None] * _SHARES
    density = np.exp(-curve.drop(points))
    legendre = density @ _TO_LEGENDRE
    masses = widths * legendre[..., 0]
    levels = np.concatenate([np.zeros((len(a), 1)), np.cumsum(masses, axis=1)], axis=1)
    total = levels[:, -1].copy()
    levels /= total[:, None]
    polynomials = np.moveaxis((legendre / (2 * legendre[..., :1])) @ _TO_INTEGRAL, -1, 0)
    slopes = -np.diff(curve.drop(edges))
    slopes = np.where(np.abs(slopes) < 1e-6, 1e-6, slopes)  # sufficient for an initial value, and avoids division by 0
    log_mass = a * special.log_expit(mode) + b * special.log_expit(-mode) + np.log(total)
    shares = widths[..., None] * density * (_TO_LEGENDRE[:, 0] / total[:, None, None])
    polynomials = np.ascontiguousarray(polynomials)
    return Panels(flipped, mode, edges, slopes, levels, polynomials, log_mass, points, shares)


class _DensityDrop:
    """The decrease of the log densities from their value at m, for R distributions with m <= 0."""

    def __init__(self, mode: FloatArray, a: FloatArray, b: FloatArray, *, inside: BoolArray) -> None:
        self.mode, self.total, self.p = mode, a + b, special.expit(mode)
        self.slope = np.where(inside, 0.0, a * special.expit(-mode) - b * self.p)

    def drop(self, d: FloatArray) -> FloatArray:
        """Return the decrease at distances d (R, ...) from m."""
        across = (slice(None), *(None,) * (d.ndim - 1))
        p, mode = self.p[across], self.mode[across]
        near = np.abs(d) < 1
        small = np.where(near, d, 0.0)
        close = p * expm1_excess(small) - log1p_excess(p * np.expm1(small))
        far = np.logaddexp(0, mode + d) - np.logaddexp(0, mode) - p * d
        return self.total[across] * np.where(near, close, far) - self.slope[across] * d

    def extent(self, limit: FloatArray) -> FloatArray:
        """Return the extent on each side of m: to DEPTH, or to the interval's ends at signed distances (R, 2).

        The extent may slightly exceed DEPTH, so a few halvings of the ratio of two bounds suffice.
        """
        far = np.abs(limit)
        # The drop has slope `steep` at m and curvature at most total/4, so it cannot reach DEPTH closer than this.
        steep = np.abs(self.slope)[:, None]
        near = np.minimum(2 * DEPTH / (steep + np.sqrt(steep * steep + DEPTH * self.total[:, None] / 2)), far)

        def between(share: FloatArray) -> FloatArray:
            return near ** (1 - share) * far**share

        _, end = turning_point(
            lambda share: self.drop(np.sign(limit) * between(share)) <= DEPTH,
            np.zeros(far.shape),
            1.0,
            halvings=_HALVINGS,
        )
        return between(end)


def _breaks(curve: _DensityDrop, sign: int, extent: FloatArray, panels: int) -> FloatArray:
    """Return increasing distances from m, from 0 to `extent`: (R, panels of all three kinds).

    Even steps in z resolve an exponential distribution, even steps in arcsin(sqrt(theta)) a normal or gamma
    distribution, and even steps in asinh(z/pi) the poles of s at z = +-i pi. Any partition is valid; with this one the
    polynomials are accurate.
    """
    mode, end = curve.mode[:, None], (curve.mode + sign * extent)[:, None]
    even = extent[:, None] * _interior(_EVEN)
    arc, arc_end = (np.arctan(np.exp(np.clip(z, -1000, 1000) / 2)) for z in (mode, end))
    arcs = 2 * np.log(np.tan(np.maximum(arc + (arc_end - arc) * _interior(_ARC), 1e-300))) - mode
    turn, turn_end = np.arcsinh(mode / np.pi), np.arcsinh(end / np.pi)
    turns = np.pi * np.sinh(turn + (turn_end - turn) * _interior(panels)) - mode
    inner = np.clip(np.concatenate([even, sign * arcs, sign * turns], axis=1), 0.0, extent[:, None])
    return np.concatenate([np.zeros_like(mode), np.sort(inner, axis=1), extent[:, None]], axis=1)


def _interior(panels: int) -> FloatArray:
    return np.arange(1, panels) / panels


def _rules() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return nodes in [0, 1], values -> Legendre coefficients, and those -> monomials of the integral from -1."""
    shares, weights = panel_rule(nodes=_NODES)
    degrees = np.arange(_NODES)
    to_legendre = weights[:, None] * np.polynomial.legendre.legvander(2 * shares - 1, _NODES - 1) * (2 * degrees + 1)
    integrals = np.zeros((_NODES, _NODES + 1))
    for k in degrees:
        series = np.polynomial.legendre.legint(np.eye(_NODES)[k], lbnd=-1)
        monomials = np.polynomial.legendre.leg2poly(series[: k + 2])
        integrals[k, : len(monomials)] = monomials
    return shares, to_legendre, integrals


_SHARES, _TO_LEGENDRE, _TO_INTEGRAL = _rules()
