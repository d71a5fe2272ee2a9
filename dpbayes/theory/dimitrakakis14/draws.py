"""The privacy loss of posterior samples, and their error: Theorem 2, Algorithm 1 and Lemma 2 of [Dimitrakakis14].

`log_ratio` is L rho, the largest change of ln p between the tables under Assumption 1. `pair` has two posteriors one
record apart, and J = KL(x || y) + KL(y || x).
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.smoothness import exponential_concentration
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured, Simulation, exact_value, quantile_beside
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14.game import (
    EXPONENTIAL,
    KAPPA,
    SUPPOSED,
    C,
    GammaPair,
    Pair,
    exponential_pair,
    gamma_variation,
    given,
    pair_text,
    printed_divergence,
    symmetric_kl_bound,
)

MASSES = (0.1, 1e-2, 1e-4, 1e-6)
"""The prior masses in the list of losses."""

RARE = 1e-30
"""A prior mass for which the loss equals 2 L rho in double precision, for every L rho up to 20."""


# One draw under Assumption 1

THEOREM_2_I = Claim(
    Reference("Dimitrakakis14", "Theorem 2(i)"),
    "A posterior sample is 2Lρ-private (Assumption 1)",
    r"\xi(B \mid x) \le e^{2 L \rho(x, y)} \xi(B \mid y)",
    Verdict.HOLDS,
    "The factor 2 cannot be improved: at a parameter with little prior mass, the loss is almost 2 L ρ.",
)


def theorem_2_i(log_ratio: ArrayLike) -> Bound:
    """Return the privacy loss of one sample, from L rho = `log_ratio` (...). [Dimitrakakis14] Theorem 2(i).

    It is 2 L rho, and in general not smaller. The losses of a pair of tables lie in an interval of this length, which
    composes better than epsilon alone.
    """
    moved = np.asarray(log_ratio, dtype=np.float64)
    return Bound(THEOREM_2_I, 2 * moved, 2 * moved, "nats of privacy loss")


def loss_of_rare_parameter(mass: ArrayLike, *, log_ratio: float = 1.0) -> FloatArray:
    """Return the loss at a parameter of prior mass q (...): 2 L rho as q vanishes. [Dimitrakakis14] Theorem 2(i).

    There are two parameters. ln p(x) - ln p(y) is L rho at the rare one and -L rho at the other; p(y) is the same at
    both.
    """
    q = np.asarray(mass, dtype=np.float64)
    # xi(rare | x)/xi(rare | y) = e^m / (q e^m + (1 - q) e^-m).
    return log_ratio - np.logaddexp(np.log(q) + log_ratio, np.log1p(-q) - log_ratio)


def _theorem_2_i_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    moved = at.knobs.log_ratio
    losses = [
        f"${number(float(loss))}$ at mass ${number(mass)}$"
        for mass, loss in zip(MASSES, loss_of_rare_parameter(MASSES, log_ratio=moved), strict=True)
    ]
    return f"""
- **As stated**: $2 L \\rho = 2 \\cdot {number(moved)} = {bound.stated}$ nats.
- **Proved**: the same, ${bound.proved}$ nats.
- **Attained**: two parameters are equally likely under $y$. Under $x$ the log-likelihood is $L\\rho$ larger at the
  first and $L\\rho$ smaller at the second. The loss at the first is {", ".join(losses)}. It tends to ${bound.stated}$
  as the prior mass of this parameter tends to 0.
