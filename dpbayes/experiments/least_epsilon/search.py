"""The least epsilon at which an answer is accurate enough, by simulated releases with common random numbers.

Every block of draws starts from the same seed at every epsilon. If the noise of a mechanism is scaled by epsilon, the
draws have the same noise, scaled. The share of draws that pass is therefore one fixed function of epsilon. The result
is its last crossing of the required share: every larger epsilon that is tried passes.

1. A few draws are tried from the largest epsilon down, until so few pass that the required share is certainly at a
   larger epsilon. The interval in between is halved until its ends are near. If the first of the few draws all pass,
   the others would rarely change the result, and they are tried only next to an epsilon at which some draws fail.
2. At both ends all draws are tried. An end that does not enclose the interval of the result moves outwards.
3. Between the ends, epsilons are tried by halving. Only the draws that pass at one of two tried neighbours and fail at
   the other are tried; a draw with the same result at both neighbours is assumed to have it in between. Two neighbours
   are not divided if the curve between them cannot matter: the draws that pass at both reach the upper share of the
   interval, or the upper neighbour is below the lower share, so that the curve crosses all three shares beyond it.

If every draw passed from its own threshold on, the result would be a quantile of the thresholds, and the ranks around
the true quantile would be binomial. The same curve, crossed at these ranks, gives the interval.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from dpbayes.base.steps import Work, finished, part_of, slices
from dpbayes.base.text import numeral, share_text
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.wish import LEAST_DRAWS, LeastEpsilon, Wish
from dpbayes.experiments.releases import concluded
from dpbayes.mechanisms.base import Mechanism, searched, simulated
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts

CERTAINTY = 0.95
"""The confidence level of the interval of the least epsilon."""

_COARSE, _FEW = 17, 100
"""The number of epsilons of the coarse grid, and the draws that are tried at them."""

_ALL_PASS = 0.02
"""Largest probability that the first of a few draws all pass although the share that passes is too small."""

_HALVINGS = 2
"""How often the step between two epsilons of the coarse grid is halved to find an end for all draws."""

_STEP = 0.1
"""The largest distance of the logarithms of two epsilons between the ends."""

_ONWARD = 1.5
"""The factor by which an end moves outwards."""

_BLOCK = 1000
"""Draws that start from one seed; the first block has only a few."""

_NUMBERS = 1 << 22
"""Numbers of releases in memory at a time."""


def least_epsilon(wish: Wish, rng: np.random.Generator) -> LeastEpsilon:
    """Return the least epsilon that satisfies a wish. Errors: InputError if none does, and those of the answer."""
    return finished(least_epsilon_steps(wish, rng))


def least_epsilon_steps(wish: Wish, rng: np.random.Generator) -> Work[LeastEpsilon]:
    """Compute `least_epsilon` in steps, which yield the share that is done."""
    yield from part_of(searched(wish.mechanism), 0.0, 0.0)  # the same at every epsilon
    trials = _Trials(wish, tuple(_blocks(wish, rng)))
    rough = yield from part_of(_coarse(trials), 0.0, 0.3)
    ends = yield from part_of(_bracket(trials, rough), 0.3, 0.7)
    yield from part_of(_between(trials, ends), 0.7, 1.0)
    tried = trials.shares | {epsilon: share for epsilon, share in rough.items() if not ends[0] <= epsilon <= ends[1]}
    epsilons = np.array(sorted(tried))
    shares = np.array([tried[epsilon] for epsilon in epsilons])
    low, high = interval_shares(wish.confidence, draws=wish.draws)
    answer, least, most = (crossing(epsilons, shares, share) for share in (wish.confidence, low, high))
    yield 1.0
    return LeastEpsilon(wish, answer, least, most, epsilons, shares)


def sizes_at(wish: Wish, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Return the errors of all draws of a wish at one epsilon: (draws,).

    Errors: InputError if the mechanism does not allow this epsilon, and those of the answer.
    """
    mechanism = wish.at(epsilon)
    sizes = [_sizes(wish, mechanism, block, np.arange(block.size)) for block in _blocks(wish, rng)]
    return np.concatenate(sizes)


