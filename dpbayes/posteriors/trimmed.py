"""The Beta distribution trimmed to an interval: its mass and its inverse distribution function, without rejection.

On the scale of log-odds z = ln(theta / (1 - theta)) the density of Beta(a, b) is log-concave for all a, b > 0,

    g(z) = a ln s(z) + b ln s(-z),    s(z) = 1 / (1 + exp(-z)),

so its largest value inside the interval is at m, the mode ln(a/b) moved to the interval's nearer end if it lies
outside. All densities are taken relative to that at m, as exp(-drop(z - m)), where with n = a + b and p = s(m)

    drop(d) = n [ln(1 + p (exp(d) - 1)) - p d] - d [a - n p] >= 0,

which is evaluated without cancellation: an interval that holds none of the distribution's bulk is as easy as any other.
The stretch where drop <= DEPTH = 40 is cut into panels, a 12-point Gauss-Legendre rule gives each panel's mass, and the
polynomial through its nodes, integrated, gives the distribution function inside it. By concavity the part left out is
at most exp(-DEPTH) / (1 - exp(-DEPTH)) < 5e-18 of the whole. Tests hold the distribution function to 1e-14 of the
true one, plus what rounding z itself to double precision changes. The work done is the same for every a and b: neither
the run time nor a fallback depends on the data.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.bisection import turning_point
from dpbayes.base.quadrature import DEPTH, panel_rule
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.posteriors.divergence import log1p_excess

LEAST_OMEGA = 1e-300
"""Smallest omega taken; log-odds are then within +-691."""

_NODES = 12
_EVEN, _ARC = 16, 12
"""Panels on either side of m that are even in z, and even in arcsin(sqrt(theta)), on which Beta laws are alike."""

_ROWS, _DRAWS = 512, 1 << 14
"""Distributions and draws handled at a time, so that tables stay in the processor's cache."""

_HALVINGS = 14
"""Of the logarithm of a ratio below 1e13, which leaves less than 0.2%."""

_NEWTON = 3
_BELOW_ONE = 1 - 2.0**-53
_EXP_EXCESS = [1 / math.factorial(k + 2) for k in range(14)]


def log_odds_bound(omega: float) -> float:
    """Return ln((1 - omega)/omega), the largest log-odds in [omega, 1 - omega].

    Errors: InputError unless LEAST_OMEGA <= omega < 1/2.
    """
    value = finite_number("omega", omega, low=LEAST_OMEGA, high=0.5)
    if value == 0.5:
        raise InputError("omega must be below 1/2: at 1/2 nothing but even odds is left.")
    # Near 1/2 the logarithms would cancel, and 1 - 2 omega is exact.
    return 2 * math.atanh(1 - 2 * value) if value > 0.25 else math.log1p(-value) - math.log(value)


def log_mass(a: ArrayLike, b: ArrayLike, omega: float) -> FloatArray:
    """Return ln of the integral of theta^(a-1) (1-theta)^(b-1) over [omega, 1 - omega], elementwise.

    It is ln(B(a, b) (I_{1-omega}(a, b) - I_omega(a, b))), but finite where those are equal to every digit. The error
    is about 1e-15 of the answer plus 1e-15.
    """
    bound = log_odds_bound(omega)
    return log_mass_between(a, b, -bound, bound)


def log_mass_between(a: ArrayLike, b: ArrayLike, low: float, high: float) -> FloatArray:
    """Return ln of the integral of s(z)^a s(-z)^b over [low, high] in log-odds, elementwise; see `log_mass`."""
    first, second, shape = _positive_pair(a, b)
    log_masses = np.empty(len(first))
    for rows in _blocks(len(first), _ROWS):
        log_masses[rows] = _panels(first[rows], second[rows], low, high).log_mass
    return log_masses.reshape(shape)


