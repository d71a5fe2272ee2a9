"""Neighbouring tables, and the distance between their posteriors: section 2 and Theorem 1 of [Dimitrakakis14].

`log_ratio` is L rho, the largest change of ln p between the tables under Assumption 1. `pair` has two posteriors one
record apart, with D = KL(x || y) and J = D(x || y) + D(y || x).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.posteriors.divergence import bregman_loggamma
from dpbayes.posteriors.smoothness import (
    beta_concentration,
    exponential_concentration,
    kl_bound_sharp,
    normal_concentration,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14.game import (
    EXPONENTIAL,
    KAPPA,
    SUPPOSED,
    C,
    GammaPair,
    Pair,
    exponential_pair,
    given,
    pair_text,
    printed_divergence,
    symmetric_kl_bound,
)

DEFINITION_1 = Claim(
    Reference("Dimitrakakis14", "Definition 1"),
    "Differential privacy for neighbouring tables",
    r"P(B \mid x) \le e^\epsilon P(B \mid y) + \delta",
    Verdict.DEFINITION,
    "This is the usual definition, for tables of equal size that differ in one record.",
)


# Several records

REMARK_1 = Claim(
    Reference("Dimitrakakis14", "Remark 1"),
    "Privacy for one record is privacy for several",
    r"P(B \mid x) \le e^{\epsilon \rho} P(B \mid y) + \delta \rho",
    Verdict.AMENDED,
    "The definitions are equivalent for δ = 0 and for ε = 0, as stated. Otherwise Definition 2 is stronger: "
    "for k records, δ grows by the factor (exp(k ε) - 1)/(exp(ε) - 1), not by k.",
)


def remark_1(epsilon: float, *, delta: float, records: ArrayLike) -> Bound:
    """Return the delta of tables that differ in k = `records` (...) records, at k epsilon. [Dimitrakakis14] Remark 1.

    Printed, by Definition 2, k delta; what (epsilon, delta)-privacy of one record gives is
    delta (e^(k epsilon) - 1)/(e^epsilon - 1), at most 1. They agree for epsilon = 0 and for delta = 0.
    """
    k, e, d = np.asarray(records, dtype=np.float64), epsilon, delta
    with np.errstate(over="ignore"):
        factor = np.expm1(k * e) / np.expm1(e) if e else k
    return Bound(
        REMARK_1,
        np.minimum(k * d, 1.0),
        np.minimum(factor * d, 1.0) if d else np.zeros(k.shape),
        "probability",
        assumptions=(Assumption("ε or δ is 0", e == 0 or d == 0),),
    )


def worst_chain(epsilon: float, *, delta: float, records: int) -> float:
    """Return the delta at k epsilon of tables k = `records` apart, at worst.

    Largest probability of an event that is impossible k tables before: neighbours p, q allow q <= e^epsilon p + delta
    and 1 - p <= e^epsilon (1 - q) + delta, and such a chain is private. [Dimitrakakis14] Remark 1.
    """
    ratio, chance = math.exp(epsilon), 0.0
    for _ in range(records):
        chance = min(ratio * chance + delta, 1 - max(1 - delta - chance, 0.0) / ratio)
    return chance


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


def _remark_1_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
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


NATS = "nats of KL divergence"
KL_TEXT = ("a KL divergence of at most {} nats", "KL divergence of the two posteriors, nats")


# Under Assumption 1

THEOREM_1_I = Claim(
    Reference("Dimitrakakis14", "Theorem 1(i)"),
    "Similar tables have similar posteriors (Assumption 1)",
    r"D(\xi(\cdot \mid x) \| \xi(\cdot \mid y)) \le 2 L \rho(x, y)",
    Verdict.LOOSE,
    "The largest divergence for a log ratio of range 2 L ρ is known. For small L ρ the divergence is about (L ρ)²/2.",
)


def theorem_1_i(log_ratio: ArrayLike) -> Bound:
    """Return the KL divergence between posteriors, from L rho = `log_ratio` (...). [Dimitrakakis14] Theorem 1(i).

    Printed is 2 L rho; certified is the largest possible divergence, about (L rho)^2/2 (`kl_bound_sharp`).
    """
    moved = np.asarray(log_ratio, dtype=np.float64)
    return Bound(THEOREM_1_I, 2 * moved, kl_bound_sharp(2 * moved), NATS)


def _theorem_1_i_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    moved = at.knobs.log_ratio
    ratio = number(2 * moved / math.expm1(2 * moved))
    return f"""
