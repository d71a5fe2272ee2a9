"""What simulated values say of a quantity beside its bound: mean, quantiles, and how often the bound is exceeded."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.theory.claims.truth import DOUBT, Measured, above

MOST_RELEASES = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """Simulated numbers and their standard errors, of one shape."""

    value: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class QuantileEstimate:
    """A simulated quantile and the ends of its confidence interval: (E,) each."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class KlStudy:
    """KL(exact || released) of simulated releases in nats, sorted: `kl` (E, releases), for epsilons (E,).

    All epsilons share the same noise but for its scale, so that curves over epsilon are smooth.
    """

    epsilon: FloatArray
    kl: FloatArray

    @property
    def releases(self) -> int:
        """How many releases were simulated at every epsilon."""
        return self.kl.shape[-1]

    @cached_property
    def mean(self) -> Estimate:
        """The mean KL: (E,)."""
        spread = self.kl.std(axis=-1, ddof=1) if self.releases > 1 else np.full(len(self.kl), np.nan)
        return Estimate(self.kl.mean(axis=-1), spread / np.sqrt(self.releases))

    def exceedance(self, bound: ArrayLike) -> Estimate:
        """Return how often the KL is at least `bound` (..., E), one number for each epsilon: (..., E).

        The standard error is that of a binomial share with half a success and half a failure added, so that it does not
        vanish when nothing was seen.
        """
        above = (self.kl >= np.asarray(bound, dtype=np.float64)[..., None]).sum(axis=-1)
        share = (above + 0.5) / (self.releases + 1)
        return Estimate(above / self.releases, np.sqrt(share * (1 - share) / self.releases))

    def quantile(self, level: float, *, confidence: float = 0.95) -> QuantileEstimate:
        """Return the quantile (E,) with an interval between order statistics, valid for every law.

        The number of releases below the true quantile is binomial, which gives the two ranks; NaN where there are too
        few releases. Errors: InputError for a level or confidence outside (0, 1).
        """
        level, confidence = (finite_number("The level", x, low=0.0, high=1.0) for x in (level, confidence))
        if not (0 < level < 1 and 0 < confidence < 1):
            raise InputError("The level and the confidence must lie strictly between 0 and 1.")
        doubt = (1 - confidence) / 2
        first = int(stats.binom.ppf(doubt, self.releases, level)) - 1
        last = int(stats.binom.isf(doubt, self.releases, level))
        none = np.full(len(self.kl), np.nan)
        rank = min(int(np.ceil(level * self.releases)), self.releases) - 1
        return QuantileEstimate(
            self.kl[:, rank],
            self.kl[:, first] if first >= 0 else none,
            self.kl[:, last] if last < self.releases else none,
        )


def kl_mean(study: KlStudy, expected: FloatArray, *, printed: FloatArray) -> Measured:
    """Return the mean KL divergence: exact `expected` (E,), and simulated with two standard errors on either side."""
    mean = study.mean
    none = np.full(len(expected), np.nan)
    low, high = np.maximum(mean.value - 2 * mean.error, 0.0), mean.value + 2 * mean.error
    violated = above(expected, printed)
    return Measured(
        expected, mean.value, low, high, none, violated, "exact mean", "mean of simulated releases", study.releases
    )


def kl_quantile(study: KlStudy, expected: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return the 1 - delta quantile of the KL divergence, its exact mean, and how often `printed` (E,) is exceeded."""
    return _by_quantile(
        study.quantile(1 - delta), study.exceedance(printed), delta=delta, exact=expected, releases=study.releases
    )


def beside_scaled(
    unit: FloatArray, scale: FloatArray, mean: FloatArray, *, printed: FloatArray, delta: float
) -> Measured:
    """Return what draws (draws,) of a quantity in units of the noise scale say at every scale (E,)."""
    study = KlStudy(np.ones(1), np.sort(unit)[None])
    one = study.quantile(1 - delta)
    quantile = QuantileEstimate(one.value * scale, one.low * scale, one.high * scale)
    # Without noise, where all columns are constant, nothing exceeds anything.
    units = np.divide(printed, scale, out=np.full(len(scale), np.inf), where=scale > 0)
    exceeded = study.exceedance(units[:, None])
    one_each = Estimate(exceeded.value[:, 0], exceeded.error[:, 0])
    return _by_quantile(quantile, one_each, delta=delta, exact=mean, releases=len(unit))


def _by_quantile(
    quantile: QuantileEstimate, exceeded: Estimate, *, delta: float, exact: FloatArray, releases: int
) -> Measured:
    # Without an upper end there are too few releases to tell where the quantile is.
    known = np.isfinite(quantile.high) & np.isfinite(quantile.low)
    value, low, high = (np.where(known, each, np.nan) for each in (quantile.value, quantile.low, quantile.high))
    return Measured(
        exact,
        value,
        low,
        high,
        exceeded.value,
        exceeded.value - DOUBT * exceeded.error > delta,
        "exact mean" if np.any(np.isfinite(exact)) else "",
        f"{numeral(1 - delta, 6)} quantile of simulated releases",
        releases,
    )
