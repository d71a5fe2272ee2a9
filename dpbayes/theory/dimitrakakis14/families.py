"""How much prior mass is without constant L, by families of distributions: section 5 of [Dimitrakakis14].

A bound here is the prior mass without L, at most exp(-c L) under [Dimitrakakis14] Assumption 2; certified is that mass
itself, for the likelihood and the prior as they are printed. What another reading gives has a function of its own.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.smoothness import exponential_concentration, laplace_concentration, normal_concentration
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Fill, certified_as_exact
from dpbayes.theory.claims.setting import Axis, ClaimParameters, EvaluationPoint, Subject

MASS = "prior mass"


ASSUMPTION_2 = Claim(
    Reference("Dimitrakakis14", "Assumption 2"),
    "Large Lipschitz constants are rare under the prior",
    r"\xi(\Theta_L) \ge 1 - e^{-cL}, \quad L \ge 0",
    Verdict.AMENDED,
    "Requiring the condition for all L >= 0 excludes the paper's own binomial example. Requiring it for L >= L0 is "
    "enough.",
)


# Exponential records

LEMMA_3 = Claim(
    Reference("Dimitrakakis14", "Lemma 3"),
    "Exponential records satisfy Assumption 2",
    r"\theta \sim \mathrm{Exp}(\lambda): \; c = \lambda, \quad \rho = |x - y|",
    Verdict.HOLDS,
    "The bound holds with equality, with the same c for any number of records.",
)


def lemma_3(rate: float, *, at: ArrayLike) -> Bound:
    """Return the mass beyond L = `at` (...) for Exp(theta) records, theta ~ Exp(lambda). [Dimitrakakis14] Lemma 3.

    Printed exp(-lambda L), and with equality.
    """
    mass = np.exp(-exponential_concentration(rate) * np.asarray(at, dtype=np.float64))
    return _mass_bound(LEMMA_3, mass, mass)


def _lemma_3_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"""
- Records $\\mathrm{{Exp}}(\\theta)$ have the Lipschitz constant $\\theta$. This constant exceeds
  $L = {at.knobs.level:g}$ for $\\theta > L$; $\\lambda = {at.knobs.rate:g}$.
- **As stated**: at most ${_exponent(at)} = {bound.stated}$.
- **Proved**: ${bound.proved}$, with equality, and for any number of records.
"""


# Laplace records

LEMMA_4 = Claim(
    Reference("Dimitrakakis14", "Lemma 4"),
    "Laplace records satisfy Assumption 2",
    r"\Theta_L = \{s \ge L\}, \quad c = \lambda",
    Verdict.AMENDED,
    "The correct set is s >= 1/L. The prior is exponential in 1/s with any prior of mu; it is neither Laplace nor "
    "conjugate.",
)


def lemma_4(rate: float, *, at: ArrayLike) -> Bound:
    """Return the mass beyond L = `at` (...) for Laplace(mu, s) records, 1/s ~ Exp(lambda). [Dimitrakakis14] Lemma 4.

    exp(-lambda L), once the parameters with constant L are s >= 1/L, printed s >= L. Any prior of mu.
    """
    mass = np.exp(-laplace_concentration(rate) * np.asarray(at, dtype=np.float64))
    return _mass_bound(LEMMA_4, mass, mass)


def counterexample_lemma_4(level: float = 0.5) -> Counterexample:
    """Return the constant 1/s of a scale s = L that the printed set lets in, for L < 1. [Dimitrakakis14] Lemma 4."""
    return Counterexample(
        LEMMA_4,
        f"Laplace records with s = L = {level:g}, which is in the stated set s >= L",
        truth=1 / level,
        printed=level,
        certified=1 / level,
        unit="nats per unit of distance",
    )


def _lemma_4_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    level, literal = at.knobs.level, number(math.exp(-at.knobs.rate / at.knobs.level))
    return f"""
