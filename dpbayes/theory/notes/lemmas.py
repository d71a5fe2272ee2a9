"""The lemmas of [Notes] on smooth sensitivity, sliding and dilation, and the comparison with Laplace noise."""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.hellinger import Die, all_distances, distances, log_pmf, smooth_sensitivities, smoothing_rate
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.notes.sensitivities import (
    DIE,
    die_description,
    die_of,
    evaluate_over_epsilons,
    small_die,
)

MOST_EXPONENT = 700.0
"""The largest logarithm of a ratio of weights in double precision."""


# Sliding

SLIDING = Claim(
    Reference("Notes", "Lemma 2.1"),
    "A shift of the score changes weights little (sliding)",
    r"\Pr[u = s] \le e^{\epsilon/2} \Pr[u = s + \Delta] + \delta/2",
    Verdict.FALSE,
    "With finitely many candidates, there may be no candidate with the shifted score. The lemma holds for the "
    "unnormalised weights of one table.",
)


def sliding(epsilon: float, *, shift: ArrayLike) -> Bound:
    """Return the ratio of weights of a score and a score shifted by `shift` (...) S(x). [Notes] Lemma 2.1.

    Printed is e^(epsilon/2) for |shift| <= 1. Certified is exp(epsilon |shift|/2), for the weights of one table before
    normalisation. For probabilities of scores, the claim fails.
    """
    moved = np.asarray(shift, dtype=np.float64)
    return Bound(
        SLIDING,
        np.full(moved.shape, math.exp(epsilon / 2)),
        np.exp(epsilon * np.abs(moved) / 2),
        "ratio of weights",
        assumptions=(Assumption("The shift is at most S(x)", bool(np.all(np.abs(moved) <= 1))),),
    )


def _sliding_here(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Notes] Lemma 2.1, for the weights of one table. Errors: InputError if their ratio is too large."""
    shift = at.knobs.shift
    if max(at.epsilon) * max(shift, 1.0) / 2 > MOST_EXPONENT:
        raise InputError("The ratio of the weights is too large to compute. Choose a smaller epsilon.")
    return evaluate_over_epsilons(at, lambda epsilon: sliding(epsilon, shift=np.array([shift])))


def counterexample_lemma_2_1(epsilon: float = 1.0, *, delta: float = 1e-5) -> Counterexample:
    """Return a score's probability where the shifted score has none: one throw of a coin. [Notes] Lemma 2.1."""
    return _no_such_score(SLIDING, "the shifted score", epsilon, delta)


def _sliding_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    epsilon, shift = at.epsilon[0], at.knobs.shift
    return f"""
- **As stated**: $e^{{\\epsilon/2}} = e^{{{epsilon:g}/2}} = {bound.stated}$, for shifts of up to $S(x)$.
- **Proved**: $e^{{\\epsilon s/2}} = e^{{{epsilon:g} \\cdot {shift:g}/2}} = {bound.proved}$ for a shift of
  $s\\,S(x)$. This is the exact ratio.
- Both statements are about the unnormalised weights of a single table. The statement is false for probabilities,
  because there may be no candidate with the shifted score.
"""


# Dilation

DILATION = Claim(
    Reference("Notes", "Lemma 2.2"),
    "A scaling of the score changes weights little (dilation)",
    r"\Pr[u = z] \le e^{\epsilon/2} \Pr[u = e^\lambda z] + \delta/2",
    Verdict.FALSE,
    "There may be no candidate with the dilated score, and the lemma confuses the good event with its complement. The "
    "weights satisfy the lemma outside an event of probability |R| exp(-ε / (2 (e^λ - 1))).",
)


def dilation(die: Die, *, epsilon: float, rate: ArrayLike) -> Bound:
    """Return the probability of a score below -S(x)/(e^lambda - 1), for lambda = `rate` > 0 (...). [Notes] Lemma 2.2.

    Outside of this event, the weight of a score is at most e^(epsilon/2) times that of e^lambda times the score.
    Printed is (n + 1) exp(-epsilon/(2 (e^lambda - 1))); certified has |R| in place of n + 1. Both are at most 1.
    """
    levels = np.asarray(rate, dtype=np.float64)
    log_tail = -epsilon / (2 * np.expm1(levels))
    return Bound(
        DILATION,
        np.minimum((die.n + 1) * np.exp(log_tail), 1.0),
        np.minimum(np.exp(math.log(die.size) + log_tail), 1.0),
        "probability",
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
    )


