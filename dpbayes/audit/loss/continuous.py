"""Exact privacy of Laplace noise on the counts of a die, in closed form; clipping and rounding can only lower it.

With scale b, replacing a record moves two counts by one (every side released), or one (the first of two sides). In
each the loss is 1/b at most, reached with an atom, and exponentially distributed below.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number


def laplace_one_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2), x = 1/b - epsilon, and 0 from epsilon = 1/b on: one noisy count."""
    return -np.expm1(-_short_of(epsilon, 1, scale) / 2)


def laplace_cells_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2) (1 + x/4), x = 2/b - epsilon, 0 from epsilon = 2/b on: m noisy counts."""
    missing = _short_of(epsilon, 2, scale)
    return -np.expm1(np.log1p(missing / 4) - missing / 2)


def laplace_one_epsilon(delta: float, *, scale: float) -> float:
    """Return the smallest epsilon >= 0 with `laplace_one_delta` <= delta: 1/b + 2 ln(1 - delta)."""
    delta = finite_number("delta", delta, low=0, high=1)
    return max(0.0, 1 / _checked(scale) + 2 * math.log1p(-delta)) if delta < 1 else 0.0


def laplace_cells_epsilon(delta: float, *, scale: float) -> float:
    """Return the smallest epsilon >= 0 with `laplace_cells_delta` <= delta.

    It is 2/b - x with (1 + x/4) e^(-x/2) = 1 - delta, that is x = -4 - 2 W(-2 (1 - delta) e^-2), W the lower branch
    of Lambert's function.
    """
    delta = finite_number("delta", delta, low=0, high=1)
    if delta == 1:
        return 0.0
    missing = -4 - 2 * float(special.lambertw(-2 * (1 - delta) * math.exp(-2), -1).real)
    return max(0.0, 2 / _checked(scale) - max(missing, 0.0))


def _short_of(epsilon: ArrayLike, moved: int, scale: float) -> FloatArray:
    value = np.asarray(epsilon, dtype=np.float64)
    if not np.all(value >= 0):
        raise InputError("epsilon must not be negative.")
    return np.maximum(moved / _checked(scale) - value, 0.0)


def _checked(scale: float) -> float:
    return finite_number("The noise scale", scale, low=1e-9, high=1e9)
