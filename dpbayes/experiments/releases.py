"""Many possible releases of one posterior, beside the exact one. For the curator only: nothing here is private."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Mechanism, Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.mechanisms.base import simulated
from dpbayes.model.counts import Counts
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl_rows


@dataclass(frozen=True, eq=False)
class ReleaseStudy:
    """The exact posterior (K,) and a batch of simulated releases of it."""

    exact: Dirichlets
    release: Release[Outcome]

    @cached_property
    def private(self) -> FloatArray:
        """The CPTs that every release stands for: (releases, K)."""
        return self.release.outcome.probabilities

    @cached_property
    def shifts(self) -> FloatArray:
        """|private - exact| posterior mean of every cell: (releases, K)."""
        return np.abs(self.private - self.exact.mean)

    @property
    def shift(self) -> FloatArray:
        """The mean of `shifts` over all cells: (releases,)."""
        return self.shifts.mean(axis=-1)

    @cached_property
    def predictive_kl_rows(self) -> FloatArray:
        """KL(exact || private) of every row's distribution of the next record's state in nats: (releases, m)."""
        losses: FloatArray = self.exact.network.row_sums(special.rel_entr(self.exact.mean, self.private))
        return losses

    @property
    def predictive_kl(self) -> FloatArray:
        """The sum of `predictive_kl_rows` over the rows: (releases,)."""
        return self.predictive_kl_rows.sum(axis=-1)

    @property
    def is_posterior(self) -> bool:
        """Whether a release holds a posterior; others hold CPTs without a law around them."""
        return isinstance(self.release.outcome, ReleasedPosterior)

    @property
    def posterior(self) -> Dirichlets:
        """The private posteriors (releases, K). Errors: InputError where a release holds none."""
        outcome = self.release.outcome
        if not isinstance(outcome, ReleasedPosterior):
            raise InputError(f"A release of {self.release.mechanism} holds no posterior.")
        return outcome.posterior

    @cached_property
    def kl_rows(self) -> FloatArray:
        """KL(exact || private) of every row's posterior in nats: (releases, m). [Zhang16] Theorem 1."""
        return kl_rows(self.exact, self.posterior)

    @cached_property
    def kl(self) -> FloatArray:
        """The sum of `kl_rows` over the rows: (releases,)."""
        total: FloatArray = self.kl_rows.sum(axis=-1)
        return total

    @property
    def kl_error(self) -> float:
        """Standard error of the mean of `kl` over the releases."""
        return float(self.kl.std(ddof=1) / np.sqrt(len(self.kl)))

    def query(self, target: str, evidence: Mapping[str, str]) -> tuple[FloatArray, FloatArray]:
        """P(target | evidence), exact (r,) and private (releases, r)."""
        network = self.exact.network
        return (
            query(network, self.exact.mean, target, evidence),
            query(network, self.private, target, evidence),
        )


def study_release(
    mechanism: Mechanism[Outcome], counts: Counts, rng: np.random.Generator, releases: int = 200
) -> ReleaseStudy:
    """Simulate independent releases of the same counts."""
    exact = mechanism.prior.updated(counts)
    return ReleaseStudy(exact, simulated(mechanism, counts, rng, (releases,)))


def drawn_values(study: ReleaseStudy, cell: int) -> FloatArray:
    """Return what every release says of one cell where it says it N times: (releases, N)."""
    outcome = study.release.outcome
    if isinstance(outcome, SampledCpts):
        return outcome.draws[..., cell]
    return outcome.probabilities[..., cell, None]


def interval_coverage(exact: Dirichlets, private: Dirichlets, cell: int, level: float = 0.95) -> FloatArray:
    """Return how much of the exact posterior of one cell lies in each private credible interval: (draws,).

    An honest private posterior would hold `level` of it on average.
    """
    low, high = private.interval(level, cells=cell)
    exact_a, exact_b = exact.alpha[cell], exact.rest_of(cell)
    if exact_b <= 0:
        return np.ones(np.shape(low))
    return np.asarray(special.betainc(exact_a, exact_b, high) - special.betainc(exact_a, exact_b, low), dtype=float)


def density_grid(posteriors: list[Dirichlets], cell: int, points: int = 161) -> FloatArray:
    """Return points in (0, 1) that are even, and dense where the posteriors (K,) have their mass: (grid,)."""
    even = np.linspace(0, 1, points)
    levels = np.linspace(0.001, 0.999, 41)
    pairs = [(p.alpha[cell], p.rest_of(cell)) for p in posteriors]
    peaks = [special.betaincinv(a, b, levels) for a, b in pairs if b > 0]
    return np.clip(np.unique(np.concatenate([even, *peaks])), 1e-6, 1 - 1e-6)


def density(posterior: Dirichlets, cell: int, theta: FloatArray) -> FloatArray:
    """Return one cell's marginal density at theta (grid,): (..., grid)."""
    return np.exp(posterior.log_density(cell, theta))
