"""Samples from many Beta distributions, trimmed to many bounds at once, from the same uniform numbers at every bound.

`dpbayes.posteriors.trimmed` samples with an error of 1e-14, for one bound at a time. A mechanism needs this precision;
an average over thousands of simulated releases does not. In this module, the distribution function of the log-odds has
an error of about 1e-6 at 2 * SIDE + 1 points around the mode, and the log density is linear between them.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.quadrature import reach
from dpbayes.base.steps import Work, slices
from dpbayes.base.types import FloatArray, IntArray

DEPTH = 20.0
"""Log densities this far below their maximum are left out, which omits less than exp(-DEPTH) of the mass."""

SIDE = 32
_BREAKS = (np.arange(SIDE + 1) / SIDE) ** 1.5
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class TrimmedTable:
    """Inverse distribution functions of kinds x bounds: 2 * SIDE cells each, on axes flattened to (kinds * bounds)."""

    bounds: int
    levels: FloatArray
    """(rows, 2 * SIDE): the distribution function at each cell's left end."""
    left: FloatArray
    step: FloatArray
    bend: FloatArray
    mass: FloatArray
    """(rows, 2 * SIDE): z = left + step * log1p(share * bend), where share is the part of `mass` below z."""

    def log_odds(self, kinds: IntArray, bound: int, uniforms: FloatArray) -> FloatArray:
        """Return the quantiles of distributions of `kinds` at one bound, (..., D), at levels (..., D)."""
        width = 2 * SIDE
        at = np.broadcast_to((kinds * self.bounds + bound) * width, uniforms.shape)
        levels, step = self.levels.ravel(), width // 2
        while step:
            ahead = at + step
            at = np.where(levels.take(ahead) <= uniforms, ahead, at)
            step //= 2
        share = (uniforms - levels.take(at)) / self.mass.ravel().take(at)
        steps = np.log1p(np.minimum(share, 1.0) * self.bend.ravel().take(at))
        steps *= self.step.ravel().take(at)
        steps += self.left.ravel().take(at)
        return steps


def tabulate(a: FloatArray, b: FloatArray, bounds: FloatArray) -> Work[TrimmedTable]:
    """Tabulate Beta(a, b) in log-odds, a and b (kinds,), trimmed to [-bound, bound] for bounds (E,), zero allowed.

    In steps. A row, of one kind and one bound, takes 2.5 kB.
    """
    shape = (len(a), len(bounds))
    flat = [np.broadcast_to(values, shape).ravel() for values in (a[:, None], b[:, None], bounds)]
    rows = len(flat[0])
    table = tuple(np.empty((rows, 2 * SIDE)) for _ in range(5))
    for block in slices(rows, _ROWS):
        for whole, part in zip(table, _tabulated(*(values[block] for values in flat)), strict=True):
            whole[block] = part
        yield block.stop / rows
    return TrimmedTable(len(bounds), *table)


def _tabulated(a: FloatArray, b: FloatArray, bound: FloatArray) -> tuple[FloatArray, ...]:
    mode = np.clip(np.log(a) - np.log(b), -bound, bound)
    peak = _log_density(a, b, mode)

    def drop(z: FloatArray) -> FloatArray:
        more = (slice(None), *(None,) * (z.ndim - 1))
        return peak[more] - _log_density(a[more], b[more], z)

    below, above = (
        reach(lambda distance: drop(mode + distance), end - mode, depth=DEPTH, halvings=15) for end in (-bound, bound)
    )
    distances = np.concatenate([below[:, None] * _BREAKS[:0:-1], above[:, None] * _BREAKS], axis=1)
    edges = mode[:, None] + distances
    widths = np.diff(edges)
    heights = np.exp(-drop(edges))
    middles = np.exp(-drop(edges[:, :-1] + widths / 2))
    mass = widths * (heights[:, :-1] + 4 * middles + heights[:, 1:])  # Simpson's rule, scaled below
    total = mass.sum(axis=1, keepdims=True)
    even = np.full_like(mass, 1 / mass.shape[1])
    mass = np.where(total > 0, mass / np.where(total > 0, total, 1.0), even)
    levels = np.cumsum(mass, axis=1) - mass
    with np.errstate(divide="ignore"):
        slopes = np.clip(np.diff(np.log(np.maximum(heights, 1e-300))), -50, 50)
    slopes = np.where(np.abs(slopes) < 1e-9, 1e-9, slopes)
    return levels, edges[:, :-1], widths / slopes, np.expm1(slopes), np.maximum(mass, 1e-300)


def _log_density(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    # a ln s(z) + b ln s(-z) with one exponential and one logarithm
    below = np.minimum(z, 0.0)
    density = np.log1p(np.exp(2 * below - z))
    density *= -(a + b)
    density += a * below
    density -= b * (z - below)
    return density
