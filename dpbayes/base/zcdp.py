"""Zero-concentrated differential privacy: rho, what it says of (epsilon, delta), and what pure epsilon says of it.

A mechanism is rho-zCDP if the Renyi divergence of every order alpha > 1 between its laws on two neighbours is at most
alpha rho. [Bun16] Definition 1.1. Rhos add up under composition ([Bun16] Lemma 1.7).

Every order gives a valid conversion ([Canonne20] Proposition 12), with h = (alpha ln(1 - 1/alpha) - ln(alpha - 1)):

    ln delta = (alpha - 1) (alpha rho - epsilon) + h.

So the search for the best order need not be exact for what it returns to be certified.
"""

import math
from collections.abc import Callable

import numpy as np

from dpbayes.base.types import FloatArray

_ORDERS = np.logspace(-9, 15, 961)
"""alpha - 1, where a search for the best order begins."""

_REFINED = 4


def rho_of_pure(epsilon: float) -> float:
    """Return the least rho that pure epsilon-privacy implies: epsilon tanh(epsilon/2), never above epsilon^2/2.

    Randomized response P, 1 - P with ln(P/(1 - P)) = epsilon dominates whatever is epsilon-private. Its divergence is
    ln(cosh((alpha - 1/2) epsilon) / cosh(epsilon/2)) / (alpha - 1), and ln cosh sqrt is concave, so that its share of
    alpha is largest as alpha falls to 1. Sharper than [Bun16] Proposition 1.4.
    """
    return epsilon * math.tanh(epsilon / 2) if math.isfinite(epsilon) else math.inf


def zcdp_epsilon(rho: float, *, delta: float) -> float:
    """Return an epsilon >= 0 at which rho-zCDP gives (epsilon, delta): infinity at delta = 0, unless rho is 0 too."""
    if not rho:
        return 0.0
    if not delta or not math.isfinite(rho):
        return math.inf
    return renyi_epsilon(lambda order: (1 + order) * rho, delta=delta)


def renyi_epsilon(divergence: Callable[[FloatArray], FloatArray], *, delta: float) -> float:
    """Return an epsilon >= 0 at delta > 0 from the Renyi divergence as a function of alpha - 1 (O,), by the best."""
    return max(0.0, _least(lambda order: divergence(order) + (_height(order) - math.log(delta)) / order))


def renyi_of_pure(order: FloatArray, epsilon: float) -> FloatArray:
    """Return the divergence of orders alpha - 1 (O,) that dominates all epsilon-private laws; see `rho_of_pure`."""
    log_cosh = _log_cosh((order + 0.5) * epsilon) - _log_cosh(np.asarray(epsilon / 2))
    # A difference of two logarithms loses its digits where alpha is all but 1; there the bound alpha rho is as good.
    return np.minimum(log_cosh / order + 1e-15 * (1 + epsilon) / order, (1 + order) * rho_of_pure(epsilon))


def _log_cosh(x: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp(x, -x) - math.log(2))


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