- **As stated**: $2 L \\rho = 2 \\cdot {number(moved)} = {bound.stated}$ nats.
- **Proved**, with $\\eta = 2 L \\rho$ and $r = \\eta/(e^\\eta - 1) = {ratio}$: $r - 1 - \\ln r = {bound.proved}$ nats.
  Two parameters with suitable prior masses attain the bound. It is about $(L\\rho)^2/2 = {number(moved**2 / 2)}$ if
  $L\\rho$ is small.
"""


# Under Assumption 2

THEOREM_1_II = Claim(
    Reference("Dimitrakakis14", "Theorem 1(ii)"),
    "Similar tables have similar posteriors (Assumption 2)",
    r"D(\xi(\cdot \mid x) \| \xi(\cdot \mid y)) \le \tfrac{\kappa}{c} \rho(x, y)",
    Verdict.FALSE,
    "The proof weights the parameters with a Lipschitz constant above L by the prior instead of the posterior. With "
    "the posterior means of this constant, ρ (E[l | x] + E[l | y]) bounds even the sum of both divergences.",
)


def theorem_1_ii(pair: Pair, *, concentration: float, distance: float) -> Bound:
    """Return the KL divergence between two posteriors (...) under Assumption 2. [Dimitrakakis14] Theorem 1(ii).

    Printed kappa rho/c; certified rho (E_x l + E_y l), which bounds even the sum J. It depends on the data.
    """
    certified = symmetric_kl_bound(pair)
    printed = np.full(np.shape(certified), printed_divergence(concentration, distance))
    return Bound(THEOREM_1_II, printed, certified, NATS)


def theorem_1_ii_by_likelihood(
    concentration: float, *, distance: float, log_c_x: ArrayLike, log_c_y: ArrayLike
) -> Bound:
    """Return the same from ln C = ln of the largest over the marginal likelihood of x and of y (...).

    Printed is kappa rho/c; certified is rho (2 + ln C_x + ln C_y)/c. The posterior mass of the parameters without L is
    at most min(1, C e^(-c L)), hence E l <= (1 + ln C)/c. Assumption 2 must hold for all L >= 0.
    [Dimitrakakis14] Theorem 1(ii).
    """
    logs = np.asarray(log_c_x, dtype=np.float64) + np.asarray(log_c_y, dtype=np.float64)
    printed = np.full(logs.shape, printed_divergence(concentration, distance))
    return Bound(THEOREM_1_II, printed, distance * (2 + logs) / concentration, NATS)


def counterexample_theorem_1_ii(n: int = 5, *, apart: float = 100.0) -> Counterexample:
    """Refute kappa rho/c by exponential records under theta ~ Exp(1): one of n moves from 0 to `apart`, all others 0.

    [Dimitrakakis14] Theorem 1(ii); Assumption 2 holds exactly, with c = 1 and rho = |x - y|.
    """
    pair = GammaPair(np.asarray(n + 1), np.asarray(1.0), apart)
    bound = theorem_1_ii(pair, concentration=exponential_concentration(1.0), distance=apart)
    setting = f"{n} exponential records under Exp(1), one moved from 0 to {apart:g}, the others 0"
    return _kl_counterexample(setting, float(pair.kl), bound)


def counterexample_theorem_1_ii_normal(n: int = 20, *, apart: float = 100.0) -> Counterexample:
    """Refute it by N(0, 1/tau) records, tau ~ Exp(1), c = 2, rho = |x^2 - y^2| + 2|x - y|; as above."""
    pair = GammaPair(np.asarray(1 + n / 2), np.asarray(1.0), apart**2 / 2)
    bound = theorem_1_ii(pair, concentration=normal_concentration(1.0), distance=apart**2 + 2 * abs(apart))
    setting = f"{n} normal records of mean 0, precision ~ Exp(1), one moved from 0 to {apart:g}, the others 0"
    return _kl_counterexample(setting, float(pair.kl), bound)


def counterexample_theorem_1_ii_binomial(n: int = 145, *, a: float = 10.0) -> Counterexample:
    """Refute it by n records all 0 against all 1 under Beta(a, a), with the best c. [Dimitrakakis14] Theorem 1(ii)."""
    # Equal normalisers: D = n (psi(a + n) - psi(a)) = d(a + n, a) + d(a, a + n), which is J/2 as well.
    divergence = float(bregman_loggamma(a + n, a) + bregman_loggamma(a, a + n))
    printed = float(printed_divergence(beta_concentration(a), n))
    log_c = float(-special.betaln(a + n, a) + special.betaln(a, a))
    bound = theorem_1_ii_by_likelihood(beta_concentration(a), distance=n, log_c_x=log_c, log_c_y=log_c)
    setting = f"{n} binary records under Beta({a:g}, {a:g}), all 0 against all 1"
    return Counterexample(THEOREM_1_II, setting, divergence, printed, float(bound.certified), NATS)


def _kl_counterexample(setting: str, divergence: float, bound: Bound) -> Counterexample:
    return Counterexample.of(bound, setting, truth=divergence)


def _theorem_1_ii_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    n, apart = at.knobs.size, at.knobs.apart
    exact = GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart).kl
    return f"""