def crossing(epsilons: FloatArray, shares: FloatArray, wanted: float) -> float:
    """Return the epsilon from which on every share (E,) is at least `wanted`, by log-linear interpolation.

    The result is the first epsilon if all shares are, and infinity if the last share is not.
    """
    lacking = np.flatnonzero(shares < wanted)
    if not len(lacking):
        return float(epsilons[0])
    last = int(lacking[-1])
    if last == len(shares) - 1:
        return math.inf
    part = (wanted - shares[last]) / (shares[last + 1] - shares[last])
    return float(epsilons[last] * (epsilons[last + 1] / epsilons[last]) ** part)


def interval_shares(confidence: float, *, draws: int) -> tuple[float, float]:
    """Return the shares of draws at whose thresholds a quantile's 95% interval ends.

    P[l <= B < u] >= 0.95 for B binomial: the quantile lies from the l-th to the u-th smallest threshold. The upper
    share is above 1 if there are too few draws.
    """
    below = special.bdtr(np.arange(draws + 1.0), draws, confidence)
    low = int(np.searchsorted(below, (1 - CERTAINTY) / 2))
    high = int(np.searchsorted(below, (1 + CERTAINTY) / 2)) + 1
    return low / draws, high / draws


# Draws


@dataclass(frozen=True, eq=False)
class _SeededDraws:
    """Draws that start from one seed: their tables, and the exact answers of the tables."""

    seed: int
    size: int
    tables: Counts
    exact: FloatArray


