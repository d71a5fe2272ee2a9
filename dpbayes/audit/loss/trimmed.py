"""Exact privacy of a draw from one trimmed Beta row, whose log-odds are in [-B, B]: see docs/proofs.md."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.bisection import turning_point
from dpbayes.base.quadrature import panel_rule, reach
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.finite import checked_grid
from dpbayes.posteriors.trimmed import log_mass_between

MOST_ROW = 2000
"""Most records for which a row's whole curve is computed."""


def row_curve(a: float, b: float, *, n: int, bound: float, epsilons: ArrayLike) -> FloatArray:
    """Return delta at every epsilon (E,), over all neighbours of n records, by quadrature of positive terms.

    For (x, y) = (k + 1, k) the loss z - ln Z'/Z exceeds epsilon from t = epsilon + ln Z'/Z on, and delta is the
    integral of p(z | x) (1 - e^(t - z)) from t to B; the other order is its mirror image. Errors: InputError for more
    than MOST_ROW records, and negative epsilons.
    """
    n, bound = checked_size(n, bound=bound)
    grid = checked_grid(epsilons)
    if n > MOST_ROW:
        raise InputError(f"A row's privacy curve is computed for at most {MOST_ROW:,} records.")
    if n == 0:
        return np.zeros(len(grid))
    k = np.arange(n + 1)
    masses = log_mass_between(a + k, b + (n - k), -bound, bound)
    rise = np.diff(masses)
    up = (a + k[1:], b + (n - k[1:]), masses[1:], rise)
    down = (b + (n - k[:-1]), a + k[:-1], masses[:-1], -rise)  # z reflected
    first, second, mass, turn = (np.concatenate(pair) for pair in zip(up, down, strict=True))
    return np.asarray(_excess(first, second, log_mass=mass, start=grid[:, None] + turn, end=bound).max(axis=1))


def _excess(a: FloatArray, b: FloatArray, *, log_mass: FloatArray, start: FloatArray, end: float) -> FloatArray:
    """The integral of exp(a ln s(z) + b ln s(-z) - log_mass) (1 - e^(start - z)) over [start, end]: (E, R)."""
    excess = np.zeros(start.shape)
    low = np.maximum(start, -end)
    alive = start < end
    if not alive.any():
        return excess
    a, b, log_mass = (np.broadcast_to(value, start.shape)[alive] for value in (a, b, log_mass))
    start, low = start[alive], low[alive]

    def log_value(z: FloatArray, across: tuple[slice | None, ...] = ()) -> FloatArray:
        inner = a[across] * special.log_expit(z) + b[across] * special.log_expit(-z) - log_mass[across]
        return inner + np.log(-np.expm1(np.minimum(start[across] - z, -1e-300)))

    def rises(z: FloatArray) -> BoolArray:
        with np.errstate(over="ignore", divide="ignore"):
            return a * special.expit(-z) - b * special.expit(z) + 1 / np.expm1(z - start) > 0

    mode, _ = turning_point(rises, low, end, halvings=45)
    top = log_value(mode)
    total = np.zeros(mode.shape)
    for limit in (low, end):
        width = reach(lambda distance: top - log_value(mode + distance), limit - mode, halvings=22)[:, None]
        total += np.abs(width[:, 0]) * (np.exp(log_value(mode[:, None] + width * _SHARES, _ACROSS)) @ _WEIGHTS)
    excess[alive] = total
    return np.minimum(excess, 1.0)


_ACROSS = (slice(None), None)


_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=4)


def range_curve(epsilons: ArrayLike, *, width: float, most: float) -> FloatArray:
    """Return the largest delta(epsilon) of any two laws whose loss has a range of `width` and stays below `most`: (E,).

    The extreme laws have two points, with losses t and t - width: delta = (1 - e^(t - width)) (1 - e^(epsilon - t)) /
    (1 - e^-width), which rises in t up to (epsilon + width) / 2.
    """
    values = np.asarray(epsilons, dtype=np.float64)
    if width <= 0 or most <= 0:
        return np.zeros(values.shape)
    t = np.minimum((values + width) / 2, min(most, width))
    inside = np.expm1(np.minimum(t - width, 0.0)) * np.expm1(np.minimum(values - t, 0.0))
    return np.where(values < min(most, width), inside / -math.expm1(-width), 0.0)


def checked_size(n: int, *, bound: float) -> tuple[int, float]:
    """Return n and the largest log-odds as numbers in range. Errors: InputError."""
    return (
        whole_number("The number of records", n, low=0, high=2**53),
        finite_number("The largest log-odds", bound, low=0, high=1000),
    )
