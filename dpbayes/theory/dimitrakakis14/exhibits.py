"""The theorems of [Dimitrakakis14] on the Bounds page.

Theorems 1(ii), 2(ii) and 3 are shown for pairs of tables that are known exactly: exponential records under Exp(1), of
which one moves from 0 to rho, so that c = 1; and one throw of a coin whose log-odds are trimmed to +-L rho.
"""

from dataclasses import replace

import numpy as np

from dpbayes.base.privacy import worst_chain
from dpbayes.posteriors.smoothness import exponential_concentration
from dpbayes.theory.claims.claim import Assumption, Bound
from dpbayes.theory.claims.exhibit import Exhibit, Says
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.truth import Measured, exactly
from dpbayes.theory.dimitrakakis14 import answers as games
from dpbayes.theory.dimitrakakis14 import formulas, robustness
from dpbayes.theory.dimitrakakis14.game import BetaPair, GammaPair, needed_answers_bracket

RARE = 1e-30
"""The prior mass of a parameter that loses all of 2 L rho, to the last digit, for any L rho up to 20."""

C = exponential_concentration(1.0)
SUPPOSED = Assumption("Assumption 1 (supposed here): the log-likelihood moves by Lρ at most", holds=True)
EXPONENTIAL = Assumption("Assumption 2: exponential records under Exp(1) have c = 1", holds=True)
TRIMMED = Assumption("Assumption 1: the coin’s log-odds are between −Lρ and Lρ", holds=True)


# Several records