"""


# One draw under Assumption 2

THEOREM_2_II = Claim(
    Reference("Dimitrakakis14", "Theorem 2(ii)"),
    "A posterior sample is (0, δ)-private (Assumption 2)",
    r"|\xi(B \mid x) - \xi(B \mid y)| \le \sqrt{\tfrac{\kappa}{2c} \rho(x, y)}",
    Verdict.FALSE,
    "The proof relies on Theorem 1(ii). The bound √(ρ (E[l | x] + E[l | y]))/2 holds, with the posterior means of "
    "the Lipschitz constant l. For a uniform coin the stated bound is above 1.",
)


def theorem_2_ii(pair: Pair, *, concentration: float, distance: float) -> Bound:
    """Return the total variation distance of two posteriors (...) under Assumption 2. [Dimitrakakis14] Theorem 2(ii).

    Printed sqrt(kappa rho/(2 c)); certified the smaller of sqrt(J)/2, J <= rho (E_x l + E_y l), and sqrt(1 - BC^2).
    """
    certified = np.minimum(np.sqrt(symmetric_kl_bound(pair)) / 2, np.sqrt(-np.expm1(-2 * pair.affinity)))
    printed = math.sqrt(float(printed_divergence(concentration, distance)) / 2)
    return Bound(
        THEOREM_2_II,
        np.full(np.shape(certified), printed),
        certified,
        "total variation distance",
        assumptions=(Assumption("The stated bound is below 1", printed < 1),),
    )


def counterexample_theorem_2_ii(n: int = 200, *, apart: float = 0.2) -> Counterexample:
    """Refute it by n exponential records under Exp(1), one moved from 0 to `apart`. [Dimitrakakis14] Theorem 2(ii)."""
    pair = GammaPair(np.asarray(n + 1), np.asarray(1.0), apart)
    bound = theorem_2_ii(pair, concentration=exponential_concentration(1.0), distance=apart)
    return Counterexample.of(
        bound,
        f"{n} exponential records under Exp(1), one moved from 0 to {apart:g}, the others 0",
        truth=float(gamma_variation(pair)),
    )


def _theorem_2_ii_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    n, apart = at.knobs.size, at.knobs.apart
    pair = GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart)
    moved, affinity = number(float(pair.movement)), number(math.exp(-float(pair.affinity)))
    crossing = number((n + 1) * math.log1p(apart) / apart)
    return f"""
- {pair_text(at)}.
- **As stated**: $\\sqrt{{\\kappa\\rho/2c}} = \\sqrt{{{KAPPA:.4f} \\cdot {number(apart)}/2}} = {bound.stated}$; the
  bound does not depend on $n$, and a bound of 1 or more is vacuous.
- **Proved**: $\\min\\bigl\\{{\\tfrac12\\sqrt{{\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell)}},\\;
  \\sqrt{{1 - BC^2}}\\bigr\\}} = {bound.proved}$, with $\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell) = {moved}$ and
  the Bhattacharyya coefficient $BC = {affinity}$.
- **Exactly**: the densities cross once, at $(n + 1) \\ln(1 + \\rho)/\\rho = {crossing}$, and the distance
  is the difference of the masses below.
"""


# Several draws

ALGORITHM_1 = Claim(
    Reference("Dimitrakakis14", "Algorithm 1"),
    "Answers from posterior samples are private",
    r"k \text{ answers}: \; \epsilon = 2 L \rho",
    Verdict.AMENDED,
    "Theorem 2 covers one sample, but the algorithm releases k samples and does not compose their losses. The loss of "
    "k answers is k times as large; in zCDP, the loss is k (L ρ)^2/2.",
)


def algorithm_1(log_ratio: float, *, answers: ArrayLike) -> Bound:
    """Return the privacy loss of k = `answers` (...) answers, from L rho = `log_ratio`. [Dimitrakakis14] Algorithm 1.

    Printed is 2 L rho, the loss of one sample by Theorem 2; certified is k times this. See also `concentrated_cost`.
    """
    k = np.asarray(answers, dtype=np.float64)
    return Bound(
        ALGORITHM_1,
        np.full(k.shape, 2 * log_ratio),
        2 * log_ratio * k,
        "nats of privacy loss",
        assumptions=(Assumption("One query is answered", bool(np.all(k <= 1))),),
    )


def concentrated_cost(log_ratio: float, *, answers: ArrayLike) -> FloatArray:
    """Return k (L rho)^2/2, the zero-concentrated cost of k = `answers` (...) samples. [Dimitrakakis14] Algorithm 1.

    The losses of a sample lie in an interval of length eta = 2 L rho, whose cost is eta^2/8.
    """
    return np.asarray(answers, dtype=np.float64) * log_ratio**2 / 2


def _repeated_loss(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Compute the loss if every answer is the same very rare parameter."""
    return at.knobs.answers * np.atleast_1d(loss_of_rare_parameter(RARE, log_ratio=at.knobs.log_ratio))


