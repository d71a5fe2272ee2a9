"""How near posteriors of similar tables are, and what that means for privacy: Theorems 1 and 2 of [Dimitrakakis14].

`log_ratio` is L rho, the most that ln p moves between the tables under Assumption 1; `pair` two posteriors one record
apart, of which D = KL(x || y) and J = D(x || y) + D(y || x).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.posteriors.divergence import bregman_loggamma
from dpbayes.posteriors.smoothness import (
    beta_concentration,
    exponential_concentration,
    kl_bound_sharp,
    normal_concentration,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.dimitrakakis14.game import KAPPA, GammaPair, Pair, symmetric_kl_bound

NATS = "nats of KL divergence"


# Definitions


def remark_1(epsilon: float, *, delta: float, records: ArrayLike) -> Bound:
    """Return the delta of tables that differ in k = `records` (...) records, at k epsilon. [Dimitrakakis14] Remark 1.

    Printed, by Definition 2, k delta; what (epsilon, delta)-privacy of one record gives is
    delta (e^(k epsilon) - 1)/(e^epsilon - 1), at most 1. They agree for epsilon = 0 and for delta = 0.
    """
    k = np.asarray(records, dtype=np.float64)
    e, d = finite_number("epsilon", epsilon, low=0.0, high=700.0), finite_number("delta", delta, low=0.0, high=1.0)
    if not np.all(k >= 1):
        raise InputError("Tables that differ do so in at least one record.")
    with np.errstate(over="ignore"):
        factor = np.expm1(k * e) / np.expm1(e) if e else k
    return Bound(
        claim=REMARK_1,
        printed=np.minimum(k * d, 1.0),
        certified=np.minimum(factor * d, 1.0) if d else np.zeros(k.shape),
        unit="probability",
        confidence=1.0,
        assumptions=(Assumption("epsilon or delta is 0", e == 0 or d == 0),),
        is_private=True,
    )


def counterexample_definition_2(epsilon: float = 0.5, *, delta: float = 0.1) -> Counterexample:
    """Return three laws of one set B, neighbours private by Definition 1, the ends not by Definition 2.

    P_0(B) = 0, P_1(B) = delta, P_2(B) = e^epsilon delta + delta. [Dimitrakakis14] Remark 1,
    [Dimitrakakis14] Definition 1.
    """
    bound = remark_1(epsilon, delta=delta, records=2)
    return Counterexample(
        REMARK_1,
        f"P(B) = 0, {delta:g} and {delta * (1 + math.exp(epsilon)):.4g} on a chain of tables, epsilon = {epsilon:g}",
        truth=delta * (1 + math.exp(epsilon)),
        printed=float(bound.printed),
        certified=float(bound.certified),
        unit="probability",
    )


# Theorem 1


def theorem_1_i(log_ratio: ArrayLike) -> Bound:
    """Return the KL divergence between posteriors, from L rho = `log_ratio` (...). [Dimitrakakis14] Theorem 1(i).

    Printed 2 L rho; certified the largest there is, about (L rho)^2/2 (`kl_bound_sharp`).
    """
    moved = np.asarray(log_ratio, dtype=np.float64)
    return Bound(
        claim=THEOREM_1_I,
        printed=2 * moved,
        certified=kl_bound_sharp(2 * moved),
        unit=NATS,
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


def theorem_1_ii(pair: Pair, *, concentration: float, distance: float) -> Bound:
    """Return the KL divergence between two posteriors (...) under Assumption 2. [Dimitrakakis14] Theorem 1(ii).

    Printed kappa rho/c; certified rho (E_x l + E_y l), which bounds even the sum J. It depends on the data.
    """
    c, rho = _positive("c", concentration), _positive("The distance", distance)
    certified = symmetric_kl_bound(pair)
    return Bound(
        claim=THEOREM_1_II,
        printed=np.full(np.shape(certified), KAPPA * rho / c),
        certified=certified,
        unit=NATS,
        confidence=1.0,
        assumptions=(),
        is_private=False,
    )


def theorem_1_ii_by_likelihood(
    concentration: float, *, distance: float, log_c_x: ArrayLike, log_c_y: ArrayLike
) -> Bound:
    """Return the same from ln C = ln of the largest over the marginal likelihood of x and of y (...).

    Printed kappa rho/c; certified rho (2 + ln C_x + ln C_y)/c: the posterior gives the parameters without L at most
    min(1, C e^(-c L)), hence E l <= (1 + ln C)/c. With Assumption 2 for all L >= 0. [Dimitrakakis14] Theorem 1(ii).
    """
    c, rho = _positive("c", concentration), _positive("The distance", distance)
    logs = np.asarray(log_c_x, dtype=np.float64) + np.asarray(log_c_y, dtype=np.float64)
    if not np.all(logs >= 0):
        raise InputError("A largest likelihood is never below the marginal one.")
    return Bound(
        claim=THEOREM_1_II,
        printed=np.full(logs.shape, KAPPA * rho / c),
        certified=rho * (2 + logs) / c,
        unit=NATS,
        confidence=1.0,
        assumptions=(),
        is_private=False,
    )


def counterexample_theorem_1_ii(n: int = 5, *, apart: float = 100.0) -> Counterexample:
    """Refute kappa rho/c by exponential records under theta ~ Exp(1): one of n moves from 0 to `apart`, all others 0.

    [Dimitrakakis14] Theorem 1(ii); Assumption 2 holds exactly, with c = 1 and rho = |x - y|.
    """
    records = whole_number("The number of records", n, low=1, high=10**9)
    pair = GammaPair(np.asarray(records + 1), np.asarray(1.0), apart)
    bound = theorem_1_ii(pair, concentration=exponential_concentration(1.0), distance=apart)
    setting = f"{records} exponential records under Exp(1), one moved from 0 to {apart:g}, the others 0"
    return _kl_counterexample(setting, float(pair.kl), bound)


def counterexample_theorem_1_ii_normal(n: int = 20, *, apart: float = 100.0) -> Counterexample:
    """Refute it by N(0, 1/tau) records, tau ~ Exp(1), c = 2, rho = |x^2 - y^2| + 2|x - y|; as above."""
    records = whole_number("The number of records", n, low=1, high=10**9)
    pair = GammaPair(np.asarray(1 + records / 2), np.asarray(1.0), apart**2 / 2)
    bound = theorem_1_ii(pair, concentration=normal_concentration(1.0), distance=apart**2 + 2 * abs(apart))
    setting = f"{records} normal records of mean 0, precision ~ Exp(1), one moved from 0 to {apart:g}, the others 0"
    return _kl_counterexample(setting, float(pair.kl), bound)


def counterexample_theorem_1_ii_binomial(n: int = 145, *, a: float = 10.0) -> Counterexample:
    """Refute it by n records all 0 against all 1 under Beta(a, a), with the best c. [Dimitrakakis14] Theorem 1(ii)."""
    records = whole_number("The number of records", n, low=1, high=10**9)
    # Equal normalisers: D = n (psi(a + n) - psi(a)) = d(a + n, a) + d(a, a + n), which is J/2 as well.
    divergence = float(bregman_loggamma(a + records, a) + bregman_loggamma(a, a + records))
    printed = KAPPA * records / beta_concentration(a)
    log_c = float(-special.betaln(a + records, a) + special.betaln(a, a))
    bound = theorem_1_ii_by_likelihood(beta_concentration(a), distance=records, log_c_x=log_c, log_c_y=log_c)
    setting = f"{records} binary records under Beta({a:g}, {a:g}), all 0 against all 1"
    return Counterexample(THEOREM_1_II, setting, divergence, printed, float(bound.certified), NATS)


def _kl_counterexample(setting: str, divergence: float, bound: Bound) -> Counterexample:
    return Counterexample(THEOREM_1_II, setting, divergence, float(bound.printed), float(bound.certified), NATS)


def kappa(omega: ArrayLike) -> FloatArray:
    """Return 2 w/(1 - e^-w)^2, whose smallest value over w > 0 is KAPPA. [Dimitrakakis14] Appendix A, kappa.

    What that sum bounds is an integral of l, which is at most 1/c: the constant would be 2.
    """
    w = np.asarray(omega, dtype=np.float64)
    return 2 * w / np.expm1(-w) ** 2


# Theorem 2


def theorem_2_i(log_ratio: ArrayLike) -> Bound:
    """Return the privacy loss of one draw, from L rho = `log_ratio` (...). [Dimitrakakis14] Theorem 2(i).

    2 L rho, and no less in general. Losses of a pair of tables range over an interval of that length, which composes
    better than the epsilon alone says.
    """
    moved = np.asarray(log_ratio, dtype=np.float64)
    return Bound(
        claim=THEOREM_2_I,
        printed=2 * moved,
        certified=2 * moved,
        unit="nats of privacy loss",
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


def loss_of_rare_parameter(mass: ArrayLike, *, log_ratio: float = 1.0) -> FloatArray:
    """Return the loss at a parameter of prior mass q (...): 2 L rho as q vanishes. [Dimitrakakis14] Theorem 2(i).

    Two parameters: ln p(x) - ln p(y) is L rho at the rare one and -L rho at the other, where p(y) is the same.
    """
    q, moved = np.asarray(mass, dtype=np.float64), finite_number("L rho", log_ratio, low=0.0, high=700.0)
    # xi(rare | x)/xi(rare | y) = e^m / (q e^m + (1 - q) e^-m).
    return moved - np.logaddexp(np.log(q) + moved, np.log1p(-q) - moved)


def theorem_2_ii(pair: Pair, *, concentration: float, distance: float) -> Bound:
    """Return the total variation distance of two posteriors (...) under Assumption 2. [Dimitrakakis14] Theorem 2(ii).

    Printed sqrt(kappa rho/(2 c)); certified the smaller of sqrt(J)/2, J <= rho (E_x l + E_y l), and sqrt(1 - BC^2).
    """
    c, rho = _positive("c", concentration), _positive("The distance", distance)
    certified = np.minimum(np.sqrt(symmetric_kl_bound(pair)) / 2, np.sqrt(-np.expm1(-2 * pair.affinity)))
    printed = math.sqrt(KAPPA * rho / (2 * c))
    return Bound(
        claim=THEOREM_2_II,
        printed=np.full(np.shape(certified), printed),
        certified=certified,
        unit="total variation distance",
        confidence=1.0,
        assumptions=(Assumption("The printed bound is below 1", printed < 1),),
        is_private=False,
    )


def counterexample_theorem_2_ii(n: int = 200, *, apart: float = 0.2) -> Counterexample:
    """Refute it by n exponential records under Exp(1), one moved from 0 to `apart`. [Dimitrakakis14] Theorem 2(ii).

    The densities Gamma(n + 1, 1) and Gamma(n + 1, 1 + apart) cross once, at (n + 1) ln(1 + apart)/apart.
    """
    records = whole_number("The number of records", n, low=1, high=10**9)
    pair = GammaPair(np.asarray(records + 1), np.asarray(1.0), apart)
    bound = theorem_2_ii(pair, concentration=exponential_concentration(1.0), distance=apart)
    crossing = (records + 1) * math.log1p(apart) / apart
    variation = special.gammainc(records + 1, (1 + apart) * crossing) - special.gammainc(records + 1, crossing)
    return Counterexample(
        THEOREM_2_II,
        f"{records} exponential records under Exp(1), one moved from 0 to {apart:g}, the others 0",
        truth=float(variation),
        printed=float(bound.printed),
        certified=float(bound.certified),
        unit="total variation distance",
    )


def _positive(name: str, value: float) -> float:
    return finite_number(name, value, low=1e-300, high=1e300)


DEFINITION_1 = Claim(
    Reference("Dimitrakakis14", "Definition 1"),
    "Differential privacy for tables one record apart",
    r"P(B \mid x) \le e^\epsilon P(B \mid y) + \delta",
    Verdict.HOLDS,
    "The usual definition, for tables of equal size that differ in one record.",
)
REMARK_1 = Claim(
    Reference("Dimitrakakis14", "Remark 1"),
    "Differential privacy under a metric",
    r"P(B \mid x) \le e^{\epsilon \rho} P(B \mid y) + \delta \rho",
    Verdict.AMENDED,
    "Equivalent for delta = 0 and for epsilon = 0, as it says; otherwise Definition 2 asks for more, as k records cost "
    "delta (e^(k epsilon) - 1)/(e^epsilon - 1), not k delta.",
)
THEOREM_1_I = Claim(
    Reference("Dimitrakakis14", "Theorem 1(i)"),
    "Posteriors of similar tables are near, under Assumption 1",
    r"D(\xi(\cdot \mid x) \| \xi(\cdot \mid y)) \le 2 L \rho(x, y)",
    Verdict.LOOSE,
    "The largest divergence for a log ratio of range 2 L rho is known, about (L rho)^2/2.",
)
THEOREM_1_II = Claim(
    Reference("Dimitrakakis14", "Theorem 1(ii)"),
    "Posteriors of similar tables are near, under Assumption 2",
    r"D(\xi(\cdot \mid x) \| \xi(\cdot \mid y)) \le \tfrac{\kappa}{c} \rho(x, y)",
    Verdict.FALSE,
    "The proof weighs rough parameters by the prior, where the posterior counts; rho (E_x l + E_y l) holds, even for "
    "the sum of both divergences.",
)
KAPPA_CLAIM = Claim(
    Reference("Dimitrakakis14", "Appendix A, kappa"),
    "The constant of the proof",
    r"\kappa = \min_\omega 2\omega / (1 - e^{-\omega})^2 \approx 4.91081",
    Verdict.LOOSE,
    "The arithmetic is right, at omega = 1.2564312; the integral that it bounds needs no more than 2.",
)
THEOREM_2_I = Claim(
    Reference("Dimitrakakis14", "Theorem 2(i)"),
    "A draw from the posterior is private under Assumption 1",
    r"\xi(B \mid x) \le e^{2 L \rho(x, y)} \xi(B \mid y)",
    Verdict.HOLDS,
    "The factor 2 cannot be improved: a parameter that the prior makes rare loses almost all of it.",
)
THEOREM_2_II = Claim(
    Reference("Dimitrakakis14", "Theorem 2(ii)"),
    "A draw from the posterior is (0, delta)-private under Assumption 2",
    r"|\xi(B \mid x) - \xi(B \mid y)| \le \sqrt{\tfrac{\kappa}{2c} \rho(x, y)}",
    Verdict.FALSE,
    "It rests on Theorem 1(ii); sqrt(rho (E_x l + E_y l))/2 holds. For a uniform coin the printed bound is above 1.",
)
CLAIMS: tuple[Claim, ...] = (DEFINITION_1, REMARK_1, THEOREM_1_I, THEOREM_1_II, KAPPA_CLAIM, THEOREM_2_I, THEOREM_2_II)
