"""How far one record moves the counts, and what noise on them promises: Lemma 1 and Corollary 1 of [Zhang16]."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import LOSS_TEXT, Bound, Claim, Verdict, flat, number
from dpbayes.theory.claims.exhibit import Exhibit, Measured, exact_value, exactly
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1e4


def noise_scale(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return b = 2|I|/epsilon in counts, of the shape of `epsilon` (...). [Zhang16] Algorithm 1.

    Nodes whose family has a single cell need no noise and are not counted in |I|, as in `count_sensitivity`.
    Errors: InputError for an epsilon that is no number from LEAST_EPSILON to MOST_EPSILON.
    """
    return count_sensitivity(network) / checked_epsilons(epsilon)


def scale_in_words(subject: Subject, at: EvaluationPoint) -> str:
    """Return the noise scale at the first epsilon, as Markdown."""
    sensitivity = count_sensitivity(subject.network)
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
    return Bound(LEMMA_1, printed, np.asarray(float(count_sensitivity(network))), "counts")


def count_difference(network: Network) -> IntArray:
    """Return how two records that differ in every column differ in their counts: (K,). [Zhang16] Lemma 1."""
    first = np.zeros((1, len(network.names)), dtype=np.uint8)
    last = np.array([[len(states) - 1 for states in network.states]], dtype=np.uint8)
    before, after = (count(network, Dataset(network.names, network.states, codes)).values for codes in (first, last))
    return after - before


def largest_move(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Count two records that differ in every column; without records there is none to replace."""
    moved = float(np.abs(count_difference(subject.network)).sum()) if subject.records else 0.0
    return exactly(np.full(bound.printed.shape, moved), printed=bound.printed, name="largest exact change")


def lemma_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Lemma 1."""
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
        COROLLARY_1, epsilons, epsilons * count_sensitivity(network) / (2 * len(network.names)), "nats of privacy loss"
    )


def laplace_loss(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the exact loss of the printed noise on what two records that differ in every column move."""
    moved = int(np.count_nonzero(count_difference(subject.network)))
    steps = at.epsilons / (2 * len(subject.network.names))
    return np.array([LaplaceNoise(moved, step).pure_epsilon for step in steps])


def corollary_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Corollary 1."""
    nodes, moved = len(subject.network.names), count_sensitivity(subject.network)
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
    "One record changes the counts by at most 2|I|",
    r"\|\Delta\omega - \Delta\tilde\omega\|_1 \le 2|\mathcal I|",
    Verdict.HOLDS,
    "Two records that differ in every column reach this bound on every graph.",
)
COROLLARY_1 = Claim(
    Reference("Zhang16", "Corollary 1"),
    "Algorithm 1 is ε-differentially private",
    r"b = 2|\mathcal I| / \epsilon",
    Verdict.HOLDS,
    "Lemma 1 holds with equality, so this noise gives no smaller epsilon.",
)

EXHIBITS: dict[str, Exhibit] = {
    "LEMMA_1": Exhibit(
        LEMMA_1,
        lambda subject, at: flat(lemma_1(subject.network)),
        lemma_1_formula,
        (Axis.RECORDS,),
        "that one record changes the counts by at most {} in total",
        "L1 distance of the counts, records",
        measure=largest_move,
    ),
    "COROLLARY_1": Exhibit(
        COROLLARY_1,
        lambda subject, at: corollary_1(subject.network, epsilon=at.epsilons),
        corollary_1_formula,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        measure=exact_value("exact loss of one pair", laplace_loss),
    ),
}