def _algorithm_1_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    moved, k = number(at.knobs.log_ratio), at.knobs.answers
    cost = number(float(concentrated_cost(at.knobs.log_ratio, answers=k)))
    return f"""
- **As stated**: $2 L \\rho = 2 \\cdot {moved} = {bound.stated}$ nats, which is Theorem 2 for one sample; every answer
  is a new sample.
- **Proved**: $2 k L \\rho = 2 \\cdot {k} \\cdot {moved} = {bound.proved}$ nats. This loss is reached if all answers
  equal a parameter with little prior mass.
- In zero-concentrated terms the cost is $k (L\\rho)^2/2 = {cost}$.
"""


# The error of the empirical distribution of samples


MOST_THROWS, MOST_DRAWS = 40_000, 4_000
"""The numbers of simulated cells and of empirical distributions at one setting."""


LEMMA_2 = Claim(
    Reference("Dimitrakakis14", "Lemma 2"),
    "Samples give the posterior with a small L1 error",
    r"\|\hat P - P\|_1 \le \sqrt{\tfrac{3}{n} \ln \tfrac{1}{\delta}}, \quad m \le \log_2 \sqrt{1/\delta}",
    Verdict.LOOSE,
    "With two cells the lemma needs δ <= 1/16. The bound √(2 ln((2ᵐ - 2)/δ)/n) holds for any m and δ. "
    "Under the condition of the lemma, this bound is also smaller.",
)


def lemma_2(samples: ArrayLike, *, delta: float, cells: int) -> Bound:
    """Return the L1 error of the empirical distribution of n = `samples` (...) samples. [Dimitrakakis14] Lemma 2.

    Printed sqrt(3 ln(1/delta)/n), for at most log2 sqrt(1/delta) cells; certified sqrt(2 ln((2^m - 2)/delta)/n) for
    any m >= 2, by the inequality of Weissman et al., and at most 2.
    """
    n = np.asarray(samples, dtype=np.float64)
    log_events = cells * math.log(2) + math.log1p(-(2.0 ** (1 - cells)))
    with np.errstate(divide="ignore"):
        printed, certified = np.sqrt(-3 * math.log(delta) / n), np.sqrt(2 * (log_events - math.log(delta)) / n)
    return Bound(
        LEMMA_2,
        printed,
        np.minimum(certified, 2.0),
        "L1 distance",
        confidence=1 - delta,
        assumptions=(Assumption("m is at most log2 √(1/δ)", cells <= -math.log2(delta) / 2),),
    )


def fair_errors(rng: np.random.Generator, *, samples: int, cells: int, draws: int) -> FloatArray:
    """Sample L1 errors of the empirical distribution of `samples` throws of a fair die with `cells` sides: (draws,).

    [Dimitrakakis14] Lemma 2.
    """
    counts = rng.multinomial(samples, np.full(cells, 1 / cells), draws)
    return np.abs(counts / samples - 1 / cells).sum(axis=-1)


def mean_fair_error(samples: int, *, cells: int) -> float:
    """Return the exact mean of `fair_errors`: m times a binomial's mean absolute deviation over n, by De Moivre.

    That is 2 k (1 - p) P(X = k), k = floor(n p) + 1, for X ~ Bin(n, p), p = 1/m. [Dimitrakakis14] Lemma 2.
    """
    n, m = samples, cells
    k = n // m + 1
    from scipy import stats  # late, because the import is slow

    return float(2 * k * (m - 1) * stats.binom.pmf(k, n, 1 / m) / n)


