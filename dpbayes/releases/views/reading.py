"""The two readings of a release, noise-aware and naive. Neither has a cost of privacy."""

from collections.abc import Mapping
from contextlib import suppress

from dpbayes.base.text import interval_texts, whole_percent
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading

INTERVALS = {
    Reading.NOISE_AWARE: "The intervals are noise-aware: they include the uncertainty from the noise.",
    Reading.AS_REAL: "The intervals are naive: they ignore the noise and miss the true value more often.",
}
"""A sentence on the intervals of each reading."""

MOST_JOINT = 1_500
"""The largest number of cells for the joint posterior in a view; larger networks take too long."""

QUICK_CELLS = 150
"""The largest number of cells for which the joint posterior answers a question within a tenth of a second."""

NAIVE, ROW_WISE, JOINT = "naive posterior", "row-wise noise-aware posterior", "joint noise-aware posterior"
"""The names of the posteriors that answer questions."""


def reading_of(release: Release[Outcome], reading: Reading) -> Reading:
    """Return the reading that a release allows: noise-aware only if it states its noise."""
    return reading if release.tells_noise else Reading.AS_REAL


def has_joint(release: Release[Outcome], *, most: int = MOST_JOINT) -> bool:
    """Return whether a release has a joint posterior, for at most so many cells."""
    if not release.tells_noise:
        return False
    network = release.posterior.network
    return network.cell_count <= most and int(network.cards.min()) > 1 and int(release.public["n"]) > 0


def posterior_of(
    release: Release[Outcome], reading: Reading, *, most: int = MOST_JOINT
) -> Dirichlets | DirichletMixtures:
    """Return the posterior for the recipient: the joint noise-aware one for networks of at most so many cells.

    Errors: InputError for a release without a posterior, and for too large a network.
    """
    if reading_of(release, reading) is Reading.AS_REAL:
        return release.posterior
    if has_joint(release, most=most):
        with suppress(InputError):
            return release.joint_noise_aware()
    return release.noise_aware()


def answer_under(
    law: Dirichlets | DirichletMixtures, prior: Dirichlets, target: str, evidence: Mapping[str, str], level: float
) -> QueryAnswer:
    """Return the answer of a posterior to a question, with intervals of this level. Errors: those of `query`."""
    if isinstance(law, Dirichlets):
        return law.query(target, evidence, interval=level, prior=prior)
    return law.query(target, evidence, interval=level)


def posterior_name(law: Dirichlets | DirichletMixtures) -> str:
    """Return the name of a posterior; a joint one that has not converged is the row-wise one."""
    if isinstance(law, Dirichlets):
        return NAIVE
    from dpbayes.posteriors.joint.posterior import JointPosterior  # late: its import takes 60 ms

    return JOINT if isinstance(law, JointPosterior) and bool(law.is_settled.all()) else ROW_WISE


def intervals_as_text(answer: QueryAnswer) -> list[str]:
    """Return the interval of every state as text; "none" for an answer without intervals."""
    if answer.assumes:
        return ["none"] * len(answer.mean)
    return [" to ".join(interval_texts(*ends)) for ends in zip(answer.low, answer.high, strict=True)]


def prior_warning(answer: QueryAnswer) -> str:
    """Return the sentence about an answer that depends mainly on the prior; "" for others."""
    if not answer.is_prior_decisive:
        return ""
    assert answer.vague_coverage is not None
    least = whole_percent(float(answer.vague_coverage.min()))
    return (
        "This answer depends mainly on the prior: under a vague prior, the probability of its 95% interval would be "
        f"{least}."
    )


def probabilities_and_warning(release: Release[Outcome], reading: Reading) -> tuple[FloatArray, str]:
    """Return the CPTs (K,) of a release, and a sentence about rows with few importance points, or "".

    They are the posterior's mean, or the released estimate.
    """
    if reading_of(release, reading) is Reading.AS_REAL:
        return release.outcome.probabilities, ""
    law = posterior_of(release, reading)
    return law.mean, roughness_of(law)


def roughness_of(law: Dirichlets | DirichletMixtures) -> str:
    """Return the sentence about rows with few importance points; "" if there are none, and for the naive reading."""
    return roughness(law) if isinstance(law, DirichletMixtures) else ""
