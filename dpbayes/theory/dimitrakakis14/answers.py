"""What posterior samples say about the table: section 4.3 and, by Le Cam's method, Lemma 8 of [Dimitrakakis14].

`pair` has two posteriors one record apart. An attacker gets N samples from one of them and decides which it is. The
error d is the share of wrong decisions, if a fair coin selects the true table. An answer can be any function of a
sample, as in [Dimitrakakis14] Example 1, whose answers lie in the convex hull of the values.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14.game import (
    EXPONENTIAL,
    KAPPA,
    TRIMMED,
    BetaPair,
    C,
    GammaPair,
    NormalPair,
    Pair,
    gamma_variation,
    given,
    necessary_answers,
    needed_answers_bracket,
    normal_variation,
    printed_answers,
    printed_answers_tail,
)

ANSWERS = "answers"
ANSWERS_TEXT = ("that the number of answers needed is at most {}", "answers that suffice to tell the tables apart")


EXAMPLE_1 = Claim(
    Reference("Dimitrakakis14", "Example 1"),
    "The mean of a value is one of its values",
    r"\Psi = \mathcal Y",
    Verdict.AMENDED,
    "An expectation lies in the convex hull of the values: for Y = {0, 1} it can be any number between 0 and 1.",
)


# Under Assumption 1

THEOREM_3 = Claim(
    Reference("Dimitrakakis14", "Theorem 3 (4.3)"),
    "Few answers tell two tables apart (Assumption 1)",
    r"\rho(x, y) \ge \tfrac{3}{4 L n} \ln \tfrac{1}{\delta}",
    Verdict.FALSE,
    "L bounds the divergence from above only, so such a condition can at best be necessary. Between ln(1/(4 d "
    "(1 - d)))/(2 b) and ln(1/(2 d))/b answers are needed, where b = -ln BC and BC is the Bhattacharyya coefficient of "
    "the posteriors.",
)


def theorem_3(pair: Pair | NormalPair, *, log_ratio: float, error: float) -> Bound:
    """Return the answers that suffice for an error of at most d = `error` (...). [Dimitrakakis14] Theorem 3 (4.3).

    Printed 3 ln(1/d)/(4 L rho); certified ln(1/(2 d))/b, b = -ln BC, infinite for equal posteriors.
    """
    certified = needed_answers_bracket(pair, error=error)[1]
    printed = np.full(np.shape(certified), printed_answers(log_ratio, error=error))
    return Bound(THEOREM_3, printed, certified, ANSWERS, 1 - error, ())


def _theorem_3_here(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Dimitrakakis14] Theorem 3 (4.3), for a trimmed coin, in whole answers."""
    bound = theorem_3(_coin_pair(at), log_ratio=at.knobs.log_ratio, error=at.knobs.error)
    return _whole(given(bound, TRIMMED))


def _whole(bound: Bound) -> Bound:
    return replace(bound, printed=np.ceil(bound.printed), certified=np.maximum(np.ceil(bound.certified), 1.0))


def needed_at_least(pair: Pair, *, log_ratio: float, error: float) -> FloatArray:
    """Return the answers that every attacker needs (...): the larger of ln(1/(4 d (1 - d)))/(2 b) and ln(1/(4 d))/f.

    The second number, with the sharp KL bound f at 2 L rho, does not depend on data. [Dimitrakakis14] Theorem 3, as a
    necessary condition.
    """
    exact = needed_answers_bracket(pair, error=error)[0]
    return np.maximum(exact, necessary_answers(log_ratio, error=error))


