"""Quadrature: nodes across a function's one peak, and points over a unit cube; bisection of whole arrays at once."""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import BoolArray, FloatArray, IntArray

DEPTH = 40.0
"""The depth below its maximum to which a log density is integrated; the omitted part is below 1e-16 of the whole."""


@functools.cache
def panel_rule(*, nodes: int, panels: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights (panels * nodes,) on [0, 1]: a Gauss-Legendre rule in each of some even panels."""
    roots, weights = np.polynomial.legendre.leggauss(nodes)
    shares = ((np.arange(panels)[:, None] + (roots + 1) / 2) / panels).ravel()
    weights = np.tile(weights / 2 / panels, panels)
    shares.flags.writeable = weights.flags.writeable = False
    return shares, weights


def reach(
    drop: Callable[[FloatArray], FloatArray], limit: FloatArray, *, depth: float = DEPTH, halvings: int = 50
) -> FloatArray:
    """Return the signed distance from its peak within which a function drops by at most `depth` (...), up to `limit`.

    `drop` maps signed distances from the peak (...) to the difference from the maximum. It is never called at `limit`
    itself, and the number of calls does not depend on the values.
    """
    return turning_point(lambda distance: drop(distance) <= depth, np.zeros_like(limit), limit, halvings=halvings)[1]


def log_integral(log_f: Callable[[FloatArray], FloatArray], end: FloatArray) -> FloatArray:
    """Return ln of the integral of e^f over (-end, end), elementwise: (...), for f with one peak.

    `log_f` maps places (..., Q) to values (..., Q); `end` is (...). Error about 1e-13 of the integral for smooth f.
    """
    peak = _peak(log_f, end[..., None])
    top = log_f(peak)
    total = np.zeros(end.shape)
    widths = reach(lambda distance: top - log_f(peak + distance), end[..., None] * _SIDES - peak)
    for side in range(2):
        width = widths[..., side, None]
        total = total + np.abs(width[..., 0]) * (np.exp(log_f(peak + width * _SHARES) - top) @ _WEIGHTS)
    return np.asarray(top[..., 0] + np.log(total))


_SIDES = np.array([-1.0, 1.0])
_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=16)
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = math.ceil(60 * math.log(2) / -math.log(_GOLDEN))
"""As narrow as sixty halvings, because each step keeps the golden ratio of the interval."""


def _peak(log_f: Callable[[FloatArray], FloatArray], end: FloatArray) -> FloatArray:
    """Return where a function with one peak on [-end, end] is largest, elementwise, by golden sections."""
    low, high = -end, end
    first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_first, at_second = log_f(first), log_f(second)
    for _ in range(_STEPS):
        left = at_first > at_second
        low, high = np.where(left, low, first), np.where(left, second, high)
        place = np.where(left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = log_f(place)
        first, second = np.where(left, place, second), np.where(left, first, place)
        at_first, at_second = np.where(left, value, at_second), np.where(left, at_first, value)
    return (low + high) / 2


def spread_points(points: int, dimensions: int) -> FloatArray:
    """Return points spread evenly over the unit cube (dimensions, points): multiples of the primes' square roots."""
    primes = _primes(dimensions)
    return np.asarray(1e-9 + (1 - 2e-9) * ((np.arange(1, points + 1) * np.sqrt(primes)[:, None] + 0.5) % 1))


def _primes(number: int) -> IntArray:
    """The first primes."""
    most = max(16, int(number * (math.log(number + 2) + math.log(math.log(number + 3)) + 2)))
    candidates = np.arange(2, most)
    is_prime = (candidates[:, None] % np.arange(2, math.isqrt(most) + 1) != 0) | (
        candidates[:, None] <= np.arange(2, math.isqrt(most) + 1)
    )
    return candidates[is_prime.all(axis=-1)][:number]


# Bisection


def turning_point(
    holds: Callable[[FloatArray], BoolArray], start: ArrayLike, end: ArrayLike, *, halvings: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Return the last place known to hold and the first known not to, elementwise from `start` to `end`: (...) each.

    `holds` maps places (...) to truths (...), true from `start` up to one place and false beyond; `end` may lie below
    `start`. The condition is not checked at `start`, nor at `end` if it holds everywhere else. Both ends are returned,
    so a caller can take the one on the safe side, as certified numbers require.
    """
    inside, outside = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64))
    for _ in range(halvings):
        middle = (inside + outside) / 2
        on = holds(middle)
        inside, outside = np.where(on, middle, inside), np.where(on, outside, middle)
    return inside, outside


def last_reached(starts: FloatArray, levels: FloatArray, rows: IntArray) -> IntArray:
    """Return the last place in `starts` (R, W) that each level reaches, in its own row: of the shape of `levels`.

    Starts rise along a row, and the first is taken as reached; `rows` are those of the levels, of a shape that
    broadcasts to theirs. Every level takes the same steps.
    """
    places = starts.shape[-1]
    width = 1 << (places - 1).bit_length()
    padded = np.full((len(starts), width), np.inf)
    padded[:, :places] = starts
    flat, first = padded.ravel(), rows * width
    place = np.broadcast_to(first, levels.shape).copy()
    step = width // 2
    while step:
        place += step * (flat[place + step] <= levels)
        step //= 2
    return place - first
