"""Releases of one table along a grid of epsilons: their KL divergence from the exact posterior, its bounds, signs.

For the curator only: all results are computed from true counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import MechanismAt
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, Mechanism, Noise, Outcome, ReleasedPosterior
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl_rows
from dpbayes.posteriors.noise_model import Reading
from dpbayes.theory.zhang16.fourier import noise_under
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.posterior_kl.fourier import fourier_kl_bound
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability

SHARES, SAMPLED = np.linspace(0.0, 1.0, 51) ** 2, 20_000
"""Shares of a table's records, closer where few records say much, and the sampled counts at each."""

POINTS = 256
"""Points of each row of noise-aware posteriors; with 64, their divergence at small epsilon is twice too large."""


@dataclass(frozen=True, eq=False)
class EpsilonCurves:
    """Results of R simulated releases at each of E epsilons.

    Attributes:
        epsilons: The grid (E,), rising.
        divergence: KL(exact || private) in nats, summed over the rows: (E, R). It is the divergence of the posteriors
            if the mechanism releases one, as read, and otherwise of the predictive probabilities.
        negative: Whether a released count is negative, or 0 instead: (E, R). NaN if no counts are released.
        sampled: The mean divergence of random SHARES of the records without noise: (S,), falling from the prior's to 0.
    """

    epsilons: FloatArray
    divergence: FloatArray
    negative: FloatArray
    sampled: FloatArray

    @property
    def of_posteriors(self) -> bool:
        """Whether the mechanism releases a posterior, with counts that can be negative."""
        return bool(np.isfinite(self.negative).all())

    def share_of_records(self, divergence: FloatArray) -> FloatArray:
        """Return the share of the records that, without noise, diverges as much: (...), 0 beyond the prior."""
        return np.interp(divergence, self.sampled[::-1], SHARES[::-1])


def epsilon_curves(
    mechanism_at: MechanismAt,
    counts: Counts,
    epsilons: Sequence[float],
    rng: np.random.Generator,
    *,
    releases: int,
    reading: Reading = Reading.AS_REAL,
) -> EpsilonCurves:
    """Simulate releases at every epsilon, from the same seed at each, so that neighbouring points share their noise.

    Args:
        mechanism_at: The mechanism at an epsilon.
        counts: The true counts of its network.
        epsilons: A rising grid of at least one epsilon.
        rng: The generator of the simulation's seed.
        releases: The number of simulated releases at each epsilon.
        reading: Whose posterior diverges: that of a naive reader, or of a noise-aware one where a release states its
            noise.

    Returns:
        The curves.

    Raises:
        InputError: If the mechanism cannot be used.
    """
    grid, seed = np.array(epsilons, dtype=np.float64), int(rng.integers(2**63))
    points = [_point(mechanism_at(float(e)), counts, np.random.default_rng(seed), releases, reading) for e in grid]
    divergence, negative = (np.stack(values) for values in zip(*points, strict=True))
    prior, size = mechanism_at(float(grid[0])).prior, max(1, SAMPLED // counts.network.cell_count)
    samples = rng.binomial(counts.values, SHARES[:, None, None], (len(SHARES), size, counts.network.cell_count))
    exact, others = prior.updated(counts), prior.updated(samples)
    rows = kl_rows(exact, others) if np.isfinite(negative).all() else _kl_of_means(exact, others.mean)
    return EpsilonCurves(grid, divergence, negative, np.minimum.accumulate(rows.sum(axis=-1).mean(axis=-1)))


def _kl_of_means(exact: Dirichlets, probabilities: FloatArray) -> FloatArray:
    """Return the divergence of predictive probabilities (..., K) in every row: (..., m)."""
    return exact.network.row_sums(special.rel_entr(exact.mean, probabilities))


def _point(
    mechanism: Mechanism[Outcome], counts: Counts, rng: np.random.Generator, releases: int, reading: Reading
) -> tuple[FloatArray, FloatArray]:
    """Return the divergence, and whether a count is negative (0 or 1): (releases,) each."""
    exact = mechanism.prior.updated(counts)
    release = mechanism.simulate(counts, rng, (releases,))
    outcome = release.outcome
    if isinstance(outcome, ReleasedPosterior):
        negative = np.any(outcome.updates <= 0, axis=-1).astype(np.float64)  # some mechanisms clip at 0
        if reading is Reading.NOISE_AWARE and release.tells_noise:
            divergence = release.noise_aware(points=POINTS).divergence_of_rows(exact)
        else:
            divergence = kl_rows(exact, outcome.posterior)
        return divergence.sum(axis=-1), negative
    return _kl_of_means(exact, outcome.probabilities).sum(axis=-1), np.full(releases, np.nan)


def divergence_bounds(
    mechanism: Mechanism[Outcome], counts: Counts, epsilons: FloatArray, *, delta: float
) -> tuple[FloatArray, ...]:
    """Return bounds (E,) that the divergence of a naive reader exceeds with probability at most delta.

    Of Laplace noise, Theorem 1 of [Zhang16] as proved and as stated; of Fourier, a proved bound; none of others.
    """
    prior = mechanism.prior
    if type(mechanism) is LaplaceUpdates and mechanism.noise is Noise.REAL:
        bound = posterior_kl(prior, counts, epsilon=epsilons, delta=delta).theorem
        return bound.certified, bound.printed
    if type(mechanism) is LaplaceFourier and mechanism.noise is Noise.REAL:
        noise = noise_under(counts.network, mechanism.calibration)
        return (fourier_kl_bound(prior, counts, noise=noise, epsilon=epsilons, t=mechanism.t, delta=delta),)
    return ()


def proved_share(network: Network, calibration: Calibration, t: ArrayLike, law: NoiseLaw = UNIT) -> FloatArray:
    """Return the largest share of releases with a negative count that is proved, for t (...)."""
    return negative_marginal_probability(network, noise=noise_under(network, calibration, law), t=t)


def sufficient_increment(network: Network, calibration: Calibration, share: float, law: NoiseLaw = UNIT) -> float:
    """Return the t at which at most this share of releases has a negative count, rounded up."""
    t = certified_increment(network, 1 - share, noise=noise_under(network, calibration, law))
    return math.ceil(t * 1e4) / 1e4
