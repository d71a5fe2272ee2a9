"""Conversions between rho of zero-concentrated privacy, (epsilon, delta), pure epsilon and the shift of Gaussian noise.

A mechanism is rho-zCDP if the Renyi divergence of every order alpha > 1 between its laws on two neighbours is at most
alpha rho. [Bun16] Definition 1.1. Rhos add up under composition ([Bun16] Lemma 1.7).

Every order gives a valid conversion ([Canonne20] Proposition 12), with h = (alpha ln(1 - 1/alpha) - ln(alpha - 1)):

    ln delta = (alpha - 1) (alpha rho - epsilon) + h.

So the search for the best order need not be exact for what it returns to be certified.

Noise N(0, s^2) on numbers that change by a vector of length D has the privacy loss of noise N(0, 1) on one number that
changes by mu = D/s: the density ratio depends on the projection onto that vector alone. [Balle18] Theorem 8:

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import turning_point
from dpbayes.base.types import FloatArray

_ORDERS = np.logspace(-9, 15, 961)
"""alpha - 1, where a search for the best order begins."""

_REFINED = 4

_LEAST_SHIFT, _MOST_SHIFT = 1e-14, 1e6
"""The range of the search for the shift that a guarantee allows."""


def rho_of_pure(epsilon: float) -> float:
    """Return the least rho that pure epsilon-privacy implies: epsilon tanh(epsilon/2), never above epsilon^2/2.

    Randomized response P, 1 - P with ln(P/(1 - P)) = epsilon dominates whatever is epsilon-private. Its divergence is
    ln(cosh((alpha - 1/2) epsilon) / cosh(epsilon/2)) / (alpha - 1), and ln cosh sqrt is concave, so that its share of
    alpha is largest as alpha falls to 1. Sharper than [Bun16] Proposition 1.4.
    """
    return epsilon * math.tanh(epsilon / 2) if math.isfinite(epsilon) else math.inf


def pure_epsilon(rho: float) -> float:
    """Return the largest pure epsilon below 1,000 whose `rho_of_pure` is at most rho."""
    return float(turning_point(lambda epsilon: epsilon * np.tanh(epsilon / 2) <= rho, 0.0, 1000.0)[0])


def zcdp_epsilon(rho: float, *, delta: float) -> float:
    """Return an epsilon >= 0 at which rho-zCDP gives (epsilon, delta): infinity at delta = 0, unless rho is 0 too."""
    if not rho:
        return 0.0
    if not delta or not math.isfinite(rho):
        return math.inf
    return max(0.0, _least(lambda order: (1 + order) * rho + (_height(order) - math.log(delta)) / order))


def zcdp_delta(rho: float, *, epsilon: float) -> float:
    """Return a delta at which rho-zCDP gives (epsilon, delta)."""
    if not rho:
        return 0.0
    if not math.isfinite(rho):
        return 1.0
    return math.exp(min(0.0, _least(lambda order: order * ((1 + order) * rho - epsilon) + _height(order))))


def zcdp_rho(epsilon: float, *, delta: float) -> float:
    """Return the largest rho known to give (epsilon, delta), by the same conversion: 0 at delta = 0."""
    if not delta:
        return 0.0
    least = _least(lambda order: ((_height(order) - math.log(delta)) / order - epsilon) / (1 + order))
    return max(0.0, -least) * (1 - 1e-12)  # never above what `zcdp_epsilon` takes back, for rounding


def _height(order: FloatArray) -> FloatArray:
    """alpha ln(1 - 1/alpha) - ln(alpha - 1), of alpha - 1."""
    return -(1 + order) * np.log1p(1 / order) - np.log(order)


def _least(value: Callable[[FloatArray], FloatArray]) -> float:
    """The least value over the orders alpha > 1, of alpha - 1: a grid, then finer ones around its best point."""
    orders, best = _ORDERS, math.inf
    for _ in range(_REFINED):
        values = value(orders)
        at = int(np.argmin(values))
        best = min(best, float(values[at]))
        low, high = orders[max(at - 1, 0)], orders[min(at + 1, len(orders) - 1)]
        orders = np.linspace(low, high, 41)
    return best


# Gaussian noise


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
    low, high = math.log(_LEAST_SHIFT), math.log(_MOST_SHIFT)
    return math.exp(turning_point(lambda log: gaussian_delta(np.exp(log), epsilon) <= delta, low, high)[0])
