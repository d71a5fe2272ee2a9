"""The error of an estimate of the table after some answers: Lemma 8 of [Dimitrakakis14], by Le Cam's method."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, flat, number
from dpbayes.theory.claims.exhibit import Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14.game import NormalPair, Pair, checked_counts, normal_variation

LEMMA_8 = Claim(
    Reference("Dimitrakakis14", "Lemma 8"),
    "How well the table can be guessed (Le Cam)",
    r"\sup_x E[\rho(\psi, x)] \ge \delta \sup \|\xi_1 \wedge \xi_2\|, \quad \rho(S_1, S_2) \ge 2\delta",
    Verdict.HOLDS,
    "The lemma covers one sample. For N samples, the overlap of the product distributions must be used.",
)


def lemma_8(pair: NormalPair, *, answers: ArrayLike) -> Bound:
    """Return the total variation distance for k = `answers` (...) samples. [Dimitrakakis14] Lemma 8.

    Printed is the exact distance after one answer, the only case of the lemma's overlap. Certified is
    sqrt(1 - BC^(2k)), which is 1 minus `overlap_at_least`. `le_cam` converts both into the error of an estimate.
    """
    k = checked_counts(answers)
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
    shared = np.asarray(overlap, dtype=np.float64)
    if not (np.all(shared >= 0) and np.all(shared <= 1)):
        raise InputError("The overlap of two distributions lies between 0 and 1.")
    return finite_number("The distance", distance, low=0.0, high=1e300) / 2 * shared


def overlap_at_least(pair: Pair, *, answers: ArrayLike) -> FloatArray:
    """Return 1 - sqrt(1 - BC^(2N)) <= 1 - TV for N = `answers` (...) samples. [Dimitrakakis14] Lemma 8."""
    shared = np.exp(-2 * checked_counts(answers) * pair.affinity)
    return shared / (1 + np.sqrt(1 - shared))


def _normal_pair(at: EvaluationPoint) -> NormalPair:
    """Return two posteriors of a normal's mean under N(0, 1), variance 1, that are one record apart."""
    return NormalPair(np.zeros(1), np.array([1.0 + at.knobs.size]), at.knobs.apart)


def lemma_8_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 8."""
    apart, answers, n = at.knobs.apart, at.knobs.answers, at.knobs.size
    pair = _normal_pair(at)
    exact = normal_variation(pair, answers=answers)
    worst = [number(float(le_cam(1 - value, distance=apart)[0])) for value in (bound.printed, bound.certified, exact)]
    return f"""
- Two tables of $n = {n}$ numbers, one of which differs by $\\rho = {apart:g} = 2\\delta$. The numbers are normal with
  variance 1, and their mean has the prior $N(0, 1)$. One sample from either posterior has $\\mathrm{{KL}} =
  \\rho^2/2(n + 1) = {number(float(pair.kl[0]))}$ nats, $-\\ln \\mathrm{{BC}} = {number(float(pair.affinity[0]))}$.
- The overlap $\\|\\xi_1 \\wedge \\xi_2\\|$ is 1 minus the total variation distance. For the worse of
  the two tables, a guess has a mean error of at least $\\delta$ times the overlap.
- **As stated**, for one answer: the distance ${bound.stated}$ and an error of at least ${worst[0]}$.
- **Proved**, for $k = {answers}$: $\\sqrt{{1 - \\mathrm{{BC}}^{{2k}}}} = {bound.proved}$ and an error of at least
  ${worst[1]}$. Exactly, $\\mathrm{{erf}}\\bigl(\\tfrac12 \\sqrt{{k \\, \\mathrm{{KL}}}}\\bigr)
  = {number(float(exact[0]))}$ and an error of at least ${worst[2]}$.
"""


EXHIBITS: dict[str, Exhibit] = {
    "ALT_LEMMA_8": Exhibit(
        LEMMA_8,
        lambda subject, at: flat(lemma_8(_normal_pair(at), answers=at.knobs.answers)),
        lemma_8_text,
        (Axis.ANSWERS, Axis.APART, Axis.SIZE),
        "a total variation distance of at most {}",
        "total variation distance of all answers together",
        measure=exact_value(
            "exact distance", lambda subject, at: normal_variation(_normal_pair(at), answers=at.knobs.answers)
        ),
    )
}