- {pair_text(at)}.
- **As stated**: $\\kappa\\rho/c = {KAPPA:.4f} \\cdot {number(apart)} = {bound.stated}$ nats, which does not depend on
  $n$.
- **Proved**: $\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell) = {number(apart)} \\cdot {n + 1}\\,
  \\bigl(1 + \\tfrac1{{1 + \\rho}}\\bigr) = {bound.proved}$ nats, even for the sum of both divergences.
- **Exactly**: $(n + 1)(\\rho - \\ln(1 + \\rho)) = {number(float(exact))}$ nats.
"""


# The constant of the proof

KAPPA_CLAIM = Claim(
    Reference("Dimitrakakis14", "Appendix A, kappa"),
    "The constant κ of the proof is 4.91",
    r"\kappa = \min_\omega 2\omega / (1 - e^{-\omega})^2 \approx 4.91081",
    Verdict.LOOSE,
    "The minimum is computed correctly, at ω = 1.2564312. For the integral in the proof, the constant 2 suffices.",
)


EXHIBITS: dict[str, Exhibit] = {
    "ALT_REMARK_1": Exhibit(
        REMARK_1,
        _remark_1_here,
        _remark_1_text,
        (Axis.CHANGED, Axis.DELTA),
        "a delta of at most {}",
        "delta of tables that differ in k records",
        also=("bounds.epsilon",),
        says=BoundKind.CHANCE,
        measure=exact_value(
            "exact delta",
            lambda subject, at: worst_chain(at.epsilon[0], delta=at.knobs.delta, records=at.knobs.changed),
        ),
        limit=_remark_1_here,
    ),
    "ALT_THEOREM_1_I": Exhibit(
        THEOREM_1_I,
        lambda subject, at: given(theorem_1_i(at.knobs.log_ratio), SUPPOSED),
        _theorem_1_i_text,
        (Axis.LOG_RATIO,),
        *KL_TEXT,
        measure=certified_as_exact("largest divergence"),
    ),
    "ALT_THEOREM_1_II": Exhibit(
        THEOREM_1_II,
        lambda subject, at: given(
            theorem_1_ii(exponential_pair(at), concentration=C, distance=at.knobs.apart), EXPONENTIAL
        ),
        _theorem_1_ii_text,
        (Axis.APART, Axis.SIZE),
        *KL_TEXT,
        measure=exact_value("exact divergence", lambda subject, at: exponential_pair(at).kl),
    ),
}
