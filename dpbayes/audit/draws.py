"""A lower confidence bound on the epsilon of a mechanism, from simulated releases alone.

It needs only releases, so it also applies to mechanisms whose output distribution is not known.
"""

import inspect
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.text import numeral
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network

DOUBT = 1e-6
"""The default probability with which a bound may be too high."""

MOST_NUMBERS = 40_000_000
"""The largest number of released numbers for one bound."""

_LEAST_DRAWS = 8
_BINS = 64
_CLEAR = 2.0
"""A bin has a weight if the counts of the two tables differ by more than this number of standard deviations."""


def epsilon_lower_bound(hits: ArrayLike, *, opposite: ArrayLike, doubt: float, delta: float = 0.0) -> float:
    """Return a lower confidence bound on epsilon from two samples of booleans: did the output fall into the event E?

    `hits` comes from one table, `opposite` from its neighbour; E must be fixed before these samples are drawn. With
    Clopper-Pearson bounds, each wrong with probability doubt/2, it is ln((P_low - delta) / Q_high), never below 0. A
    mechanism that is (epsilon, delta)-private gets a bound above epsilon with probability at most `doubt`.
    """
    doubt = finite_number("doubt", doubt, low=1e-300, high=0.5)
    delta = finite_number("delta", delta, low=0, high=1)
    first, second = _checked(hits), _checked(opposite)
    low = special.betaincinv(first.sum(), (~first).sum() + 1, doubt / 2) if first.any() else 0.0
    high = special.betainccinv(second.sum() + 1, (~second).sum(), doubt / 2) if not second.all() else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def _checked(sample: ArrayLike) -> BoolArray:
    values = np.asarray(sample)
    if values.ndim != 1 or values.dtype != np.bool_ or not values.size:
        raise InputError("Each sample must be a non-empty list of true and false, one for each release.")
    return values


# From releases


@dataclass(frozen=True, repr=False)
class SampledLoss:
    """A lower bound from releases of two neighbours: at `delta`, the mechanism loses at least `epsilon`.

    It is wrong with probability at most `doubt`. The event was chosen on other releases; in `counted` releases of each
    table it occurred `hits` times, for the more likely table and for the other one. `stated` is the mechanism's own
    guarantee; None if it states none. `print` shows the bound and whether it refutes the stated guarantee.
    """

    epsilon: float
    delta: float
    doubt: float
    counted: int
    hits: tuple[int, int]
    stated: Guarantee | None = None

    def __repr__(self) -> str:
        counted = f"{self.counted:,} counted samples of each table"
        bound = f"privacy loss of at least ε = {numeral(self.epsilon, 4)} ({counted})"
        if self.stated is None:
            return bound
        verdict = "refuted" if self.refutes(self.stated) else "not refuted; more samples or fewer nodes may refute it"
        return f"stated {self.stated}, {bound}: {verdict}"

    def refutes(self, promise: Guarantee | float) -> bool:
        """Return whether the bound refutes a guarantee.

        Args:
            promise: The guarantee, whose delta is at most that of the bound, or an epsilon at the bound's delta.

        Returns:
            True if the mechanism loses more, except with probability `doubt`. False proves nothing.
        """
        promise = promise if isinstance(promise, Guarantee) else Guarantee(promise, self.delta)
        return promise.is_private and promise.delta <= self.delta and self.epsilon > promise.epsilon


