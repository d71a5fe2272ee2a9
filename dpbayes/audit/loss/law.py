"""The loss of a pair of neighbours as a privacy curve, and the worst one for a guarantee: see docs/proofs.md."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import turning_point
from dpbayes.base.text import numeral
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number

MOST_REPEATS = 10_000
"""The largest number of releases whose worst distribution is summed."""

MOST_LOSS = 1e6
"""The largest level of a tail probability."""

_PARTS = np.linspace(0, 1, 257)[1:]


class LossLaw(Protocol):
    """The loss of a pair of neighbours: a lower and an upper bound on delta at every epsilon >= 0, two arrays (...)."""

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]: ...


def epsilon_at(law: LossLaw, delta: float, most: float) -> tuple[float, float]:
    """Return a lower and an upper value of the smallest epsilon in [0, `most`] at which delta suffices."""

    def turn(bound: int) -> tuple[FloatArray, FloatArray]:
        def exceeds(epsilon: FloatArray) -> BoolArray:
            return np.asarray(law.deltas(epsilon)[bound] > delta)

        zero = np.asarray(0.0)
        return turning_point(exceeds, 0.0, most) if exceeds(zero) else (zero, zero)

    return float(turn(0)[0]), float(turn(1)[1])


def loss_rarely_passed(law: LossLaw, share: float, most: float) -> float:
    """Return a loss in [0, `most`] that no pair below a curve passes in more than a `share` of cases.

    P[L > l] <= delta(l - s) / (1 - e^-s) for every s > 0; infinity if this is not small enough at `most`. Errors:
    InputError for a share out of (0, 1), and for a level that is not positive.
    """
    allowed = finite_number("The share", share, low=1e-12, high=1 - 1e-12)
    levels = finite_number("The level of a loss", most, low=1e-9, high=MOST_LOSS) * _PARTS
    _, deltas = law.deltas(levels)
    steps = levels[None, :] - levels[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        chances = np.where(steps > 0, deltas[:, None] / -np.expm1(-steps), 1.0).min(axis=0)
    is_rare = chances <= allowed
    return float(levels[int(np.argmax(is_rare))]) if is_rare.any() else math.inf


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