- Records of scale $s$ have the Lipschitz constant $1/s$. This constant exceeds $L = {level:g}$ for $s < 1/L$;
  $1/s \\sim \\mathrm{{Exp}}(\\lambda)$, $\\lambda = {at.knobs.rate:g}$.
- **As stated**: at most ${_exponent(at)} = {bound.stated}$, for the set $s \\ge L$. Parameters outside that set have
  mass $e^{{-\\lambda/L}} = {literal}$, and for $L < 1$ some parameters inside the set have a larger constant than $L$.
- **Proved**: ${bound.proved}$ for the set $s \\ge 1/L$, with equality, for any prior of $\\mu$.
"""


# Binomial records

LEMMA_5 = Claim(
    Reference("Dimitrakakis14", "Lemma 5"),
    "Binomial records satisfy Assumption 2",
    r"c = O(\alpha)",
    Verdict.FALSE,
    "With the binomial coefficient, every Lipschitz constant is at least ln n, so no c exists for n >= 2. Without the "
    "coefficient, the best c for all L grows like the square root of a.",
)


def lemma_5(a: float, *, at: ArrayLike, trials: int = 1) -> Bound:
    """Return the mass beyond L = `at` (...) for binomial records under Beta(a, a). [Dimitrakakis14] Lemma 5.

    Printed exp(-c L) with the appendix's c = ln(1/v) + a, v = 2 n^a / (a B(a, a)), n = `trials`. Certified for the
    likelihood as printed: its coefficient adds ln n to the constant of every parameter, so the mass is 1 up to
    L = ln n, and beyond it that `lemma_5_without_coefficient` at L - ln n.
    """
    levels = np.asarray(at, dtype=np.float64)
    with np.errstate(over="ignore"):  # then the printed number is infinite, and says nothing
        printed = np.exp(-printed_beta_concentration(a, trials=trials) * levels)
    return _mass_bound(
        LEMMA_5,
        printed,
        lemma_5_without_coefficient(a, at=np.maximum(levels - math.log(trials), 0.0)),
        Assumption("a is above 1", a > 1),
    )


def lemma_5_without_coefficient(a: float, *, at: ArrayLike) -> FloatArray:
    """Return P(|logit theta| > L) = 2 I_{1/(1 + e^L)}(a, a) (...), for every n. [Dimitrakakis14] Lemma 5, mended.

    The binomial coefficient has no parameter in it, cancels in the posterior, and may be left out.
    """
    return np.asarray(2 * special.betainc(a, a, special.expit(-np.asarray(at, dtype=np.float64))))


def printed_beta_concentration(a: float, *, trials: int = 1) -> float:
    """Return ln(1/v) + a, v = 2 n^a / (a B(a, a)), whose derivation lost a division by L. [Dimitrakakis14] Lemma 5."""
    return a - math.log(2 / a) + float(special.betaln(a, a)) - a * math.log(trials)


def counterexample_lemma_5(trials: int = 10, *, a: float = 2.0) -> Counterexample:
    """Show that no parameter has a constant below ln n, while Lemma 5 with c = a leaves out little. [Dimitrakakis14].

    With the coefficient kept, theta needs |ln(n)| + |logit theta| <= L: the first and last steps of ln C(n, k).
    """
    level = math.log(trials) / 2
    mass = float(lemma_5(a, at=level, trials=trials).certified)
    return Counterexample(
        LEMMA_5,
        f"Binomial records of n = {trials} trials under Beta({a:g}, {a:g}), c = {a:g}, L = (ln n)/2 = {level:.3g}",
        truth=mass,
        printed=math.exp(-a * level),
        certified=mass,
        unit=MASS,
    )


# Normal records

LEMMA_6 = Claim(
    Reference("Dimitrakakis14", "Lemma 6"),
    "Normal records satisfy Assumption 2",
    r"\sigma^2 \sim \mathrm{Exp}(\lambda): \; c = \lambda",
    Verdict.FALSE,
    "The prior gives small variances too much mass: the mass with a Lipschitz constant above L falls only like 1/L. "
    "With the precision ~ Exp(λ) and a bounded mean, c = 2 λ / max(M, 1).",
)


def lemma_6(rate: float, *, at: ArrayLike) -> Bound:
    """Return the mass beyond L = `at` (...) for normal records of mean 0. [Dimitrakakis14] Lemma 6.

    Printed exp(-lambda L). Certified for the prior as printed, of the variance: it is below 1/(2 L), that is without
    constant L, with probability 1 - exp(-lambda/(2 L)). Another mean makes that larger.
    """
    levels = np.asarray(at, dtype=np.float64)
    with np.errstate(divide="ignore"):
        mass = -np.expm1(-rate / (2 * levels))
    return _mass_bound(LEMMA_6, np.exp(-rate * levels), mass)


def lemma_6_of_precision(rate: float, *, at: ArrayLike) -> FloatArray:
    """Return exp(-2 lambda L) (...), the mass for precision ~ Exp(lambda) and mean 0.

    [Dimitrakakis14] Lemma 6, mended: with the precision for the variance c = 2 lambda / max(M, 1) holds, |mu| <= M.
    """
    return np.exp(-normal_concentration(rate) * np.asarray(at, dtype=np.float64))


def counterexample_lemma_6(level: float = 5.0, *, rate: float = 1.0) -> Counterexample:
    """Return the mass of variances below 1/(2 L), that is without constant L, at mu = 0. [Dimitrakakis14] Lemma 6."""
    bound = lemma_6(rate, at=level)
    setting = f"Normal records with mu = 0, variance ~ Exp({rate:g}), L = {level:g}"
    return Counterexample.of(bound, setting, truth=float(bound.certified))


def _lemma_6_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    rate, level = at.knobs.rate, at.knobs.level
    mended = number(float(lemma_6_of_precision(rate, at=level)))
    return f"""
