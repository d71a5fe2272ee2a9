"""The answer to one question in simulated releases: its means, and its densities as the public sees them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import concluded, density
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.adaptive.mechanism import ReleasedModels
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_model import Reading

THETA = np.sin(np.linspace(0, np.pi / 2, 191)[1:-1]) ** 2
"""The probabilities at which densities are drawn over the whole axis, close to each other near 0 and 1."""

Span = tuple[float, float]
"""The part of the axis of probabilities that a picture shows."""

WHOLE: Span = (0.0, 1.0)

WIDEST, ROUGH, FINE = 0.7, 0.1, 10.0
"""The widest part of the axis that is enlarged, and the epsilons of the releases that decide it."""

HALVES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Halves of the widths that are shown, few so that similar mechanisms have the same."""

DRAWN_POINTS = 512
"""Points of the noise-aware posterior of a row whose density is drawn."""

SAMPLES, EXACT_SAMPLES = 512, 4_000
"""Samples of a posterior behind the density of a question that is no cell; those of the exact posterior."""

EVENED = 0.15
"""The width of a moving mean over a drawn density, in its standard deviations."""

QUICK_CELLS = 150
"""The largest number of cells for which the joint posterior answers a question within a tenth of a second."""

LIKE_PRIOR = 0.05
"""The mean distance of two distribution functions below which a release is called all but the prior."""


@dataclass(frozen=True, eq=False)
class Answers:
    """One answer in R releases.

    Attributes:
        means: The answers (R,).
        densities: The densities (D, grid) at THETA of the first ones; None if the mechanism releases no posterior.
        shown: The same at the points of the part of the axis that is shown.
        interval: The 95% credible interval of the first one; None if it assumes an independence of a chosen graph.
    """

    means: FloatArray
    densities: FloatArray | None = None
    shown: FloatArray | None = None
    interval: Span | None = None


def points_of(span: Span) -> FloatArray:
    """Return the probabilities (grid,) at which densities are drawn over a part of the axis."""
    low, high = span
    return THETA if span == WHOLE else low + (high - low) * THETA


def span_of(release_at: Callable[[float], Release[Outcome]], question: Question) -> Span:
    """Return the part of the axis that shows releases from epsilon 0.1 on; the whole one unless this is small.

    Around the answer of a release with little noise, it contains the credible interval of one with much noise. It
    follows from these releases alone, read with their noise in mind, and is the same at every epsilon.

    Args:
        release_at: The release at an epsilon, as a batch of one.
        question: The question.
    """
    middle = float(answers_of(release_at(FINE), question, is_noise_aware=True).means[0])
    interval = answers_of(release_at(ROUGH), question, is_noise_aware=True).interval or WHOLE
    wide = max(middle - interval[0], interval[1] - middle)
    half = next((half for half in HALVES if half >= wide), 1.0)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    if high - low > WIDEST:
        return WHOLE
    places = 1 - math.floor(math.log10(high - low))
    step = 5 * 10.0**-places
    return round(math.floor(low / step) * step, places), round(math.ceil(high / step) * step, places)


