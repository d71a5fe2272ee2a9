"""The posterior sampling query model: the information of posterior samples about which of two tables they belong to.

[Dimitrakakis14] Algorithm 1 answers every query with a new sample theta. An attacker who knows two tables x and y gains
ln p(theta | x) - ln p(theta | y) with every answer, in log-odds for x. This module has three conjugate pairs of
posteriors, one record apart, with properties of this gain: its mean (the KL divergence) and the affinity -ln BC; for a
trimmed network also samples of it and its range.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.posteriors.smoothness import exponential_concentration, kl_bound_sharp
from dpbayes.posteriors.trimmed import LogOdds, log_odds_quantile, log_odds_rule
from dpbayes.theory.claims.claim import Assumption, Bound, flat, number
from dpbayes.theory.claims.setting import EvaluationPoint

KAPPA = 4.910814964568256
"""2 w / (1 - exp(-w))^2 at its stationary w = 1.2564312, its least value over w > 0."""


@dataclass(frozen=True, eq=False)
class BetaPair:
    """`columns` independent rows Beta(a, b) under x and Beta(a - moved, b + moved) under y; moved is 1 or -1.

    All log-odds are truncated to [-bound, bound]; with an infinite bound, they are not.
    """

    a: FloatArray
    b: FloatArray
    moved: int = 1
    bound: float = math.inf
    columns: int = 1

    def __post_init__(self) -> None:
        if not (np.all(np.asarray(self.a) - max(self.moved, 0) > 0) and np.all(np.asarray(self.b) + self.moved > 0)):
            raise InputError("There is no record of that kind to replace.")

    def swapped(self) -> "BetaPair":
        return BetaPair(self.a - self.moved, self.b + self.moved, -self.moved, self.bound, self.columns)

    @cached_property
    def _rules(self) -> tuple[LogOdds, LogOdds]:
        other = self.swapped()
        return log_odds_rule(self.a, self.b, self.bound), log_odds_rule(other.a, other.b, self.bound)

    @cached_property
    def kl(self) -> FloatArray:
        """KL(x || y): sum over columns of E_x z - ln Z_x + ln Z_y, with the sign of the record (...,)."""
        x, y = self._rules
        return np.maximum(self.columns * (self.moved * x.mean(x.nodes) - x.log_mass + y.log_mass), 0.0)

    @cached_property
    def affinity(self) -> FloatArray:
        """-ln of the Bhattacharyya coefficient: (ln Z_x + ln Z_y)/2 - ln Z of the middle, times the columns (...,)."""
        x, y = self._rules
        middle = log_odds_rule(self.a - self.moved / 2, self.b + self.moved / 2, self.bound)
        return np.maximum(self.columns * ((x.log_mass + y.log_mass) / 2 - middle.log_mass), 0.0)

    @property
    def movement(self) -> FloatArray:
        """E_x |z| + E_y |z| of all columns, z the change of the record's log-likelihood in one of them (...,)."""
        return self.columns * sum((rule.mean(np.abs(rule.nodes)) for rule in self._rules), np.zeros(()))

    @property
    def gain_range(self) -> tuple[FloatArray, FloatArray]:
        """Columns times (-bound - c, bound - c), c = ln Z_x - ln Z_y (...,)."""
        x, y = self._rules
        shift = x.log_mass - y.log_mass
        return self.columns * (-self.bound - shift), self.columns * (self.bound - shift)

    def gains(self, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Sample gains of single answers if x is the true table: sums over the columns of z - c, (*size, ...)."""
        x, y = self._rules
        z = log_odds_quantile(rng.random((*size, self.columns, *np.shape(self.a))), self.a, self.b, self.bound)
        total: FloatArray = z.sum(axis=len(size)) * self.moved - self.columns * (x.log_mass - y.log_mass)
        return total


@dataclass(frozen=True, eq=False)
class GammaPair:
    """Gamma(shape, rate) posteriors of the rate of exponential records; records and rates differ by `apart`.

    The same posteriors hold for 1/scale of Laplace records with a known centre, whose distances from it are
    exponential.
    """

    shape: FloatArray
    rate: FloatArray
    apart: float

    def __post_init__(self) -> None:
        if not np.all(np.asarray(self.rate) + self.apart > 0):
            raise InputError("A record of an exponential distribution cannot be negative.")

    def swapped(self) -> "GammaPair":
        return GammaPair(self.shape, self.rate + self.apart, -self.apart)

    @property
    def kl(self) -> FloatArray:
        """shape (r - 1 - ln r), r = rate_y / rate_x (...,)."""
        u = self.apart / self.rate
        return self.shape * (u - np.log1p(u))

    @property
    def affinity(self) -> FloatArray:
        """shape (ln of the mean rate - mean of ln rate) (...,)."""
        u = self.apart / self.rate
        return self.shape * (np.log1p(u / 2) - np.log1p(u) / 2)

    @property
    def movement(self) -> FloatArray:
        """apart (E_x theta + E_y theta) (...,)."""
        return abs(self.apart) * self.shape * (1 / self.rate + 1 / (self.rate + self.apart))


@dataclass(frozen=True, eq=False)
class NormalPair:
    """N(mean, 1/precision) posteriors of a normal's mean, unit variance, of records that differ by `apart`.

    The prior is N(0, 1/(precision - n)). The divergence is the same in both directions.
    """

    precision: FloatArray
    apart: float

    @property
    def kl(self) -> FloatArray:
        """apart^2 / (2 precision) (...,); one answer gains N(KL, 2 KL)."""
        return self.apart**2 / (2 * self.precision)

    @property
    def affinity(self) -> FloatArray:
        """A quarter of the KL divergence: the variances are equal (...,)."""
        return self.kl / 4


Pair = BetaPair | GammaPair
"""The posteriors of two tables x and y that differ in one record; arrays (...,) over tables."""


# Exact distances


def gamma_variation(pair: GammaPair) -> FloatArray:
    """Return the exact total variation distance of two different gamma posteriors (...).

    Their densities cross once, at shape ln(1 + apart/rate)/apart; the distance is the difference of the masses below.
    """
    rate, other = np.asarray(pair.rate), pair.rate + pair.apart
    crossing = pair.shape * np.log1p(pair.apart / rate) / pair.apart
    below, below_other = (special.gammainc(pair.shape, gamma_rate * crossing) for gamma_rate in (rate, other))
    return np.abs(below_other - below)


def normal_variation(pair: NormalPair, *, answers: ArrayLike) -> FloatArray:
    """Return the exact total variation distance for k = `answers` (...) samples: erf(sqrt(k KL)/2).

    The mean of the samples is sufficient. Its two means are sqrt(2 k KL) standard deviations apart.
    [Dimitrakakis14] Lemma 8.
    """
    return np.asarray(special.erf(np.sqrt(np.asarray(answers, dtype=np.float64) * pair.kl) / 2))


# Bounds


def adversary_ceiling(epsilon: float, answers: ArrayLike) -> FloatArray:
    """Return 1/(1 + exp(-j epsilon)), the largest probability after j answers for an attacker with even prior odds.

    It follows from epsilon-privacy of each answer. [Dimitrakakis14] Algorithm 1 does not account for several answers.
    """
    return special.expit(epsilon * np.asarray(answers, dtype=np.float64))


def printed_divergence(concentration: ArrayLike, distance: float) -> FloatArray:
    """Return kappa rho / c in nats (...), c = `concentration` (...). [Dimitrakakis14] Theorem 1(ii), as printed.

    [Dimitrakakis14] Appendix A, kappa: the sum in the proof bounds an integral of l, which is at most 1/c, so that the
    constant 2 suffices there.
    """
    return KAPPA * distance / np.asarray(concentration, dtype=np.float64)


def symmetric_kl_bound(pair: Pair) -> FloatArray:
    """Return rho (E_x l + E_y l) >= KL(x || y) + KL(y || x), in nats (...,). [Dimitrakakis14] Theorem 1(ii), corrected.

    Printed is kappa rho / c for the prior's c. A counterexample is n = 5 exponential records under Exp(1), one of them
    moved from 0 to 100 and all others 0: KL = 572.3 > 491.1. In the symmetric sum, the normalisers cancel.
    """
    return pair.movement


def needed_answers_bracket(pair: Pair | NormalPair, *, error: float) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the answers after which the likelier table is wrong in at most a share `error` of games (...,).

    They are ln(1/(4 d (1 - d)))/(2 b) <= N <= ln(1/(2 d))/b with b = -ln BC, if a fair coin selects the true table. The
    lower bound holds for every attacker, also if each of the two errors must be at most d; the upper bound is then
    ln(1/d)/b. [Dimitrakakis14] Theorem 3, corrected: its condition is printed as sufficient, but can only be necessary.
    """
    d = finite_number("The error", error, low=1e-12, high=0.5)
    if d == 0.5:
        raise InputError("The error must be below 1/2, which is the error of a random guess.")
    with np.errstate(divide="ignore"):
        return -math.log(4 * d * (1 - d)) / (2 * pair.affinity), -math.log(2 * d) / pair.affinity


def necessary_answers(log_ratio: float, *, error: float) -> float:
    """Return ln(1/(4 d)) / f(2 L rho), the least number of answers for an error of at most d, under Assumption 1.

    `log_ratio` is L rho, f the sharp KL bound; by the inequality of Bretagnolle and Huber, e_x + e_y >= exp(-N KL)/2.
    """
    return max(0.0, -math.log(4 * error)) / float(kl_bound_sharp(2 * log_ratio))


def printed_answers(log_ratio: float, *, error: float) -> float:
    """Return 3 ln(1/d) / (4 L rho), the number of answers that suffices by [Dimitrakakis14] Theorem 3."""
    return -3 * math.log(error) / (4 * log_ratio)


def printed_answers_tail(concentration: ArrayLike, distance: float, *, error: float) -> FloatArray:
    """Return 3 c ln(1/d) / (2 kappa rho), the same under Assumption 2 (...). [Dimitrakakis14] Theorem 3 (4.4)."""
    return -3 * np.asarray(concentration, dtype=np.float64) * math.log(error) / (2 * KAPPA * distance)


def too_few_answers(printed: ArrayLike, least: ArrayLike) -> BoolArray:
    """Whether the printed number of answers is smaller than any attacker needs (...), in whole answers, at least 1."""
    return np.asarray(np.maximum(np.ceil(printed), 1.0) < np.asarray(least))


# Pairs with exact results, as examples for the theorems: exponential records, and a throw of a trimmed coin


C = exponential_concentration(1.0)
SUPPOSED = Assumption("Assumption 1 (assumed here): the log-likelihood changes by at most Lρ", holds=True)
EXPONENTIAL = Assumption("Assumption 2: exponential records under Exp(1) have c = 1", holds=True)
TRIMMED = Assumption("Assumption 1: the coin’s log-odds are between −Lρ and Lρ", holds=True)


def exponential_pair(at: EvaluationPoint) -> GammaPair:
    """Return the posteriors of n exponential records, one of which is 0 under x and rho under y."""
    return GammaPair(np.array([at.knobs.size + 1.0]), np.ones(1), at.knobs.apart)


def pair_text(at: EvaluationPoint) -> str:
    """Return a description of this pair for a formula."""
    n, apart = at.knobs.size, at.knobs.apart
    return (
        f"Exponential records, $n = {n}$, rate $\\theta \\sim \\text{{Exp}}(1)$, so $c = 1$; all are 0 in $x$, and "
        f"one is $\\rho = {number(apart)}$ in $y$. Posteriors: $\\text{{Gamma}}({n + 1}, 1)$ and "
        f"$\\text{{Gamma}}({n + 1}, {number(1 + apart)})$"
    )


def given(bound: Bound, assumption: Assumption) -> Bound:
    """Return a bound with arrays of length 1 and one more assumption, which holds for the chosen pair."""
    return replace(flat(bound), assumptions=(assumption, *bound.assumptions))
