"""How often a Fourier release is non-negative, and the cost of re-running until it is. [Zhang16] section 3.2.

Corollary 3: in units of the noise scale, a release of zero counts is non-negative iff 2 t |N_I| is at least every
signed sum of the standard Laplace draws X_gamma that a cell takes: the probability depends on the graph and on t only.
Real counts can only help the released tables.
"""

import math
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import turning_point
from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.stealth import needed_increments
from dpbayes.model.closure import walsh
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import DOUBT, BoundKind, Exhibit, Measured, above, exact_value, not_measured
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.zhang16.fourier import CoefficientNoise, certified_noise, invented_records, printed_noise

COROLLARY_3 = Claim(
    Reference("Zhang16", "Corollary 3"),
    "Rebuilt tables are rarely negative",
    r"P(\text{non-negative}) \ge 1 - e^{-t}",
    Verdict.FALSE,
    "The stated probability of a negative count is too small for small t and far too large for large t. The table of "
    "all nodes, rebuilt from the released coefficients, can have negative counts for every t.",
)
SMALL_INCREMENTS = Claim(
    Reference("Zhang16", "Section 3.2, Non-negativity"),
    "Few records are added to avoid negative counts",
    r"4t|N_I|^2/\varepsilon\ \text{is small}",
    Verdict.FALSE,
    "At the stated t, more records can be added than there are real ones.",
    ours="“few” read as at most the real records",
    page="Explore",
)
RERUNS = Claim(
    Reference("Zhang16", "Section 3.2, Re-running"),
    "Each repetition of a release costs ε",
    r"R\ \text{runs cost}\ R\,\varepsilon",
    Verdict.LOOSE,
    "Releasing only the first success costs 2 ε for any number of runs, if this number is kept secret.",
)

# Probabilities


def printed_increment(probability: ArrayLike) -> FloatArray:
    """Return the t at which [Zhang16] Corollary 3 promises `probability` (...), infinite at 1."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.asarray(probability, dtype=np.float64))


def _some_sum_exceeds(terms: int, cells: float, x: FloatArray, *, beyond: float) -> FloatArray:
    """Bound P(one of `cells` signed sums of the same `terms` draws > x): by sum |X| ~ Gamma, and cell by cell.

    Each draw lies `beyond` a Laplace draw at most, whole numbers by less than 1/b.
    """
    x = np.maximum(x - terms * beyond, 0.0)
    return np.minimum(special.gammaincc(terms, x), cells * signed_sum_tail(terms, x))


def negative_table_probability(network: Network, *, noise: CoefficientNoise, t: ArrayLike) -> FloatArray:
    """Bound P(some cell of the table on all of I is negative) at zero counts, for t (...).

    P(Gamma(|N_I|, 1) > 2 t |N_I|), or the sum over 2^|I| cells of its exact tail where that is less.
    [Zhang16] Corollary 3, corrected.
    """
    size = len(network.closure)
    x = 2 * np.asarray(t, dtype=np.float64) * size
    exceeds = _some_sum_exceeds(size - noise.public, 2.0 ** len(network.names), x, beyond=noise.beyond)
    return np.minimum(exceeds, 1.0)


def negative_marginal_probability(network: Network, *, noise: CoefficientNoise, t: ArrayLike) -> FloatArray:
    """Bound P(some cell of a released table is negative) at zero counts, for t (...).

    The sum, over the families F that lie in no other, of P(Gamma(2^|F|, 1) > 2 t |N_I|), or of 2^|F| times the exact
    tail of one cell where that is less. Smaller tables are sums of larger ones. [Zhang16] Corollary 3, corrected.
    """
    return _negative_marginals(_maximal_sizes(network), len(network.closure), noise, t)


def _maximal_sizes(network: Network) -> Counter[int]:
    return Counter(map(len, maximal_families(network)))


def _negative_marginals(sizes: Counter[int], closure: int, noise: CoefficientNoise, t: ArrayLike) -> FloatArray:
    x = 2 * np.asarray(t, dtype=np.float64) * closure
    total = np.zeros_like(x)
    for nodes, families in sizes.items():
        total = total + families * _some_sum_exceeds(2**nodes - noise.public, 2.0**nodes, x, beyond=noise.beyond)
    return np.minimum(total, 1.0)


def maximal_families(network: Network) -> tuple[frozenset[int], ...]:
    """Return the distinct families pi_i + {i} that lie in no other; the largest first."""
    families = sorted(dict.fromkeys(map(frozenset, network.families)), key=len, reverse=True)
    return tuple(family for family in families if not any(family < other for other in families))


def negative_marginal_bound(network: Network, *, noise: CoefficientNoise, t: ArrayLike) -> Bound:
    """Bound how often a released table has a negative cell: exp(-t) printed. [Zhang16] Corollary 3."""
    increments, certified = np.asarray(t, dtype=np.float64), negative_marginal_probability(network, noise=noise, t=t)
    positive = Assumption("t is above zero, as the corollary requires.", bool(np.all(increments > 0)))
    unit = "probability of a negative count"
    return Bound(COROLLARY_3, np.exp(-increments), certified, unit, assumptions=(positive,))


def _printed_noise_increments(subject: Subject) -> FloatArray:
    """Return simulated increments that keep the tables of empty releases non-negative, with the printed noise."""
    return subject.memo.once((subject.network, subject.releases, subject.seed), _needed_increments, subject)


def _needed_increments(subject: Subject) -> FloatArray:
    rng, draws = stream(subject.seed, "bounds", "stealth"), 4 * subject.releases
    return needed_increments(subject.network, Calibration.AS_PRINTED, rng, draws=draws)


def negative_share(needed: FloatArray, t: FloatArray, *, printed: FloatArray) -> Measured:
    """Return how often simulated releases of no records have a negative cell at t (T,). [Zhang16] Corollary 3."""
    draws = len(needed)
    negative = draws - np.searchsorted(np.sort(needed), t, side="right")
    share, near = negative / draws, (negative + 1) / (draws + 2)  # so that the error is never zero
    error = np.sqrt(near * (1 - near) / draws)
    none = np.full(len(t), np.nan)
    low, high = np.maximum(share - 2 * error, 0.0), np.minimum(share + 2 * error, 1.0)
    violated = above(share - DOUBT * error, printed)
    return Measured(none, share, low, high, none, violated, "", "share of simulated releases", draws)


def _measured_share(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    if subject.too_large:
        return not_measured(1, subject.too_large)
    needed = _printed_noise_increments(subject)
    return negative_share(needed, np.array([at.knobs.t]), printed=bound.printed)


def _corollary_3_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    size = len(subject.network.closure)
    return f"""
