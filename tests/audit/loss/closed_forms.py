"""The closed forms of one and of two noisy counts: delta at epsilons, and epsilon at a delta, by another route."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special


def laplace_one_delta(epsilon: ArrayLike, *, scale: float) -> np.ndarray:
    """1 - e^(-x/2), x = 1/b - epsilon, and 0 from epsilon = 1/b on: one noisy count."""
    return -np.expm1(-np.maximum(1 / scale - np.asarray(epsilon), 0.0) / 2)


def laplace_cells_delta(epsilon: ArrayLike, *, scale: float) -> np.ndarray:
    """1 - e^(-x/2) (1 + x/4), x = 2/b - epsilon, and 0 from epsilon = 2/b on: two noisy counts."""
    missing = np.maximum(2 / scale - np.asarray(epsilon), 0.0)
    return -np.expm1(np.log1p(missing / 4) - missing / 2)


def laplace_one_epsilon(delta: float, *, scale: float) -> float:
    return max(0.0, 1 / scale + 2 * math.log1p(-delta)) if delta < 1 else 0.0


def laplace_cells_epsilon(delta: float, *, scale: float) -> float:
    """2/b - x with (1 + x/4) e^(-x/2) = 1 - delta: x = -4 - 2 W(-2 (1 - delta) e^-2), W the lower branch."""
    missing = -4 - 2 * float(special.lambertw(-2 * (1 - delta) * math.exp(-2), -1).real)
    return 0.0 if delta == 1 else max(0.0, 2 / scale - max(missing, 0.0))
