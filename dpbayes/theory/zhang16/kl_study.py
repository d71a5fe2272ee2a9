"""How often the KL divergence of a Laplace release exceeds a bound, and its quantiles, by simulation. Curator only."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl
from dpbayes.theory.zhang16.counts import checked_epsilons, noise_scale
from dpbayes.theory.zhang16.posterior_kl_exact import distinct_rows, expected_kl

MOST_RELEASES = 1_000_000
MOST_NUMBERS = 100_000_000
"""Most KL values that are kept: releases times epsilons."""

_BLOCK = 1 << 18
"""Numbers per pass, so that they stay near the processor."""

_ROUNDING = 1e-6
"""Largest error, as a part of the mean, at which the quick formula may stand for the stable one."""


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


def simulate_kl(
    prior: Dirichlets, counts: Counts, *, epsilon: ArrayLike, releases: int, rng: np.random.Generator
) -> KlStudy:
    """Simulate releases of `LaplaceUpdates` at every epsilon (E,) and return their KL from the exact posterior.

    Errors: InputError for counts of another network, batches, epsilon out of range, and more than MOST_RELEASES
    releases or MOST_NUMBERS values.
    """
    releases = whole_number("The number of releases", releases, low=1, high=MOST_RELEASES)
    epsilons = np.atleast_1d(checked_epsilons(epsilon))
    groups = distinct_rows(prior, counts)
    if releases * len(epsilons) > MOST_NUMBERS:
        raise InputError(f"That is more than {MOST_NUMBERS:,} simulated values; ask for fewer releases.")
    scale = noise_scale(prior.network, epsilons)
    is_quick = _rounding(prior, counts) <= _ROUNDING * float(expected_kl(groups, scale).min())
    found = np.empty((len(scale), releases))
    block = max(1, _BLOCK // (len(scale) * prior.network.cell_count))
    for start in range(0, releases, block):
        size = min(block, releases - start)
        noise = rng.laplace(size=(size, prior.network.cell_count))
        updates = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n))
        found[:, start : start + size] = (_quick_kl if is_quick else _stable_kl)(prior, counts, updates)
    found.sort(axis=-1)
    return KlStudy(epsilons, found)


def _rounding(prior: Dirichlets, counts: Counts) -> float:
    """A bound on the rounding error of `_quick_kl`: all terms are below the size of y ln y at the largest y."""
    network = prior.network
    largest = network.row_sums(prior.alpha) + counts.n * network.cards[network.node_of_row]
    return float(8 * np.finfo(float).eps * (largest * np.log(largest + 3)).sum())


def _quick_kl(prior: Dirichlets, counts: Counts, updates: FloatArray) -> FloatArray:
    """ln B(b) - ln B(a) + (a - b) . (psi(a) - psi(a_0)), summed over rows; it loses digits for large counts."""
    network = prior.network
    a, released = prior.alpha + counts.values, prior.alpha + updates
    slope = special.digamma(a) - special.digamma(network.row_sums(a))[network.row_of_cell]
    constant = _log_beta(network, a) - a @ slope
    found: FloatArray = _log_beta(network, released) - released @ slope - constant
    return np.maximum(found, 0.0)


def _log_beta(network: Network, alpha: FloatArray) -> FloatArray:
    cells: FloatArray = special.gammaln(alpha).sum(axis=-1)
    return cells - special.gammaln(network.row_sums(alpha)).sum(axis=-1)


def _stable_kl(prior: Dirichlets, counts: Counts, updates: FloatArray) -> FloatArray:
    return kl(prior.updated(counts), prior.updated(updates))
