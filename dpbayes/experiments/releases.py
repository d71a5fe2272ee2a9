"""Simulated releases of one posterior, compared with the exact posterior. Not private: for the curator only."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.steps import Partial, Work, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms import Mechanism, Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.mechanisms.adaptive.mechanism import ReleasedModels
from dpbayes.mechanisms.base import simulated
from dpbayes.model.counts import Counts
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl_rows
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading

POINTS = 64
"""Points of every row of the noise-aware posteriors, of which there are many thousands."""

_ROW = 8
"""About how many numbers the computation of a row has in memory for each point."""

_MOST_VALUES = 1 << 22
"""Values of noise-aware posteriors in memory at a time."""


def concluded(release: Release[Outcome], reading: Reading, cells: IntArray | None = None) -> FloatArray:
    """Return the probabilities that a recipient concludes from each release of a batch.

    The answer to a question about the next record is a ratio of two probabilities of this record. Rows are independent,
    so these are products of mean probabilities, and no samples of the posteriors are necessary.

    Args:
        release: Releases (R,).
        reading: Naive: the posterior after the released counts, or the released probabilities, as in the paper.
        cells: The cells (C,) that matter; all by default. A noise-aware recipient's probabilities of others are 1.

    Returns:
        The mean probabilities (R, K).

    Raises:
        InputError: If a noise-aware recipient reads releases that do not state their noise.
    """
    if reading is Reading.AS_REAL:
        return np.asarray(release.outcome.probabilities)
    cells = np.arange(release.outcome.probabilities.shape[-1]) if cells is None else cells
    probabilities = np.ones(release.outcome.probabilities.shape)
    for part in slices(len(probabilities), _MOST_VALUES // (POINTS * _ROW * len(cells))):
        probabilities[part, cells] = release.part(part).noise_aware_means(cells, points=POINTS)
    return probabilities


@dataclass(frozen=True, eq=False)
class ReadReleases:
    """Results of the noise-aware posteriors of many releases: `mean` (releases, K) and `kl_rows` (releases, m).

    The posteriors are not kept, because those of many releases are large.
    """

    mean: FloatArray
    kl_rows: FloatArray


@dataclass(frozen=True, eq=False)
class ReleaseStudy:
    """The exact posterior (K,) and a batch of simulated releases of it.

    For a noise-aware recipient, `aware` contains the noise-aware posteriors (releases, K), or their results.
    """

    exact: Dirichlets
    release: Release[Outcome]
    aware: DirichletMixtures | ReadReleases | None = None

    @property
    def count(self) -> int:
        """How many releases there are."""
        return len(self.release.numbers)

    def read(self, releases: ReadReleases) -> "ReleaseStudy":
        """Return the study of the first releases with these results of their noise-aware posteriors."""
        return ReleaseStudy(self.exact, self.release.part(slice(0, len(releases.mean))), releases)

    def knowing_noise(self, releases: int, *, points: int) -> "ReleaseStudy":
        """Return the study of the first releases for a noise-aware recipient. Errors: InputError."""
        part = self.release.part(slice(0, releases))
        return ReleaseStudy(self.exact, part, part.noise_aware(points=points))

    @cached_property
    def private(self) -> FloatArray:
        """The CPTs that the recipient concludes from every release: (releases, K)."""
        return self.release.outcome.probabilities if self.aware is None else self.aware.mean

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
        """Whether a release is a posterior; other releases are CPTs without a distribution."""
        return isinstance(self.release.outcome, ReleasedPosterior)

    @cached_property
    def kl_rows(self) -> FloatArray:
        """KL(exact || private) of every row's posterior in nats: (releases, m). [Zhang16] Theorem 1."""
        if isinstance(self.aware, ReadReleases):
            return self.aware.kl_rows
        if self.aware is not None:
            return self.aware.divergence_of_rows(self.exact)
        return kl_rows(self.exact, self.release.posterior)

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
        """P(target | evidence), exact (r,) and private (releases, r); released models answer by their own graphs."""
        network, outcome = self.exact.network, self.release.outcome
        exact = query(network, self.exact.mean, target, evidence)
        if isinstance(outcome, ReleasedModels):
            return exact, outcome.query(target, evidence)
        return exact, query(network, self.private, target, evidence)


def study_release(
    mechanism: Mechanism[Outcome], counts: Counts, rng: np.random.Generator, releases: int = 200
) -> ReleaseStudy:
    """Simulate independent releases of the same counts."""
    exact = mechanism.prior.updated(counts)
    return ReleaseStudy(exact, simulated(mechanism, counts, rng, (releases,)))