- **As stated**: at most $e^{{-t}} = e^{{-{at.knobs.t:g}}} = {bound.stated}$.
- **Proved**, for the released tables: a sum over the families that no other family contains, ${bound.proved}$, with
  $|N_I| = {size}$. Both are for the stated noise; neither depends on $\\epsilon$.
- The bound $e^{{-t}}$ is proved if $t > 1/2$ and $|N_I| (2t - 1 - \\ln 2t) = {size}
  \\cdot {number(2 * at.knobs.t - 1 - math.log(2 * at.knobs.t))} \\ge t$. The corollary requires only $t > 0$.
"""


def certified_increment(network: Network, probability: float, *, noise: CoefficientNoise) -> float:
    """Return a t proved, without simulation, to keep all released tables non-negative with this probability.

    Errors: InputError for a probability outside [0, 1 - 1e-12]. [Zhang16] Corollary 3, corrected.
    """
    sizes, closure = _maximal_sizes(network), len(network.closure)
    target = finite_number("The target probability", probability, low=0.0, high=1 - 1e-12)

    def is_too_often(t: ArrayLike) -> BoolArray:
        return np.asarray(_negative_marginals(sizes, closure, noise, t) > 1 - target)

    if not is_too_often(0.0):
        return 0.0
    high = 1.0
    while is_too_often(high):
        high *= 2
    return float(turning_point(is_too_often, 0.0, high)[1])


def counterexample_corollary_3(t: float = 0.1, *, draws: int = 40_000) -> Counterexample:
    """Return a lower limit of how often a small t leaves a negative cell. [Zhang16] Corollary 3.

    The one family of the complete graph of four nodes is the whole table, so the claim fails in every reading of it.
    """
    network, rng = Network.from_edges("abcd", combinations("abcd", 2)), stream(1, "stealth", "small increment")
    cells = walsh(rng.laplace(size=(draws, 2, 2, 2, 2)), 4).reshape(draws, 16)
    negative = int(np.count_nonzero(cells.min(axis=-1) < -2 * t * len(network.closure)))
    return Counterexample(
        COROLLARY_3,
        f"The complete graph of four nodes, no records, t = {t:g}; {draws:,} simulated releases, confidence 1 − 10⁻⁹",
        truth=float(special.betaincinv(negative, draws - negative + 1, 1e-9)),
        printed=math.exp(-t),
        certified=float(negative_table_probability(network, noise=printed_noise(network), t=t)),
        unit="probability of a negative count",
        is_lower_limit=True,
    )


def counterexample_corollary_3_rebuilt(n: int = 1000, *, epsilon: float = 10.0, t: float = 3.0) -> Counterexample:
    """Return how often the last cell of the table rebuilt from N_I is negative, exactly. [Zhang16] Corollary 3.

    Without noise, this cell is (lift - n)/4 if all n records are (0, 0). Its noise is a signed sum of three draws.
    """
    network = Network.from_edges("ab", [])
    noise = printed_noise(network)
    short_of = n - float(invented_records(network, noise=noise, epsilon=epsilon, t=t))
    tail = float(signed_sum_tail(3, abs(short_of) / noise.scale(epsilon)))
    return Counterexample(
        COROLLARY_3,
        f"The table of two nodes without an arrow, rebuilt from the coefficients; {n:,} records (0, 0), "
        f"epsilon = {epsilon:g}, t = {t:g}",
        truth=1 - tail if short_of > 0 else tail,
        printed=float(np.exp(-t)),
        certified=np.nan,
        unit="probability of a negative count",
    )


def counterexample_minor_loss(n: int = 1000, *, epsilon: float = 1.0, probability: float = 0.9) -> Counterexample:
    """Return how many records the printed t invents, beside n real ones. [Zhang16] Section 3.2, Non-negativity."""
    network = Network.from_edges("abcdefgh", pairwise("abcdefgh"))
    noise, t = certified_noise(network), certified_increment(network, probability, noise=certified_noise(network))
    increment = printed_increment(probability)
    enough = float(invented_records(network, noise=noise, epsilon=epsilon, t=t))
    return Counterexample(
        SMALL_INCREMENTS,
        f"A chain of eight nodes, ε = {epsilon:g}, {n:,} real records, and the stated t for {probability:.0%} of "
        f"releases; {enough:,.0f} added records are proved to suffice",
        truth=float(invented_records(network, noise=printed_noise(network), epsilon=epsilon, t=increment)),
        printed=float(n),
        certified=np.nan,
        unit="records added to every table",
    )


MANY_TERMS = 1024
"""From so many terms on, the tail of their sum is an integral instead of as many incomplete gamma functions."""

_HALVINGS = 24
_STEP, _REACH = 0.25, 12.0
"""Of the integral, in standard deviations of ln Gamma at the largest value of what is integrated."""


def signed_sum_tail(terms: int, x: ArrayLike) -> FloatArray:
    """Return P(X_1 + ... + X_terms > x) of independent standard Laplace draws, x >= 0 (...), exactly.

    The sum is a difference of two Gamma(terms, 1) draws; above zero that is a mixture of Gamma(terms - k, 1) with
    weights C(terms - 1 + k, k) 2^-(terms + k), k = 0 .. terms - 1, all positive.
    """
    x = np.asarray(x, dtype=np.float64)
    if terms >= MANY_TERMS:
        return _tail_of_many(terms, x)
    k = np.arange(terms)
    logs = special.gammaln(terms + k) - special.gammaln(terms) - special.gammaln(k + 1) - (terms + k) * np.log(2)
    return special.gammaincc(terms - k, x[..., None]) @ np.exp(logs)


def _tail_of_many(terms: int, x: FloatArray) -> FloatArray:
    """Return `signed_sum_tail` as an integral, whose work does not grow with the terms.

    A Laplace draw is normal with twice an exponential variance, so that with G = n e^v of Gamma(n, 1) the tail is
    E[Q(x / sqrt(2 G))], Q the normal one. The logarithm of the integrand is concave in v and smooth: the trapezoidal
    rule around its largest value is exact to rounding.
    """
    z = x[..., None] / np.sqrt(2 * terms)

    def log_integrand(v: FloatArray) -> FloatArray:
        return special.log_ndtr(-z * np.exp(-v / 2)) - terms * (np.expm1(v) - v)

    def rises(v: FloatArray) -> BoolArray:
        # The slope: n (1 - e^v) + z h(z) / 2, h = density over tail.
        at = z * np.exp(-v / 2)
        hazard = np.exp(-at * at / 2 - special.log_ndtr(-at)) * at
        return np.asarray(hazard / np.sqrt(8 * np.pi) > terms * np.expm1(v))

    low, _ = turning_point(rises, 0.0, np.log1p((z * z + 2) / (2 * terms)), halvings=_HALVINGS)
    step = _STEP / np.sqrt(terms * np.exp(low))
    logs = log_integrand(low + step * np.arange(-_REACH / _STEP, _REACH / _STEP + 1))
    # ln of n^n e^-n / Gamma(n), by Stirling.
    density = np.log(terms / (2 * np.pi)) / 2 - 1 / (12 * terms) + 1 / (360 * terms**3)
    tail: FloatArray = np.exp(special.logsumexp(logs + np.log(step), axis=-1) + density)
    return tail


# Re-running until a release is non-negative

SHARE = 0.01
"""The share of the success that gives most away, in the mechanism that re-running is shown for."""


def rerun_bound(epsilon: ArrayLike, runs: ArrayLike) -> Bound:
    """Bound the privacy loss of running until the first success, `runs` (...) runs in all.

    Each of P(A and S) and P(S) moves by at most e^epsilon, hence P(A | S) = P(A and S)/P(S) by e^(2 epsilon).
    [Zhang16] Section 3.2, Re-running.
    """
    epsilon, runs = np.asarray(epsilon, dtype=np.float64), np.asarray(runs)
    hidden = Assumption("The number of runs is kept secret, and runs continue until one succeeds.", holds=True)
    return Bound(RERUNS, runs * epsilon, np.minimum(runs, 2) * epsilon, "epsilon", assumptions=(hidden,))


def first_success_loss(epsilon: FloatArray) -> FloatArray:
    """Return the exact loss of handing over the first success of one epsilon-private mechanism: (E,).

    Successes are rare, and one of them has a share p = SHARE. A neighbour makes it e^epsilon times rarer and the others
    e^epsilon times more frequent, so that its share becomes p e^-epsilon/(p e^-epsilon + (1 - p) e^epsilon).
    [Zhang16] Section 3.2, Re-running.
    """
    return 2 * epsilon + np.log1p(SHARE * np.expm1(-2 * epsilon))


def _rerun_loss(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the exact loss of a mechanism whose first success gives nearly twice epsilon away; one run loses epsilon."""
    return at.epsilons if at.knobs.runs < 2 else first_success_loss(at.epsilons)


