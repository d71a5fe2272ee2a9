"""How far one record and noise move the counts: Lemma 1, Corollary 1 and Proposition 1 of [Zhang16]."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Verdict, flat, number
from dpbayes.theory.claims.exhibit import (
    BoundKind,
    Exhibit,
    Measured,
    Simulation,
    Uses,
    exact_value,
    exactly,
    mean_alone,
    not_measured,
    quantile_beside,
)
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1e4


def noise_scale(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return b = 2|I|/epsilon in counts, of the shape of `epsilon` (...). [Zhang16] Algorithm 1.

    Nodes whose family has a single cell need no noise and are not counted in |I|, as in `Network.count_sensitivity`.
    Errors: InputError for an epsilon that is no number from LEAST_EPSILON to MOST_EPSILON.
    """
    return network.count_sensitivity / checked_epsilons(epsilon)


def scale_in_words(subject: Subject, at: EvaluationPoint) -> str:
    """Return the noise scale at the first epsilon, as Markdown."""
    sensitivity = subject.network.count_sensitivity
    return (
        f"$b = 2|I|/\\epsilon = {sensitivity}/{at.epsilon[0]:g} = {number(sensitivity / at.epsilon[0])}$ records of "
        "noise on every count"
    )


def checked_epsilons(epsilon: ArrayLike) -> FloatArray:
    """Return `epsilon` (...) as numbers. Errors: InputError naming the first that is out of range."""
    try:
        values = np.asarray(epsilon, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("epsilon must be a number, or a list of numbers.") from None
    wrong = values[~((values >= LEAST_EPSILON) & (values <= MOST_EPSILON))]
    if wrong.size:
        finite_number("epsilon", float(wrong[0]), low=LEAST_EPSILON, high=MOST_EPSILON)
    return values


def checked_delta(delta: float) -> float:
    """Return `delta`, a probability strictly between 0 and 1. Errors: InputError otherwise."""
    value = finite_number("delta", delta, low=0.0, high=1.0)
    if not 0 < value < 1:
        raise InputError(f"delta must lie strictly between 0 and 1; {value:g} does not.")
    return value


def lemma_1(network: Network) -> Bound:
    """Return the most that one replaced record moves all counts together, in L1 distance. [Zhang16] Lemma 1."""
    printed = np.asarray(2.0 * len(network.names))
    return Bound(LEMMA_1, printed, np.asarray(float(network.count_sensitivity)), "counts")


def count_difference(network: Network) -> IntArray:
    """Return how two records that differ in every column differ in their counts: (K,). [Zhang16] Lemma 1."""
    first = np.zeros((1, len(network.names)), dtype=np.uint8)
    last = np.array([[len(states) - 1 for states in network.states]], dtype=np.uint8)
    before, after = (count(network, Dataset(network.names, network.states, codes)).values for codes in (first, last))
    return after - before


def _largest_move(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Count two records that differ in every column; without records there is none to replace."""
    moved = float(np.abs(count_difference(subject.network)).sum()) if subject.records else 0.0
    return exactly(np.full(bound.printed.shape, moved), printed=bound.printed, name="largest exact change")


def _lemma_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    nodes = len(subject.network.names)
    return f"""
- A record is in one cell of each of $|I| = {nodes}$ tables. Replacing the record lowers this count by 1 and raises
  another count by 1.
- **As stated**: $2|I| = 2 \\cdot {nodes} = {bound.stated}$, for every $n$, so the curve is constant.
- **Proved**: 2 for each node whose family has more than one cell, ${bound.proved}$.
- **Exact**: the L1 distance between the counts of two records that differ in every column.
"""


def corollary_1(network: Network, *, epsilon: ArrayLike) -> Bound:
    """Return the privacy loss of Algorithm 1 at `epsilon` (...), clipping included. [Zhang16] Corollary 1.

    The noise has scale 2|I|/epsilon as printed, so that the certified loss is epsilon times the share of nodes whose
    counts can change at all.
    """
    epsilons = checked_epsilons(epsilon)
    return Bound(
        COROLLARY_1, epsilons, epsilons * network.count_sensitivity / (2 * len(network.names)), "nats of privacy loss"
    )


def _laplace_loss(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the exact loss of the printed noise on what two records that differ in every column move."""
    moved = int(np.count_nonzero(count_difference(subject.network)))
    steps = at.epsilons / (2 * len(subject.network.names))
    return moved * steps


def _corollary_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    nodes, moved = len(subject.network.names), subject.network.count_sensitivity
    scale = 2 * nodes / at.epsilon[0]
    return f"""
- The noise has scale $b = 2|I|/\\epsilon = 2 \\cdot {nodes}/{at.epsilon[0]:g} = {number(scale)}$ records.
- **As stated**: $\\epsilon = {bound.stated}$ nats.
- **Proved**: ${moved}/b = {moved}/{number(scale)} = {bound.proved}$ nats, because one record moves
  ${moved}$ counts by one.
- **Exact**: two records that differ in every column. Clipping to $[0, n]$ does not reduce the loss: counts that are
  clipped to 0 or to $n$ have the same loss.
"""


LEMMA_1 = Claim(
    Reference("Zhang16", "Lemma 1"),
    "One record changes the counts by at most 2 per column",
    r"\|\Delta\omega - \Delta\tilde\omega\|_1 \le 2|\mathcal I|",
    Verdict.HOLDS,
    "Two records that differ in every column reach this bound on every graph.",
)
COROLLARY_1 = Claim(
    Reference("Zhang16", "Corollary 1"),
    "Laplace noise on the counts (Algorithm 1) is ε-private",
    r"b = 2|\mathcal I| / \epsilon",
    Verdict.HOLDS,
    "Lemma 1 holds with equality, so this noise gives no smaller ε.",
)


# How far the noise moves a count


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


def mean_of_largest(network: Network, epsilon: FloatArray) -> FloatArray:
    """Return the exact mean of the largest of K Laplace draws at every epsilon, in counts: (E,)."""
    mean: FloatArray = noise_scale(network, epsilon) * (1 / np.arange(1, network.cell_count + 1)).sum()
    return mean


def _measured_noise(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the largest of K Laplace draws; the same draws serve all epsilons."""
    network, rng = subject.network, stream(subject.seed, "bounds", "largest noise")
    mean = mean_of_largest(network, at.epsilons)
    if subject.too_large:
        return mean_alone(mean, subject.too_large)
    largest = [
        np.abs(rng.laplace(size=(part.stop - part.start, network.cell_count))).max(axis=-1)
        for part in slices(subject.releases, _BLOCK // network.cell_count)
    ]
    study = Simulation(np.outer(noise_scale(network, at.epsilons), np.sort(np.concatenate(largest))))
    return quantile_beside(study, mean, printed=bound.printed, delta=at.knobs.delta)


def _proposition_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    cells = subject.network.cell_count
    return f"""
- {scale_in_words(subject, at)}, on $2m = {cells}$ counts.
- **As stated**: $b \\ln(2m/\\delta) = b \\ln({cells}/{number(at.knobs.delta)}) = {bound.stated}$.
- **Proved**: $-b \\ln\\bigl(1 - (1-\\delta)^{{1/2m}}\\bigr) = {bound.proved}$, the exact quantile.
"""


def clipped_proposition_1(network: Network, n: int, *, epsilon: ArrayLike, delta: float) -> Bound:
    """Return the same after clipping: no count moves by more than n. [Zhang16] Proposition 1, for the clipped updates.

    Certified is min(n, z*). `n` is public.
    """
    bound = proposition_1(network, epsilon=epsilon, delta=delta)
    return replace(bound, claim=CLIPPED, certified=np.minimum(bound.certified, float(n)))


def _measured_change(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the largest error of a released count after clipping to [0, n], where the counts may be seen."""
    if subject.counts is None or subject.too_large:
        return not_measured(len(at.epsilon), "" if subject.counts is None else subject.too_large)
    counts, rng = subject.required_counts, stream(subject.seed, "bounds", "largest change")
    scale, cells = noise_scale(counts.network, at.epsilons), counts.network.cell_count
    changes = np.empty((len(scale), subject.releases))
    for part in slices(subject.releases, _BLOCK // (len(scale) * cells)):
        noise = rng.laplace(size=(part.stop - part.start, cells))
        moved = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n)) - counts.values
        changes[:, part] = np.abs(moved).max(axis=-1)
    none = np.full(len(scale), np.nan)
    return quantile_beside(Simulation(np.sort(changes, axis=-1)), none, printed=bound.printed, delta=at.knobs.delta)


def _clipped_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return _proposition_1_formula(subject, at, bound).replace(
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
    "The error of every clipped count is small",
    r"\|\Delta\omega - Z\|_\infty \le \frac{2|\mathcal I|}{\epsilon} \ln\frac{2m}{\delta}",
    Verdict.LOOSE,
    "Clipping also keeps every error within n. The stated bound exceeds n when the noise is large.",
)


EXHIBITS: dict[str, Exhibit] = {
    "LEMMA_1": Exhibit(
        LEMMA_1,
        lambda subject, at: flat(lemma_1(subject.network)),
        _lemma_1_formula,
        (Axis.RECORDS,),
        "that one record changes the counts by at most {} in total",
        "total change of the counts, records",
        measure=_largest_move,
    ),
    "COROLLARY_1": Exhibit(
        COROLLARY_1,
        lambda subject, at: corollary_1(subject.network, epsilon=at.epsilons),
        _corollary_1_formula,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        measure=exact_value("exact loss", _laplace_loss),
    ),
    "PROPOSITION_1": Exhibit(
        PROPOSITION_1,
        lambda subject, at: proposition_1(subject.network, epsilon=at.epsilons, delta=at.knobs.delta),
        _proposition_1_formula,
        (Axis.EPSILON, Axis.DELTA),
        "noise of at most {} records on a count",
        "largest noise on any count, records",
        says=BoundKind.QUANTILE,
        measure=_measured_noise,
    ),
    "CLIPPED": Exhibit(
        CLIPPED,
        lambda subject, at: clipped_proposition_1(
            subject.network, subject.records, epsilon=at.epsilons, delta=at.knobs.delta
        ),
        _clipped_formula,
        (Axis.EPSILON, Axis.RECORDS, Axis.DELTA),
        "an error of at most {} records in a count",
        "largest change of any released count, records",
        says=BoundKind.QUANTILE,
        measure=_measured_change,
        uses=Uses.SIMULATION,
    ),
}
