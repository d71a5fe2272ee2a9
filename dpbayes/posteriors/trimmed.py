"""The Beta distribution trimmed to an interval: its mass and its inverse distribution function, without rejection.

Tests require an error of the distribution function of at most 1e-14, plus the effect of rounding log-odds to double
precision. The work is the same for every a and b: neither the run time nor a fallback depends on the data.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.libraries import pd
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.posteriors.panels import panels_of

LEAST_OMEGA = 1e-300
"""The smallest accepted omega; log-odds are then within +-691."""

_ROWS, _DRAWS = 512, 1 << 14
"""Distributions and draws in one step, few enough for the processor's cache."""


def log_odds_bound(omega: float) -> float:
    """Return ln((1 - omega)/omega), the largest log-odds in [omega, 1 - omega].

    Errors: InputError unless LEAST_OMEGA <= omega < 1/2.
    """
    value = finite_number("omega", omega, low=LEAST_OMEGA, high=0.5)
    if value == 0.5:
        raise InputError("omega must be below 1/2; at 1/2 only even odds are allowed.")
    return math.log1p(
        (1 - 2 * value) / value
    )  # near 1/2, where a logarithm of the odds would cancel, 1 - 2 omega is exact


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


def log_odds_quantile(u: ArrayLike, a: ArrayLike, b: ArrayLike, bound: float) -> FloatArray:
    """Return the log-odds z in [-bound, bound] below which Beta(a, b), trimmed to this interval, has probability u.

    `u` is (*size, ...) for a and b that broadcast to (...). For uniform u, the values are exact samples. They are
    continuous and increasing in u, and equal -z for 1 - u with a and b exchanged.
    """
    first, second, shape = _positive_pair(a, b)
    levels = _levels(u, shape)
    log_odds = np.empty(levels.shape)
    for rows in slices(len(first), _ROWS):
        panels = panels_of(first[rows], second[rows], -bound, bound)
        own = np.arange(rows.stop - rows.start)
        for draws in slices(len(levels), _DRAWS // len(own)):
            log_odds[draws, rows] = panels.inverse(levels[draws, rows], own)
    return np.clip(log_odds, -bound, bound).reshape(np.shape(u))


def log_odds_quantile_by_law(u: ArrayLike, a: ArrayLike, b: ArrayLike, bound: float) -> FloatArray:
    """Return the same as `log_odds_quantile`, with work for each distinct pair of a and b instead of each row.

    The run time depends on a and b. Use this function in simulations only, because the run time of a release must not
    depend on the data. Errors: those of `log_odds_quantile`.
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