def _reruns_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"""
- Runs go on until the first success, and only this run is released; $\\epsilon = {at.epsilon[0]:g}$.
- **As stated**: $R\\epsilon = {at.knobs.runs:g} \\cdot {at.epsilon[0]:g} = {bound.stated}$ nats.
- **Proved**: $\\min(R, 2)\\,\\epsilon = {bound.proved}$ nats: the release has probability $P(A, S)/P(S)$, and both
  probabilities change by a factor of at most $e^\\epsilon$.
- **Exact**, for two runs or more: $2\\epsilon + \\ln\\bigl(1 - p\\,(1 - e^{{-2\\epsilon}})\\bigr)$, $p = {SHARE:g}$.
  One output has a share $p$ of the successes, which are rare. A neighbouring table makes this output $e^\\epsilon$
  times rarer and the others $e^\\epsilon$ times more frequent. As $p$ tends to 0, the loss tends to the proved bound.
"""


EXHIBITS: dict[str, Exhibit] = {
    "COROLLARY_3": Exhibit(
        COROLLARY_3,
        lambda subject, at: negative_marginal_bound(
            subject.network, noise=printed_noise(subject.network), t=np.array([at.knobs.t])
        ),
        _corollary_3_formula,
        (Axis.T,),
        "a negative count in at most {} of releases",
        "probability of a negative count",
        says=BoundKind.CHANCE,
        measure=_measured_share,
        defaults=(("t", 0.05),),
    ),
    "RERUNS": Exhibit(
        RERUNS,
        lambda subject, at: rerun_bound(at.epsilons, at.knobs.runs),
        _reruns_formula,
        (Axis.RUNS, Axis.EPSILON),
        *LOSS_TEXT,
        measure=exact_value("exact loss of an example", _rerun_loss),
    ),
}