def remark_1(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Remark 1, for k records."""
    return robustness.remark_1(at.epsilon[0], delta=at.knobs.delta, records=[at.knobs.changed])


def worst_of_k(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact delta of the worst chain of tables."""
    exact = worst_chain(at.epsilon[0], delta=at.knobs.delta, records=at.knobs.changed)
    return exactly(np.array([exact]), printed=bound.printed, name="exact delta")


# Posteriors


def theorem_1_i(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 1(i)."""
    return _given(robustness.theorem_1_i(at.knobs.log_ratio), SUPPOSED)


def largest_divergence(subject: Subject, at: At, bound: Bound) -> Measured:
    """The certified divergence is attained."""
    return exactly(bound.certified, printed=bound.printed, name="largest divergence")


def _exponential_pair(at: At) -> GammaPair:
    return GammaPair(np.array([at.knobs.size + 1.0]), np.ones(1), at.knobs.apart)


def theorem_1_ii(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 1(ii), for exponential records."""
    bound = robustness.theorem_1_ii(_exponential_pair(at), concentration=C, distance=at.knobs.apart)
    return _given(bound, EXPONENTIAL)


def divergence(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact KL divergence of the exponential pair."""
    return exactly(_exponential_pair(at).kl, printed=bound.printed, name="exact divergence")


def theorem_2_i(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 2(i)."""
    return _given(robustness.theorem_2_i(at.knobs.log_ratio), SUPPOSED)


def rare_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the loss at a parameter that is very rare."""
    exact = np.atleast_1d(robustness.loss_of_rare_parameter(RARE, log_ratio=at.knobs.log_ratio))
    return exactly(exact, printed=bound.printed, name="loss at a rare parameter")


def theorem_2_ii(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 2(ii), for exponential records."""
    bound = robustness.theorem_2_ii(_exponential_pair(at), concentration=C, distance=at.knobs.apart)
    return _given(bound, EXPONENTIAL)


def variation(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact total variation distance of the exponential pair."""
    exact = np.array([_variation(at.knobs.size, at.knobs.apart)])
    return exactly(exact, printed=bound.printed, name="exact distance")


def _variation(records: int, apart: float) -> float:
    return robustness.counterexample_theorem_2_ii(records, apart=apart).truth


# Answers


def theorem_3(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 3 (4.3), for a trimmed coin, in whole answers."""
    bound = games.theorem_3(_coin_pair(at), log_ratio=at.knobs.log_ratio, error=at.knobs.error)
    return _whole(_given(bound, TRIMMED))


def needed_at_least(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find how many answers any adversary needs, from below."""
    found = games.needed_at_least(_coin_pair(at), log_ratio=at.knobs.log_ratio, error=at.knobs.error)
    return exactly(np.maximum(np.ceil(found), 1.0), printed=bound.printed, name="least that any adversary needs")


def _coin_pair(at: At) -> BetaPair:
    return BetaPair(np.array([2.0]), np.ones(1), 1, at.knobs.log_ratio)


def theorem_3_tail(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Theorem 3 (4.4), for one exponential record, in whole answers."""
    apart, error = at.knobs.apart, at.knobs.error
    bound = games.theorem_3_tail(_record_pair(at), concentration=C, distance=apart, error=error)
    return _whole(_given(bound, EXPONENTIAL))


def needed_exactly(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the answers after which the likelier of the two tables is right often enough.

    All that N draws from Gamma(2, .) tell is their sum's, which is Gamma(2 N, .): as one draw of 2 N - 1 records.
    """
    low, high = (int(max(np.ceil(end[0]), 1)) for end in needed_answers_bracket(_record_pair(at), error=at.knobs.error))
    while low < high:
        middle = (low + high) // 2
        is_enough = (1 - _variation(2 * middle - 1, at.knobs.apart)) / 2 <= at.knobs.error
        low, high = (low, middle) if is_enough else (middle + 1, high)
    return exactly(np.array([float(low)]), printed=bound.printed, name="exact number")


def _record_pair(at: At) -> GammaPair:
    return GammaPair(np.array([2.0]), np.ones(1), at.knobs.apart)


def algorithm_1(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Algorithm 1."""
    return _given(games.algorithm_1(at.knobs.log_ratio, answers=at.knobs.answers), SUPPOSED)


def repeated_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the loss when every answer falls on a parameter that is very rare."""
    exact = at.knobs.answers * np.atleast_1d(robustness.loss_of_rare_parameter(RARE, log_ratio=at.knobs.log_ratio))
    return exactly(exact, printed=bound.printed, name="largest loss")


def _given(bound: Bound, assumption: Assumption) -> Bound:
    """Return a bound with arrays of one, and with what holds by the choice of the pair among its assumptions."""
    printed, certified = np.atleast_1d(bound.printed), np.atleast_1d(bound.certified)
    return replace(bound, printed=printed, certified=certified, assumptions=(assumption, *bound.assumptions))


def _whole(bound: Bound) -> Bound:
    """Return numbers of answers rounded up: there is no part of an answer."""
    return replace(bound, printed=np.ceil(bound.printed), certified=np.maximum(np.ceil(bound.certified), 1.0))


KL_TEXT = ("allows a KL divergence of {} nats", "KL(posterior of x || posterior of y), nats")
LOSS_TEXT = ("promises a privacy loss of {} nats", "privacy loss, nats")
ANSWERS_TEXT = ("puts the number of answers that suffice at {}", "answers that suffice to tell the tables apart")

EXHIBITS: dict[str, Exhibit] = {
    "ALT_REMARK_1": Exhibit(
        "ALT-14 Remark 1: tables several records apart",
        robustness.REMARK_1,
        Says.CHANCE,
        remark_1,
        worst_of_k,
        formulas.remark_1,
        (Axis.CHANGED, Axis.DELTA),
        "a delta of {}",
        "delta of tables that differ in k records",
        ("epsilon", "bounds.delta", "bounds.changed"),
        (robustness.counterexample_definition_2,),
        limit=remark_1,
        gives=("epsilon",),
    ),
    "ALT_THEOREM_1_I": Exhibit(
        "ALT-14 Theorem 1(i): KL of two posteriors",
        robustness.THEOREM_1_I,
        Says.CERTAIN,
        theorem_1_i,
        largest_divergence,
        formulas.theorem_1_i,
        (Axis.LOG_RATIO,),
        *KL_TEXT,
        ("bounds.log_ratio",),
    ),
    "ALT_THEOREM_1_II": Exhibit(
        "ALT-14 Theorem 1(ii): KL under a concentrated prior",
        robustness.THEOREM_1_II,
        Says.CERTAIN,
        theorem_1_ii,
        divergence,
        formulas.theorem_1_ii,
        (Axis.APART, Axis.SIZE),
        *KL_TEXT,
        ("bounds.apart", "bounds.size"),
        (
            robustness.counterexample_theorem_1_ii,
            robustness.counterexample_theorem_1_ii_normal,
            robustness.counterexample_theorem_1_ii_binomial,
        ),
    ),
    "ALT_THEOREM_2_I": Exhibit(
        "ALT-14 Theorem 2(i): privacy of a draw",
        robustness.THEOREM_2_I,
        Says.CERTAIN,
        theorem_2_i,
        rare_loss,
        formulas.theorem_2_i,
        (Axis.LOG_RATIO,),
        *LOSS_TEXT,
        ("bounds.log_ratio",),
    ),
    "ALT_THEOREM_2_II": Exhibit(
        "ALT-14 Theorem 2(ii): a draw under a concentrated prior",
        robustness.THEOREM_2_II,
        Says.CERTAIN,
        theorem_2_ii,
        variation,
        formulas.theorem_2_ii,
        (Axis.APART, Axis.SIZE),
        "allows a total variation distance of {}",
        "total variation distance of the posteriors",
        ("bounds.apart", "bounds.size"),
        (robustness.counterexample_theorem_2_ii,),
    ),
    "ALT_THEOREM_3": Exhibit(
        "ALT-14 Theorem 3 (4.3): answers an adversary needs",
        games.THEOREM_3,
        Says.ENOUGH,
        theorem_3,
        needed_at_least,
        formulas.theorem_3,
        (Axis.LOG_RATIO,),
        *ANSWERS_TEXT,
        ("bounds.log_ratio", "bounds.error"),
        (games.counterexample_theorem_3, games.counterexample_theorem_3_equal),
    ),
    "ALT_THEOREM_3_TAIL": Exhibit(
        "ALT-14 Theorem 3 (4.4): answers under a concentrated prior",
        games.THEOREM_3_TAIL,
        Says.ENOUGH,
        theorem_3_tail,
        needed_exactly,
        formulas.theorem_3_tail,
        (Axis.APART,),
        *ANSWERS_TEXT,
        ("bounds.apart", "bounds.error"),
        (games.counterexample_theorem_3_tail,),
    ),
    "ALT_ALGORITHM_1": Exhibit(
        "ALT-14 Algorithm 1: privacy of several answers",
        games.ALGORITHM_1,
        Says.CERTAIN,
        algorithm_1,
        repeated_loss,
        formulas.algorithm_1,
        (Axis.ANSWERS, Axis.LOG_RATIO),
        *LOSS_TEXT,
        ("bounds.answers", "bounds.log_ratio"),
    ),
}
"""What the page knows of the theorems of [Dimitrakakis14]."""
