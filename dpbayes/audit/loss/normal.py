"""Exact privacy of Gaussian noise, of real and of whole numbers, and what rho alone says: see docs/proofs.md.

Every loss has `deltas`, a lower and an upper value of delta at epsilons, and `epsilon`, the same at a delta. No epsilon
suffices at delta = 0.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.law import LossLaw, epsilon_at
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.zcdp import gaussian_delta, gaussian_epsilon, zcdp_delta, zcdp_epsilon

_ALIKE = 3.0
"""From this s on a sum of whole draws is a whole draw."""

_REACH = 12.0
"""So many standard deviations from the mean less than 1e-31 of the mass is left."""

MOST_PLACES = 4_000_000
"""Most values of a sum that are added up; beyond, rho alone says something."""

_ROUND_OFF = 1e-11
"""Relative rounding of a sum of positive numbers, of all of them and of their powers."""


class Loss(LossLaw, Protocol):
    """What noise loses: delta at epsilons, and epsilon at a delta, each between two values."""

    def epsilon(self, delta: float) -> tuple[float, float]: ...


@dataclass(frozen=True)
class GaussianLoss:
    """Real Gaussian noise on numbers that together move by `shift` standard deviations: exact. [Balle18] Theorem 8."""

    shift: float

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return delta at epsilons, twice."""
        deltas = gaussian_delta(self.shift, epsilons)
        return deltas, deltas

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return the least epsilon at which delta suffices, twice."""
        least = gaussian_epsilon(self.shift, delta=delta)
        return least, least


L = TypeVar("L", bound=Loss)


@dataclass(frozen=True)
class BetweenLosses(Generic[L]):
    """A loss that is known to lie between two."""

    least: L
    most: L

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the least delta of the one and the largest of the other, at epsilons (...)."""
        return self.least.deltas(epsilons)[0], self.most.deltas(epsilons)[1]

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return the least epsilon of the one and the largest of the other."""
        return self.least.epsilon(delta)[0], self.most.epsilon(delta)[1]


@dataclass(frozen=True)
class ConcentratedLoss:
    """Whatever is rho-zCDP: nothing is known from below."""

    rho: float

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return 0 and what rho allows, at epsilons (...)."""
        values = np.asarray(epsilons, dtype=np.float64)
        upper = [zcdp_delta(self.rho, epsilon=float(epsilon)) for epsilon in values.ravel()]
        return np.zeros(values.shape), np.array(upper, dtype=np.float64).reshape(values.shape)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return 0 and an epsilon at which delta suffices."""
        return 0.0, zcdp_epsilon(self.rho, delta=delta)


@dataclass(frozen=True)
class WholeGaussianLoss:
    """Whole Gaussian noise of parameter `scale` (s) on `moved` (k) whole numbers that move by one each.

    Exact but for rounding, which is bounded, and where that hides it, what rho says; so where S has too many values.
    """

    moved: int
    scale: float

    @property
    def rho(self) -> float:
        """k/(2 s^2)."""
        return self.moved / (2 * self.scale**2)

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return a lower and an upper value of delta at epsilons (...)."""
        values = np.asarray(epsilons, dtype=np.float64)
        if not self.moved:
            return np.zeros(values.shape), np.zeros(values.shape)
        allowed = ConcentratedLoss(self.rho).deltas(values)
        if not self._is_listed:
            return allowed
        middle, half = values * self.scale**2, self.moved / 2
        ahead = self._beyond(np.floor(middle - half).astype(np.int64))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            behind = np.exp(values + np.log(self._beyond(np.floor(middle + half).astype(np.int64))))
        off = _ROUND_OFF * (ahead + behind) + 1e-30
        return np.clip(ahead - behind - off, 0.0, 1.0), np.clip(ahead - behind + off, 0.0, allowed[1])

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return a lower and an upper value of the least epsilon at which delta suffices."""
        if not self.moved:
            return 0.0, 0.0
        if not delta:
            return math.inf, math.inf
        if not self._is_listed:
            return ConcentratedLoss(self.rho).epsilon(delta)
        most = zcdp_epsilon(self.rho, delta=delta)
        least, enough = epsilon_at(self, delta, most)
        return least, min(most, enough)

    @property
    def _spread(self) -> float:
        return self.scale * math.sqrt(self.moved)

    @property
    def _is_listed(self) -> bool:
        return self._spread * 2 * _REACH <= MOST_PLACES

    def _beyond(self, places: IntArray) -> FloatArray:
        """P[S > place]."""
        low, tails = self._tails
        at = np.clip(places - low + 1, 0, len(tails) - 1)
        return np.asarray(tails[at])

    @cached_property
    def _tails(self) -> tuple[int, FloatArray]:
        """The least value of S, and P[S >= value] for it and all others: (values + 1,), 0 at the end."""
        law = _draws(self._spread) if self.scale >= _ALIKE else _sum_of_draws(self.scale, self.moved)
        tails = np.append(np.cumsum(law[::-1])[::-1], 0.0)
        return -(len(law) // 2), tails / tails[0]


def _draws(scale: float) -> FloatArray:
    """P[x] of one draw, -reach to reach, up to a factor."""
    reach = math.ceil(_REACH * scale) + 1
    return np.asarray(np.exp(-((np.arange(-reach, reach + 1) / scale) ** 2) / 2))


def _sum_of_draws(scale: float, moved: int) -> FloatArray:
    """P of a sum of draws, around zero, by doubling: terms are positive, so that digits are kept."""
    power, total = _draws(scale), np.ones(1)
    power /= power.sum()
    limit = math.ceil(_REACH * max(1.0, scale) * math.sqrt(moved)) + math.ceil(_REACH)
    while moved:
        if moved & 1:
            total = _central(np.convolve(total, power), limit)
        moved >>= 1
        if moved:
            power = _central(np.convolve(power, power), limit)
    return total


def _central(law: FloatArray, limit: int) -> FloatArray:
    cut = max(0, len(law) // 2 - limit)
    return law[cut : len(law) - cut]
