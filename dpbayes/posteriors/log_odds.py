"""Expectations under Betas trimmed in log-odds, for whole arrays of parameters and bounds, by one quadrature rule."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import panel_rule, reach
from dpbayes.base.types import FloatArray

_DEPTH = 45.0
_SHARES, _WEIGHTS = panel_rule(nodes=12)
_BREAKS = (np.arange(33) / 32) ** 3


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
    """Return the rule for broadcast a, b > 0 and bound > 0, infinite for no trimming.

    Unlike `dpbayes.posteriors.trimmed.log_mass`, the function takes an array of bounds. Gauss-Legendre panels around
    the mode, narrower near it, extend to the points where the density is exp(-45) of its maximum. The error is about
    1e-11 of the expectation's scale.
    """
    a, b, bound = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (a, b, bound)))
    mode = np.clip(np.log(a) - np.log(b), -bound, bound)
    peak = a * special.log_expit(mode) + b * special.log_expit(-mode)

    def drop(z: FloatArray) -> FloatArray:
        more = (..., *(None,) * (z.ndim - mode.ndim))
        return peak[more] - a[more] * special.log_expit(z) - b[more] * special.log_expit(-z)

    limits = np.stack([-np.minimum(bound + mode, 50 + 50 / a), np.minimum(bound - mode, 50 + 50 / b)], axis=-1)
    ends = reach(lambda distance: drop(mode[..., None] + distance), limits, depth=_DEPTH)
    distances = np.concatenate([ends[..., :1] * _BREAKS[:0:-1], ends[..., 1:] * _BREAKS], axis=-1)
    widths = np.diff(distances)[..., None]
    nodes = mode[..., None, None] + distances[..., :-1, None] + widths * _SHARES
    heights = np.exp(-drop(nodes)) * widths * _WEIGHTS
    mass = heights.sum(axis=(-2, -1))
    shape = (*mode.shape, (distances.shape[-1] - 1) * len(_SHARES))
    weights = (heights / mass[..., None, None]).reshape(shape)
    return LogOdds(nodes.reshape(shape), weights, peak + np.log(mass))
