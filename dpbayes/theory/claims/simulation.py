"""Estimates from simulated values of a bounded quantity: mean, quantiles, and the share above the bound."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.theory.claims.exhibit import DOUBT, Measured, above

MOST_RELEASES = 1_000_000


@dataclass(frozen=True)
class Estimates:
    """Simulated numbers and their standard errors, with the same shape."""

    value: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class QuantileInterval:
    """A simulated quantile and the ends of its confidence interval: (E,) each."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated values of a bounded quantity at some settings, sorted: `values` (E, releases), in the bound's unit.

    If all settings use the same noise up to its scale, curves over them are smooth.
    """

    values: FloatArray

    @property
    def releases(self) -> int:
        """The number of simulated releases at every setting."""
        return self.values.shape[-1]

    @cached_property
    def mean(self) -> Estimates:
        """The mean: (E,)."""
        spread = self.values.std(axis=-1, ddof=1) if self.releases > 1 else np.full(len(self.values), np.nan)
        return Estimates(self.values.mean(axis=-1), spread / np.sqrt(self.releases))

    def exceedance(self, bound: ArrayLike) -> Estimates:
        """Return the share of releases whose value is above `bound` (..., E), for each setting: (..., E).

        The standard error is that of a binomial share after adding half a success and half a failure, so that it is
        never zero.
        """
        above = (self.values > np.asarray(bound, dtype=np.float64)[..., None]).sum(axis=-1)
        share = (above + 0.5) / (self.releases + 1)
        return Estimates(above / self.releases, np.sqrt(share * (1 - share) / self.releases))

    def quantile(self, level: float, *, confidence: float = 0.95) -> QuantileInterval:
        """Return the quantile (E,) with an interval between order statistics, valid for every distribution.

        The number of releases below the true quantile is binomial, which determines the two ranks. An end is NaN if
        there are too few releases. Errors: InputError for a level or confidence outside (0, 1).
        """
        level, confidence = (finite_number("The level", x, low=0.0, high=1.0) for x in (level, confidence))
        if not (0 < level < 1 and 0 < confidence < 1):
            raise InputError("The level and the confidence must lie strictly between 0 and 1.")
        from scipy import stats  # late, because the import is slow

        doubt = (1 - confidence) / 2
        first = int(stats.binom.ppf(doubt, self.releases, level)) - 1
        last = int(stats.binom.isf(doubt, self.releases, level))
        none = np.full(len(self.values), np.nan)
        rank = min(int(np.ceil(level * self.releases)), self.releases) - 1
        return QuantileInterval(
            self.values[:, rank],
            self.values[:, first] if first >= 0 else none,
            self.values[:, last] if last < self.releases else none,
        )


def mean_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray) -> Measured:
    """Return the mean: exact `expected` (E,), and simulated with two standard errors on either side."""
    mean = study.mean
    none = np.full(len(expected), np.nan)
    low, high = np.maximum(mean.value - 2 * mean.error, 0.0), mean.value + 2 * mean.error
    violated = above(expected, printed)
    return Measured(
        expected, mean.value, low, high, none, violated, "exact mean", "mean of simulated releases", study.releases
    )


def quantile_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return the 1 - delta quantile, the exact mean, and how often `printed` (E,) is exceeded."""
    quantile, exceeded = study.quantile(1 - delta), study.exceedance(printed)
    # Without an upper end, there are too few releases to estimate the quantile.
    finite = np.isfinite(quantile.high) & np.isfinite(quantile.low)
    value, low, high = (np.where(finite, part, np.nan) for part in (quantile.value, quantile.low, quantile.high))
    return Measured(
        expected,
        value,
        low,
        high,
        exceeded.value,
        exceeded.value - DOUBT * exceeded.error > delta,
        "exact mean" if np.any(np.isfinite(expected)) else "",
        f"{numeral(1 - delta, 6)} quantile of simulated releases",
        study.releases,
    )