def log_odds_quantile(u: ArrayLike, a: ArrayLike, b: ArrayLike, bound: float) -> FloatArray:
    """Return the log-odds z in [-bound, bound] below which Beta(a, b), trimmed to there, has probability u.

    `u` is (*size, ...) for a and b that broadcast to (...). Given uniform u these are exact draws: continuous and
    rising in u, equal to -z for 1 - u and a, b exchanged.
    """
    first, second, shape = _positive_pair(a, b)
    levels = _levels(u, shape)
    log_odds = np.empty(levels.shape)
    for rows in _blocks(len(first), _ROWS):
        panels = _panels(first[rows], second[rows], -bound, bound)
        own = np.arange(rows.stop - rows.start)
        for draws in _blocks(len(levels), max(1, _DRAWS // len(own))):
            log_odds[draws, rows] = panels.inverse(levels[draws, rows], own)
    return np.clip(log_odds, -bound, bound).reshape(np.shape(u))


def log_odds_quantile_by_law(u: ArrayLike, a: ArrayLike, b: ArrayLike, bound: float) -> FloatArray:
    """Return `log_odds_quantile`, digit for digit, with work for each distinct pair of a and b and not for each row.

    How much work that is, a and b decide: it is for those who simulate with data that they hold. What releases them
    must not betray them by its run time. Errors: those of `log_odds_quantile`.
    """
    first, second, shape = _positive_pair(a, b)
    levels = _levels(u, shape)
    first, second, place = distinct_pairs(first, second)
    log_odds, order = np.empty(levels.shape), np.argsort(place, kind="stable")
    for block in _blocks(len(first), _ROWS):
        panels = _panels(first[block], second[block], -bound, bound)
        rows_of_these = order[slice(*np.searchsorted(place[order], (block.start, block.stop)))]
        for rows in (rows_of_these[part] for part in _blocks(len(rows_of_these), _DRAWS)):
            for draws in _blocks(len(levels), max(1, _DRAWS // len(rows))):
                log_odds[draws, rows] = panels.inverse(levels[draws, rows], place[rows] - block.start)
    return np.clip(log_odds, -bound, bound).reshape(np.shape(u))


def distinct_pairs(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the distinct pairs of a and b (rows,), two arrays, and the place among them of every row's (rows,)."""
    first, of_a = pd.factorize(a)
    second, of_b = pd.factorize(b)
    place, pairs = pd.factorize(first * len(of_b) + second)
    return of_a[pairs // len(of_b)], of_b[pairs % len(of_b)], place


def _levels(u: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return levels (*size, ...) as (draws, rows), for parameters of shape (...)."""
    levels = np.asarray(u, dtype=np.float64)
    size = levels.shape[: levels.ndim - len(shape)]
    if levels.shape != (*size, *shape):
        raise ValueError(f"Levels of shape {levels.shape} do not end with the parameters' shape {shape}.")
    return levels.reshape(math.prod(size), math.prod(shape))


def expm1_excess(d: ArrayLike) -> FloatArray:
    """Return exp(d) - 1 - d >= 0 without cancellation."""
    d = np.asarray(d, dtype=np.float64)
    near = np.abs(d) < 0.5
    small = np.where(near, d, 0.0)
    return np.where(near, small * small * np.polynomial.polynomial.polyval(small, _EXP_EXCESS), np.expm1(d) - d)


# Panels


@dataclass(frozen=True, eq=False)
class _Panels:
    """The distribution functions of R trimmed Betas, reflected so that m <= 0; P panels each, from left to right."""

    flipped: BoolArray
    mode: FloatArray
    edges: FloatArray
    """(R, P + 1), as distances from m."""
    slopes: FloatArray
    """(R, P): how much the log density rises across a panel."""
    levels: FloatArray
    """(R, P + 1): the distribution function at the edges."""
    polynomials: FloatArray
    """(_NODES + 1, R, P): the share of a panel's mass to the left of x in [-1, 1], as coefficients of x^k."""
    log_mass: FloatArray

    def inverse(self, u: FloatArray, row: IntArray) -> FloatArray:
        """Return the quantiles (draws, n) at levels u (draws, n) of the distributions at some places (n,) of the R."""
        flipped = self.flipped[row]
        u = np.minimum(np.where(flipped, 1 - u, u), _BELOW_ONE)
        panel = self._panel_of(u, row)
        count = self.slopes.shape[1]
        edge = panel + row * (count + 1)
        cell = panel + row * count
        start, end = self.levels.ravel()[edge], self.levels.ravel()[edge + 1]
        share = np.clip((u - start) / (end - start), 0.0, 1.0)
        x = self._invert_within(share, cell)
        left, right = self.edges.ravel()[edge], self.edges.ravel()[edge + 1]
        z = self.mode[row] + (left + (right - left) * ((x + 1) / 2))
        return np.where(flipped, -z, z)

    def _panel_of(self, u: FloatArray, row: IntArray) -> IntArray:
        """Find the last panel whose left level is at most u, by bisection: its right level is then above u."""
        count = self.slopes.shape[1]
        width = 1 << (count - 1).bit_length()
        starts = np.full((len(self.mode), width), np.inf)
        starts[:, :count] = self.levels[:, :-1]
        flat = starts.ravel()
        first = np.broadcast_to(row * width, u.shape)
        panel = first.copy()
        step = width // 2
        while step:
            panel += step * (flat[panel + step] <= u)
            step //= 2
        return panel - first

    def _invert_within(self, share: FloatArray, cell: IntArray) -> FloatArray:
        # A log density that is straight across the panel gives the first guess; three Newton steps are then plenty.
        slope = self.slopes.ravel()[cell]
        x = 2 * np.log1p(share * np.expm1(slope)) / slope - 1
        coefficients = self.polynomials.reshape(_NODES + 1, -1)
        for _ in range(_NEWTON):
            value = coefficients[_NODES][cell]
            derivative = np.zeros_like(x)
            for k in range(_NODES - 1, -1, -1):
                derivative *= x
                derivative += value
                value *= x
                value += coefficients[k][cell]
            value -= share
            value /= derivative
            x -= value
            np.clip(x, -1.0, 1.0, out=x)
        return x


def _panels(a: FloatArray, b: FloatArray, low: float, high: float) -> _Panels:
    mode = np.clip(np.log(a) - np.log(b), low, high)
    flipped = mode > 0
    a, b = np.where(flipped, b, a), np.where(flipped, a, b)
    mode, left, right = -np.abs(mode), np.where(flipped, -high, low), np.where(flipped, -low, high)
    curve = _Curve(mode, a, b, inside=(left < mode) & (mode < right))
    panels = max(2, math.ceil(2 * (math.asinh(high / np.pi) - math.asinh(low / np.pi))))
    below = _breaks(curve, -1, curve.extent(left - mode), panels)
    above = _breaks(curve, 1, curve.extent(right - mode), panels)
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
    slopes = np.where(np.abs(slopes) < 1e-6, 1e-6, slopes)  # a first guess needs no more, and must not divide by 0
    log_mass = a * special.log_expit(mode) + b * special.log_expit(-mode) + np.log(total)
    return _Panels(flipped, mode, edges, slopes, levels, np.ascontiguousarray(polynomials), log_mass)


class _Curve:
    """The log densities' drop from their value at m, for R distributions with m <= 0."""

    def __init__(self, mode: FloatArray, a: FloatArray, b: FloatArray, *, inside: BoolArray) -> None:
        self.mode, self.total, self.p = mode, a + b, special.expit(mode)
        self.slope = np.where(inside, 0.0, a * special.expit(-mode) - b * self.p)

    def drop(self, d: FloatArray) -> FloatArray:
        """Return the drop at distances d (R, ...) from m."""
        across = (slice(None), *(None,) * (d.ndim - 1))
        p, mode = self.p[across], self.mode[across]
        near = np.abs(d) < 1
        small = np.where(near, d, 0.0)
        close = p * expm1_excess(small) - log1p_excess(p * np.expm1(small))
        far = np.logaddexp(0, mode + d) - np.logaddexp(0, mode) - p * d
        return self.total[across] * np.where(near, close, far) - self.slope[across] * d

    def extent(self, limit: FloatArray) -> FloatArray:
        """Return how far from m to go on one side: to DEPTH, or to the interval's end at signed distance `limit`.

        A little further than DEPTH does no harm, so that few halvings of the ratio of two bounds are enough.
        """
        far = np.abs(limit)
        # The drop rises from m with `steep` and bends by at most total/4: nearer than this it cannot be DEPTH.
        steep = np.abs(self.slope)
        near = np.minimum(2 * DEPTH / (steep + np.sqrt(steep * steep + DEPTH * self.total / 2)), far)

        def between(share: FloatArray) -> FloatArray:
            return near ** (1 - share) * far**share

        _, end = turning_point(
            lambda share: self.drop(np.sign(limit) * between(share)) <= DEPTH,
            np.zeros(far.shape),
            1.0,
            halvings=_HALVINGS,
        )
        return between(end)


def _breaks(curve: _Curve, sign: int, extent: FloatArray, panels: int) -> FloatArray:
    """Return rising distances from m, from 0 to `extent`: (R, panels of all three kinds).

    Even steps in z resolve an exponential, even steps in arcsin(sqrt(theta)) a normal or a gamma law, and even steps in
    asinh(z/pi) the poles of s at z = +-i pi. Any partition is valid; this one makes the polynomials accurate.
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


def _positive_pair(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    first, second = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    for values in (first, second):
        if not (np.all(values > 0) and np.all(np.isfinite(values))):
            raise InputError("Both parameters of a Beta distribution must be positive, finite numbers.")
    return first.ravel(), second.ravel(), first.shape


def _blocks(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]
