"""The mean of trimmed posterior samples for many tables at once: the curves of posterior sampling.

`dpbayes.posteriors.trimmed` samples with an error of 1e-14. A mechanism needs this precision; an average over thousands
of simulated releases does not. Here, the distribution function of the log-odds has an error of about 1e-6 at
2 * SIDE + 1 points around the mode, and the log density is linear between them. Equal parameters share one table.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.quadrature import reach
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets

DEPTH = 20.0
"""Log densities this far below their maximum are left out, which omits less than exp(-DEPTH) of the mass."""

SIDE = 32
_BREAKS = (np.arange(SIDE + 1) / SIDE) ** 1.5

_ROWS, _DRAWN = 1 << 15, 1 << 19
"""Decisions whose distribution functions, and samples that, are in memory at a time: 80 and 4 megabytes."""


def trimmed_means(posterior: Dirichlets, bound: float, rng: np.random.Generator, *, draws: int) -> FloatArray:
    """Return the means (R, K) of `draws` CPTs from posteriors (R, K) whose log-odds are within +-`bound`."""
    decisions = Decisions(posterior.network)
    a, b = decisions.parameters(posterior.alpha)
    means = np.empty(posterior.alpha.shape)
    for tables in slices(len(a), _ROWS // max(1, a.shape[1])):
        pairs, kinds = np.unique((a[tables] + 1j * b[tables]).ravel(), return_inverse=True)
        table, kinds = TrimmedTable.of(pairs.real, pairs.imag, bound), kinds.reshape(a[tables].shape)
        means[tables] = 0.0
        for part in slices(draws, _DRAWN // max(1, kinds.size)):
            odds = table.log_odds(kinds, rng.random((part.stop - part.start, *kinds.shape)))
            means[tables] += decisions.probabilities(odds).sum(axis=0) / draws
    return means


@dataclass(frozen=True, eq=False)
class TrimmedTable:
    """Inverse distribution functions of trimmed log-odds, in 2 * SIDE cells of every kind: (kinds, 2 * SIDE) each.

    `levels` are the distribution function at each cell's left end. z = left + step * log1p(share * bend), where share
    is the part of `mass` below z.
    """

    levels: FloatArray
    left: FloatArray
    step: FloatArray
    bend: FloatArray
    mass: FloatArray

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, bound: float) -> "TrimmedTable":
        """Tabulate the log-odds of Beta(a, b), a and b (kinds,), trimmed to [-bound, bound]; zero is allowed."""
        mode = np.clip(np.log(a) - np.log(b), -bound, bound)
        peak = _log_density(a, b, mode)

        def drop(z: FloatArray) -> FloatArray:
            more = (slice(None), *(None,) * (z.ndim - 1))
            return peak[more] - _log_density(a[more], b[more], z)

        below, above = (
            reach(lambda distance: drop(mode + distance), end - mode, depth=DEPTH, halvings=15)
            for end in (-bound, bound)
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
        slopes = np.clip(np.diff(np.log(np.maximum(heights, 1e-300))), -50, 50)
        slopes = np.where(np.abs(slopes) < 1e-9, 1e-9, slopes)
        levels = np.cumsum(mass, axis=1) - mass
        return cls(levels, edges[:, :-1], widths / slopes, np.expm1(slopes), np.maximum(mass, 1e-300))

    def log_odds(self, kinds: IntArray, uniforms: FloatArray) -> FloatArray:
        """Return the quantiles of distributions of `kinds` (..., D) at levels (..., D)."""
        at = np.broadcast_to(kinds * (2 * SIDE), uniforms.shape)
        levels, step = self.levels.ravel(), SIDE
        while step:
            ahead = at + step
            at = np.where(levels.take(ahead) <= uniforms, ahead, at)
            step //= 2
        share = (uniforms - levels.take(at)) / self.mass.ravel().take(at)
        steps = np.log1p(np.minimum(share, 1.0) * self.bend.ravel().take(at)) * self.step.ravel().take(at)
        return np.asarray(steps + self.left.ravel().take(at))


def _log_density(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    # a ln s(z) + b ln s(-z) with one exponential and one logarithm
    below = np.minimum(z, 0.0)
    return np.asarray(a * below - b * (z - below) - (a + b) * np.log1p(np.exp(2 * below - z)))