def read_releases(study: ReleaseStudy, *, releases: int, points: int, at_once: int) -> Work[ReadReleases]:
    """Compute the noise-aware posteriors of the first releases in steps; every step has the results so far.

    Only the posteriors of one step are in memory. Errors: those of `Release.noise_aware`.
    """
    cells, rows = study.exact.network.cell_count, study.exact.network.row_count
    so_far = ReadReleases(np.empty((0, cells)), np.empty((0, rows)))
    for part in slices(releases, at_once):
        posteriors = study.release.part(part).noise_aware(points=points)
        losses = posteriors.divergence_of_rows(study.exact)
        so_far = ReadReleases(np.concatenate((so_far.mean, posteriors.mean)), np.concatenate((so_far.kl_rows, losses)))
        if part.stop < releases:
            yield Partial(part.stop / releases, so_far)
    return so_far


@dataclass(frozen=True, eq=False)
class ReadCell:
    """One cell of many releases under their noise-aware posteriors.

    `means` (releases,); `covered` (releases,) is the mass of the exact posterior in each credible interval.
    """

    means: FloatArray
    covered: FloatArray


def read_cell(
    study: ReleaseStudy, cell: int, *, level: float, releases: int, points: int, at_once: int
) -> Work[ReadCell]:
    """Compute one cell of the noise-aware posteriors of the first releases in steps; every step has those so far.

    Errors: those of `Release.noise_aware_cells`.
    """
    so_far = ReadCell(np.empty(0), np.empty(0))
    for part in slices(releases, at_once):
        marginals = study.release.part(part).noise_aware_cells(np.array([cell]), points=points)
        low, high = marginals.interval(level)
        covered = interval_coverage(study.exact, cell, (low[:, 0], high[:, 0]))
        so_far = ReadCell(np.append(so_far.means, marginals.mean[:, 0]), np.append(so_far.covered, covered))
        if part.stop < releases:
            yield Partial(part.stop / releases, so_far)
    return so_far


def drawn_values(study: ReleaseStudy, cell: int) -> FloatArray:
    """Return the N released samples of one cell in every release: (releases, N)."""
    outcome = study.release.outcome
    if isinstance(outcome, SampledCpts):
        return outcome.draws[..., cell]
    return outcome.probabilities[..., cell, None]


def interval_coverage(exact: Dirichlets, cell: int, interval: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the mass of one cell's exact posterior in each private credible interval, low and high (...,).

    For a calibrated private posterior, the average mass is its level.
    """
    low, high = interval
    exact_a, exact_b = exact.alpha[cell], exact.rest_of(cell)
    if exact_b <= 0:
        return np.ones(np.shape(low))
    return np.asarray(special.betainc(exact_a, exact_b, high) - special.betainc(exact_a, exact_b, low), dtype=float)


def density_grid(posteriors: list[Dirichlets], cell: int, *, within: tuple[float, float] | None = None) -> FloatArray:
    """Return points in (0, 1), evenly spaced, and denser where the posteriors (K,) have their mass: (grid,).

    `within` is the mean and the standard deviation of another distribution with dense points. The points reach into the
    tails and around them, so that curves have no corners where a picture is zoomed.
    """
    even = np.linspace(0, 1, 161)
    scores = np.linspace(-4.5, 4.5, 37)
    pairs = [(p.alpha[cell], p.rest_of(cell)) for p in posteriors]
    peaks = [special.betaincinv(a, b, special.ndtr(scores)) for a, b in pairs if b > 0]
    if within is not None:
        peaks.append(within[0] + within[1] * scores)
    if peaks:
        low, high = np.clip([np.min(peaks), np.max(peaks)], 0, 1)
        margin = (high - low) / 2
        peaks.append(np.linspace(max(0.0, low - margin), min(1.0, high + margin), 31))
    return np.clip(np.unique(np.concatenate([even, *peaks])), 1e-6, 1 - 1e-6)


def density(posterior: Dirichlets, cell: int, theta: FloatArray) -> FloatArray:
    """Return one cell's marginal density at theta (grid,): (..., grid)."""
    return np.exp(posterior.log_density(cell, theta))


def cumulative(posterior: Dirichlets, cell: int, theta: FloatArray) -> FloatArray:
    """Return P(value <= theta) for one cell's marginal at theta (grid,), inside (0, 1): (..., grid)."""
    alpha, rest = posterior.alpha[..., cell, None], posterior.rest_of(cell)[..., None]
    return np.where(rest > 0, special.betainc(alpha, np.where(rest > 0, rest, 1.0), theta), 0.0)