def audit_by_draws(
    mechanism: Any,
    *,
    first: Any,
    second: Any,
    rng: np.random.Generator | int,
    draws: int = 100_000,
    doubt: float = DOUBT,
) -> SampledLoss:
    """Return a lower bound on the privacy loss of any mechanism, from releases of two neighbours' statistics.

    The function calls `mechanism.simulate(statistic, rng, (draws,))` and uses all numbers of the result. The stated
    guarantee is `mechanism.claimed`, or else `mechanism.epsilon` and `mechanism.delta`; the bound has its delta. The
    caller must pass neighbours: only tables are checked.

    Args:
        mechanism: Any object with a `simulate` method.
        first: The statistic of a table, such as its `Counts`. A table is counted for the network of `mechanism.prior`.
        second: The statistic of a neighbour, or the neighbour: `table.replace(0, table.codes[1])` gives record 0 the
            values of record 1.
        rng: A generator or a seed.
        draws: The number of simulated releases of each statistic.
        doubt: The probability with which the bound may be wrong.

    Returns:
        The bound, with the counts from which it was computed.

    Raises:
        InputError: The number of draws is out of range, two tables are no neighbours, or a release has no numbers.

    Example:
        >>> network = dp.chain(2)
        >>> table = dp.Dataset(network.names, network.states, np.zeros((10, 2), dtype=int))
        >>> mechanism = dp.LaplaceUpdates(prior=network, epsilon=1)
        >>> dp.audit_by_draws(mechanism, first=table, second=table.replace(0, [1, 1]), rng=1).refutes(1)
        False
    """
    draws = whole_number("The number of draws", draws, low=_LEAST_DRAWS, high=MOST_NUMBERS)
    rng, stated = generator(rng), _stated(mechanism)
    if isinstance(first, Dataset) and isinstance(second, Dataset):
        same = first.codes.shape == second.codes.shape and (first.codes == second.codes).all(axis=1)
        if (apart := max(first.n, second.n) - int(np.sum(same))) != 1:
            raise InputError(f"The tables differ in {apart:,} records, neighbours in one: table.replace(0, [0, 1]).")
    first, second = (_statistic(mechanism, one) for one in (first, second))
    if isinstance(mechanism, type) or len(inspect.signature(getattr(mechanism, "simulate", len)).parameters) < 3:
        raise InputError("mechanism must be an object, not a class, with a method simulate(statistic, rng, size).")
    numbers_per_release = released_numbers(mechanism.simulate(first, rng, (1,))).size
    if draws * numbers_per_release > MOST_NUMBERS:
        raise InputError(
            f"{draws:,} releases of {numbers_per_release:,} numbers each are too many to simulate; use at most "
            f"{MOST_NUMBERS // numbers_per_release:,} draws."
        )
    samples = [released_numbers(mechanism.simulate(statistic, rng, (draws,))) for statistic in (first, second)]
    if any(sample.size != draws * numbers_per_release for sample in samples):
        raise InputError(f"simulate(statistic, rng, size) must return {draws:,} releases if size is ({draws},).")
    one, other = (sample.reshape(draws, -1) for sample in samples)
    loss = loss_from_draws(one, other, doubt=doubt, delta=stated.delta if stated else 0.0)
    return replace(loss, stated=stated)


def _stated(mechanism: Any) -> Guarantee | None:
    """Return the guarantee that a mechanism states, in either form; None if it states none."""
    claim, epsilon = getattr(mechanism, "claimed", None), getattr(mechanism, "epsilon", None)
    if not isinstance(claim, Guarantee) and isinstance(epsilon, int | float):
        claim = Guarantee(epsilon, getattr(mechanism, "delta", 0.0))
    return claim if isinstance(claim, Guarantee) and claim.is_private else None


def _statistic(mechanism: Any, data: Any) -> Any:
    """Return the counts of a table for the network of a mechanism's prior, and any other statistic as it is."""
    prior = getattr(mechanism, "prior", None)
    if isinstance(prior, Network):
        raise InputError("The prior of an own mechanism is no Network: write prior=dp.Dirichlets.capped(network).")
    if hasattr(data, "iloc") or hasattr(data, "lazy"):
        raise InputError("first and second must be tables, not data frames: dp.Table.from_frame(frame, declarations).")
    if prior is None and isinstance(data, Dataset):
        raise InputError("mechanism has no prior, for whose network a table is counted. Pass dp.count(network, table).")
    network = getattr(prior, "network", None)
    return count(network, data) if isinstance(data, Dataset) and isinstance(network, Network) else data