def _simulated_error(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the 1 - delta quantile of a fair die's L1 error.

    Other distributions may have a larger error, so this simulation can refute a bound but not confirm it.
    """
    samples, cells, draws = at.knobs.samples, at.knobs.cells, min(MOST_DRAWS, MOST_THROWS // at.knobs.cells)
    rng = stream(subject.seed, "bounds", "empirical law")
    study = Simulation(np.sort(fair_errors(rng, samples=samples, cells=cells, draws=draws))[None])
    mean = np.array([mean_fair_error(samples, cells=cells)])
    quantile = quantile_beside(study, mean, printed=bound.printed, delta=at.knobs.delta)
    return replace(quantile, name=f"{numeral(1 - at.knobs.delta, 6)} quantile of simulated fair dice")


def _lemma_2_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    n, delta, m = at.knobs.samples, at.knobs.delta, at.knobs.cells
    return f"""
- $n = {n}$ samples in $m = {m}$ cells; the lemma requires $m \\le \\log_2 \\sqrt{{1/\\delta}} =
  {number(-math.log2(delta) / 2)}$.
- **As stated**: $\\sqrt{{\\tfrac3n \\ln\\tfrac1\\delta}} =
  \\sqrt{{\\tfrac{{3}}{{{n}}} \\ln\\tfrac{{1}}{{{number(delta)}}}}} = {bound.stated}$.
- **Proved**, for any $m \\ge 2$ and every distribution: $\\sqrt{{\\tfrac2n \\ln\\tfrac{{2^m-2}}\\delta}}$, at most 2:
  ${bound.proved}$.
- The simulation throws a fair die of {m} sides. The bounds hold for all distributions, and some distributions have
  larger errors.
"""


EXHIBITS: dict[str, Exhibit] = {
    "ALT_THEOREM_2_I": Exhibit(
        THEOREM_2_I,
        lambda subject, at: given(theorem_2_i(at.knobs.log_ratio), SUPPOSED),
        _theorem_2_i_text,
        (Axis.LOG_RATIO,),
        *LOSS_TEXT,
        measure=exact_value(
            "loss at a rare parameter", lambda subject, at: loss_of_rare_parameter(RARE, log_ratio=at.knobs.log_ratio)
        ),
    ),
    "ALT_THEOREM_2_II": Exhibit(
        THEOREM_2_II,
        lambda subject, at: given(
            theorem_2_ii(exponential_pair(at), concentration=C, distance=at.knobs.apart), EXPONENTIAL
        ),
        _theorem_2_ii_text,
        (Axis.APART, Axis.SIZE),
        "a total variation distance of at most {}",
        "total variation distance of the posteriors",
        defaults=(("apart", 0.2), ("size", 200)),
        measure=exact_value("exact distance", lambda subject, at: gamma_variation(exponential_pair(at))),
    ),
    "ALT_ALGORITHM_1": Exhibit(
        ALGORITHM_1,
        lambda subject, at: given(algorithm_1(at.knobs.log_ratio, answers=at.knobs.answers), SUPPOSED),
        _algorithm_1_text,
        (Axis.ANSWERS, Axis.LOG_RATIO),
        *LOSS_TEXT,
        measure=exact_value("largest loss", _repeated_loss),
    ),
    "ALT_LEMMA_2": Exhibit(
        LEMMA_2,
        lambda subject, at: flat(lemma_2(at.knobs.samples, delta=at.knobs.delta, cells=at.knobs.cells)),
        _lemma_2_text,
        (Axis.SAMPLES, Axis.DELTA),
        "an L1 error of at most {}",
        "L1 distance of the empirical distribution from the true one",
        also=("bounds.cells",),
        defaults=(("cells", 2),),
        says=BoundKind.QUANTILE,
        measure=_simulated_error,
        trials="empirical distributions",
    ),
}
