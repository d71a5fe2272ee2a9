"""Neighbouring tables, and the privacy of tables that differ in several records: section 2 of [Dimitrakakis14]."""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.privacy import worst_chain
from dpbayes.base.references import Reference
from dpbayes.base.validation import InputError, finite_number
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

DEFINITION_1 = Claim(
    Reference("Dimitrakakis14", "Definition 1"),
    "Differential privacy for neighbouring tables",
    r"P(B \mid x) \le e^\epsilon P(B \mid y) + \delta",
    Verdict.HOLDS,
    "This is the usual definition, for tables of equal size that differ in one record.",
)


# Several records

REMARK_1 = Claim(
    Reference("Dimitrakakis14", "Remark 1"),
    "Definitions 1 and 2 are equivalent",
    r"P(B \mid x) \le e^{\epsilon \rho} P(B \mid y) + \delta \rho",
    Verdict.AMENDED,
    "The definitions are equivalent for delta = 0 and for epsilon = 0, as stated. Otherwise Definition 2 is stronger: "
    "for k records, delta grows by the factor (e^(k epsilon) - 1)/(e^epsilon - 1), not by k.",
)


def remark_1(epsilon: float, *, delta: float, records: ArrayLike) -> Bound:
    """Return the delta of tables that differ in k = `records` (...) records, at k epsilon. [Dimitrakakis14] Remark 1.

    Printed, by Definition 2, k delta; what (epsilon, delta)-privacy of one record gives is
    delta (e^(k epsilon) - 1)/(e^epsilon - 1), at most 1. They agree for epsilon = 0 and for delta = 0.
    """
    k = np.asarray(records, dtype=np.float64)
    e, d = finite_number("epsilon", epsilon, low=0.0, high=700.0), finite_number("delta", delta, low=0.0, high=1.0)
    if not np.all(k >= 1):
        raise InputError("The tables must differ in at least one record.")
    with np.errstate(over="ignore"):
        factor = np.expm1(k * e) / np.expm1(e) if e else k
    return Bound(
        REMARK_1,
        np.minimum(k * d, 1.0),
        np.minimum(factor * d, 1.0) if d else np.zeros(k.shape),
        "probability",
        assumptions=(Assumption("epsilon or delta is 0", e == 0 or d == 0),),
    )


def _remark_1_here(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Dimitrakakis14] Remark 1, for k records."""
    return remark_1(at.epsilon[0], delta=at.knobs.delta, records=[at.knobs.changed])


def counterexample_definition_2(epsilon: float = 0.5, *, delta: float = 0.1) -> Counterexample:
    """Return three laws of one set B, neighbours private by Definition 1, the ends not by Definition 2.

    P_0(B) = 0, P_1(B) = delta, P_2(B) = e^epsilon delta + delta. [Dimitrakakis14] Remark 1,
    [Dimitrakakis14] Definition 1.
    """
    bound = remark_1(epsilon, delta=delta, records=2)
    return Counterexample.of(
        bound,
        f"P(B) = 0, {delta:g} and {delta * (1 + math.exp(epsilon)):.4g} on a chain of tables, epsilon = {epsilon:g}",
        truth=delta * (1 + math.exp(epsilon)),
    )


def remark_1_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Dimitrakakis14] Remark 1."""
    k, d = at.knobs.changed, number(at.knobs.delta)
    e, together = number(at.epsilon[0]), number(k * at.epsilon[0])
    return f"""
- The mechanism is $(\\epsilon, \\delta)$-private for neighbours, with $\\epsilon = {e}$ and $\\delta = {d}$. The
  tables here differ in $k = {k}$ records, so $k\\epsilon = {together}$ nats.
- **As stated**, by Definition 2: $k \\delta = {k} \\cdot {d}$, at most 1: ${bound.stated}$.
- **Proved**: $\\delta\\,\\frac{{e^{{k\\epsilon}} - 1}}{{e^\\epsilon - 1}}$, at most 1: ${bound.proved}$.
- **Exactly**, for the worst chain of $k + 1$ tables: an event impossible under the first has probability $p_k$ under
  the last, $p_0 = 0$, $p_{{j+1}} = \\min\\{{e^\\epsilon p_j + \\delta,\\; 1 - e^{{-\\epsilon}}(1 - \\delta -
  p_j)\\}}$.
"""


EXHIBITS: dict[str, Exhibit] = {
    "ALT_REMARK_1": Exhibit(
        REMARK_1,
        _remark_1_here,
        remark_1_text,
        (Axis.CHANGED, Axis.DELTA),
        "a delta of at most {}",
        "delta of tables that differ in k records",
        also=("epsilon",),
        says=BoundKind.CHANCE,
        measure=exact_value(
            "exact delta",
            lambda subject, at: worst_chain(at.epsilon[0], delta=at.knobs.delta, records=at.knobs.changed),
        ),
        limit=_remark_1_here,
    )
}
