"""The Hellinger score of [Notes]: distances between all possible posteriors of n throws of an m-sided die.

Candidates are the C(n + m - 1, m - 1) distinct posteriors, not one for each table. [Notes] Section 2.1 states n + 1,
which is correct for m = 2. All have the same total, so that

    ln BC(x, r) = sum_k dip(a_k, x_k, r_k),   dip(a, i, j) = ln Gamma(a + (i+j)/2) - [ln Gamma(a+i) + ln Gamma(a+j)]/2

and every sensitivity follows from the dips between neighbouring counts.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.model.compositions import (
    MOST_CANDIDATES,
    composition_count,
    compositions,
    moves,
    neighbour_pairs,
    require_listable,
)
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.posteriors.divergence import bregman_loggamma

MOST_THROWS, MOST_SIDES = 10**9, 1000
MOST_PAIRED = 3000
"""The largest number of candidates for which all pairs are stored."""


@dataclass(frozen=True)
class Die:
    """The public description of a die: the Dirichlet prior of every side, and the number of throws n.

    Errors: InputError for fewer than two sides, priors that are not positive, and an n that is not an integer.
    """

    prior: tuple[float, ...]
    n: int

    def __post_init__(self) -> None:
        prior = tuple(finite_number("Every side's prior", a, low=LEAST_PRIOR, high=MOST_PRIOR) for a in self.prior)
        if not 2 <= len(prior) <= MOST_SIDES:
            raise InputError(f"A die needs between 2 and {MOST_SIDES} sides; this one has {len(prior)}.")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "n", whole_number("The number of throws", self.n, low=0, high=MOST_THROWS))

    @property
    def sides(self) -> int:
        return len(self.prior)

    @property
    def size(self) -> int:
        """|R|, the number of candidates."""
        return composition_count(self.n, sides=self.sides)

    @cached_property
    def candidates(self) -> IntArray:
        """The counts of all candidates, in lexicographic order: (R, m). Errors: those of `require_listable`."""
        return compositions(self.n, sides=self.sides)

    @cached_property
    def local_sensitivities(self) -> FloatArray:
        """The local sensitivity at every candidate: (R,)."""
        return _largest_step(self, self.candidates)

    def require_listable(self, most: int = MOST_CANDIDATES) -> None:
        """Refuse dice with more than `most` candidates, with a sentence on what to change."""
        require_listable(self.n, sides=self.sides, most=most)

    def checked(self, counts: ArrayLike) -> IntArray:
        """Return counts (m,) of this die's n throws. Errors: InputError for others."""
        values = np.asarray(counts)
        if values.shape != (self.sides,) or values.dtype.kind not in "iu":
            raise InputError(f"The counts must be {self.sides} whole numbers, one for each side.")
        if np.any(values < 0) or values.sum() != self.n:
            raise InputError(f"The counts must not be negative and must add up to the {self.n:,} throws.")
        return values.astype(np.int64)

    def posterior(self, counts: ArrayLike) -> FloatArray:
        """Return the Dirichlet parameters (..., m) after `counts` (..., m)."""
        return np.asarray(self.prior) + np.asarray(counts)


