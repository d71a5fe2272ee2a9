"""How far Laplace noise moves the counts: Lemma 1, Corollary 1 and Proposition 1 of [Zhang16]."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, flat
from dpbayes.theory.claims.exhibit import Exhibit, Says, Uses
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.simulation import Simulation, beside_scaled, quantile_beside
from dpbayes.theory.claims.text import LOSS_TEXT, ends, number
from dpbayes.theory.claims.truth import Measured, exactly, mean_alone, nothing_known

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1e4
MOST_RECORDS = 10**9

_BLOCK = 1 << 20
"""Numbers drawn per pass."""


def noise_scale(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return b = 2|I|/epsilon in counts, of the shape of `epsilon` (...). [Zhang16] Algorithm 1.

    Nodes whose family has a single cell need no noise and are not counted in |I|, as in `count_sensitivity`.
    Errors: InputError for an epsilon that is no number from LEAST_EPSILON to MOST_EPSILON.
    """
    return count_sensitivity(network) / checked_epsilons(epsilon)


def scale_in_words(subject: Subject, at: At) -> str:
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
        claim=PROPOSITION_1,
        printed=printed_largest_noise(network, epsilon=epsilon, delta=delta),
        certified=exact_largest_noise(network, epsilon=epsilon, delta=delta),
        unit="counts",
        confidence=1 - checked_delta(delta),
        assumptions=_assumptions(network),
    )


