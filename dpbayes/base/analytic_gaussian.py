"""The exact privacy of Gaussian noise: the curve of N(0, 1) against N(mu, 1), and the mu that a guarantee allows.

Noise N(0, s^2) on numbers that move by a vector of length D loses as much as noise N(0, 1) on one number that moves by
mu = D/s: the density ratio depends on the projection onto that vector alone. [Balle18] Theorem 8:

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.bisection import turning_point
from dpbayes.base.types import FloatArray

_LEAST, _MOST = 1e-14, 1e6
"""The range of the search for the shift that a guarantee allows."""

_PARTS, _DIVISIONS = 64, 11
"""The number of parts of the remaining range that are evaluated together, and the number of such steps, after which the
ends are neighbouring doubles."""


def gaussian_delta(shifts: ArrayLike, epsilons: ArrayLike) -> FloatArray:
    """Return delta(epsilon) of shifts mu >= 0, in standard deviations: (...).

    Both terms are e^(-a^2/2)/2 times a scaled complementary error function, so that small deltas keep their digits.
    """
    values, shift = np.asarray(epsilons, dtype=np.float64), np.asarray(shifts, dtype=np.float64)
    with np.errstate(all="ignore"):  # where nothing moves, and in the term that is not taken
        near, far = values / shift - shift / 2, values / shift + shift / 2
        tail = np.exp(-(np.maximum(near, 0.0) ** 2) / 2) / 2
        scaled = tail * (special.erfcx(np.maximum(near, 0.0) / math.sqrt(2)) - special.erfcx(far / math.sqrt(2)))
        plain = special.ndtr(-near) - np.exp(values + special.log_ndtr(-far))
    return np.asarray(np.where(shift > 0, np.clip(np.where(near > 0, scaled, plain), 0.0, 1.0), 0.0))


def gaussian_epsilon(shift: float, *, delta: float) -> float:
    """Return the least epsilon >= 0 at which delta suffices, rounded up: infinity at delta = 0."""
    if not shift or gaussian_delta(shift, 0.0) <= delta:
        return 0.0
    if not delta:
        return math.inf
    most = shift**2 / 2 + shift * math.sqrt(2 * math.log(1 / delta))  # P[loss > most] <= delta
    _, enough = turning_point(lambda epsilon: gaussian_delta(shift, epsilon) > delta, 0.0, most)
    return float(enough)


def gaussian_shift(epsilon: float, *, delta: float) -> float:
    """Return the largest shift mu that is (epsilon, delta)-private, rounded down: 0 at delta = 0."""
    if not delta:
        return 0.0

    low, high = math.log(_LEAST), math.log(_MOST)
    for _ in range(_DIVISIONS):
        logs = np.linspace(low, high, _PARTS + 1)
        shifts = np.exp(logs)
        beyond = (gaussian_delta(shifts, epsilon) > delta)[1:-1]  # the ends are taken on trust
        last = int(beyond.argmax()) if beyond.any() else _PARTS - 1
        low, high, shift = logs[last], logs[last + 1], shifts[last]
    return float(shift)