def loggamma_dip(prior: float, *, first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return dip(a, i, j) <= 0 for counts i, j >= 0, elementwise, without cancellation up to counts of 10^9.

    It is -[d(s, a + i) + d(s, a + j)]/2 with the midpoint s and the divergence d of `bregman_loggamma`. The differences
    are those of the counts, so they have no rounding error of a + i.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    middle, half = prior + (first + second) / 2, (second - first) / 2
    return -(bregman_loggamma(middle, prior + first, -half) + bregman_loggamma(middle, prior + second, half)) / 2


def _log_steps(prior: float, counts: IntArray) -> FloatArray:
    """dip(a, c, c + 1) = ln g(a + c), where g rises to 1."""
    return loggamma_dip(prior, first=counts, second=counts + 1)


# Distances


def hellinger_between(die: Die, *, first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return H = sqrt(1 - BC) between the posteriors of counts (..., m) with equal totals, integers or not: (...)."""
    first, second = np.asarray(first), np.asarray(second)
    log_bc = sum(loggamma_dip(a, first=first[..., k], second=second[..., k]) for k, a in enumerate(die.prior))
    return _distance(np.asarray(log_bc))


def distances(die: Die, *, counts: ArrayLike) -> FloatArray:
    """Return H between the posterior of `counts` (m,) and every candidate: (R,)."""
    counts, every = die.checked(counts), np.arange(die.n + 1)
    log_bc = np.zeros(len(die.candidates))
    for k, a in enumerate(die.prior):
        log_bc += loggamma_dip(a, first=counts[k], second=every)[die.candidates[:, k]]
    return _distance(log_bc)


def all_distances(die: Die) -> FloatArray:
    """Return H between all candidates: (R, R). Errors: InputError for more than MOST_PAIRED candidates."""
    die.require_listable(MOST_PAIRED)
    above = np.triu_indices(die.n + 1, 1)
    tables = {a: np.zeros((die.n + 1, die.n + 1)) for a in die.prior}
    for a, table in tables.items():
        table[above] = loggamma_dip(a, first=above[0], second=above[1])
        table += table.T
    log_bc = np.zeros((die.size, die.size))
    for k, table in enumerate(tables[a] for a in die.prior):
        column = die.candidates[:, k]
        log_bc += table[column[:, None], column]
    return _distance(log_bc)


def _distance(log_bc: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(-np.expm1(log_bc), 0.0))


# Neighbours


def neighbours_up_to_symmetry(die: Die) -> IntArray:
    """Return the indices of ordered pairs that differ in one replaced throw, one of each kind: (N, 2).

    A permutation of sides with equal priors maps candidates to candidates and neighbours to neighbours, and preserves
    every distance. One pair of sides, the old and the new side of the throw, therefore represents all pairs with the
    same two priors.
    """
    kinds: dict[tuple[float, float], tuple[int, int]] = {}
    for giver, taker in permutations(range(die.sides), 2):
        kinds.setdefault((die.prior[giver], die.prior[taker]), (giver, taker))
    return neighbour_pairs(die.n, sides=die.sides, kinds=kinds.values())


# Sensitivities


def global_sensitivity(die: Die) -> float:
    """Return the largest H between neighbours, the largest change of any score by one record. [Notes] Section 2.1.

    For m >= 3 it is sqrt(1 - min_{i != j} g(a_i) g(a_j)) for every n >= 1: the other n - 1 records are on a third side.
    For m = 2 the other n - 1 records are on one of the two sides. No enumeration is needed. The value is 0 for n = 0.
    """
    if die.n == 0:
        return 0.0
    empty = [float(_log_steps(a, np.array(0))) for a in die.prior]
    if die.sides > 2:
        return float(_distance(np.array(sum(sorted(empty)[:2]))))
    full = [float(_log_steps(a, np.array(die.n - 1))) for a in die.prior]
    return float(_distance(np.array(min(empty[0] + full[1], full[0] + empty[1]))))


def local_sensitivity(die: Die, *, counts: ArrayLike) -> float:
    """Return the largest H to a neighbour of `counts` (m,), in O(m^2). [Notes] Section 3.1; zero when n = 0."""
    return float(_largest_step(die, die.checked(counts)))


def _largest_step(die: Die, counts: IntArray) -> FloatArray:
    """The largest H over moves of one record from side i to side j of counts (..., m): (...).

    ln BC = ln g(a_i + x_i - 1) + ln g(a_j + x_j).
    """
    columns = [np.unique(column, return_inverse=True) for column in np.moveaxis(counts, -1, 0)]
    pairs = list(zip(die.prior, columns, strict=True))
    up = [_log_steps(a, values)[place] for a, (values, place) in pairs]
    down = [_log_steps(a, np.maximum(values - 1, 0))[place] for a, (values, place) in pairs]
    lowest = np.zeros(counts.shape[:-1])
    for i, j in permutations(range(die.sides), 2):
        lowest = np.minimum(lowest, np.where(counts[..., i] > 0, down[i] + up[j], 0.0))
    return _distance(lowest)


def smoothing_rate(die: Die, *, epsilon: float, delta: float) -> float:
    """Return beta = ln(1 + epsilon / (2 ln(2|R|/delta))). [Notes] Section 2.3.1 has n + 1 for |R|."""
    return math.log1p(epsilon / (2 * (math.log(die.size) + math.log(2 / delta))))


def smooth_sensitivity(die: Die, *, counts: ArrayLike, beta: float) -> float:
    """Return S_beta(x) = max_y LS(y) exp(-beta d(x, y)), d the number of replaced records. [Notes] Section 2.3.1."""
    replaced = np.zeros(len(die.candidates), dtype=np.int64)
    for k, c in enumerate(die.checked(counts)):
        replaced += np.maximum(die.candidates[:, k] - c, 0)
    return float((die.local_sensitivities * np.exp(-beta * replaced)).max())


def smooth_sensitivities(die: Die, *, beta: float) -> FloatArray:
    """Return S_beta at every candidate, (R,), in O(m^2 |R|).

    The difference of two tables is a set of shifts, at most one for each pair of sides, and each intermediate count
    lies between its first and last value. One sweep along each pair of sides, in both directions, is therefore exact.
    """
    smooth = die.local_sensitivities.copy()
    for giver in range(die.sides):
        for taker in range(giver):
            _sweep(smooth, die.candidates, giver, taker, np.exp(-beta))
            _sweep(smooth, die.candidates, taker, giver, np.exp(-beta))
    return smooth


def _sweep(smooth: FloatArray, listed: IntArray, giver: int, taker: int, decay: float) -> None:
    before, after = moves(listed, giver=giver, taker=taker)
    filled = listed[before, taker]
    order = np.argsort(filled, kind="stable")
    ends = np.cumsum(np.bincount(filled))
    for level in np.split(order, ends[:-1]):
        reached = after[level]
        smooth[reached] = np.maximum(smooth[reached], smooth[before[level]] * decay)


# The exponential mechanism


def log_weights(distance: FloatArray, *, epsilon: float, sensitivity: float | FloatArray) -> FloatArray:
    """Return -epsilon H / (2 sensitivity) for H (..., R): ln P[r] up to a constant of each row, with maximum 0.

    `sensitivity` is one number, or one for every row. If it is zero, there is only one candidate. A neighbour whose
    distance equals the sensitivity has exactly -epsilon/2, so that small differences from this value are resolved.
    """
    scale = np.asarray(sensitivity, dtype=np.float64)[..., None]
    steps = np.zeros(np.broadcast_shapes(distance.shape, scale.shape))
    return np.divide(distance, scale, out=steps, where=scale > 0) * (-epsilon / 2)


def log_pmf(distance: FloatArray, *, epsilon: float, sensitivity: float | FloatArray) -> FloatArray:
    """Return ln P[r] for P[r] proportional to exp(-epsilon H / (2 sensitivity)), over the last axis of H (..., R)."""
    return special.log_softmax(log_weights(distance, epsilon=epsilon, sensitivity=sensitivity), axis=-1)


def smooth_guarantee(die: Die, *, epsilon: float, delta: float) -> float:
    """Return epsilon' such that the mechanism with noise 2 S_beta(x) is proved (epsilon', delta/2)-private.

    With q = e^-beta it is max(3/2 epsilon, epsilon + ln(e^(epsilon q / 2) + |R|^(1-q) (delta/2)^q)). On the event H(x,
    r) <= S(x) / (e^beta - 1), whose complement has probability at most delta/2, the distance changes scores by
    epsilon/2, and so does S. The remaining term is the change of the normaliser, by Hoelder's inequality outside the
    event.
    """
    q = math.exp(-smoothing_rate(die, epsilon=epsilon, delta=delta))
    normaliser = np.logaddexp(epsilon * q / 2, (1 - q) * math.log(die.size) + q * math.log(delta / 2))
    return float(max(1.5 * epsilon, epsilon + normaliser))
