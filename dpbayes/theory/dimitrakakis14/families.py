"""How smooth families of distributions are, and the examples of section 5 of [Dimitrakakis14].

Distances of likelihoods are |ln a/b|, [Dimitrakakis14] Equation 2.7. With a constant L, [Dimitrakakis14] Assumption 1
holds; a bound here is the prior mass without L, at most exp(-c L) under [Dimitrakakis14] Assumption 2.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.model.network import Network
from dpbayes.posteriors.smoothness import (
    discrete_log_ratio_bound,
    exponential_concentration,
    hamming_weights,
    laplace_concentration,
    normal_concentration,
)
from dpbayes.sources.named_networks import chain
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample

MASS = "prior mass"


def lemma_1(constant: ArrayLike, *, records: int) -> Bound:
    """Return the constant of n independent records from one record's L (...). [Dimitrakakis14] Lemma 1.

    Printed L n (L k if k records change, c/n in place of c), certified L, as distances are summed over records. The
    mean distance would need L n.
    """
    values = np.asarray(constant, dtype=np.float64)
    n = whole_number("The number of records", records, low=1, high=10**12)
    return Bound(
        claim=LEMMA_1,
        printed=values * n,
        certified=values,
        unit="nats per unit of distance",
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


def lemma_3(rate: float, *, at: ArrayLike) -> Bound:
    """Return the mass beyond L = `at` (...) for Exp(theta) records, theta ~ Exp(lambda). [Dimitrakakis14] Lemma 3.

    Printed exp(-lambda L), and with equality.
    """
    mass = np.exp(-exponential_concentration(rate) * _levels(at))
    return _mass_bound(LEMMA_3, mass, mass)


def lemma_4(rate: float, *, at: ArrayLike) -> Bound:
    """Return the mass beyond L = `at` (...) for Laplace(mu, s) records, 1/s ~ Exp(lambda). [Dimitrakakis14] Lemma 4.

    exp(-lambda L), once the parameters with constant L are s >= 1/L, printed s >= L. Any prior of mu.
    """
    mass = np.exp(-laplace_concentration(rate) * _levels(at))
    return _mass_bound(LEMMA_4, mass, mass)


def counterexample_lemma_4(level: float = 0.5) -> Counterexample:
    """Return the constant 1/s of a scale s = L that the printed set lets in, for L < 1. [Dimitrakakis14] Lemma 4."""
    value = finite_number("L", level, low=1e-9, high=0.999)
    return Counterexample(
        LEMMA_4,
        f"Laplace records with s = L = {value:g}, which is in the printed set s >= L",
        truth=1 / value,
        printed=value,
        certified=1 / value,
        unit="nats per unit of distance",
    )


def lemma_5(a: float, *, at: ArrayLike, trials: int = 1) -> Bound:
    """Return the mass beyond L = `at` (...) for binomial records under Beta(a, a). [Dimitrakakis14] Lemma 5.

    Printed exp(-c L) with the appendix's c = ln(1/v) + a, v = 2 n^a / (a B(a, a)), n = `trials`. Certified
    2 I_{1/(1 + e^L)}(a, a), for every n: the binomial coefficient has no parameter in it and is left out.
    """
    value, n, levels = _checked_prior(a), _checked_trials(trials), _levels(at)
    return _mass_bound(
        LEMMA_5,
        np.exp(-printed_beta_concentration(value, trials=n) * levels),
        2 * special.betainc(value, value, special.expit(-levels)),
        Assumption("a is above 1", value > 1),
        Assumption("L is above ln n", bool(np.all(levels > math.log(n)))),
    )


def printed_beta_concentration(a: float, *, trials: int = 1) -> float:
    """Return ln(1/v) + a, v = 2 n^a / (a B(a, a)), whose derivation lost a division by L. [Dimitrakakis14] Lemma 5."""
    value, n = _checked_prior(a), _checked_trials(trials)
    log_v = math.log(2 / value) - float(special.betaln(value, value)) + value * math.log(n)
    return value - log_v


def counterexample_lemma_5(trials: int = 10, *, a: float = 2.0) -> Counterexample:
    """Show that no parameter has a constant below ln n, while Lemma 5 with c = a leaves out little. [Dimitrakakis14].

    With the coefficient kept, theta needs |ln(n)| + |logit theta| <= L: the first and last steps of ln C(n, k).
    """
    n = whole_number("n", trials, low=2, high=10**9)
    level = math.log(n) / 2
    return Counterexample(
        LEMMA_5,
        f"Binomial records of n = {n} trials under Beta({a:g}, {a:g}), c = {a:g}, L = (ln n)/2 = {level:.3g}",
        truth=1.0,
        printed=math.exp(-_checked_prior(a) * level),
        certified=1.0,
        unit=MASS,
    )


def lemma_6(rate: float, *, at: ArrayLike, mean_bound: float = 0.0) -> Bound:
    """Return the mass beyond L = `at` (...) for normal records, |mu| <= `mean_bound`. [Dimitrakakis14] Lemma 6.

    Printed exp(-lambda L), for variance ~ Exp(lambda); certified exp(-2 lambda L / max(M, 1)), for the precision.
    """
    levels = _levels(at)
    slower = np.exp(-normal_concentration(rate, mean_bound=mean_bound) * levels)
    return _mass_bound(LEMMA_6, np.exp(-rate * levels), slower)


def counterexample_lemma_6(level: float = 5.0, *, rate: float = 1.0) -> Counterexample:
    """Return the mass of variances below 1/(2 L), that is without constant L, at mu = 0. [Dimitrakakis14] Lemma 6."""
    value = finite_number("L", level, low=1e-9, high=1e9)
    mass = -math.expm1(-rate / (2 * value))
    return Counterexample(
        LEMMA_6,
        f"Normal records with mu = 0, variance ~ Exp({rate:g}), L = {value:g}",
        truth=mass,
        printed=float(lemma_6(rate, at=value).printed),
        certified=mass,
        unit=MASS,
    )


def lemma_7(network: Network, *, least: float) -> Bound:
    """Return how far one changed value moves ln p when no CPT entry is below `least`. [Dimitrakakis14] Lemma 7.

    Printed ln(1/epsilon); certified L = ln((1 - (r - 1) epsilon)/epsilon) times 1 + the number of children.
    """
    constants = np.array([discrete_log_ratio_bound(least, int(card)) for card in network.cards])
    printed = -math.log(finite_number("The least probability", least, low=5e-324, high=1.0))
    weights = hamming_weights(network)
    return Bound(
        claim=LEMMA_7,
        printed=np.asarray(printed),
        certified=np.asarray(constants.max() * weights.max()),
        unit="nats of log-likelihood",
        confidence=1.0,
        assumptions=(Assumption("All nodes are independent", int(weights.max()) == 1),),
        is_private=True,
    )


def counterexample_lemma_7(least: float = 0.1) -> Counterexample:
    """Return how far ln p(x, y) moves when x alone changes in X -> Y with entries epsilon, 1 - epsilon.

    [Dimitrakakis14] Lemma 7: P(X=1) = P(Y=0 | X=1) = 1 - epsilon, P(Y=0 | X=0) = epsilon; (1, 0) against (0, 0).
    """
    bound = lemma_7(chain(2), least=least)
    return Counterexample(
        LEMMA_7,
        f"X -> Y with CPT entries {least:g} and {1 - least:g}, the record (1, 0) against (0, 0)",
        truth=2 * (math.log1p(-least) - math.log(least)),
        printed=float(bound.printed),
        certified=float(bound.certified),
        unit="nats of log-likelihood",
    )


def counterexample_exponential_family(theta: float = 0.1) -> Counterexample:
    """Return |T(x) - T(y)|/rho = 1 above L/eta for a Bernoulli of probability theta < 1/2, whose eta is negative.

    [Dimitrakakis14] Section 5, exponential families: L = |eta| serves, yet the printed condition never holds.
    """
    eta = float(special.logit(finite_number("theta", theta, low=1e-9, high=0.499)))
    return Counterexample(
        DISPLAY,
        f"A Bernoulli of probability {theta:g}: T(x) = x, eta = {eta:.4g}, L = {-eta:.4g}",
        truth=1.0,
        printed=-eta / eta,
        certified=-eta / abs(eta),
        unit="change of the statistic per unit of distance",
    )


def _mass_bound(claim: Claim, printed: FloatArray, certified: FloatArray, *assumptions: Assumption) -> Bound:
    return Bound(claim, np.asarray(printed), np.asarray(certified), MASS, 1.0, assumptions, is_private=True)


def _levels(at: ArrayLike) -> FloatArray:
    levels = np.asarray(at, dtype=np.float64)
    if not (np.all(levels >= 0) and np.all(np.isfinite(levels))):
        raise InputError("L must be a finite number that is not negative.")
    return levels


def _checked_prior(a: float) -> float:
    return finite_number("a", a, low=1e-9, high=1e12)


def _checked_trials(trials: int) -> int:
    return whole_number("n", trials, low=1, high=10**12)


LOG_RATIO = Claim(
    Reference("Dimitrakakis14", "Equation 2.7"),
    "The absolute log-ratio is a metric",
    r"d(a, b) = |\ln(a/b)|",
    Verdict.AMENDED,
    "It is infinite where exactly one of a and b is 0, which excludes Bernoullis of probability 0 and 1.",
)
ASSUMPTION_1 = Claim(
    Reference("Dimitrakakis14", "Assumption 1"),
    "The likelihood is Lipschitz in the data at every parameter",
    r"d(p_\theta(x), p_\theta(y)) \le L \rho(x, y)",
    Verdict.HOLDS,
    "A definition; a factor of the likelihood without the parameter cancels in the posterior and may be left out.",
)
ASSUMPTION_2 = Claim(
    Reference("Dimitrakakis14", "Assumption 2"),
    "The prior gives the parameters that are not L-Lipschitz little mass",
    r"\xi(\Theta_L) \ge 1 - e^{-cL}, \quad L \ge 0",
    Verdict.AMENDED,
    "Asked for all L >= 0 it excludes the paper's own binomial example; L >= L0 is enough.",
)
LEMMA_1 = Claim(
    Reference("Dimitrakakis14", "Lemma 1"),
    "Independent records keep the assumptions",
    r"L \to L n, \quad c \to c/n",
    Verdict.LOOSE,
    "With summed distances L and c stay as they are: the printed constants are n times too weak.",
)
LEMMA_3 = Claim(
    Reference("Dimitrakakis14", "Lemma 3"),
    "Exponential records under an exponential prior",
    r"\theta \sim \mathrm{Exp}(\lambda): \; c = \lambda, \quad \rho = |x - y|",
    Verdict.HOLDS,
    "With equality, and the same c for any number of records.",
)
LEMMA_4 = Claim(
    Reference("Dimitrakakis14", "Lemma 4"),
    "Laplace records under an exponential prior of 1/s",
    r"\Theta_L = \{s \ge L\}, \quad c = \lambda",
    Verdict.AMENDED,
    "The set is s >= 1/L; the prior is exponential in 1/s and any in mu, neither Laplace nor conjugate.",
)
LEMMA_5 = Claim(
    Reference("Dimitrakakis14", "Lemma 5"),
    "Binomial records under a symmetric Beta prior",
    r"c = O(\alpha)",
    Verdict.FALSE,
    "With the coefficient kept no parameter is smooth below ln n, so no c exists for n >= 2; without it the best c for "
    "all L grows like the square root of a.",
)
LEMMA_6 = Claim(
    Reference("Dimitrakakis14", "Lemma 6"),
    "Normal records under an exponential prior of the variance",
    r"\sigma^2 \sim \mathrm{Exp}(\lambda): \; c = \lambda",
    Verdict.FALSE,
    "Small variances are not rare enough, the mass without L falls like 1/L; with the precision ~ Exp(lambda) and a "
    "bounded mean c = 2 lambda / max(M, 1).",
)
LEMMA_7 = Claim(
    Reference("Dimitrakakis14", "Lemma 7"),
    "Discrete Bayesian networks",
    r"L = \ln(1/\epsilon), \quad \rho = \sum_k 1\{x_k \ne y_k\}",
    Verdict.FALSE,
    "A changed value enters its children's terms as well: weigh it by 1 + the number of children.",
)
DISPLAY = Claim(
    Reference("Dimitrakakis14", "Section 5, exponential families"),
    "When an exponential family has constant L",
    r"|T(x) - T(y)| / \rho(x, y) \le L / \eta_\theta",
    Verdict.AMENDED,
    "The natural parameter may be negative: read |eta|.",
)
CLAIMS: tuple[Claim, ...] = (
    LOG_RATIO,
    ASSUMPTION_1,
    ASSUMPTION_2,
    LEMMA_1,
    DISPLAY,
    LEMMA_3,
    LEMMA_4,
    LEMMA_5,
    LEMMA_6,
    LEMMA_7,
)
