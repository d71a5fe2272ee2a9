"""Integers between 0 and a maximum, sampled near a centre from uniform numbers, with their probabilities."""

import math
from dataclasses import dataclass

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

    Most follow `_rounded_logistic`; the shares in `ends` lie near 0 and near `most`, up to `_REACH` widths beyond the
    centre.
    """
    if not ends.chances.any():
        return _rounded_logistic(luck, centre, sd, most)
    none = ends.chances[0] * _within_reach(centre, sd)
    every = ends.chances[1] * _within_reach(most - centre, sd)
    between = 1 - none - every
    low = np.rint(np.clip(centre + _REACH * sd, 0.0, most))
    high = np.rint(np.clip(most - centre + _REACH * sd, 0.0, most))
    drawn, _ = _rounded_logistic(np.clip((luck - none) / between, 1e-9, 1 - 1e-9), centre, sd, most)
    with np.errstate(divide="ignore", invalid="ignore"):  # if no points are near an end
        drawn = np.where(luck < none, _near_none(luck / none, low, ends.powers[0]), drawn)
        drawn = np.where(luck >= 1 - every, most - _near_none((1 - luck) / every, high, ends.powers[1]), drawn)
        chance = between * np.exp(_log_chance(drawn, centre, sd * _LOGISTIC, most))
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
    rise = -np.expm1(power * np.log(drawn / (drawn + 1)))  # of (k + 1)^power since k^power
    chance = np.exp(power * np.log((drawn + 1) / (most + 1))) * rise
    return np.where(drawn <= most, chance, 0.0)


def _rounded_logistic(
    luck: FloatArray, centre: FloatArray, sd: FloatArray, most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the integers from 0 to `most` (...) nearest to samples of a logistic, and their log probabilities.

    If the variance is somewhat larger than that of Laplace noise, the logistic has heavier tails than the noise. Then
    no importance weight is large.
    """
    scale = sd * _LOGISTIC
    start, end = _odds(-0.5 - centre, scale), _odds(most + 0.5 - centre, scale)
    gap, beyond = end - start, end + 1
    is_lacking = (gap <= _CANCELLED * end).any()
    part = luck * gap
    odds = start * beyond + part
    odds /= np.subtract(beyond, part, out=part)
    drawn = np.log(odds, out=odds)
    drawn *= scale
    drawn += centre
    np.rint(drawn, out=drawn)
    np.minimum(np.maximum(drawn, 0.0, out=drawn), most, out=drawn)
    reach = 0.5 / scale
    if is_lacking or (reach > _FAR).any():
        return drawn, _log_chance(drawn, centre, scale, most)
    # sinh h / (cosh z + cosh h) of the total, as in `_log_mass`, over gap / ((1 + start) (1 + end)) of it.
    gap /= (start + 1) * beyond
    chance = drawn - centre
    chance /= scale
    np.cosh(chance, out=chance)
    chance += np.cosh(reach)
    chance *= gap
    np.log(chance, out=chance)
    return drawn, np.subtract(np.log(np.sinh(reach)), chance, out=chance)


def _odds(away: FloatArray, scale: FloatArray) -> FloatArray:
    """Return F / (1 - F) = e^(x/s) of a logistic distribution of scale s, up to `_FAR` scales from its centre."""
    odds = np.asarray(away / scale)
    return np.exp(np.clip(odds, -_FAR, _FAR, out=odds), out=odds)


def _log_chance(drawn: FloatArray, centre: FloatArray, scale: FloatArray, most: FloatArray) -> FloatArray:
    return _log_mass(drawn - centre, 0.5, scale) - _log_mass(most / 2 - centre, (most + 1) / 2, scale)


def _log_mass(middle: FloatArray, half: FloatArray | float, scale: FloatArray) -> FloatArray:
    """ln P(|x - middle| < half) of a logistic: sinh h / (cosh z + cosh h), with h and z in units of its scale.

    cosh z + cosh h = e^max(|z|, h) (1 + e^-(|z| + h)) (1 + e^-||z| - h|) / 2, without overflow.
    """
    away, reach = np.abs(middle) / scale, half / scale
    beyond = away - reach
    tails = (1 + np.exp(-away - reach)) * (1 + np.exp(-np.abs(beyond)))
    return np.asarray(np.log(-np.expm1(-2 * reach)) - np.maximum(beyond, 0.0) - np.log(tails))
