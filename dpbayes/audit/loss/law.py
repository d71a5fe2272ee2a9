"""The distribution of a loss from its privacy curve: its tails, and the worst distribution for a guarantee.

For one pair of neighbours with loss L = ln P/Q, drawn under P, delta(l) = E[(1 - e^(l - L))_+]. As a function h of
y = e^l it is convex, and its slope from the right is -E[e^-L; L > l]. Hence P[L > l] = h(y) - y h'(y), and with s > 0

    h(y) + (h(y) - h(y e^s)) / (e^s - 1)  <=  P[L > l]  <=  h(y) + (h(y e^-s) - h(y)) / (1 - e^-s).

So a curve between two certified values has its tails between two certified values. For another pair, of which only
h' <= h is known, the right side still holds with 0 for h(y): P'[L' > l] <= h(y e^-s) / (1 - e^-s).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number

MOST_REPEATS = 10_000
"""The largest number of releases whose worst distribution is summed."""

MOST_LOSS = 1e6
"""The largest level of a tail probability."""

_BESIDE = 10.0 ** np.arange(-6, 0)
"""Distances from a level at which slopes are taken; small ones are sharp if the curve has no rounding errors."""

_PARTS = np.linspace(0, 1, 257)[1:]

_REFINEMENTS = 2

MOST_PAIRS = 64
"""The largest number of kinds of neighbours that are evaluated one by one; for more, the worst curve bounds all."""


class LossLaw(Protocol):
    """The loss of a pair of neighbours: a lower and an upper bound on delta at every epsilon >= 0, two arrays (...)."""

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]: ...


@dataclass(frozen=True, eq=False)
class Losses:
    """The loss of a mechanism: its `curve`, the largest of all pairs, and the losses of its `pairs`, if they are known.

    The first pair exists, and its curve is that of the mechanism; every other pair has the loss of one of `pairs`.
    """

    curve: LossLaw
    pairs: tuple[LossLaw, ...] = ()


def chance_above(law: LossLaw, loss: float) -> tuple[float, float]:
    """Return a lower and an upper value of P[L > `loss`], L being the loss of one pair under its first table.

    Errors: InputError for a level that is not positive.
    """
    level = _checked(loss)
    steps = np.minimum(_BESIDE, level / 2)
    low, high = law.deltas(np.concatenate([[level], level - steps, level + steps]))
    before, after = np.split(high[1:], 2)
    least = low[0] + (low[0] - after) / np.expm1(steps)
    most = low[0] + (before - low[0]) / -np.expm1(-steps)
    return float(max(least.max(), low[0])), float(min(most.min(), 1.0))


def chance_above_at_most(law: LossLaw, loss: float) -> float:
    """Return a value that P[L > `loss`] exceeds for no pair whose delta is nowhere above this curve.

    Errors: InputError for a level that is not positive.
    """
    steps = _PARTS * _checked(loss)
    _, before = law.deltas(np.maximum(loss - steps, 0.0))
    return float(min((before / -np.expm1(-steps)).min(), 1.0))


def loss_rarely_passed(losses: "Losses", share: float, most: float) -> float:
    """Return a loss in [0, `most`] that no pair's passes in more than a `share` of cases, near the least such one.

    Infinity where that is not known of `most` either. Errors: InputError for a share out of (0, 1), and for a level
    that is not positive.
    """
    allowed = finite_number("The share", share, low=1e-12, high=1 - 1e-12)
    low, high = 0.0, _checked(most)
    for _ in range(_REFINEMENTS):
        levels = low + (high - low) * _PARTS
        is_rare = _chances_above(losses, levels) <= allowed
        if not is_rare.any():
            return high if low else math.inf
        first = int(np.argmax(is_rare))
        low, high = (float(levels[first - 1]) if first else low), float(levels[first])
    return high


def _chances_above(losses: "Losses", levels: FloatArray) -> FloatArray:
    """An upper value of P[L > level] of every pair at rising levels (S,): (S,)."""
    if not losses.pairs or len(losses.pairs) > MOST_PAIRS:
        _, curve = losses.curve.deltas(levels)
        return _from_before(curve, np.zeros(len(levels)), levels)
    brackets = [law.deltas(levels) for law in losses.pairs]
    return np.max([_from_before(most, least, levels) for least, most in brackets], axis=0)


def _from_before(most: FloatArray, least: FloatArray, levels: FloatArray) -> FloatArray:
    """What the slopes from all earlier levels allow; nothing is known at the first one, which has none."""
    steps = levels[None, :] - levels[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = least[None, :] + (most[:, None] - least[None, :]) / -np.expm1(-steps)
    return np.asarray(np.minimum(np.where(steps > 0, slopes, 1.0).min(axis=0), 1.0))


def _checked(loss: float) -> float:
    return finite_number("The level of a loss", loss, low=1e-9, high=MOST_LOSS)


@dataclass(frozen=True)
class PromisedLoss:
    """The worst that k releases may lose, each (epsilon, delta)-private: k randomised responses, summed exactly.

    Each reveals the table with probability delta, and otherwise answers truthfully with odds e^epsilon: the loss is
    (k - 2i) epsilon with the binomial probability of i false answers. [Kairouz15] Theorem 3.3: no adaptive releases
    with this guarantee lose more. Errors: InputError for an invalid guarantee, and for a number of releases outside of
    [1, MOST_REPEATS].
    """

    epsilon: float
    delta: float = 0.0
    releases: int = 1

    def __post_init__(self) -> None:
        if not self.epsilon >= 0 or not 0 <= self.delta <= 1:
            raise InputError(f"({numeral(self.epsilon, 6)}, {numeral(self.delta, 6)}) is not a privacy guarantee.")
        whole_number("The number of releases", self.releases, low=1, high=MOST_REPEATS)

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return delta at every epsilon, twice: it is exact, but for rounding in the last digits."""
        levels = np.asarray(epsilons, dtype=np.float64)
        if not np.isfinite(self.epsilon) or self.delta == 1:
            return np.ones(levels.shape), np.ones(levels.shape)
        lies = np.arange(self.releases // 2 + 1)  # with more of them there is no loss above zero
        losses = (self.releases - 2 * lies) * self.epsilon
        chances = np.exp(
            special.gammaln(self.releases + 1)
            - special.gammaln(lies + 1)
            - special.gammaln(self.releases - lies + 1)
            + lies * special.log_expit(-self.epsilon)
            + (self.releases - lies) * special.log_expit(self.epsilon)
        )
        revealed = (chances * -np.expm1(np.minimum(levels[..., None] - losses, 0.0))).sum(axis=-1)
        betrayed = -np.expm1(self.releases * np.log1p(-self.delta))
        deltas = np.minimum(betrayed + (1 - betrayed) * revealed, 1.0)
        return deltas, deltas