def _blocks(wish: Wish, rng: np.random.Generator) -> Iterator[_SeededDraws]:
    tables = wish.tables
    exact = wish.question.answers(wish.mechanism.prior.updated(tables).mean)
    few, size = min(_FEW, wish.draws), min(_BLOCK, _NUMBERS // wish.numbers)
    later = (slice(few + part.start, few + part.stop) for part in slices(wish.draws - few, size))
    for block in (*slices(few, size), *later):
        own = Counts(tables.network, tables.values[block], tables.n) if wish.is_planned else tables
        answers = exact[block] if wish.is_planned else exact
        yield _SeededDraws(int(rng.integers(2**63)), block.stop - block.start, own, answers)


@dataclass(frozen=True, eq=False)
class _Trials:
    """All draws, and at every epsilon which of them pass: of all (draws,), or of as many first ones as were tried."""

    wish: Wish
    blocks: tuple[_SeededDraws, ...]
    passed: dict[float, BoolArray] = field(default_factory=dict)

    @property
    def few(self) -> int:
        """How many draws are tried first."""
        return min(_FEW, self.wish.draws)

    @property
    def shares(self) -> dict[float, float]:
        """The share of all draws that pass at every epsilon where all have been tried."""
        every = self.wish.draws
        return {epsilon: float(passed.mean()) for epsilon, passed in self.passed.items() if len(passed) == every}

    def share(self, epsilon: float) -> float:
        """The share of all draws that pass, which are tried unless they have been."""
        return self.share_of_first(epsilon, self.wish.draws)

    def share_of_first(self, epsilon: float, number: int) -> float:
        """The share that passes of so many first draws, which are tried unless they have been."""
        passes = self.passed.get(epsilon, np.zeros(0, dtype=np.bool_))
        if len(passes) < number:
            places = np.arange(self.wish.draws)
            missing = (places >= len(passes)) & (places < number)
            passes = self.passed[epsilon] = np.concatenate((passes, self.tried(epsilon, missing)[missing]))
        return float(passes[:number].mean())

    def tried(self, epsilon: float, missing: BoolArray) -> BoolArray:
        """Which of these draws pass (draws,); none if the mechanism does not allow this epsilon."""
        passed = np.zeros(self.wish.draws, dtype=np.bool_)
        try:
            mechanism = self.wish.at(epsilon)
        except InputError:
            return passed
        start = 0
        for block in self.blocks:
            own = np.flatnonzero(missing[start : start + block.size])
            if own.size:
                passed[start + own] = _sizes(self.wish, mechanism, block, own) <= self.wish.tolerance
            start += block.size
        return passed


def _sizes(wish: Wish, mechanism: Mechanism[Outcome], block: _SeededDraws, draws: IntArray) -> FloatArray:
    """The errors of some draws (D,) of a block, whose luck is that of the whole block: (D,)."""
    rng = np.random.default_rng(block.seed)
    release = simulated(mechanism, block.tables, rng, () if wish.is_planned else (block.size,)).part(draws)
    exact = block.exact[draws] if wish.is_planned else block.exact
    answers = wish.question.answers(concluded(release, wish.reading, wish.question.cells))
    return np.asarray(np.abs(answers - exact))


# The search


def _coarse(trials: _Trials) -> Work[dict[float, float]]:
    """Try a few draws from the largest epsilon down, and by halves where the share turns: the shares that pass.

    At 95% confidence, 100 draws and their first 38 differ in whether to go on less than once in 1000 times, whatever
    the share is.
    """
    bounds = _bounds(trials.wish, trials.few)
    first = min(trials.few, max(LEAST_DRAWS, math.ceil(math.log(_ALL_PASS) / math.log(max(bounds[0], _ALL_PASS)))))
    grid = np.geomspace(EPSILON.high, EPSILON.low, (_COARSE - 1) * 2**_HALVINGS + 1)
    shares: dict[int, float] = {}
    for k in range(0, len(grid), 2**_HALVINGS):
        shares[k] = trials.share_of_first(grid[k], first)
        if shares[k] < 1:
            shares[k] = trials.share_of_first(grid[k], trials.few)
        yield k / len(grid) / 2
        if shares[k] < bounds[0]:
            break
    for k in sorted(shares, reverse=True):
        shares[k] = trials.share_of_first(grid[k], trials.few)
        if shares[k] >= bounds[1]:
            break
    for halving in reversed(range(_HALVINGS)):
        for bound in bounds:
            lacking = min((k for k, share in shares.items() if share < bound), default=0)
            if lacking and (middle := lacking - 2**halving) not in shares:
                shares[middle] = trials.share_of_first(grid[middle], trials.few)
        yield 1 - 0.5 * halving / _HALVINGS
    return {float(grid[k]): share for k, share in shares.items()}


def _bracket(trials: _Trials, rough: dict[float, float]) -> Work[tuple[float, float]]:
    """Try all draws around the crossing that the few draws found, until its interval is between two epsilons.

    Errors: InputError if no epsilon is sufficient.
    """
    wish, epsilons = trials.wish, sorted(rough)
    start, end = (
        max((k for k, epsilon in enumerate(epsilons) if rough[epsilon] < bound), default=-1)
        for bound in _bounds(wish, trials.few)
    )
    low, high = epsilons[max(start, 0)], epsilons[min(end + 1, len(epsilons) - 1)]
    least, most = _bounds(wish, wish.draws)
    while trials.share(high) < most and high < EPSILON.high:
        high = min(high * _ONWARD, EPSILON.high)
        yield 0.25
    if trials.share(high) < wish.confidence:
        raise InputError(
            f"No epsilon up to {EPSILON.high:,.0f} is enough: at {EPSILON.high:,.0f}, {share_text(trials.share(high))} "
            f"of the releases are within {numeral(wish.tolerance, 6)}, and {numeral(100 * wish.confidence, 12)}% are "
            "required. Choose a larger tolerance or a smaller share of releases."
        )
    yield 0.5
    while trials.share(low) >= least and low > EPSILON.low:
        low = max(low / _ONWARD, EPSILON.low)
        yield 0.75
    return low, high


def _bounds(wish: Wish, draws: int) -> tuple[float, float]:
    """Return the shares that enclose the result's interval, at most 1."""
    low, high = interval_shares(wish.confidence, draws=draws)
    return low, min(high, 1.0)


def _between(trials: _Trials, ends: tuple[float, float]) -> Work[None]:
    """Try epsilons between two ends by halving, with only those draws whose results differ between neighbours.

    Intervals in which none of the three shares can be crossed, or all are crossed later, are left out.
    """
    low, high = ends
    least, most = _bounds(trials.wish, trials.wish.draws)
    grid = np.geomspace(low, high, max(2, 1 + math.ceil(math.log(high / low) / _STEP))).tolist()
    gaps = [(0, len(grid) - 1)]
    while gaps:
        first, last = gaps.pop(0)
        below, above = trials.passed[grid[first]], trials.passed[grid[last]]
        if last - first == 1 or above.mean() < least or (below & above).mean() >= most:
            continue
        middle = (first + last) // 2
        passed = trials.tried(grid[middle], below != above)
        trials.passed[grid[middle]] = np.where(below != above, passed, above)
        gaps += [(first, middle), (middle, last)]
        yield 1 - sum(last - first for first, last in gaps) / len(grid)
