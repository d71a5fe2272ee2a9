"""How far Laplace noise moves a count: Proposition 1 of [Zhang16]."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import whole_number
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured, Uses, mean_alone, not_measured
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.claims.simulation import Simulation, quantile_beside
from dpbayes.theory.zhang16.counts import checked_delta, noise_scale, scale_in_words

MOST_RECORDS = 10**9

_BLOCK = 1 << 20
"""Numbers drawn per pass."""


def printed_largest_noise(network: Network, *, epsilon: ArrayLike, delta: float) -> FloatArray:
    """Return (2|I|/epsilon) ln(2m/delta) in counts, (...). [Zhang16] Proposition 1.

    For nodes of more than two states the 2m Beta parameters are read as the K cells: the union bound is the same.
    """
    return noise_scale(network, epsilon) * np.log(network.cell_count / checked_delta(delta))


def exact_largest_noise(network: Network, *, epsilon: ArrayLike, delta: float) -> FloatArray:
    """Return the 1 - delta quantile of the largest of K independent |Laplace| draws in counts, (...).

    z* = -b ln(1 - (1 - delta)^(1/K)) solves (1 - exp(-z/b))^K = 1 - delta. [Zhang16] Proposition 1, sharpened.
    """
    share = -np.expm1(np.log1p(-checked_delta(delta)) / network.cell_count)
    return noise_scale(network, epsilon) * -np.log(share)


def proposition_1(network: Network, *, epsilon: ArrayLike, delta: float) -> Bound:
    """Return the bound on the largest change of any count before clipping, in counts. [Zhang16] Proposition 1."""
    return Bound(
        PROPOSITION_1,
        printed_largest_noise(network, epsilon=epsilon, delta=delta),
        exact_largest_noise(network, epsilon=epsilon, delta=delta),
        "counts",
        confidence=1 - checked_delta(delta),
        assumptions=(Assumption("Every node is binary, so that 2m is the number of cells", network.is_binary),),
    )


def largest_noise(
    network: Network, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate the largest of K Laplace draws at every epsilon (E,), in counts. [Zhang16] Proposition 1.

    The same draws serve all epsilons. The exact mean is b (1 + 1/2 + ... + 1/K): maxima of exponentials.
    """
    parts = [
        np.abs(rng.laplace(size=(part.stop - part.start, network.cell_count))).max(axis=-1)
        for part in slices(releases, _BLOCK // network.cell_count)
    ]
    study = Simulation(np.outer(noise_scale(network, epsilon), np.sort(np.concatenate(parts))))
    return quantile_beside(study, mean_of_largest(network, epsilon), printed=printed, delta=delta)


def mean_of_largest(network: Network, epsilon: FloatArray) -> FloatArray:
    """Return the exact mean of the largest of K Laplace draws at every epsilon, in counts: (E,)."""
    mean: FloatArray = noise_scale(network, epsilon) * (1 / np.arange(1, network.cell_count + 1)).sum()
    return mean


def measured_noise(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the largest noise."""
    if subject.too_large:
        return mean_alone(mean_of_largest(subject.network, at.epsilons), subject.too_large)
    return largest_noise(
        subject.network,
        stream(subject.seed, "bounds", "largest noise"),
        epsilon=at.epsilons,
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def proposition_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Proposition 1."""
    cells = subject.network.cell_count
    return f"""
- {scale_in_words(subject, at)}, on $2m = {cells}$ counts.
- **As stated**: $b \\ln(2m/\\delta) = b \\ln({cells}/{number(at.knobs.delta)}) = {bound.stated}$.
- **Proved**: $-b \\ln\\bigl(1 - (1-\\delta)^{{1/2m}}\\bigr) = {bound.proved}$, the exact quantile.
"""


def clipped_proposition_1(network: Network, n: int, *, epsilon: ArrayLike, delta: float) -> Bound:
    """Return the same for the clipped release, where no count can move by more than n. [Zhang16] Proposition 1.

    Certified is min(n, z*). `n` is public. Errors: InputError for an n that is no whole number from 0 to MOST_RECORDS.
    """
    n = whole_number("The number of records", n, low=0, high=MOST_RECORDS)
    bound = proposition_1(network, epsilon=epsilon, delta=delta)
    return replace(bound, claim=CLIPPED, certified=np.minimum(bound.certified, float(n)))


def largest_count_error(
    counts: Counts, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate how far the worst released count is off after clipping to [0, n], at every epsilon (E,).

    It depends on the counts. [Zhang16] Proposition 1, for the clipped updates.
    """
    network = counts.network
    scale = noise_scale(network, epsilon)
    changes = np.empty((len(scale), releases))
    for part in slices(releases, _BLOCK // (len(scale) * network.cell_count)):
        noise = rng.laplace(size=(part.stop - part.start, network.cell_count))
        moved = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n)) - counts.values
        changes[:, part] = np.abs(moved).max(axis=-1)
    study = Simulation(np.sort(changes, axis=-1))
    none = np.full(len(scale), np.nan)
    return quantile_beside(study, none, printed=printed, delta=delta)


def measured_change(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the largest change of a released count, where the counts may be seen."""
    if subject.counts is None or subject.too_large:
        return not_measured(len(at.epsilon), "" if subject.counts is None else subject.too_large)
    return largest_count_error(
        subject.required_counts,
        stream(subject.seed, "bounds", "largest change"),
        epsilon=at.epsilons,
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def clipped_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Proposition 1, for the clipped updates."""
    return proposition_1_formula(subject, at, bound).replace(
        "the exact quantile", f"or $n = {subject.records}$ if $n$ is smaller, because no count leaves $[0, n]$"
    )


PROPOSITION_1 = Claim(
    Reference("Zhang16", "Proposition 1"),
    "The noise on every count is small",
    r"\|\Delta\omega - \Delta\omega'\|_\infty \le \frac{2|\mathcal I|}{\epsilon} \ln\frac{2m}{\delta}",
    Verdict.LOOSE,
    "The noise is independent, so its exact quantile is known. The exact quantile is slightly smaller than the union "
    "bound.",
)
CLIPPED = Claim(
    Reference("Zhang16", "Proposition 1, for the clipped updates"),
    "Every released count has a small error",
    r"\|\Delta\omega - Z\|_\infty \le \frac{2|\mathcal I|}{\epsilon} \ln\frac{2m}{\delta}",
    Verdict.LOOSE,
    "Clipping also keeps every error within n. The stated bound exceeds n when the noise is large.",
)

EXHIBITS: dict[str, Exhibit] = {
    "PROPOSITION_1": Exhibit(
        PROPOSITION_1,
        lambda subject, at: proposition_1(subject.network, epsilon=at.epsilons, delta=at.knobs.delta),
        proposition_1_formula,
        (Axis.EPSILON, Axis.DELTA),
        "noise of at most {} records on a count",
        "largest noise on any count, records",
        says=BoundKind.QUANTILE,
        measure=measured_noise,
    ),
    "CLIPPED": Exhibit(
        CLIPPED,
        lambda subject, at: clipped_proposition_1(
            subject.network, subject.records, epsilon=at.epsilons, delta=at.knobs.delta
        ),
        clipped_formula,
        (Axis.EPSILON, Axis.RECORDS, Axis.DELTA),
        "an error of at most {} records in a count",
        "largest change of any released count, records",
        says=BoundKind.QUANTILE,
        measure=measured_change,
        uses=Uses.SIMULATION,
    ),
}
