"""Integers between 0 and a maximum, sampled near a centre from uniform numbers, with their probabilities."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import FloatArray

_LOGISTIC = math.sqrt(3) / math.pi
"""The scale of a logistic distribution of standard deviation 1."""

_REACH = 4.0
"""The number of widths beyond the centre that points with decreasing density from an end can reach."""

_SHARE = 4.0
"""The share of points at an end, as a multiple of the largest possible share of the distribution beyond it."""

_FAR = 345.0
"""The largest distance, in scales, of the centre from an end of the range; e to twice this number is finite."""

_CANCELLED = 1e-9
"""The share of the larger of two numbers below which their difference is inaccurate."""


@dataclass(frozen=True, eq=False)
class Ends:
    """The shares of points near 0 and near the maximum, and the powers by which their density falls: (2, ...) each.

    For a Dirichlet parameter a below 1, the probability of a count k near 0 is proportional to k^(a - 1).
    """

    chances: FloatArray
    powers: FloatArray


def point_between(
    luck: FloatArray, centre: FloatArray, sd: FloatArray, most: FloatArray, ends: Ends
) -> tuple[FloatArray, FloatArray]:
    """Return integers from 0 to `most` (...) near a centre, and their log probabilities.

    Most follow `_RoundedLogistic`; the shares in `ends` lie near 0 and near `most`, up to `_REACH` widths beyond the
    centre.
    """
    law = _RoundedLogistic(centre, sd * _LOGISTIC, most)
    if not ends.chances.any():
        drawn = law.points(luck)
        return drawn, law.log_chance(drawn)
    none = ends.chances[0] * _within_reach(centre, sd)
    every = ends.chances[1] * _within_reach(most - centre, sd)
    between = 1 - none - every
    low = np.rint(np.clip(centre + _REACH * sd, 0.0, most))
    high = np.rint(np.clip(most - centre + _REACH * sd, 0.0, most))
    drawn = law.points(np.clip((luck - none) / between, 1e-9, 1 - 1e-9))
    with np.errstate(divide="ignore", invalid="ignore"):  # if no points are near an end
        drawn = np.where(luck < none, _near_none(luck / none, low, ends.powers[0]), drawn)
        drawn = np.where(luck >= 1 - every, most - _near_none((1 - luck) / every, high, ends.powers[1]), drawn)
    chance = between * law.chance(drawn)
    chance += none * _chance_near_none(drawn, low, ends.powers[0])
    chance += every * _chance_near_none(most - drawn, high, ends.powers[1])
    return drawn, np.log(chance, out=chance)


def _within_reach(away: FloatArray, sd: FloatArray) -> FloatArray:
    """Return the factor for the share of points at an end that is this far from the centre.

    By Cantelli's inequality, a distribution with this mean and standard deviation has at most the share
    sd^2/(sd^2 + away^2) beyond the end.
    """
    spread = sd**2
    return np.minimum(1.0, _SHARE * spread / (spread + np.maximum(away, 0.0) ** 2))


def _near_none(luck: FloatArray, most: FloatArray, power: FloatArray) -> FloatArray:
    """Return integers from 0 to `most` with the distribution function ((k + 1)/(most + 1))^power."""
    return np.minimum(np.floor((most + 1) * np.clip(luck, 0.0, 1.0) ** (1 / power)), most)


def _chance_near_none(drawn: FloatArray, most: FloatArray, power: FloatArray) -> FloatArray:
    """Return the probabilities of `_near_none`; 0 beyond `most`."""
    chance, before, end = drawn + 1, drawn.copy(), np.log(most + 1)
    for powers in (chance, before):
        with np.errstate(divide="ignore"):
            np.log(powers, out=powers)
        powers -= end
        np.minimum(powers, 0.0, out=powers)  # large powers of numbers beyond the end would be infinite
        powers *= power
        np.exp(powers, out=powers)
    chance -= before
    chance *= drawn <= most
    return chance


@dataclass(frozen=True, eq=False)
class _RoundedLogistic:
    """The distribution of the integers from 0 to `most` nearest to samples of a logistic of a centre and a scale.

    If the variance is somewhat larger than that of Laplace noise, the logistic has heavier tails than the noise. Then
    no importance weight is large.
    """

    centre: FloatArray
    scale: FloatArray
    most: FloatArray

    @cached_property
    def _odds(self) -> tuple[FloatArray, FloatArray]:
        """F / (1 - F) at both ends of the range."""
        return _odds(-0.5 - self.centre, self.scale), _odds(self.most + 0.5 - self.centre, self.scale)

    @cached_property
    def _is_exact(self) -> bool:
        """Whether the odds are accurate enough for probabilities."""
        start, end = self._odds
        return not ((end - start <= _CANCELLED * end).any() or (0.5 / self.scale > _FAR).any())

    def points(self, luck: FloatArray) -> FloatArray:
        """Return integers (...) for uniform numbers."""
        start, end = self._odds
        part = luck * (end - start)
        odds = start * (end + 1) + part
        odds /= np.subtract(end + 1, part, out=part)
        drawn = np.log(odds, out=odds)
        drawn *= self.scale
        drawn += self.centre
        np.rint(drawn, out=drawn)
        return np.minimum(np.maximum(drawn, 0.0, out=drawn), self.most, out=drawn)

    def chance(self, drawn: FloatArray) -> FloatArray:
        """Return the probabilities of integers (...)."""
        if not self._is_exact:
            return np.exp(self.log_chance(drawn))
        return np.asarray(np.sinh(0.5 / self.scale) / self._divisor(drawn))

    def log_chance(self, drawn: FloatArray) -> FloatArray:
        """Return the log probabilities of integers (...)."""
        if not self._is_exact:
            every = _log_mass(self.most / 2 - self.centre, (self.most + 1) / 2, self.scale)
            return _log_mass(drawn - self.centre, 0.5, self.scale) - every
        logs = self._divisor(drawn)
        np.log(logs, out=logs)
        return np.subtract(np.log(np.sinh(0.5 / self.scale)), logs, out=logs)

    def _divisor(self, drawn: FloatArray) -> FloatArray:
        """The divisor of sinh h in the probability: (cosh z + cosh h) gap / ((1 + start) (1 + end))."""
        start, end = self._odds
        divisor = drawn - self.centre
        divisor /= self.scale
        np.cosh(divisor, out=divisor)
        divisor += np.cosh(0.5 / self.scale)
        divisor *= (end - start) / ((start + 1) * (end + 1))
        return np.asarray(divisor)


def _odds(away: FloatArray, scale: FloatArray) -> FloatArray:
    """Return F / (1 - F) = e^(x/s) of a logistic distribution of scale s, up to `_FAR` scales from its centre."""
    odds = np.asarray(away / scale)
    return np.exp(np.clip(odds, -_FAR, _FAR, out=odds), out=odds)


def _log_mass(middle: FloatArray, half: FloatArray | float, scale: FloatArray) -> FloatArray:
    """ln P(|x - middle| < half) of a logistic: sinh h / (cosh z + cosh h), with h and z in units of its scale.

    cosh z + cosh h = e^max(|z|, h) (1 + e^-(|z| + h)) (1 + e^-||z| - h|) / 2, without overflow.
    """
    away, reach = np.abs(middle) / scale, half / scale
    beyond = away - reach
    tails = (1 + np.exp(-away - reach)) * (1 + np.exp(-np.abs(beyond)))
    return np.asarray(np.log(-np.expm1(-2 * reach)) - np.maximum(beyond, 0.0) - np.log(tails))
