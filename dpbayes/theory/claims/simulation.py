"""Estimates from simulated values of a bounded quantity: mean, quantiles, and the share above the bound."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.theory.claims.exhibit import DOUBT, Measured, above

MOST_RELEASES = 1_000_000


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

    def exceedance(self, bound: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the share of releases whose value is above `bound` (E,), for each setting, and its error: (E,) each.

        The standard error is that of a binomial share after adding half a success and half a failure, so that it is
        never zero.
        """
        above = (self.values > np.asarray(bound, dtype=np.float64)[..., None]).sum(axis=-1)
        share = (above + 0.5) / (self.releases + 1)
        return above / self.releases, np.sqrt(share * (1 - share) / self.releases)

    def quantile(self, level: float, *, confidence: float = 0.95) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the quantile and the ends of its interval (E,), order statistics, valid for every distribution.

        The number of releases below the true quantile is binomial, which determines the two ranks. An end is NaN if
        there are too few releases.
        """
        from scipy import stats  # late, because the import is slow

        doubt = (1 - confidence) / 2
        first = int(stats.binom.ppf(doubt, self.releases, level)) - 1
        last = int(stats.binom.isf(doubt, self.releases, level))
        none = np.full(len(self.values), np.nan)
        rank = min(int(np.ceil(level * self.releases)), self.releases) - 1
        return (
            self.values[:, rank],
            self.values[:, first] if first >= 0 else none,
            self.values[:, last] if last < self.releases else none,
        )


def mean_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray) -> Measured:
    """Return the mean: exact `expected` (E,), and simulated with two standard errors on either side."""
    mean, none = study.values.mean(axis=-1), np.full(len(expected), np.nan)
    doubt = 2 * study.values.std(axis=-1, ddof=1) / np.sqrt(study.releases)
    low, high = np.maximum(mean - doubt, 0.0), mean + doubt
    violated = above(expected, printed)
    return Measured(
        expected, mean, low, high, none, violated, "exact mean", "mean of simulated releases", study.releases
    )


def quantile_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return the 1 - delta quantile, the exact mean, and how often `printed` (E,) is exceeded."""
    quantile, (exceeded, doubt) = study.quantile(1 - delta), study.exceedance(printed)
    # Without an upper end, there are too few releases to estimate the quantile.
    finite = np.isfinite(quantile).all(axis=0)
    value, low, high = (np.where(finite, part, np.nan) for part in quantile)
    return Measured(
        expected,
        value,
        low,
        high,
        exceeded,
        exceeded - DOUBT * doubt > delta,
        "exact mean" if np.any(np.isfinite(expected)) else "",
        f"{numeral(1 - delta, 6)} quantile of simulated releases",
        study.releases,
    )
