"""What a mechanism loses between two tables, judged from its `release` alone: nothing that it states is believed.

A release is a function of the counts and of what it takes from its generator. A scripted generator hands it chosen
values and notes their law. Where the values add up to the outcome, the shift of them that turns one table's release
into the other's is found by solving; where each uniform value becomes a number, the two laws are compared interval by
interval. What takes from its generator until it is satisfied is judged by many releases from equal seeds.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from scipy.stats import chi2

from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from tests.conftest import IS_THOROUGH
from tests.strategies import all_records, table_of

STEP = 1e-3
"""How far a value is moved to see what it does: less than the distance of any release used here to a limit."""

LEVELS = np.array([0.0, 1e-3, 0.5, 1 - 1e-3, 1.0])
"""Between these levels of one table's law the two laws are compared; a trimmed law differs most at its ends."""

FEWEST = 1e-7
"""Intervals of less probability are not compared: a difference of two levels has too few digits."""

DRAWS = 100_000

RECORDS, FEW_RECORDS = 3, 2 if IS_THOROUGH else 1
"""Records of the tables: three leave room between the limits of clipping; where laws are compared, fewer do."""


class Law(Enum):
    """The law of the values that a release takes from its generator."""

    LAPLACE = "Laplace"
    NORMAL = "normal"
    UNIFORM = "uniform"
    EXPONENTIAL = "pairs of exponentials, whose rounded difference is noise of whole numbers"


class Rejection(Exception):
    """The release takes a number of values that depends on them."""


@dataclass
class Scripted:
    """A generator that hands out chosen values (P, D) of D standard variates, in P releases at once."""

    values: np.ndarray
    laws: list[Law] = field(default_factory=list)

    def _take(self, law: Law, size: Any) -> np.ndarray:
        shape = tuple(np.atleast_1d(size).tolist())
        if len(shape) == 1 or len(self.values) not in shape[:2]:
            raise Rejection
        axis = shape.index(len(self.values))
        of_one = (*shape[:axis], *shape[axis + 1 :])
        used, taken = len(self.laws), int(np.prod(of_one))
        self.laws += [law] * taken
        if self.values.shape[1] < len(self.laws):  # it is only noted what is taken
            return np.full(shape, 0.5)
        return np.moveaxis(self.values[:, used : used + taken].reshape(-1, *of_one), 0, axis)

    def laplace(self, loc: float = 0.0, scale: Any = 1.0, size: Any = None) -> np.ndarray:
        return loc + scale * self._take(Law.LAPLACE, size)

    def standard_normal(self, size: Any = None) -> np.ndarray:
        return self._take(Law.NORMAL, size)

    def normal(self, loc: float = 0.0, scale: Any = 1.0, size: Any = None) -> np.ndarray:
        return loc + scale * self._take(Law.NORMAL, size)

    def standard_exponential(self, size: Any = None) -> np.ndarray:
        return self._take(Law.EXPONENTIAL, size)

    def geometric(self, p: Any, size: Any = None) -> np.ndarray:
        return 1 + np.floor(self._take(Law.EXPONENTIAL, size) / -np.log1p(-p))

    def random(self, size: Any = None) -> np.ndarray:
        return self._take(Law.UNIFORM, size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> np.ndarray:
        return low + (high - low) * self._take(Law.UNIFORM, size)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"Add rng.{name} to `Scripted` in tests/contract/judge.py, with the law of its values.")


@dataclass(frozen=True)
class Loss:
    """What the worst pair of tables loses: a pure epsilon, or the squared shift of Gaussian noise in its own sd."""

    epsilon: float = np.inf
    squared_shift: float = np.inf

    def keeps(self, promise: Any, delta: Any) -> bool:
        """Whether a promise stands; `delta` is a function of the squared shift and epsilon."""
        if np.isfinite(self.epsilon):
            return self.epsilon <= promise.epsilon * (1 + 1e-6)
        if not np.isfinite(self.squared_shift):
            return False
        close = self.squared_shift / 2 <= promise.rho * (1 + 1e-6)
        return bool(close and delta(self.squared_shift, promise.epsilon) <= promise.delta * (1 + 1e-5))


