"""Integrals of functions with one peak: how far they reach, and a rule of Gauss-Legendre panels across that stretch."""

import math
from collections.abc import Callable

import numpy as np

from dpbayes.base.bisection import turning_point
from dpbayes.base.types import FloatArray

DEPTH = 40.0
"""How far below its largest value a log density is followed: what is left out is below 1e-16 of the whole."""


def panel_rule(*, nodes: int, panels: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights (panels * nodes,) on [0, 1]: a Gauss-Legendre rule in each of some even panels."""
    roots, weights = np.polynomial.legendre.leggauss(nodes)
    shares = (np.arange(panels)[:, None] + (roots + 1) / 2) / panels
    return shares.ravel(), np.tile(weights / 2 / panels, panels)


def reach(
    drop: Callable[[FloatArray], FloatArray], limit: FloatArray, *, depth: float = DEPTH, halvings: int = 50
) -> FloatArray:
    """Return how far from its peak a function has not yet dropped by `depth`: signed distances (...), at most `limit`.

    `drop` maps signed distances from the peak (...) to how far below its largest value the function is there. It is
    never asked at `limit` itself, and as often whatever the values are: the work betrays nothing.
    """
    return turning_point(lambda distance: drop(distance) <= depth, np.zeros_like(limit), limit, halvings=halvings)[1]


def log_integral(log_f: Callable[[FloatArray], FloatArray], end: FloatArray) -> FloatArray:
    """Return ln of the integral of e^f over (-end, end), elementwise: (...), for f with one peak.

    `log_f` maps places (..., Q) to values (..., Q); `end` is (...). Error about 1e-13 of the integral for smooth f.
    """
    peak = _peak(log_f, end[..., None])
    top = log_f(peak)
    total = np.zeros(end.shape)
    for sign in (-1.0, 1.0):
        width = reach(lambda distance: top - log_f(peak + distance), sign * end[..., None] - peak)
        total = total + np.abs(width[..., 0]) * (np.exp(log_f(peak + width * _SHARES) - top) @ _WEIGHTS)
    return np.asarray(top[..., 0] + np.log(total))


_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=16)
_THIRDS = math.ceil(60 * math.log(2) / math.log(1.5))
"""As narrow as sixty halvings: every step leaves two thirds."""


def _peak(log_f: Callable[[FloatArray], FloatArray], end: FloatArray) -> FloatArray:
    """Return where a function with one peak on [-end, end] is largest, elementwise, by thirds."""
    low, high = -end, end
    for _ in range(_THIRDS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        left = log_f(first) > log_f(second)
        low, high = np.where(left, low, first), np.where(left, second, high)
    return (low + high) / 2