def largest_noise(
    network: Network, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate the largest of K Laplace draws at every epsilon (E,), in counts. [Zhang16] Proposition 1.

    The same draws serve all epsilons. The exact mean is b (1 + 1/2 + ... + 1/K): maxima of exponentials.
    """
    size = max(1, _BLOCK // network.cell_count)
    parts = [
        np.abs(rng.laplace(size=(min(size, releases - start), network.cell_count))).max(axis=-1)
        for start in range(0, releases, size)
    ]
    scale, mean = noise_scale(network, epsilon), mean_of_largest(network, epsilon)
    return beside_scaled(np.concatenate(parts), scale, mean, printed=printed, delta=delta)


def mean_of_largest(network: Network, epsilon: FloatArray) -> FloatArray:
    """Return the exact mean of the largest of K Laplace draws at every epsilon, in counts: (E,)."""
    mean: FloatArray = noise_scale(network, epsilon) * (1 / np.arange(1, network.cell_count + 1)).sum()
    return mean


def measured_noise(subject: Subject, at: At, bound: Bound) -> Measured:
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


def proposition_1_formula(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Proposition 1."""
    printed, certified = ends(bound)
    cells = subject.network.cell_count
    return f"""
- {scale_in_words(subject, at)}, on $2m = {cells}$ counts.
- **Printed**: $b \\ln(2m/\\delta) = b \\ln({cells}/{number(at.knobs.delta)}) = {printed}$.
- **Certified**: $-b \\ln\\bigl(1 - (1-\\delta)^{{1/2m}}\\bigr) = {certified}$, the exact quantile.
"""


def clipped_proposition_1(network: Network, n: int, *, epsilon: ArrayLike, delta: float) -> Bound:
    """Return the same for the clipped release, where no count can move by more than n. [Zhang16] Proposition 1.

    Certified is min(n, z*). `n` is public. Errors: InputError for an n that is no whole number from 0 to MOST_RECORDS.
    """
    n = whole_number("The number of records", n, low=0, high=MOST_RECORDS)
    return Bound(
        claim=CLIPPED,
        printed=printed_largest_noise(network, epsilon=epsilon, delta=delta),
        certified=np.minimum(exact_largest_noise(network, epsilon=epsilon, delta=delta), float(n)),
        unit="counts",
        confidence=1 - checked_delta(delta),
        assumptions=_assumptions(network),
    )


def largest_change(
    counts: Counts, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate how far the worst released count is off after clipping to [0, n], at every epsilon (E,).

    It depends on the counts. [Zhang16] Proposition 1, for the clipped updates.
    """
    network = counts.network
    scale = noise_scale(network, epsilon)
    changes, size = np.empty((len(scale), releases)), max(1, _BLOCK // (len(scale) * network.cell_count))
    for start in range(0, releases, size):
        noise = rng.laplace(size=(min(size, releases - start), network.cell_count))
        moved = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n)) - counts.values
        changes[:, start : start + size] = np.abs(moved).max(axis=-1)
    study = Simulation(np.sort(changes, axis=-1))
    none = np.full(len(scale), np.nan)
    return quantile_beside(study, none, printed=printed, delta=delta)


def measured_change(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the largest change of a released count, where the counts may be seen."""
    if subject.counts is None or subject.too_large:
        return nothing_known(len(at.epsilon), "" if subject.counts is None else subject.too_large)
    return largest_change(
        subject.required_counts,
        stream(subject.seed, "bounds", "largest change"),
        epsilon=at.epsilons,
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def clipped_formula(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Proposition 1, for the clipped updates."""
    return proposition_1_formula(subject, at, bound).replace(
        "the exact quantile", f"or $n = {subject.records}$ where that is less: no count leaves $[0, n]$"
    )


def lemma_1(network: Network) -> Bound:
    """Return the most that one replaced record moves all counts together, in L1 distance. [Zhang16] Lemma 1."""
    printed = np.asarray(2.0 * len(network.names))
    return Bound(
        claim=LEMMA_1,
        printed=printed,
        certified=np.asarray(float(count_sensitivity(network))),
        unit="counts",
    )


def moved_counts(network: Network) -> IntArray:
    """Return how two records that differ in every column differ in their counts: (K,). [Zhang16] Lemma 1."""
    first = np.zeros((1, len(network.names)), dtype=np.uint8)
    last = np.array([[len(states) - 1 for states in network.states]], dtype=np.uint8)
    before, after = (count(network, Dataset(network.names, network.states, codes)).values for codes in (first, last))
    return after - before


def largest_move(subject: Subject, at: At, bound: Bound) -> Measured:
    """Count two records that differ in every column; without records there is none to replace."""
    moved = float(np.abs(moved_counts(subject.network)).sum()) if subject.records else 0.0
    return exactly(np.full(bound.printed.shape, moved), printed=bound.printed, name="largest exact change")


def lemma_1_formula(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Lemma 1."""
    printed, certified = ends(bound)
    nodes = len(subject.network.names)
    return f"""
- A record is in one cell of each of $|I| = {nodes}$ tables; replacing it takes 1 from that cell and adds 1 to another.
- **Printed**: $2|I| = 2 \\cdot {nodes} = {printed}$, whatever $n$ is: the line is level.
- **Certified**: 2 for each node whose family has more than one cell, ${certified}$.
- **Exact**: the counts of two records that differ in every column, one taken from the other.
"""


def corollary_1(network: Network, *, epsilon: ArrayLike) -> Bound:
    """Return the privacy loss of Algorithm 1 at `epsilon` (...), clipping included. [Zhang16] Corollary 1.

    The noise has scale 2|I|/epsilon as printed, so that the certified loss is epsilon times the share of nodes whose
    counts can change at all.
    """
    epsilons = checked_epsilons(epsilon)
    return Bound(
        claim=COROLLARY_1,
        printed=epsilons,
        certified=epsilons * count_sensitivity(network) / (2 * len(network.names)),
        unit="nats of privacy loss",
    )


def laplace_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss of the printed noise on what two records that differ in every column move."""
    moved = int(np.count_nonzero(moved_counts(subject.network)))
    steps = at.epsilons / (2 * len(subject.network.names))
    loss = np.array([LaplaceNoise(moved, step).pure_epsilon for step in steps])
    return exactly(loss, printed=bound.printed, name="exact loss of one pair")


def corollary_1_formula(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 1."""
    printed, certified = ends(bound)
    nodes, moved = len(subject.network.names), count_sensitivity(subject.network)
    scale = 2 * nodes / at.epsilon[0]
    return f"""
- The noise has scale $b = 2|I|/\\epsilon = 2 \\cdot {nodes}/{at.epsilon[0]:g} = {number(scale)}$ records.
- **Printed**: $\\epsilon = {printed}$ nats.
- **Certified**: ${moved}/b = {moved}/{number(scale)} = {certified}$ nats, as one record moves ${moved}$ counts by 1.
- **Exact**: two records that differ in every column. Rounding to $[0, n]$ takes nothing away: counts that come out as
  0 and as $n$ lose as much.
"""


def _assumptions(network: Network) -> tuple[Assumption, ...]:
    return (Assumption("Every node is binary, so that 2m is the number of cells", network.is_binary),)


LEMMA_1 = Claim(
    Reference("Zhang16", "Lemma 1"),
    "One record moves the counts by at most 2|I|",
    r"\|\Delta\omega - \Delta\tilde\omega\|_1 \le 2|\mathcal I|",
    Verdict.HOLDS,
    "It is reached on every graph, by two records that differ in every column.",
)
COROLLARY_1 = Claim(
    Reference("Zhang16", "Corollary 1"),
    "Algorithm 1 is epsilon-differentially private",
    r"b = 2|\mathcal I| / \epsilon",
    Verdict.HOLDS,
    "Epsilon cannot be lowered for this noise, because Lemma 1 holds with equality.",
)
PROPOSITION_1 = Claim(
    Reference("Zhang16", "Proposition 1"),
    "No count moves far",
    r"\|\Delta\omega - \Delta\omega'\|_\infty \le \frac{2|\mathcal I|}{\epsilon} \ln\frac{2m}{\delta}",
    Verdict.LOOSE,
    "The noise is independent, so the exact quantile is known and slightly smaller than the union bound.",
)
CLIPPED = Claim(
    Reference("Zhang16", "Proposition 1, for the clipped updates"),
    "No released count is far off",
    r"\|\Delta\omega - Z\|_\infty \le \frac{2|\mathcal I|}{\epsilon} \ln\frac{2m}{\delta}",
    Verdict.LOOSE,
    "Clipping keeps every error within n as well, which the printed bound exceeds once the noise is large.",
)
CLAIMS: tuple[Claim, ...] = (LEMMA_1, COROLLARY_1, PROPOSITION_1, CLIPPED)

EXHIBITS: dict[str, Exhibit] = {
    "PROPOSITION_1": Exhibit(
        "Proposition 1: largest noise",
        PROPOSITION_1,
        Says.QUANTILE,
        lambda subject, at: proposition_1(subject.network, epsilon=at.epsilons, delta=at.knobs.delta),
        measured_noise,
        proposition_1_formula,
        (Axis.EPSILON, Axis.DELTA),
        "noise of {} records on a count",
        "largest noise on any count, records",
        ("epsilon", "bounds.delta"),
    ),
    "CLIPPED": Exhibit(
        "Proposition 1 (clipped): largest change of a count",
        CLIPPED,
        Says.QUANTILE,
        lambda subject, at: clipped_proposition_1(
            subject.network, subject.records, epsilon=at.epsilons, delta=at.knobs.delta
        ),
        measured_change,
        clipped_formula,
        (Axis.EPSILON, Axis.RECORDS, Axis.DELTA),
        "a count off by {} records",
        "largest change of any released count, records",
        ("epsilon", "bounds.delta"),
        uses=Uses.SIMULATION,
    ),
    "LEMMA_1": Exhibit(
        "Lemma 1: sensitivity of the counts",
        LEMMA_1,
        Says.CERTAIN,
        lambda subject, at: flat(lemma_1(subject.network)),
        largest_move,
        lemma_1_formula,
        (Axis.RECORDS,),
        "lets one record move all counts together by {}",
        "L1 distance of the counts, records",
        (),
    ),
    "COROLLARY_1": Exhibit(
        "Corollary 1: privacy of noisy counts",
        COROLLARY_1,
        Says.CERTAIN,
        lambda subject, at: corollary_1(subject.network, epsilon=at.epsilons),
        laplace_loss,
        corollary_1_formula,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        ("epsilon",),
    ),
}
"""The claims as they are shown."""