def neighbouring_counts(mechanism: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of all pairs of neighbouring tables of n records, each pair of counts once: twice (P, K)."""
    network, records = mechanism.prior.network, all_records(mechanism.prior.network)
    tables = _multisets(len(records), n)
    counts = {t: mechanism.statistic(table_of(network, [records[r] for r in t])).values for t in tables}
    pairs = {
        (counts[t].tobytes(), counts[other].tobytes()): (counts[t], counts[other])
        for t in tables
        for place in range(n)
        for r in range(len(records))
        if (other := tuple(sorted((*t[:place], r, *t[place + 1 :])))) != t
    }
    before, after = zip(*pairs.values(), strict=True)
    return np.array(before), np.array(after)


def _multisets(kinds: int, n: int) -> list[tuple[int, ...]]:
    if n == 0:
        return [()]
    return [(*rest, k) for rest in _multisets(kinds, n - 1) for k in range(rest[-1] if rest else 0, kinds)]


def worst_loss(mechanism: Any) -> Loss:
    """Return what the worst pair of neighbouring tables of a few records loses, from releases alone."""
    before, after = neighbouring_counts(mechanism, RECORDS)
    release = _Released(mechanism, RECORDS)
    try:
        laws = set(release.laws(before[:1]))
    except Rejection:
        return _judged_by_covariance(mechanism, before, after)
    if laws == {Law.UNIFORM}:
        return Loss(epsilon=_worst_of_levels(_Released(mechanism, FEW_RECORDS), mechanism))
    if laws == {Law.EXPONENTIAL}:
        return Loss(epsilon=_worst_of_whole_noise(release, before, after))
    if laws == {Law.LAPLACE}:
        return Loss(epsilon=float(np.abs(_shifts(release, before, after)).sum(axis=1).max()))
    if laws == {Law.NORMAL}:
        return Loss(squared_shift=float((_shifts(release, before, after) ** 2).sum(axis=1).max()))
    if not laws:  # nothing random: any two outcomes that differ give a table away
        differ = np.any(release(before, np.empty((len(before), 0))) != release(after, np.empty((len(after), 0))))
        return Loss(epsilon=np.inf if differ else 0.0)
    raise AssertionError(f"Add to tests/contract/judge.py how a release of several laws is judged: {laws}.")


@dataclass(frozen=True)
class _Released:
    """The released numbers (P, M) of P tables, as a function of what is taken from the generator (P, D)."""

    mechanism: Any
    n: int

    @property
    def network(self) -> Network:
        network: Network = self.mechanism.prior.network
        return network

    def laws(self, counts: np.ndarray) -> list[Law]:
        script = Scripted(np.empty((len(counts), 0)))
        self._numbers(counts, script)
        return script.laws

    def __call__(self, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
        return self._numbers(counts, Scripted(values))

    def _numbers(self, counts: np.ndarray, generator: Any) -> np.ndarray:
        numbers = self.mechanism.simulate(Counts(self.network, counts, self.n), generator).numbers
        return np.asarray(numbers, dtype=float).reshape(len(counts), -1)


def _shifts(release: _Released, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return by how much the values must move for one table to be released as the other (P, D); infinity where none do.

    Released numbers are brought to the middle first, away from limits at which they are clipped.
    """
    dimension = len(release.laws(before[:1]))
    middle = _middle(release, before, after, dimension)
    jacobian = _slopes(release, before, middle)
    used = int(np.any(np.abs(jacobian[0]) > 1e-9, axis=0).sum())  # no noise may be added by a value times nothing
    assert np.linalg.matrix_rank(jacobian[0], tol=1e-6) == used, "what is released does not tell the values taken"
    apart = release(before, middle) - release(after, middle)
    shifts = np.einsum("pdm,pm->pd", np.linalg.pinv(jacobian), apart)
    same = np.isclose(release(after, middle + shifts), release(before, middle), atol=1e-6).all(axis=1)
    return np.where(same[:, None], shifts, np.inf)


def _middle(release: _Released, before: np.ndarray, after: np.ndarray, dimension: int) -> np.ndarray:
    """Return values at which either table's numbers are as near to half of n as can be (P, D)."""
    values = np.zeros((len(before), dimension))
    for _ in range(3):
        slopes = _slopes(release, before, values)
        now = (release(before, values) + release(after, values)) / 2
        values = values + np.einsum("pdm,pm->pd", np.linalg.pinv(slopes), release.n / 2 - now)
    return values


def _slopes(release: _Released, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how the numbers follow every value (P, M, D): of one at a limit, to the side on which they move."""
    here, slopes = release(counts, values), []
    for k in range(values.shape[1]):
        ahead, back = (release(counts, values + side * STEP * np.eye(values.shape[1])[k]) for side in (1, -1))
        forward, backward = (ahead - here) / STEP, (here - back) / STEP
        slopes.append(np.where(np.abs(forward) >= np.abs(backward), forward, backward))
    return np.stack(slopes, axis=-1)


def _worst_of_whole_noise(release: _Released, before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest sum of moved steps over their scales; infinity where no whole number of steps will do."""
    ups, downs, firsts = _whole_noise(release, before[:1])
    dimension, pairs = len(release.laws(before[:1])), len(ups)
    if not pairs:
        return np.inf  # no value changes what is released

    def noised(counts: np.ndarray, steps: np.ndarray) -> np.ndarray:
        values = np.zeros((len(counts), dimension))
        for k, (up, down) in enumerate(zip(ups, downs, strict=True)):
            values[:, up], values[:, down] = ((np.maximum(side * steps[:, k], 0) + 0.5) * firsts[k] for side in (1, -1))
        return release(counts, values)

    middle = np.zeros((len(before), pairs))
    if before.shape[1] == pairs:  # noise on counts, which may be clipped
        middle = np.round((release.n - (before + after)) / 2)
    here, units = noised(before, middle), np.eye(pairs)
    ahead, back = (np.stack([noised(before, middle + side * u) for u in units], -1) for side in (1, -1))
    forward, backward = ahead - here[..., None], here[..., None] - back
    jacobian = np.where(np.abs(forward) >= np.abs(backward), forward, backward)
    steps = np.einsum("pdm,pm->pd", np.linalg.pinv(jacobian), here - noised(after, middle))
    whole = np.round(steps)
    if np.abs(steps - whole).max() > 1e-6 or not np.allclose(noised(after, middle + whole), here):
        return np.inf
    return float((np.abs(whole) * firsts).sum(axis=1).max())


def _whole_noise(release: _Released, counts: np.ndarray) -> tuple[list[int], list[int], np.ndarray]:
    """Return the places of values whose steps cancel each other, and the value of each pair's first step: 1/scale.

    A value at a limit may do nothing until its partner has moved.
    """
    dimension = len(release.laws(counts))
    ups, downs, firsts = [], [], []
    for k in range(dimension):
        if k in downs or not np.isfinite(first := _first_step(release, counts, k)):
            continue
        values = np.zeros((dimension, dimension))
        values[:, k] = 1.5 * first
        values += 1.5 * first * np.eye(dimension) * (np.arange(dimension) != k)
        back = release(np.repeat(counts, dimension, axis=0), values) == release(counts, 0 * values[:1])
        cancelled = np.all(back, axis=1)
        (partners,) = np.nonzero(cancelled & (np.arange(dimension) != k))
        assert len(partners) == 1, "noise of whole numbers is the difference of two values"
        ups, downs, firsts = [*ups, k], [*downs, int(partners[0])], [*firsts, first]
    return ups, downs, np.array(firsts)


def _first_step(release: _Released, counts: np.ndarray, place: int) -> float:
    """Return the least exponential value at this place that changes the release, one over its noise's scale."""
    dimension = len(release.laws(counts))
    nothing = release(counts, np.zeros((1, dimension)))

    def moved(size: float) -> bool:
        return bool(np.any(release(counts, size * np.eye(dimension)[place][None]) != nothing))

    low, high = 1e-9, 1e6
    if not moved(high):
        return np.inf
    while high / low > 1 + 1e-13:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if moved(middle) else (middle, high)
    return high


def _worst_of_levels(release: _Released, mechanism: Any) -> float:
    """Return the largest sum over values of the log ratio of an interval's probabilities under the two tables.

    Every uniform value decides numbers of its own, rising or falling; intervals that shrink bound the loss from below.
    """
    before, after = neighbouring_counts(mechanism, release.n)
    dimension = len(release.laws(before[:1]))
    total = np.zeros(len(before))
    for k in range(dimension):
        number = _follower(release, before[:1], k, dimension)

        def curve(counts: np.ndarray, levels: np.ndarray, k: int = k, number: int = number) -> np.ndarray:
            width = levels.shape[1]
            values = np.full((counts.shape[0] * width, dimension), 0.5)
            values[:, k] = levels.ravel()
            return release(np.repeat(counts, width, axis=0), values)[:, number].reshape(levels.shape)

        total += _worst_interval(curve, before, after)
    return float(total.max())


def _follower(release: _Released, counts: np.ndarray, k: int, dimension: int) -> int:
    """Return a number that the value k decides."""
    values = np.full((2, dimension), 0.5)
    values[:, k] = (1e-6, 1 - 1e-6)
    low, high = release(np.repeat(counts, 2, axis=0), values)
    return int(np.argmax(np.abs(high - low)))


def _worst_interval(curve: Any, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the largest log ratio of the probabilities of an interval of a number, before over after: (P,)."""
    levels = np.repeat(LEVELS[None], len(before), axis=0)
    laws = np.concatenate([curve(before, levels), curve(after, levels)], axis=1)
    _, of_law, place = np.unique(laws, axis=0, return_index=True, return_inverse=True)
    before, after = before[of_law], after[of_law]
    return _worst_of_laws(curve, before, after)[place.ravel()]


def _worst_of_laws(curve: Any, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Do `_worst_interval` for pairs that all differ in their laws."""
    ends = curve(before, np.repeat([[0.0, 1.0]], len(before), axis=0))
    falls = ends[:, :1] > ends[:, 1:]
    grid = np.linspace(0, 1, 201)[None]
    if len(np.unique(curve(before[:1], grid))) < 100:  # finitely many outcomes: each is an interval
        edges = np.unique([curve(counts, np.repeat(grid, len(before), axis=0)) for counts in (before, after)])
        edges = np.repeat(edges[None], len(before), axis=0)
    else:
        edges = np.sort(curve(before, np.repeat(LEVELS[None], len(before), axis=0)), axis=1)
    p, q = (np.diff(_level_of(curve, counts, edges, falls), axis=1) for counts in (before, after))
    compared = (p > FEWEST) & (q > FEWEST)
    return np.where(compared, np.log(np.where(compared, p, 1.0) / np.where(compared, q, 1.0)), 0.0).max(axis=1)


def _level_of(curve: Any, counts: np.ndarray, edges: np.ndarray, falls: np.ndarray) -> np.ndarray:
    """Return the probability of at most each edge (P, E), by bisection, with 0 before the first one."""
    low, high = np.zeros(edges.shape), np.ones(edges.shape)
    for _ in range(36):
        middle = (low + high) / 2
        within = curve(counts, np.where(falls, 1 - middle, middle)) <= edges
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return np.concatenate([np.zeros((len(edges), 1)), (low + high) / 2], axis=1)


def _judged_by_covariance(mechanism: Any, before: np.ndarray, after: np.ndarray) -> Loss:
    """Return the squared shift in units of the noise's covariance, as low as `DRAWS` releases let it be.

    Of equal seeds, additive noise is equal: the difference of two tables' releases is their shift alone.
    """
    network = mechanism.prior.network

    def numbers(counts: np.ndarray, seed: int, size: tuple[int, ...] = ()) -> np.ndarray:
        release = mechanism.simulate(Counts(network, counts, RECORDS), np.random.default_rng(seed), size)
        return np.asarray(release.numbers, dtype=float)

    covariance = np.cov(numbers(before[0], 1, (DRAWS,)).reshape(DRAWS, -1).T)
    covariance = np.atleast_2d(covariance)
    tables, place = np.unique(np.concatenate([before, after]), axis=0, return_inverse=True)  # each is released once
    first, second = np.array([numbers(table, 2).ravel() for table in tables])[place.reshape(2, -1)]
    moved = first - second
    squared = np.einsum("pi,ij,pj->p", moved, np.linalg.pinv(covariance, rcond=1e-9), moved)
    certain = DRAWS / chi2.isf(1e-9, DRAWS)  # a variance is seldom seen smaller by more than this
    return Loss(squared_shift=float(squared.max() * certain))
