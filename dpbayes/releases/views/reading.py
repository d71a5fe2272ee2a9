"""How a view reads a release: with its noise in mind, or taking noisy counts as real. Neither costs privacy."""

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading

INTERVALS = {
    Reading.NOISE_AWARE: "The intervals are noise-aware: they include the uncertainty from the noise.",
    Reading.AS_REAL: "The intervals are naive: they ignore the noise and miss the true value more often.",
}
"""What intervals are worth, by how the release was read."""


def reading_of(release: Release[Outcome], reading: Reading) -> Reading:
    """Return how a release can be read: with its noise in mind only where the noise is told."""
    return reading if release.tells_noise else Reading.AS_REAL


def posterior_of(release: Release[Outcome], reading: Reading) -> Dirichlets | DirichletMixtures:
    """Return the posterior that the recipient forms from one release.

    Errors: InputError for a release that holds an estimate, and no posterior, and for too large a network.
    """
    is_aware = reading_of(release, reading) is Reading.NOISE_AWARE
    return release.noise_aware() if is_aware else release.posterior


def probabilities_and_warning(release: Release[Outcome], reading: Reading) -> tuple[FloatArray, str]:
    """Return the CPTs (K,) that stand for a release, and a sentence about rows that rest on few points, "" without one.

    They are the posterior's mean, or the estimate that was released.
    """
    if reading_of(release, reading) is Reading.AS_REAL:
        return release.outcome.probabilities, ""
    law = release.noise_aware()
    return law.mean, roughness(law)


def roughness_of(law: Dirichlets | DirichletMixtures) -> str:
    """Return the sentence about rows that rest on few points, "" without one and where counts are taken as real."""
    return roughness(law) if isinstance(law, DirichletMixtures) else ""