def answers_of(release: Release[Outcome], question: Question, *, is_noise_aware: bool, span: Span = WHOLE) -> Answers:
    """Read one answer from a batch of releases, as the recipient does.

    The probability of a cell has a mixture of Beta distributions; another answer, samples of the joint posterior. The
    samples have the same random numbers for every release.

    Args:
        release: Releases (R,).
        question: The question.
        is_noise_aware: Whether the reader accounts for the noise.
        span: The part of the axis that is shown.

    Returns:
        The answers, all with a density.

    Raises:
        InputError: The question has no answer.
    """
    if not isinstance(release.outcome, ReleasedPosterior):
        return Answers(means_of(release, question, is_noise_aware=is_noise_aware))
    if question.cell is not None:
        law = _marginals(release, question.cell, is_noise_aware=is_noise_aware, points=DRAWN_POINTS)
        low, high = np.ravel(law.part(slice(0, 1)).interval(LEVEL))
        is_mixture = is_noise_aware and release.tells_noise

        def at(theta: FloatArray) -> FloatArray:
            densities = np.exp(law.log_density(theta[:, None]))[..., 0]
            return evened(densities, theta) if is_mixture else densities

        read = Answers(law.mean[..., 0], *_densities(at, span), (float(low), float(high)))
        return _queried(read, release, question, is_noise_aware=is_noise_aware)
    posterior = release.posterior_under(_reading(is_noise_aware=is_noise_aware), most=QUICK_CELLS)
    parts = [posterior.part(k) for k in range(len(release.numbers))]
    samples = np.stack([question.answers(part.sample(np.random.default_rng(1), SAMPLES)) for part in parts])
    low, high = np.quantile(samples[0], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    shown = _densities(lambda theta: smoothed(samples, theta), span)
    read = Answers(samples.mean(axis=-1), *shown, (float(low), float(high)))
    return _queried(read, release, question, is_noise_aware=is_noise_aware)


def _queried(read: Answers, release: Release[Outcome], question: Question, *, is_noise_aware: bool) -> Answers:
    """Return answers with the interval of `query` for a chosen graph, and with its mean, too, for a real release."""
    if release.is_simulated and not release.posterior.is_graph_chosen:
        return read
    posterior = release.part(0).posterior_under(_reading(is_noise_aware=is_noise_aware))
    answer = posterior.query(question.target, question.evidence, interval=LEVEL)
    place = answer.states.index(question.state)
    interval = None if answer.assumes else (float(answer.low[place]), float(answer.high[place]))
    return replace(read, means=read.means if release.is_simulated else answer.mean[[place]], interval=interval)


def means_of(release: Release[Outcome], question: Question, *, is_noise_aware: bool) -> FloatArray:
    """Return the answers (R,) of a batch of releases, faster than `answers_of`. Errors: those of `answers_of`."""
    outcome = release.outcome
    if isinstance(outcome, ReleasedModels):
        network = question.network
        state = network.states[network.index(question.target)].index(question.state)
        return outcome.query(question.target, question.evidence)[..., state]
    reading = _reading(is_noise_aware=is_noise_aware and release.tells_noise)
    return question.answers(concluded(release, reading, question.cells))


def answers_of_both(
    first: Release[Outcome],
    others: Release[Outcome],
    question: Question,
    *,
    is_noise_aware: bool,
    drawn: int,
    span: Span = WHOLE,
) -> Answers:
    """Return the answers of two batches of releases by one mechanism.

    Args:
        first: The first releases.
        others: Other ones.
        question: The question.
        is_noise_aware: Whether the reader accounts for the noise.
        drawn: How many of the others have a density.
        span: The part of the axis that is shown.

    Returns:
        The answers.

    Raises:
        InputError: The question has no answer.
    """
    own, more = first.outcome, others.outcome
    shown, rest = first, others
    if isinstance(own, ReleasedPosterior) and isinstance(more, ReleasedPosterior):
        updates = np.concatenate((own.updates, more.updates[:drawn]))
        noisy = None if own.noisy is None or more.noisy is None else np.concatenate((own.noisy, more.noisy[:drawn]))
        shown = replace(first, outcome=replace(own, updates=updates, noisy=noisy))
        rest = others.part(slice(drawn, None))
    read = answers_of(shown, question, is_noise_aware=is_noise_aware, span=span)
    means = means_of(rest, question, is_noise_aware=is_noise_aware)
    return replace(read, means=np.concatenate((read.means, means)))


def _reading(*, is_noise_aware: bool) -> Reading:
    return Reading.NOISE_AWARE if is_noise_aware else Reading.AS_REAL


def _densities(at: Callable[[FloatArray], FloatArray], span: Span) -> tuple[FloatArray, FloatArray]:
    """Return densities at THETA, and at the points of the part of the axis that is shown."""
    whole = at(THETA)
    return whole, whole if span == WHOLE else at(points_of(span))


def density_of(posterior: Dirichlets, question: Question, theta: FloatArray = THETA) -> FloatArray:
    """Return the density of the answer under one posterior (K,) at theta (grid,): (grid,)."""
    if question.cell is not None:
        return density(posterior, question.cell, theta)
    return smoothed(question.answers(posterior.sample(np.random.default_rng(1), EXACT_SAMPLES)), theta)


def smoothed(samples: FloatArray, theta: FloatArray = THETA) -> FloatArray:
    """Return kernel densities of samples (..., S) at theta (grid,), reflected at 0 and 1: (..., grid).

    The bandwidth is Silverman's, and at least the distance of two points.
    """
    size, spread = samples.shape[-1], samples.std(axis=-1)
    inner = np.minimum(spread, np.subtract(*np.quantile(samples, (0.75, 0.25), axis=-1)) / 1.34)
    width = np.maximum(0.9 * inner * size**-0.2, np.diff(theta).max())[..., None, None]
    nodes = np.union1d(THETA, theta)  # samples outside of what is shown have a part in it
    edges = np.concatenate([[0.0], (nodes[1:] + nodes[:-1]) / 2, [1.0]])
    counts = np.stack([np.histogram(row, edges)[0] for row in samples.reshape(-1, size)]) / size
    distances = (theta[:, None] - np.stack([nodes, -nodes, 2 - nodes])[:, None, :]) / width[..., None]
    kernels = np.exp(-(distances**2) / 2).sum(axis=-3) / (width * np.sqrt(2 * np.pi))
    return np.asarray((kernels @ counts.reshape(*samples.shape[:-1], -1, 1))[..., 0])


def evened(densities: FloatArray, theta: FloatArray = THETA) -> FloatArray:
    """Return densities (..., grid) at theta (grid,) without the waves of a mixture of a few hundred distributions.

    The weights of points fall with their distance in standard deviations of the density, which grow by about 1%.
    """
    steps = np.gradient(theta)
    total = densities @ steps[:, None]  # 0 for a density between two points
    weights = densities * steps / np.where(total > 0, total, 1.0)
    spread = np.sqrt(np.maximum(weights @ theta**2 - (weights @ theta) ** 2, 0.0))
    width = np.maximum(EVENED * spread, 1e-6)[..., None, None]
    kernels = steps * np.exp(-(((theta[:, None] - theta) / width) ** 2) / 2)
    return np.asarray(((kernels / kernels.sum(axis=-1, keepdims=True)) @ densities[..., None])[..., 0])


def is_like_prior(densities: FloatArray, prior: FloatArray) -> bool:
    """Return whether the densities (releases, grid) of most releases are all but that of the prior (grid,)."""
    steps = np.gradient(THETA)
    distances = np.abs(np.cumsum((densities - prior) * steps, axis=-1)) @ steps
    return bool(np.median(distances) < LIKE_PRIOR)


def _marginals(release: Release[Outcome], cell: int, *, is_noise_aware: bool, points: int) -> BetaMixtures:
    """Return the distribution of one cell in every release: (releases, S, 1)."""
    if is_noise_aware and release.tells_noise and release.is_simulated:
        return release.noise_aware_cells(np.array([cell]), points=points)
    posterior = release.posterior_under(_reading(is_noise_aware=is_noise_aware))
    if isinstance(posterior, DirichletMixtures):
        return posterior.marginals(np.array([cell]))
    a, b = posterior.alpha[..., None, [cell]], posterior.rest_of(cell)[..., None, None]
    return BetaMixtures(a, b, np.ones_like(a))
