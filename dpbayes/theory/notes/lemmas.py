"""The lemmas of [Notes] behind smooth sensitivity, sliding and dilation, and the Laplace noise it is compared with."""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.hellinger import Die, distances, log_pmf, smooth_sensitivities, smoothing_rate
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.notes.mechanisms import checked_delta, checked_epsilon

# Sliding and dilation


def sliding(epsilon: float, *, shift: ArrayLike) -> Bound:
    """Return how much likelier a score is than one moved by `shift` (...), in units of S(x). [Notes] Lemma 2.1.

    Printed e^(epsilon/2) for |shift| <= 1; certified exp(epsilon |shift|/2), of the weights of one table before they
    are normalised. As probabilities of a score the claim fails.
    """
    e, moved = checked_epsilon(epsilon), np.asarray(shift, dtype=np.float64)
    return Bound(
        claim=SLIDING,
        printed=np.full(moved.shape, math.exp(e / 2)),
        certified=np.exp(e * np.abs(moved) / 2),
        unit="ratio of weights",
        confidence=1.0,
        assumptions=(Assumption("The shift is at most S(x)", bool(np.all(np.abs(moved) <= 1))),),
        is_private=True,
    )


def dilation(die: Die, *, epsilon: float, rate: ArrayLike) -> Bound:
    """Return the probability of a score below -S(x)/(e^lambda - 1), for lambda = `rate` > 0 (...). [Notes] Lemma 2.2.

    Off that event, a score's weight is at most e^(epsilon/2) times that of e^lambda times the score. Printed
    (n + 1) exp(-epsilon/(2 (e^lambda - 1))), certified with |R| for n + 1; at most 1.
    """
    e, levels = checked_epsilon(epsilon), np.asarray(rate, dtype=np.float64)
    if not np.all(levels > 0):
        raise InputError("The rate of a dilation must be positive.")
    log_tail = -e / (2 * np.expm1(levels))
    return Bound(
        claim=DILATION,
        printed=np.minimum((die.n + 1) * np.exp(log_tail), 1.0),
        certified=np.minimum(np.exp(math.log(die.size) + log_tail), 1.0),
        unit="probability",
        confidence=1.0,
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
        is_private=True,
    )


def counterexample_lemma_2_1(epsilon: float = 1.0, *, delta: float = 1e-5) -> Counterexample:
    """Return a score's probability where the shifted score has none: one throw of a coin. [Notes] Lemma 2.1."""
    return _no_such_score(SLIDING, "half its sensitivity more", epsilon, delta)


def counterexample_lemma_2_2(epsilon: float = 1.0, *, delta: float = 1e-5) -> Counterexample:
    """Return a score's probability where the dilated score has none: one throw of a coin. [Notes] Lemma 2.2."""
    return _no_such_score(DILATION, "e^(beta/2) times it", epsilon, delta)


def _no_such_score(claim: Claim, other: str, epsilon: float, delta: float) -> Counterexample:
    die = Die((1.0, 1.0), 1)
    e, d = checked_epsilon(epsilon), checked_delta(delta)
    beta = smoothing_rate(die, epsilon=e, delta=d)
    scores = -distances(die, counts=[1, 0])
    law = np.exp(log_pmf(-scores, epsilon=e, sensitivity=float(smooth_sensitivities(die, beta=beta)[1])))
    worse = int(np.argmin(scores))
    sought = scores[worse] * (0.5 if claim is SLIDING else math.exp(beta / 2))
    reached = float(law[np.isclose(scores, sought, rtol=1e-9, atol=0)].sum())
    return Counterexample(
        claim,
        f"One throw of a coin, epsilon = {e:g}, delta = {d:g}: the score {scores[worse]:.4f}, and {other}",
        truth=float(law[worse]),
        printed=math.exp(e / 2) * reached + d / 2,
        certified=1.0,
        unit="probability",
    )


# The baseline


def laplace_curve(epsilon: float, *, at: ArrayLike) -> FloatArray:
    """Return delta at every epsilon' = `at` (...) for Lap(2/epsilon) on all of m >= 2 counts. [Notes] Section 3.2.

    The Notes do not say which Laplace mechanism they compare with. 1 - e^-g (1 + g/2), g = (epsilon - epsilon')/2.
    """
    gap = _gap(epsilon, at)
    return -np.expm1(-gap) - np.exp(-gap) * gap / 2


def laplace_curve_of_one(epsilon: float, *, at: ArrayLike) -> FloatArray:
    """Return the same for a coin of which one count is released with Lap(1/epsilon): 1 - e^-g. [Notes] Section 3.2."""
    return -np.expm1(-_gap(epsilon, at))


def _gap(epsilon: float, at: ArrayLike) -> FloatArray:
    levels = np.asarray(at, dtype=np.float64)
    if not np.all(levels >= 0):
        raise InputError("epsilon must not be negative.")
    return np.maximum(checked_epsilon(epsilon) - levels, 0.0) / 2


SLIDING = Claim(
    Reference("Notes", "Lemma 2.1"),
    "Sliding",
    r"\Pr[u = s] \le e^{\epsilon/2} \Pr[u = s + \Delta] + \delta/2",
    Verdict.FALSE,
    "With finitely many candidates there is none at the moved score; it holds for the weights of one table.",
)
DILATION = Claim(
    Reference("Notes", "Lemma 2.2"),
    "Dilation",
    r"\Pr[u = z] \le e^{\epsilon/2} \Pr[u = e^\lambda z] + \delta/2",
    Verdict.FALSE,
    "No candidate has the dilated score, and the good event is printed as its complement; weights obey it off an event "
    "of probability |R| exp(-epsilon / (2 (e^lambda - 1))).",
)
BASELINE = Claim(
    Reference("Notes", "Section 3.2"),
    "Smooth sensitivity is more accurate than Laplace noise",
    r"",
    Verdict.UNCLEAR,
    "Neither the noise nor epsilon nor delta is stated; noise on the counts was as good or better nearly everywhere.",
)
CLAIMS: tuple[Claim, ...] = (SLIDING, DILATION, BASELINE)
