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

_LEAST_SCALE = 2e-3
"""The smallest scale of a logistic distribution. The nearest integer is then certain, unless the centre is a half."""

_BEYOND = 40.0
"""The largest distance, in scales, of the centre outside the range. Farther away, the probabilities hardly change."""


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
    scale = np.maximum(sd * _LOGISTIC, _LEAST_SCALE)
    beyond = _BEYOND * scale
    law = _RoundedLogistic(np.clip(centre, -beyond, most + beyond), scale, most)
    if not ends.chances.any():
        drawn = law.points(luck)
        return drawn, np.log(law.chance(drawn))
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
    place = np.minimum(drawn, most)  # large powers of numbers beyond the end would be infinite
    chance = ((place + 1) / (most + 1)) ** power - (place / (most + 1)) ** power
    return chance * (drawn <= most)


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

    def points(self, luck: FloatArray) -> FloatArray:
        """Return integers (...) for uniform numbers."""
        start, end = self._odds
        part = luck * (end - start)
        drawn = self.centre + self.scale * np.log((start * (end + 1) + part) / (end + 1 - part))
        return np.clip(np.rint(drawn), 0.0, self.most)

    def chance(self, drawn: FloatArray) -> FloatArray:
        """Return the probabilities of integers (...): sinh h (1 + start) (1 + end) / ((cosh z + cosh h) (end - start)).

        z is the distance from the centre, and h is half a unit, both in units of the scale.
        """
        start, end = self._odds
        whole = (start + 1) * (end + 1) / (end - start) * np.sinh(0.5 / self.scale)
        return whole / (np.cosh((drawn - self.centre) / self.scale) + np.cosh(0.5 / self.scale))


def _odds(away: FloatArray, scale: FloatArray) -> FloatArray:
    """Return F / (1 - F) = e^(x/s) of a logistic distribution of scale s, up to `_FAR` scales from its centre."""
    return np.asarray(np.exp(np.clip(away / scale, -_FAR, _FAR)))
