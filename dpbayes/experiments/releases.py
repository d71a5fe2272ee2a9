"""Many possible releases of one posterior, beside the exact one. For the curator only: nothing here is private."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbayes.counts import Counts
from dpbayes.dirichlet import Dirichlets
from dpbayes.divergence import kl_rows
from dpbayes.mechanisms import Mechanism, Release, ReleasedPosterior
from dpbayes.predictive import query

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleaseStudy:
    """The exact posterior (K,) and a batch of simulated releases (draws, K) of it."""

    exact: Dirichlets
    release: Release[ReleasedPosterior]

    @property
    def private(self) -> Dirichlets:
        """The private posteriors (draws, K)."""
        return self.release.outcome.posterior

    @cached_property
    def kl_rows(self) -> FloatArray:
        """KL(exact || private) of every row in nats: (draws, m). [Zhang16] Theorem 1."""
        return kl_rows(self.exact, self.private)

    @cached_property
    def kl(self) -> FloatArray:
        """KL(exact || private) of the whole posterior in nats: (draws,)."""
        total: FloatArray = self.kl_rows.sum(axis=-1)
        return total

    @property
    def kl_error(self) -> float:
        """Standard error of the mean of `kl` over the draws."""
        return float(self.kl.std(ddof=1) / np.sqrt(len(self.kl)))

    @cached_property
    def shifts(self) -> FloatArray:
        """|private - exact| posterior mean of every cell: (draws, K)."""
        return np.abs(self.private.mean - self.exact.mean)

    def query(self, target: str, evidence: Mapping[str, str]) -> tuple[FloatArray, FloatArray]:
        """P(target | evidence), exact (r,) and private (draws, r)."""
        network = self.exact.network
        return (
            query(network, self.exact.mean, target, evidence),
            query(network, self.release.outcome.probabilities, target, evidence),
        )


def study_release(
    mechanism: Mechanism[ReleasedPosterior], counts: Counts, rng: np.random.Generator, draws: int = 200
) -> ReleaseStudy:
    """Simulate `draws` independent releases of the same counts."""
    exact = mechanism.prior.updated(counts)
    return ReleaseStudy(exact, mechanism.release(counts, rng, (draws,)))


def interval_coverage(exact: Dirichlets, private: Dirichlets, cell: int, level: float = 0.95) -> FloatArray:
    """Return how much of the exact posterior of one cell lies in each private credible interval: (draws,).

    An honest private posterior would hold `level` of it on average.
    """
    low, high = private.interval(level, cells=cell)
    exact_a, exact_b = exact.alpha[cell], exact.rest[cell]
    if exact_b <= 0:
        return np.ones(np.shape(low))
    return np.asarray(special.betainc(exact_a, exact_b, high) - special.betainc(exact_a, exact_b, low), dtype=float)


def density_grid(posteriors: list[Dirichlets], cell: int, points: int = 161) -> FloatArray:
    """Return points in (0, 1) that are even, and dense where the posteriors (K,) have their mass: (grid,)."""
    even = np.linspace(0, 1, points)
    levels = np.linspace(0.001, 0.999, 41)
    peaks = [special.betaincinv(p.alpha[cell], p.rest[cell], levels) for p in posteriors if p.rest[cell] > 0]
    return np.clip(np.unique(np.concatenate([even, *peaks])), 1e-6, 1 - 1e-6)


def density(posterior: Dirichlets, cell: int, theta: FloatArray) -> FloatArray:
    """Return one cell's marginal density at theta (grid,): (..., grid)."""
    return np.exp(posterior.log_density(cell, theta))