def _least_needed(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    least = needed_at_least(_coin_pair(at), log_ratio=at.knobs.log_ratio, error=at.knobs.error)
    return np.maximum(np.ceil(least), 1.0)


def _coin_pair(at: EvaluationPoint) -> BetaPair:
    return BetaPair(np.array([2.0]), np.ones(1), 1, at.knobs.log_ratio)


def counterexample_theorem_3(bound: float = 0.01, *, error: float = 0.05) -> Counterexample:
    """Return the answers needed for a coin truncated to log-odds +-`bound`. [Dimitrakakis14] Theorem 3 (4.3).

    The prior is uniform, and one of two records differs; L rho = `bound` is exact. The same argument refutes (4.4).
    """
    pair = BetaPair(np.asarray(2.0), np.asarray(1.0), 1, bound)
    return Counterexample.of(
        theorem_3(pair, log_ratio=bound, error=error),
        f"A coin with log-odds in [-{bound:g}, {bound:g}], one throw, heads against tails, d = {error:g}",
        truth=float(needed_at_least(pair, log_ratio=bound, error=error)),
    )


def counterexample_theorem_3_equal(log_ratio: float = 1.0, *, error: float = 0.05) -> Counterexample:
    """Return the answers needed without a parameter, which are infinitely many. [Dimitrakakis14] Theorem 3 (4.3).

    The likelihood is then Lipschitz with every L, and the posteriors are equal. Still, (4.3) claims success after a few
    answers.
    """
    equal = NormalPair(np.asarray(1.0), apart=0.0)
    return Counterexample.of(
        theorem_3(equal, log_ratio=log_ratio, error=error),
        f"Records whose distribution does not depend on the parameter, L rho = {log_ratio:g}, d = {error:g}",
        truth=float(needed_answers_bracket(equal, error=error)[0]),
    )


def _theorem_3_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    moved, d = at.knobs.log_ratio, at.knobs.error
    affinity = float(BetaPair(np.asarray(2.0), np.asarray(1.0), 1, moved).affinity)
    return f"""
- One throw of a coin, heads against tails, under a Beta(1, 1) prior with log-odds trimmed to $\\pm {number(moved)}$;
  the attacker may lose a share $d = {number(d)}$ of games.
- **As stated**: $\\frac{{3}}{{4 L \\rho}} \\ln\\frac1d = \\frac{{3}}{{4 \\cdot {number(moved)}}}
  \\ln\\frac1{{{number(d)}}} = {number(printed_answers(moved, error=d))}$.
{_bracket(bound, affinity, d)}"""


def _bracket(bound: Bound, affinity: float, d: float) -> str:
    b = number(affinity)
    least, most = -math.log(4 * d * (1 - d)) / (2 * affinity), -math.log(2 * d) / affinity
    return f"""- **Needed**, with $b = -\\ln BC = {b}$: at least
  $\\frac1{{2b}} \\ln\\frac1{{4d(1-d)}} = {number(least)}$.
- **Proved**: $\\frac1b \\ln\\frac1{{2d}} = {number(most)}$ suffice. The picture shows whole answers, rounded up:
  as stated ${number(float(bound.printed[0]))}$, proved ${number(float(bound.certified[0]))}$.
"""


# Under Assumption 2

THEOREM_3_TAIL = Claim(
    Reference("Dimitrakakis14", "Theorem 3 (4.4)"),
    "Few answers tell two tables apart (Assumption 2)",
    r"\rho(x, y) \ge \tfrac{3 c}{2 \kappa n} \ln \tfrac{1}{\delta}",
    Verdict.FALSE,
    "The proof relies on Theorem 1(ii). Like the proof of (4.3), it uses an upper bound as a lower bound.",
)


def theorem_3_tail(pair: Pair, *, concentration: float, distance: float, error: float) -> Bound:
    """Return the same under Assumption 2. [Dimitrakakis14] Theorem 3 (4.4).

    Printed 3 c ln(1/d)/(2 kappa rho); certified as in `theorem_3`.
    """
    certified = needed_answers_bracket(pair, error=error)[1]
    printed = np.full(np.shape(certified), printed_answers_tail(concentration, distance, error=error))
    return Bound(THEOREM_3_TAIL, printed, certified, ANSWERS, 1 - error, ())


def _theorem_3_tail_here(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Dimitrakakis14] Theorem 3 (4.4), for one exponential record, in whole answers."""
    apart, error = at.knobs.apart, at.knobs.error
    bound = theorem_3_tail(_record_pair(at), concentration=C, distance=apart, error=error)
    return _whole(given(bound, EXPONENTIAL))


def _needed_exactly(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Compute the exact number of answers after which the likelier table is correct often enough.

    The sum of N samples from Gamma(2, .) is sufficient, and has the distribution Gamma(2 N, .).
    """
    low, high = (int(max(np.ceil(end[0]), 1)) for end in needed_answers_bracket(_record_pair(at), error=at.knobs.error))
    while low < high:
        middle = (low + high) // 2
        sums = GammaPair(np.array(2.0 * middle), np.ones(()), at.knobs.apart)
        is_enough = (1 - gamma_variation(sums)) / 2 <= at.knobs.error
        low, high = (low, middle) if is_enough else (middle + 1, high)
    return float(low)


def _record_pair(at: EvaluationPoint) -> GammaPair:
    return GammaPair(np.array([2.0]), np.ones(1), at.knobs.apart)


def counterexample_theorem_3_tail(apart: float = 0.01, *, error: float = 0.05) -> Counterexample:
    """Return the answers that distinguish an exponential record 0 from `apart`. [Dimitrakakis14] Theorem 3 (4.4).

    Assumption 2 holds exactly, with c = 1 and rho = `apart`.
    """
    pair = GammaPair(np.asarray(2.0), np.asarray(1.0), apart)
    return Counterexample.of(
        theorem_3_tail(pair, concentration=1.0, distance=apart, error=error),
        f"One exponential record, 0 against {apart:g}, under Exp(1), d = {error:g}",
        truth=float(needed_answers_bracket(pair, error=error)[0]),
    )


def _theorem_3_tail_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    apart, d = at.knobs.apart, at.knobs.error
    affinity = float(GammaPair(np.asarray(2.0), np.asarray(1.0), apart).affinity)
    printed = number(float(printed_answers_tail(1.0, apart, error=d)))
    return f"""
- One exponential record, 0 against $\\rho = {number(apart)}$, rate $\\theta \\sim \\text{{Exp}}(1)$, so $c = 1$; the
  attacker may lose a share $d = {number(d)}$ of games.
- **As stated**: $\\frac{{3 c}}{{2 \\kappa \\rho}} \\ln\\frac1d = \\frac{{3}}{{2 \\cdot {KAPPA:.4f} \\cdot
  {number(apart)}}} \\ln\\frac1{{{number(d)}}} = {printed}$. {_bracket(bound, affinity, d)}- **Exactly**: the sum of
  $N$ answers is sufficient; its distribution is $\\text{{Gamma}}(2N, 1)$ or $\\text{{Gamma}}(2N,
  {number(1 + apart)})$. The exact number is the least $N$ for which the overlap of the two is at most $2d$.
"""


# The error of an estimate of the table after some answers


LEMMA_8 = Claim(
    Reference("Dimitrakakis14", "Lemma 8"),
    "A guess of the table has a least error (Le Cam)",
    r"\sup_x E[\rho(\psi, x)] \ge \delta \sup \|\xi_1 \wedge \xi_2\|, \quad \rho(S_1, S_2) \ge 2\delta",
    Verdict.HOLDS,
    "The lemma covers one sample. For N samples, the overlap of the product distributions must be used.",
)


def lemma_8(pair: NormalPair, *, answers: ArrayLike) -> Bound:
    """Return the total variation distance for k = `answers` (...) samples. [Dimitrakakis14] Lemma 8.

    Printed is the exact distance after one answer, the only case of the lemma's overlap. Certified is
    sqrt(1 - BC^(2k)), which is 1 minus `overlap_at_least`. `le_cam` converts both into the error of an estimate.
    """
    k = np.asarray(answers, dtype=np.float64)
    return Bound(
        LEMMA_8,
        normal_variation(pair, answers=np.ones(k.shape)),
        1 - overlap_at_least(pair, answers=k),
        "total variation distance",
        assumptions=(Assumption("One answer is given", bool(np.all(k == 1))),),
    )


def le_cam(overlap: ArrayLike, *, distance: float) -> FloatArray:
    """Return rho/2 times the overlap 1 - TV (...), a lower bound of the larger expected error for two tables.

    The likelier table attains the bound if distances are 0 and rho and both errors are equal. For N samples, the
    overlap is that of the product distributions (`overlap_at_least`). [Dimitrakakis14] Lemma 8.
    """
    return distance / 2 * np.asarray(overlap, dtype=np.float64)


def overlap_at_least(pair: Pair | NormalPair, *, answers: ArrayLike) -> FloatArray:
    """Return 1 - sqrt(1 - BC^(2N)) <= 1 - TV for N = `answers` (...) samples. [Dimitrakakis14] Lemma 8."""
    shared = np.exp(-2 * np.asarray(answers, dtype=np.float64) * pair.affinity)
    return shared / (1 + np.sqrt(1 - shared))


def _normal_pair(at: EvaluationPoint) -> NormalPair:
    """Return two posteriors of a normal's mean under N(0, 1), variance 1, that are one record apart."""
    return NormalPair(np.array([1.0 + at.knobs.size]), at.knobs.apart)


def _lemma_8_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    apart, answers, n = at.knobs.apart, at.knobs.answers, at.knobs.size
    pair = _normal_pair(at)
    exact = normal_variation(pair, answers=answers)
    worst = [number(float(le_cam(1 - value, distance=apart)[0])) for value in (bound.printed, bound.certified, exact)]
    return f"""
- Two tables of $n = {n}$ numbers, one of which differs by $\\rho = {apart:g} = 2\\delta$. The numbers are normal with
  variance 1, and their mean has the prior $N(0, 1)$. One sample from either posterior has $\\mathrm{{KL}} =
  \\rho^2/2(n + 1) = {number(float(pair.kl[0]))}$ nats, $-\\ln \\mathrm{{BC}} = {number(float(pair.affinity[0]))}$.
- The overlap $\\|\\xi_1 \\wedge \\xi_2\\|$ is 1 minus the total variation distance. For the worse of
  the two tables, a guess has a mean absolute error of at least $\\delta$ times the overlap.
- **As stated**, for one answer: the distance ${bound.stated}$ and an error of at least ${worst[0]}$.
- **Proved**, for $k = {answers}$: $\\sqrt{{1 - \\mathrm{{BC}}^{{2k}}}} = {bound.proved}$ and an error of at least
  ${worst[1]}$. Exactly, $\\mathrm{{erf}}\\bigl(\\tfrac12 \\sqrt{{k \\, \\mathrm{{KL}}}}\\bigr)
  = {number(float(exact[0]))}$ and an error of at least ${worst[2]}$.
"""


EXHIBITS: dict[str, Exhibit] = {
    "ALT_THEOREM_3": Exhibit(
        THEOREM_3,
        _theorem_3_here,
        _theorem_3_text,
        (Axis.LOG_RATIO,),
        *ANSWERS_TEXT,
        also=("bounds.error",),
        says=BoundKind.ENOUGH,
        measure=exact_value("least that any attacker needs", _least_needed),
    ),
    "ALT_THEOREM_3_TAIL": Exhibit(
        THEOREM_3_TAIL,
        _theorem_3_tail_here,
        _theorem_3_tail_text,
        (Axis.APART,),
        *ANSWERS_TEXT,
        also=("bounds.error",),
        says=BoundKind.ENOUGH,
        measure=exact_value("exact number", _needed_exactly),
    ),
    "ALT_LEMMA_8": Exhibit(
        LEMMA_8,
        lambda subject, at: flat(lemma_8(_normal_pair(at), answers=at.knobs.answers)),
        _lemma_8_text,
        (Axis.APART, Axis.SIZE, Axis.ANSWERS),
        "a total variation distance of at most {}",
        "total variation distance of all answers together",
        defaults=(("answers", 1),),
        measure=exact_value(
            "exact distance", lambda subject, at: normal_variation(_normal_pair(at), answers=at.knobs.answers)
        ),
    ),
}
