"""How many answers of the posterior sampling query model tell two tables apart: sections 4.2, 4.3 of [Dimitrakakis14].

`pair` is two posteriors one record apart; an adversary gets N draws from one of them and says which. Errors d are the
share of games lost, the true table picked by a fair coin. What is answered may be any function of a draw, as in
[Dimitrakakis14] Example 1, whose answers lie in the convex hull of the values.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.dimitrakakis14.game import (
    BetaPair,
    GammaPair,
    NormalPair,
    Pair,
    necessary_answers,
    needed_answers_bracket,
    printed_answers,
    printed_answers_tail,
)

ANSWERS = "answers"


# Algorithm 1


def algorithm_1(log_ratio: float, *, answers: ArrayLike) -> Bound:
    """Return the privacy loss of k = `answers` (...) answers, from L rho = `log_ratio`. [Dimitrakakis14] Algorithm 1.

    Printed 2 L rho, which Theorem 2 gives one draw; certified k times that. See also `concentrated_cost`.
    """
    moved, k = _log_ratio(log_ratio), _counts(answers)
    return Bound(
        claim=ALGORITHM_1,
        printed=np.full(k.shape, 2 * moved),
        certified=2 * moved * k,
        unit="nats of privacy loss",
        confidence=1.0,
        assumptions=(Assumption("One query is answered", bool(np.all(k <= 1))),),
        is_private=True,
    )


def concentrated_cost(log_ratio: float, *, answers: ArrayLike) -> FloatArray:
    """Return k (L rho)^2/2, the zero-concentrated cost of k = `answers` (...) draws. [Dimitrakakis14] Algorithm 1.

    A draw's losses range over an interval of length eta = 2 L rho, which costs eta^2/8.
    """
    return _counts(answers) * _log_ratio(log_ratio) ** 2 / 2


# Lemma 2


def lemma_2(samples: ArrayLike, *, delta: float, cells: int) -> Bound:
    """Return how far the empirical law of n = `samples` (...) draws is off, in L1 distance. [Dimitrakakis14] Lemma 2.

    Printed sqrt(3 ln(1/delta)/n), for at most log2 sqrt(1/delta) cells; certified sqrt(2 ln((2^m - 2)/delta)/n) for
    any m >= 2, by the inequality of Weissman et al., and at most 2.
    """
    n = _counts(samples)
    d = finite_number("delta", delta, low=1e-300, high=1.0)
    m = whole_number("The number of cells", cells, low=2, high=10**6)
    log_events = m * math.log(2) + math.log1p(-(2.0 ** (1 - m)))
    with np.errstate(divide="ignore"):
        printed, certified = np.sqrt(-3 * math.log(d) / n), np.sqrt(2 * (log_events - math.log(d)) / n)
    return Bound(
        claim=LEMMA_2,
        printed=printed,
        certified=np.minimum(certified, 2.0),
        unit="L1 distance",
        confidence=1 - d,
        assumptions=(Assumption("m is at most log2 sqrt(1/delta)", m <= -math.log2(d) / 2),),
        is_private=True,
    )


# Theorem 3


def theorem_3(pair: Pair, *, log_ratio: float, error: float) -> Bound:
    """Return how many answers suffice to err in at most d = `error` of games (...). [Dimitrakakis14] Theorem 3 (4.3).

    Printed 3 ln(1/d)/(4 L rho); certified ln(1/(2 d))/b, b = -ln BC, infinite for equal posteriors.
    """
    certified = needed_answers_bracket(pair, error=error)[1]
    printed = np.full(np.shape(certified), printed_answers(log_ratio, error=error))
    return Bound(THEOREM_3, printed, certified, ANSWERS, 1 - error, (), is_private=False)


def theorem_3_tail(pair: Pair, *, concentration: float, distance: float, error: float) -> Bound:
    """Return the same under Assumption 2. [Dimitrakakis14] Theorem 3 (4.4).

    Printed 3 c ln(1/d)/(2 kappa rho); certified as in `theorem_3`.
    """
    certified = needed_answers_bracket(pair, error=error)[1]
    printed = np.full(np.shape(certified), printed_answers_tail(concentration, distance, error=error))
    return Bound(THEOREM_3_TAIL, printed, certified, ANSWERS, 1 - error, (), is_private=False)


def needed_at_least(pair: Pair, *, log_ratio: float, error: float) -> FloatArray:
    """Return how many answers any adversary needs (...): the larger of ln(1/(4 d (1 - d)))/(2 b) and ln(1/(4 d))/f.

    The right one, with f the sharp KL bound at 2 L rho, needs no data. [Dimitrakakis14] Theorem 3, as a necessary
    condition.
    """
    exact = needed_answers_bracket(pair, error=error)[0]
    return np.maximum(exact, necessary_answers(log_ratio, error=error))


def counterexample_theorem_3(bound: float = 0.01, *, error: float = 0.05) -> Counterexample:
    """Return the answers needed for a coin trimmed to log-odds +-`bound`. [Dimitrakakis14] Theorem 3 (4.3).

    One record of two differs, uniform prior; L rho = `bound` is exact. The same argument defeats (4.4).
    """
    value = finite_number("The bound of the log-odds", bound, low=1e-4, high=0.3)
    pair = BetaPair(np.asarray(2.0), np.asarray(1.0), 1, value)
    claimed = theorem_3(pair, log_ratio=value, error=error)
    return Counterexample(
        THEOREM_3,
        f"A coin with log-odds in [-{value:g}, {value:g}], one throw, heads against tails, d = {error:g}",
        truth=float(needed_at_least(pair, log_ratio=value, error=error)),
        printed=float(claimed.printed),
        certified=float(claimed.certified),
        unit=ANSWERS,
    )


def counterexample_theorem_3_equal(log_ratio: float = 1.0, *, error: float = 0.05) -> Counterexample:
    """Return the answers needed, infinitely many, without a parameter. [Dimitrakakis14] Theorem 3 (4.3).

    The likelihood is then Lipschitz with every L, the posteriors are equal, and (4.3) promises success after a few.
    """
    equal = NormalPair(np.asarray(0.0), np.asarray(1.0), apart=0.0)
    claimed = theorem_3(equal, log_ratio=log_ratio, error=error)
    return Counterexample(
        THEOREM_3,
        f"Records whose law has no parameter in it, L rho = {log_ratio:g}, d = {error:g}",
        truth=float(needed_answers_bracket(equal, error=error)[0]),
        printed=float(claimed.printed),
        certified=float(claimed.certified),
        unit=ANSWERS,
    )


def counterexample_theorem_3_tail(apart: float = 0.01, *, error: float = 0.05) -> Counterexample:
    """Return the answers that tell an exponential record 0 from `apart`, Exp(1). [Dimitrakakis14] Theorem 3 (4.4).

    Assumption 2 holds exactly, with c = 1 and rho = `apart`.
    """
    pair = GammaPair(np.asarray(2.0), np.asarray(1.0), finite_number("The distance", apart, low=1e-6, high=0.1))
    claimed = theorem_3_tail(pair, concentration=1.0, distance=apart, error=error)
    return Counterexample(
        THEOREM_3_TAIL,
        f"One exponential record, 0 against {apart:g}, under Exp(1), d = {error:g}",
        truth=float(needed_answers_bracket(pair, error=error)[0]),
        printed=float(claimed.printed),
        certified=float(claimed.certified),
        unit=ANSWERS,
    )


# Lemma 8


def lemma_8(overlap: ArrayLike, *, distance: float) -> FloatArray:
    """Return rho/2 times the overlap 1 - TV (...), which the worst of two tables' expected distance from any guess is.

    Or more: it is a lower bound, reached by the likelier table when distances are 0 and rho and both errors are equal.
    For N draws the overlap is that of the product laws, see `overlap_at_least`. [Dimitrakakis14] Lemma 8.
    """
    shared = np.asarray(overlap, dtype=np.float64)
    if not (np.all(shared >= 0) and np.all(shared <= 1)):
        raise InputError("The overlap of two laws lies between 0 and 1.")
    return finite_number("The distance", distance, low=0.0, high=1e300) / 2 * shared


def overlap_at_least(pair: Pair, *, answers: ArrayLike) -> FloatArray:
    """Return 1 - sqrt(1 - BC^(2N)) <= 1 - TV for the laws of N = `answers` (...) draws. [Dimitrakakis14] Lemma 8."""
    shared = np.exp(-2 * _counts(answers) * pair.affinity)
    return shared / (1 + np.sqrt(1 - shared))


def _counts(values: ArrayLike) -> FloatArray:
    counts = np.asarray(values, dtype=np.float64)
    if not (np.all(counts >= 0) and np.all(counts == np.floor(counts)) and np.all(np.isfinite(counts))):
        raise InputError("The numbers of answers and draws are whole numbers that are not negative.")
    return counts


def _log_ratio(value: float) -> float:
    return finite_number("L rho", value, low=0.0, high=1e9)


ALGORITHM_1 = Claim(
    Reference("Dimitrakakis14", "Algorithm 1"),
    "Answering queries by posterior draws is private",
    r"k \text{ answers}: \; \epsilon = 2 L \rho",
    Verdict.AMENDED,
    "Theorem 2 covers one draw and the loop keeps no account: k answers cost k times as much, or k (L rho)^2/2 in "
    "zero-concentrated terms.",
)
EXAMPLE_1 = Claim(
    Reference("Dimitrakakis14", "Example 1"),
    "The answers to conditional expectation queries",
    r"\Psi = \mathcal Y",
    Verdict.AMENDED,
    "An expectation lies in the convex hull of the values: for Y = {0, 1} it is any number between.",
)
LEMMA_2 = Claim(
    Reference("Dimitrakakis14", "Lemma 2"),
    "The empirical law of posterior draws is near the posterior",
    r"\|\hat P - P\|_1 \le \sqrt{\tfrac{3}{n} \ln \tfrac{1}{\delta}}, \quad m \le \log_2 \sqrt{1/\delta}",
    Verdict.LOOSE,
    "Two cells need delta <= 1/16; sqrt(2 ln((2^m - 2)/delta)/n) holds for any m and delta, and is smaller there.",
)
THEOREM_3 = Claim(
    Reference("Dimitrakakis14", "Theorem 3 (4.3)"),
    "When an adversary can tell two tables apart, under Assumption 1",
    r"\rho(x, y) \ge \tfrac{3}{4 L n} \ln \tfrac{1}{\delta}",
    Verdict.FALSE,
    "L only bounds the divergence from above, so such a condition can at best be necessary; between "
    "ln(1/(4 d (1 - d)))/(2 b) and ln(1/(2 d))/b answers are needed, b = -ln BC.",
)
THEOREM_3_TAIL = Claim(
    Reference("Dimitrakakis14", "Theorem 3 (4.4)"),
    "When an adversary can tell two tables apart, under Assumption 2",
    r"\rho(x, y) \ge \tfrac{3 c}{2 \kappa n} \ln \tfrac{1}{\delta}",
    Verdict.FALSE,
    "Turned round in the same way, and it rests on Theorem 1(ii).",
)
LEMMA_8 = Claim(
    Reference("Dimitrakakis14", "Lemma 8"),
    "How near a guess at the table can come (Le Cam)",
    r"\sup_x E[\rho(\psi, x)] \ge \delta \sup \|\xi_1 \wedge \xi_2\|, \quad \rho(S_1, S_2) \ge 2\delta",
    Verdict.HOLDS,
    "It is for one draw; with N draws the overlap is that of the product laws.",
)
CLAIMS: tuple[Claim, ...] = (ALGORITHM_1, EXAMPLE_1, LEMMA_2, THEOREM_3, THEOREM_3_TAIL, LEMMA_8)
