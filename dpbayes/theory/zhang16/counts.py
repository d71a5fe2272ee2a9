"""How far Laplace noise moves the counts: Lemma 1, Corollary 1 and Proposition 1 of [Zhang16]."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.sensitivity import count_sensitivity
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1e4
MOST_RECORDS = 10**9


def noise_scale(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return b = 2|I|/epsilon in counts, of the shape of `epsilon` (...). [Zhang16] Algorithm 1.

    Nodes whose family has a single cell need no noise and are not counted in |I|, as in `count_sensitivity`.
    Errors: InputError for an epsilon that is no number from LEAST_EPSILON to MOST_EPSILON.
    """
    return count_sensitivity(network) / checked_epsilons(epsilon)


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
        is_private=True,
    )


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
        is_private=True,
    )


def lemma_1(network: Network) -> Bound:
    """Return the most that one replaced record moves all counts together, in L1 distance. [Zhang16] Lemma 1."""
    printed = np.asarray(2.0 * len(network.names))
    return Bound(
        claim=LEMMA_1,
        printed=printed,
        certified=np.asarray(float(count_sensitivity(network))),
        unit="counts",
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


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
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


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
