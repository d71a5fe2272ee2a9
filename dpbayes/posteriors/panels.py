"""Distribution functions of trimmed Betas by quadrature, with a polynomial on each of several panels around the mode.

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
from scipy import special

from dpbayes.base.bisection import last_reached, turning_point
from dpbayes.base.quadrature import DEPTH, panel_rule
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.divergence import expm1_excess, log1p_excess

_NODES = 12
_EVEN, _ARC = 16, 12
"""Panels on each side of m that are even in z, and even in arcsin(sqrt(theta)), a scale that suits Betas."""

_HALVINGS = 14
"""Halvings of the logarithm of a ratio below 1e13, which leave an error below 0.2%."""

_NEWTON = 3
_BELOW_ONE = 1 - 2.0**-53


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

    def inverse(self, u: FloatArray, row: IntArray) -> FloatArray:
        """Return the quantiles (draws, n) at levels u (draws, n) of the distributions with these indices (n,)."""
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
        """Return the last panel whose left level is at most u, by bisection; its right level is then above u."""
        return last_reached(self.levels[:, :-1], u, row)

    def _invert_within(self, share: FloatArray, cell: IntArray) -> FloatArray:
        # A log density that is linear across the panel gives the initial value; three Newton steps then suffice.
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


def panels_of(a: FloatArray, b: FloatArray, low: float, high: float) -> Panels:
    """Return the distribution functions of Beta(a, b), both (R,), trimmed to log-odds in [low, high]."""
    mode = np.clip(np.log(a) - np.log(b), low, high)
    flipped = mode > 0
    a, b = np.where(flipped, b, a), np.where(flipped, a, b)
    mode, left, right = -np.abs(mode), np.where(flipped, -high, low), np.where(flipped, -low, high)
    curve = _DensityDrop(mode, a, b, inside=(left < mode) & (mode < right))
    panels = max(2, math.ceil(2 * (math.asinh(high / np.pi) - math.asinh(low / np.pi))))
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
    return Panels(flipped, mode, edges, slopes, levels, np.ascontiguousarray(polynomials), log_mass)


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