def loss_from_draws(first: ArrayLike, second: ArrayLike, *, doubt: float, delta: float = 0.0) -> SampledLoss:
    """Return the lower bound from independent samples (N, k) of k numbers under two neighbours, in either order.

    On the first half, an event is chosen that is more probable under one of them; on the second half, the event is
    counted, and `epsilon_lower_bound` is applied. Errors: InputError for shapes that differ, fewer than eight draws,
    and numbers that are not finite.
    """
    doubt = finite_number("doubt", doubt, low=1e-300, high=0.5)
    delta = finite_number("delta", delta, low=0, high=1)
    samples = [np.asarray(sample, dtype=np.float64) for sample in (first, second)]
    if samples[0].ndim != 2 or samples[0].shape != samples[1].shape or len(samples[0]) < _LEAST_DRAWS:
        raise InputError(f"Two samples of equal shape are needed, with {_LEAST_DRAWS} draws or more.")
    if not all(np.isfinite(sample).all() for sample in samples):
        raise InputError("Released numbers must be finite.")
    half = len(samples[0]) // 2
    quarter = half // 2
    score = _Score.fitted(*(sample[:quarter] for sample in samples))
    chosen = [score.of(sample[quarter:half]) for sample in samples]
    bounds = [_best(chosen[k], chosen[1 - k], sign=sign, doubt=doubt, delta=delta) for k, sign in ((0, 1.0), (1, -1.0))]
    place = int(bounds[1][0] > bounds[0][0])
    sign, limit = (1.0, -1.0)[place], bounds[place][1]
    hits = [sign * score.of(samples[k][half:]) >= limit for k in (place, 1 - place)]
    epsilon = epsilon_lower_bound(hits[0], opposite=hits[1], doubt=doubt, delta=delta)
    return SampledLoss(epsilon, delta, doubt, len(hits[0]), (int(hits[0].sum()), int(hits[1].sum())))


def released_numbers(released: Any) -> FloatArray:
    """Return all numbers of a release, with its batch axes first. Errors: InputError if there are none."""
    try:
        return np.asarray(getattr(released, "numbers", released), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("A release without numbers cannot be audited by simulation.") from None


@dataclass(frozen=True, eq=False)
class _Score:
    """A score in favour of the first table: a sum over the numbers of a sample, by the bin of each number."""

    edges: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]

    @classmethod
    def fitted(cls, first: FloatArray, second: FloatArray) -> "_Score":
        """Return bins of equal shares, with own bins for atoms, weighted by the log ratio of the tables' counts."""
        edges, weights = [], []
        for one, other in zip(first.T, second.T, strict=True):
            marks = np.quantile(np.concatenate([one, other]), np.arange(1, _BINS) / _BINS, method="lower")
            atoms = np.nextafter(marks[1:][marks[1:] == marks[:-1]], np.inf)
            ends = np.unique(np.concatenate([marks, atoms]))
            hits = [np.bincount(np.searchsorted(ends, x, side="right"), minlength=len(ends) + 1) for x in (one, other)]
            clear = np.abs(hits[0] - hits[1]) > _CLEAR * np.sqrt(hits[0] + hits[1])
            edges.append(ends)
            weights.append(np.where(clear, np.log((hits[0] + 0.5) / (hits[1] + 0.5)), 0.0))
        return cls(tuple(edges), tuple(weights))

    def of(self, sample: FloatArray) -> FloatArray:
        """The scores (N,) of draws (N, k)."""
        total = np.zeros(len(sample))
        for column, edges, weights in zip(sample.T, self.edges, self.weights, strict=True):
            if weights.any():
                total += weights[np.searchsorted(edges, column, side="right")]
        return total


def _best(likely: FloatArray, unlikely: FloatArray, *, sign: float, doubt: float, delta: float) -> tuple[float, float]:
    """Return the largest bound for a threshold of sign times the score, and this threshold."""
    likely, unlikely = np.sort(sign * likely), np.sort(sign * unlikely)
    limits = np.unique(np.quantile(likely, np.linspace(0, 1, 4 * _BINS), method="lower"))
    count = len(likely)
    hits, false = (count - np.searchsorted(sample, limits) for sample in (likely, unlikely))
    low = special.betaincinv(hits, count - hits + 1, doubt / 2)
    high = np.where(false < count, special.betainccinv(false + 1, np.maximum(count - false, 1), doubt / 2), 1.0)
    bounds = np.log(np.maximum(low - delta, 1e-300) / high)
    place = int(np.argmax(bounds))
    return float(bounds[place]), float(limits[place])
