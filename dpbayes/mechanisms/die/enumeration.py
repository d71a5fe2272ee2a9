"""The largest internal epsilon at which smooth Hellinger noise keeps a promise, by going through all that can happen.

The number of throws, the prior, epsilon and delta are public, and so is every table that there could be. Whatever the
throws were, the mechanism is the same list of laws, one for each table; these are written down and compared. So the
search looks at no data, and what it returns needs no proof beyond the comparison.
"""

import math
from collections.abc import Callable

import numpy as np

from dpbayes.base.bisection import turning_point
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.model.compositions import composition_count
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
"""Most candidates whose laws are compared: a tenth of a second for some twenty epsilons."""

_PROVED = 2 / 3
"""What is proved of epsilon, and where the search begins."""

_DOUBLINGS, _HALVINGS = 60, 20

_BEYOND, _STEP = 8, 0.004
"""How often, and in what steps, it is asked whether the promise holds again above the place where it first fails."""

_LOSS_ROUNDING, _DELTA_ROUNDING = 1e-11, 1e-9
"""Rounding of a loss, in units of 1 + epsilon, and of a probability, relative: both many times over.

Distances have relative errors below 1e-13. Outputs whose weights are off by more than this have probabilities of
e^-100 and less.
"""


def neighbour_count(die: Die) -> int:
    """Return how many ordered pairs of tables differ in one throw: m (m - 1) C(n + m - 2, m - 1)."""
    if die.n == 0:
        return 0
    return die.sides * (die.sides - 1) * composition_count(die.n - 1, sides=die.sides)


def enumerated_epsilon(die: Die, *, epsilon: float, delta: float) -> float:
    """Return an internal epsilon at which every pair of neighbours has delta(`epsilon`) <= `delta`, the largest found.

    Of each epsilon that is tried, every table's law over every candidate is computed, and of every pair of neighbours
    sum_r (P[r | x] - e^epsilon P[r | y])_+, the least delta for this epsilon. What is returned was tried itself, with
    room for rounding. The sum need not grow with the internal epsilon: it may hold again a percent or two above where
    it first fails, and so far the search goes on. Errors: InputError for more than MOST_ENUMERATED candidates.
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
    """Return whether the mechanism at an internal epsilon is (epsilon, delta)-private.

    Distances are computed once. A pair that broke the promise before is asked first: one that does is enough, and all
    of them are asked before anything is called private.
    """
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
    """Return max over pairs (N, 2) of sum_r (P[r | x] - e^epsilon P[r | y])_+, and the place of a pair that has it.

    `weights` (X, R) are ln P[r | x] up to a constant of x, 0 at their largest. A term is P[r | x] (1 - e^(epsilon -
    loss)), in which nothing cancels; pairs that lose less everywhere have none.
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
