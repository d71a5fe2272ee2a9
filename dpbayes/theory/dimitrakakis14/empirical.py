"""The error of the empirical distribution of posterior samples: Lemma 2 of [Dimitrakakis14]."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number, whole_number
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, flat, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.claims.simulation import MOST_RELEASES, Simulation, quantile_beside
from dpbayes.theory.dimitrakakis14.game import checked_counts

MOST_THROWS, MOST_DRAWS = 40_000, 4_000
"""The numbers of simulated cells and of empirical distributions at one setting."""

MOST_SAMPLES = 10**9
MOST_CELLS = 10**4


LEMMA_2 = Claim(
    Reference("Dimitrakakis14", "Lemma 2"),
    "Samples give the posterior with a small L1 error",
    r"\|\hat P - P\|_1 \le \sqrt{\tfrac{3}{n} \ln \tfrac{1}{\delta}}, \quad m \le \log_2 \sqrt{1/\delta}",
    Verdict.LOOSE,
    "With two cells the lemma needs delta <= 1/16. The bound sqrt(2 ln((2^m - 2)/delta)/n) holds for any m and delta. "
    "Under the condition of the lemma, this bound is also smaller.",
)


def lemma_2(samples: ArrayLike, *, delta: float, cells: int) -> Bound:
    """Return the L1 error of the empirical distribution of n = `samples` (...) samples. [Dimitrakakis14] Lemma 2.

    Printed sqrt(3 ln(1/delta)/n), for at most log2 sqrt(1/delta) cells; certified sqrt(2 ln((2^m - 2)/delta)/n) for
    any m >= 2, by the inequality of Weissman et al., and at most 2.
    """
    n = checked_counts(samples)
    d = finite_number("delta", delta, low=1e-300, high=1.0)
    m = whole_number("The number of cells", cells, low=2, high=10**6)
    log_events = m * math.log(2) + math.log1p(-(2.0 ** (1 - m)))
    with np.errstate(divide="ignore"):
        printed, certified = np.sqrt(-3 * math.log(d) / n), np.sqrt(2 * (log_events - math.log(d)) / n)
    return Bound(
        LEMMA_2,
        printed,
        np.minimum(certified, 2.0),
        "L1 distance",
        confidence=1 - d,
        assumptions=(Assumption("m is at most log2 sqrt(1/delta)", m <= -math.log2(d) / 2),),
    )


def fair_errors(rng: np.random.Generator, *, samples: int, cells: int, draws: int) -> FloatArray:
    """Sample L1 errors of the empirical distribution of `samples` throws of a fair die with `cells` sides: (draws,).

    [Dimitrakakis14] Lemma 2. Errors: InputError for numbers out of range.
    """
    n, m = _checked(samples, cells)
    size = whole_number("The number of samples", draws, low=1, high=MOST_RELEASES)
    counts = rng.multinomial(n, np.full(m, 1 / m), size)
    return np.abs(counts / n - 1 / m).sum(axis=-1)


def mean_fair_error(samples: int, *, cells: int) -> float:
    """Return the exact mean of `fair_errors`: m times a binomial's mean absolute deviation over n, by De Moivre.

    That is 2 k (1 - p) P(X = k), k = floor(n p) + 1, for X ~ Bin(n, p), p = 1/m. [Dimitrakakis14] Lemma 2.
    """
    n, m = _checked(samples, cells)
    k = n // m + 1
    from scipy import stats  # late, because the import is slow

    return float(2 * k * (m - 1) * stats.binom.pmf(k, n, 1 / m) / n)


def fair_error(
    rng: np.random.Generator, *, samples: int, cells: int, printed: FloatArray, delta: float, draws: int
) -> Measured:
    """Simulate the 1 - delta quantile of a fair die's L1 error, and how often `printed` (1,) is exceeded.

    Other distributions may have a larger error, so this simulation can refute a bound but not confirm it.
    [Dimitrakakis14] Lemma 2.
    """
    study = Simulation(np.sort(fair_errors(rng, samples=samples, cells=cells, draws=draws))[None])
    mean = np.array([mean_fair_error(samples, cells=cells)])
    quantile = quantile_beside(study, mean, printed=printed, delta=delta)
    return replace(quantile, name=f"{numeral(1 - delta, 6)} quantile of simulated fair dice")


def simulated_error(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the error of a fair die's empirical distribution."""
    return fair_error(
        stream(subject.seed, "bounds", "empirical law"),
        samples=at.knobs.samples,
        cells=at.knobs.cells,
        printed=bound.printed,
        delta=at.knobs.delta,
        draws=min(MOST_DRAWS, MOST_THROWS // at.knobs.cells),
    )


def lemma_2_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 2."""
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


def _checked(samples: int, cells: int) -> tuple[int, int]:
    return (
        whole_number("The number of samples", samples, low=1, high=MOST_SAMPLES),
        whole_number("The number of cells", cells, low=2, high=MOST_CELLS),
    )


EXHIBITS: dict[str, Exhibit] = {
    "ALT_LEMMA_2": Exhibit(
        LEMMA_2,
        lambda subject, at: flat(lemma_2(at.knobs.samples, delta=at.knobs.delta, cells=at.knobs.cells)),
        lemma_2_text,
        (Axis.SAMPLES, Axis.DELTA),
        "an L1 error of at most {}",
        "L1 distance of the empirical distribution from the true one",
        also=("bounds.cells",),
        says=BoundKind.QUANTILE,
        measure=simulated_error,
        trials="empirical distributions",
    )
}
