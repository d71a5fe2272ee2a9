"""The largest internal epsilon at which the smooth Hellinger mechanism has a given guarantee, by enumeration.

The search uses public numbers only: it compares the distributions of all possible tables.
"""

import math
from collections.abc import Callable

import numpy as np

from dpbayes.base.quadrature import turning_point
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    log_weights,
    neighbours_up_to_symmetry,
    smooth_sensitivities,
    smooth_sensitivity,
    smoothing_rate,
)

MOST_ENUMERATED = 500
"""The largest number of candidates; about twenty values of epsilon then take a tenth of a second."""

_PROVED = 2 / 3
"""The internal epsilon for which a proof exists, as a share of epsilon; the search begins there."""

_DOUBLINGS, _HALVINGS = 60, 20

_BEYOND, _STEP = 8, 0.004
"""The number and size of the steps that test whether the guarantee holds again above its first failure."""

_LOSS_ROUNDING, _DELTA_ROUNDING = 1e-11, 1e-9
"""Rounding allowances: of a loss in units of 1 + epsilon, and of a probability, relative. Both are generous.

Distances have relative errors below 1e-13. Only outputs with probabilities of at most e^-100 have larger errors of
their weights.
"""


def enumerated_epsilon(die: Die, *, epsilon: float, delta: float) -> float:
    """Return the largest internal epsilon found at which every pair of neighbours has delta(`epsilon`) <= `delta`.

    The returned value was itself tested, with an allowance for rounding. The guarantee can hold again one or two
    percent above its first failure, and the search covers this range. Errors: InputError for more than MOST_ENUMERATED
    candidates.
    """
    die.require_listable(MOST_ENUMERATED)
    if die.size == 1:
        return epsilon
    keeps = _promise(die, epsilon, delta)
    low = _PROVED * epsilon
    while not keeps(low):
        low /= 2
    for _ in range(_DOUBLINGS):
        if not keeps(2 * low):
            break
        low *= 2

    def kept(inner: FloatArray) -> BoolArray:
        return np.asarray(keeps(float(inner)))

    first, _ = turning_point(kept, low, 2 * low, halvings=_HALVINGS)
    places = [float(first) * (1 + step * _STEP) for step in range(_BEYOND + 1)]
    last = next((step for step in range(_BEYOND, 0, -1) if keeps(places[step])), 0)
    if last in (0, _BEYOND):
        return places[last]
    return float(turning_point(kept, places[last], places[last + 1], halvings=_HALVINGS // 2)[0])


def _promise(die: Die, epsilon: float, delta: float) -> Callable[[float], bool]:
    """Return whether the mechanism at an internal epsilon is private; a pair that violated it is tested first."""
    distance, pairs = all_distances(die), neighbours_up_to_symmetry(die)
    loss, most = epsilon - _LOSS_ROUNDING * (1 + epsilon), delta * (1 - _DELTA_ROUNDING)
    broke: list[int] = []

    def are_bad(inner: float, beta: float) -> bool:
        tables, places = np.unique(pairs[broke], return_inverse=True)
        smooth = np.array([smooth_sensitivity(die, counts=die.candidates[table], beta=beta) for table in tables])
        weights = log_weights(distance[tables], epsilon=inner, sensitivity=smooth)
        return largest_delta(weights, pairs=places.reshape(-1, 2), epsilon=loss)[0] > most

    def keeps(inner: float) -> bool:
        beta = smoothing_rate(die, epsilon=inner, delta=delta)
        if broke and are_bad(inner, beta):
            return False
        weights = log_weights(distance, epsilon=inner, sensitivity=smooth_sensitivities(die, beta=beta))
        needed, place = largest_delta(weights, pairs=pairs, epsilon=loss)
        if needed > most:
            broke.append(place)
        return needed <= most

    return keeps


def largest_delta(weights: FloatArray, *, pairs: IntArray, epsilon: float) -> tuple[float, int]:
    """Return max over pairs (N, 2) of sum_r (P[r | x] - e^epsilon P[r | y])_+, and the index of a pair that attains it.

    `weights` (X, R) are ln P[r | x] up to a constant of x; their maximum is 0.
    """
    chances = np.exp(weights)
    masses = chances.sum(axis=1)
    chances /= masses[:, None]
    first, second = pairs.T
    losses = weights[first] - weights[second] - np.log(masses[first] / masses[second])[:, None]
    beyond = np.flatnonzero(losses.max(axis=1, initial=-math.inf) > epsilon)
    if not beyond.size:
        return 0.0, 0
    excess = -np.expm1(np.minimum(epsilon - losses[beyond], 0.0))
    deltas = np.einsum("pr,pr->p", chances[first[beyond]], excess)
    place = int(np.argmax(deltas))
    return float(deltas[place]), int(beyond[place])