- Records $N(0, \\sigma^2)$ have the Lipschitz constant $1/2\\sigma^2$. This constant exceeds $L = {level:g}$ for
  variances $\\sigma^2 < 1/2L = {number(1 / (2 * level))}$; $\\lambda = {rate:g}$.
- **As stated**: at most ${_exponent(at)} = {bound.stated}$.
- **Proved**, exactly: $1 - e^{{-\\lambda/2L}} = {bound.proved}$, which falls like $1/L$. Any other mean makes the mass
  larger.
- With the precision $1/\\sigma^2 \\sim \\mathrm{{Exp}}(\\lambda)$, the mass would be $e^{{-2\\lambda L}} = {mended}$.
"""


# What they share


def _exponent(at: EvaluationPoint) -> str:
    return f"e^{{-\\lambda L}} = e^{{-{at.knobs.rate:g} \\cdot {at.knobs.level:g}}}"


def _mass_bound(claim: Claim, printed: FloatArray, certified: FloatArray, *assumptions: Assumption) -> Bound:
    return Bound(claim, np.asarray(printed), np.asarray(certified), MASS, 1.0, assumptions)


def _mass_exhibit(claim: Claim, bound: Callable[[ClaimParameters], Bound], formula: Fill) -> Exhibit:
    return Exhibit(
        claim,
        lambda subject, at: flat(bound(at.knobs)),
        formula,
        (Axis.LEVEL, Axis.RATE),
        "a prior mass of at most {} with a Lipschitz constant above L",
        "prior mass with a Lipschitz constant above L, a probability",
        says=BoundKind.CHANCE,
        measure=certified_as_exact("exact mass"),
    )


EXHIBITS: dict[str, Exhibit] = {
    "ALT_LEMMA_3": _mass_exhibit(LEMMA_3, lambda knobs: lemma_3(knobs.rate, at=knobs.level), _lemma_3_text),
    "ALT_LEMMA_4": _mass_exhibit(LEMMA_4, lambda knobs: lemma_4(knobs.rate, at=knobs.level), _lemma_4_text),
    "ALT_LEMMA_6": _mass_exhibit(LEMMA_6, lambda knobs: lemma_6(knobs.rate, at=knobs.level), _lemma_6_text),
}