def _dilation_here(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Notes] Lemma 2.2, its exceptional event. Errors: InputError for more than MOST_LAWS candidates."""
    die = small_die(subject, at)
    return evaluate_over_epsilons(at, lambda epsilon: dilation(die, epsilon=epsilon, rate=np.array([at.knobs.rate])))


def _too_low(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Compute the largest probability of the event over all tables, with the sensitivity smoothed at this rate."""
    die, rate = small_die(subject, at), at.knobs.rate
    distance, smooth = all_distances(die), smooth_sensitivities(die, beta=rate)
    low = distance > smooth[:, None] / math.expm1(rate)

    def worst(epsilon: float) -> float:
        law: FloatArray = np.exp(log_pmf(distance, epsilon=epsilon, sensitivity=smooth))
        return float((law * low).sum(axis=1).max())

    return np.array([worst(epsilon) for epsilon in at.epsilon])


def counterexample_lemma_2_2(epsilon: float = 1.0, *, delta: float = 1e-5) -> Counterexample:
    """Return a score's probability where the dilated score has none: one throw of a coin. [Notes] Lemma 2.2."""
    return _no_such_score(DILATION, "the dilated score", epsilon, delta)


def _dilation_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    die, epsilon, rate = die_of(subject, at), at.epsilon[0], at.knobs.rate
    tail = f"e^{{-{epsilon:g}/{number(2 * math.expm1(rate))}}}"
    return f"""
- {die_description(die)}. A score below $-S(x)/(e^\\lambda - 1)$ is too low: the weight of $e^\\lambda$ times this score
  may be smaller by a factor of more than $e^{{\\epsilon/2}}$.
- **As stated**: $(n+1)\\,e^{{-\\epsilon/(2(e^\\lambda - 1))}} = {number(die.n + 1)} \\cdot {tail} = {bound.stated}$,
  at most 1.
- **Proved**: the same with $|R| = {number(die.size)}$ candidates for $n + 1$: ${bound.proved}$.
- **Exactly**: the largest probability of such scores over all tables is shown. $S$ is smoothed with $\\beta =
  \\lambda$, because the lemma is for $\\lambda$ up to $\\beta$.
"""


def _no_such_score(claim: Claim, other: str, epsilon: float, delta: float) -> Counterexample:
    die = Die((1.0, 1.0), 1)
    beta = smoothing_rate(die, epsilon=epsilon, delta=delta)
    scores = -distances(die, counts=[1, 0])
    law = np.exp(log_pmf(-scores, epsilon=epsilon, sensitivity=float(smooth_sensitivities(die, beta=beta)[1])))
    worse = int(np.argmin(scores))
    sought = scores[worse] * (0.5 if claim is SLIDING else math.exp(beta / 2))
    reached = float(law[np.isclose(scores, sought, rtol=1e-9, atol=0)].sum())
    return Counterexample(
        claim,
        f"One throw of a coin, epsilon = {epsilon:g}, delta = {numeral(delta)}: the score {scores[worse]:.4f}; "
        f"no candidate has {other}",
        truth=float(law[worse]),
        printed=math.exp(epsilon / 2) * reached + delta / 2,
        certified=1.0,
        unit="probability",
    )


# The baseline

BASELINE = Claim(
    Reference("Notes", "Section 3.2"),
    "Smooth sensitivity has a smaller error than Laplace noise",
    r"",
    Verdict.UNCLEAR,
    "The Notes do not state the noise, ε and δ. In the comparisons of this program, noise on the counts "
    "had a similar or smaller error at nearly all settings.",
)


EXHIBITS: dict[str, Exhibit] = {
    "NOTES_LEMMA_2_1": Exhibit(
        SLIDING,
        _sliding_here,
        _sliding_text,
        (Axis.SHIFT,),
        "that weights of one table differ by at most a factor of {}",
        "ratio of the weights of two scores",
        also=("bounds.epsilon",),
        measure=certified_as_exact("exact ratio of weights"),
    ),
    "NOTES_LEMMA_2_2": Exhibit(
        DILATION,
        _dilation_here,
        _dilation_text,
        (Axis.RATE, Axis.PRIOR),
        "a score too low to be dilated in at most {} of releases",
        "probability of a score too low to be dilated",
        also=("bounds.epsilon", *DIE),
        says=BoundKind.CHANCE,
        measure=exact_value("exact probability", _too_low),
        limit=small_die,
    ),
}
