"""The answer to one question in simulated releases: its means, and its densities as the public sees them."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import concluded, density
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.adaptive.mechanism import ReleasedModels
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import QUICK_CELLS, posterior_of

THETA = np.linspace(0, 1, 127)[1:-1]
"""The probabilities at which densities are drawn."""

POINTS, DRAWN_POINTS = 64, 512
"""Points of the noise-aware posterior of one row: where only its mean is needed, and where its density is drawn."""

SAMPLES, EXACT_SAMPLES = 512, 4_000
"""Samples of a posterior behind the density of a question that is no cell; those of the exact posterior."""

EVENED = 0.15
"""The width of a moving mean over a drawn density, in its standard deviations."""

LIKE_PRIOR = 0.05
"""The mean distance of two distribution functions below which a release is called all but the prior."""


@dataclass(frozen=True, eq=False)
class Answers:
    """One answer in R releases.

    Attributes:
        means: The answers (R,).
        densities: The densities (D, grid) of the first ones; None if the mechanism releases no posterior.
        interval: The 95% credible interval of the first one.
    """

    means: FloatArray
    densities: FloatArray | None = None
    interval: tuple[float, float] | None = None

    def followed_by(self, others: "Answers") -> "Answers":
        """Return the answers of these releases and then of others by the same mechanism."""
        means = np.concatenate([self.means, others.means])
        if self.densities is None or others.densities is None:
            return Answers(means)
        return Answers(means, np.concatenate([self.densities, others.densities]), self.interval)


def answers_of(release: Release[Outcome], question: Question, *, is_noise_aware: bool, drawn: int) -> Answers:
    """Read one answer from a batch of releases, as the recipient does.

    The probability of a cell has a mixture of Beta distributions; another answer, samples of the joint posterior.

    Args:
        release: Releases (R,).
        question: The question.
        is_noise_aware: Whether the reader accounts for the noise.
        drawn: How many releases have a density.

    Returns:
        The answers.

    Raises:
        InputError: The question has no answer.
    """
    outcome, reading = release.outcome, Reading.NOISE_AWARE if is_noise_aware else Reading.AS_REAL
    if isinstance(outcome, ReleasedModels):
        network = question.network
        state = network.states[network.index(question.target)].index(question.state)
        return Answers(outcome.query(question.target, question.evidence)[..., state])
    if not isinstance(outcome, ReleasedPosterior):
        return Answers(question.answers(outcome.probabilities))
    first = release.part(slice(0, drawn))
    if question.cell is not None:
        means = _marginals(release, question.cell, is_noise_aware=is_noise_aware, points=POINTS).mean[..., 0]
        shown = _marginals(first, question.cell, is_noise_aware=is_noise_aware, points=DRAWN_POINTS)
        low, high = shown.part(slice(0, 1)).interval(LEVEL)
        densities = np.exp(shown.log_density(THETA[:, None]))[..., 0]
        is_mixture = is_noise_aware and release.tells_noise
        return Answers(means, evened(densities) if is_mixture else densities, (float(low[0, 0]), float(high[0, 0])))
    means = question.answers(concluded(release, reading if release.tells_noise else Reading.AS_REAL, question.cells))
    law = posterior_of(first, reading, most=QUICK_CELLS)
    samples = question.answers(law.sample(np.random.default_rng(1), SAMPLES))
    means = np.concatenate([samples.mean(axis=0), means[drawn:]])
    low, high = np.quantile(samples[:, 0], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Answers(means, smoothed(samples.T), (float(low), float(high)))


def density_of(posterior: Dirichlets, question: Question) -> FloatArray:
    """Return the density of the answer under one posterior (K,) at THETA: (grid,)."""
    if question.cell is not None:
        return density(posterior, question.cell, THETA)
    return smoothed(question.answers(posterior.sample(np.random.default_rng(1), EXACT_SAMPLES)))


def smoothed(samples: FloatArray) -> FloatArray:
    """Return kernel densities of samples (..., S) at THETA, reflected at 0 and 1: (..., grid).

    The bandwidth is Silverman's, and at least the distance of two points.
    """
    size, spread = samples.shape[-1], samples.std(axis=-1)
    quartiles = np.quantile(samples, (0.25, 0.75), axis=-1)
    inner = np.minimum(spread, (quartiles[1] - quartiles[0]) / 1.34)
    width = np.maximum(0.9 * inner * size**-0.2, THETA[1] - THETA[0])[..., None, None]
    edges = np.concatenate([[0.0], (THETA[1:] + THETA[:-1]) / 2, [1.0]])
    counts = np.stack([np.histogram(row, edges)[0] for row in samples.reshape(-1, size)]) / size
    distances = (THETA[:, None] - np.stack([THETA, -THETA, 2 - THETA])[:, None, :]) / width[..., None]
    kernels = np.exp(-(distances**2) / 2).sum(axis=-3) / (width * np.sqrt(2 * np.pi))
    return np.asarray((kernels @ counts.reshape(*samples.shape[:-1], -1, 1))[..., 0])


def evened(densities: FloatArray) -> FloatArray:
    """Return densities (..., grid) at THETA without the waves of a mixture of a few hundred distributions.

    The weights of points fall with their distance in standard deviations of the density, which grow by about 1%.
    """
    total = densities.sum(axis=-1, keepdims=True)  # 0 for a density between two points
    weights = densities / np.where(total > 0, total, 1.0)
    mean = weights @ THETA
    spread = np.sqrt(np.maximum(weights @ THETA**2 - mean**2, 0.0))
    width = np.maximum(EVENED * spread, 1e-6)[..., None, None]
    kernels = np.exp(-(((THETA[:, None] - THETA) / width) ** 2) / 2)
    return np.asarray(((kernels / kernels.sum(axis=-1, keepdims=True)) @ densities[..., None])[..., 0])


def is_like_prior(densities: FloatArray, prior: FloatArray) -> bool:
    """Return whether the densities (releases, grid) of most releases are all but that of the prior (grid,)."""
    distances = np.abs(np.cumsum(densities - prior, axis=-1)).mean(axis=-1) * (THETA[1] - THETA[0])
    return bool(np.median(distances) < LIKE_PRIOR)


def _marginals(release: Release[Outcome], cell: int, *, is_noise_aware: bool, points: int) -> BetaMixtures:
    """Return the distribution of one cell in every release: (releases, S, 1)."""
    if is_noise_aware and release.tells_noise:
        return release.noise_aware_cells(np.array([cell]), points=points)
    posterior = release.posterior
    a, b = posterior.alpha[..., None, [cell]], posterior.rest_of(cell)[..., None, None]
    return BetaMixtures(a, b, np.ones_like(a))
