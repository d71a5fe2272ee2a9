"""Counterexamples to [Zhang16] Theorem 1 and its lemmas, at small settings: one Beta row and one epsilon."""

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from dpbayes.base.bisection import turning_point
from dpbayes.base.quadrature import panel_rule
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.theory.claims.claim import Counterexample
from dpbayes.theory.zhang16.posterior_kl.bounds import (
    EXPECTATION,
    LEMMA_A3,
    LEMMA_A4,
    MEAN_OF_Z,
    ORDER,
    REFINED,
    THEOREM_1,
    TRUNCATION,
    Constants,
    printed_constants,
    printed_deviation,
    printed_expectation,
    printed_order,
    printed_refinement,
)
from dpbayes.theory.zhang16.posterior_kl.exact import (
    Rows,
    clipped_mean,
    expected_kl,
    kl_at,
    oscillation,
    printed_clipped_mean,
)

_SHARES, _WEIGHTS = panel_rule(nodes=20)
"""Quadrature nodes in [0, 1] and their weights, for one piece of the integral."""


def beta_row(prior: tuple[float, float], counts: tuple[float, float], n: float) -> Rows:
    """Return the single row of one binary node, counts not above n."""
    return Rows(np.array([prior], dtype=float), np.array([counts], dtype=float), np.ones(1, dtype=np.int64), float(n))


def exceedance(row: Rows, scale: float, threshold: float) -> float:
    """Return P[f >= threshold] for one Beta row and n up to a million: exact up to quadrature over the first update.

    f is convex. The first updates with f < threshold for some second update therefore form an interval. For each of
    them, the second updates with f < threshold form an interval too. Bisection finds both. The integrand jumps where
    the second interval reaches an atom at 0 or n, so the quadrature is cut there.
    """
    if threshold <= 0:
        return 1.0
    n, counts = np.array([row.n]), row.counts[0]
    none, middle = np.zeros(1), counts[:1]

    def below(first: FloatArray, second: FloatArray) -> BoolArray:
        return _textbook_kl(row, first, second) < threshold

    def lowest(first: FloatArray) -> FloatArray:
        return _turn(lambda z: _slope(row, 1, (first, z)) > 0, np.zeros(first.shape), np.full(first.shape, row.n))

    def crossings(edge: FloatArray) -> list[FloatArray]:
        best = _turn(lambda z: _slope(row, 0, (z, edge)) > 0, none, n)
        return [_turn(lambda z: below(z, edge), none, best), _turn(lambda z: ~below(z, edge), best, n)]

    cuts = [_turn(lambda z: below(z, lowest(z)), none, middle), _turn(lambda z: ~below(z, lowest(z)), middle, n)]
    cuts += crossings(none) + crossings(n)
    first, weights = _clipped_law(float(counts[0]), row.n, scale, cuts=np.concatenate(cuts))
    best, zeros, full = lowest(first), np.zeros(first.shape), np.full(first.shape, row.n)
    low = _laplace_below(_turn(lambda z: below(first, z), zeros, best) - counts[1], scale)
    high = _laplace_below(counts[1] - _turn(lambda z: ~below(first, z), best, full), scale)
    outside = np.where(below(first, zeros), 0.0, low) + np.where(below(first, full), 0.0, high)
    return float(np.clip(np.where(below(first, best), outside, 1.0) @ weights, 0.0, 1.0))


def _textbook_kl(row: Rows, first: FloatArray, second: FloatArray) -> FloatArray:
    """f from ln Beta, ten times as fast as the stable form. The rounding errors are negligible here."""
    (a, b), (c, d) = row.posterior[0], (row.prior[0, 0] + first, row.prior[0, 1] + second)
    drift = (a - c) * special.digamma(a) + (b - d) * special.digamma(b) - (a + b - c - d) * special.digamma(a + b)
    log_beta = special.gammaln(c) + special.gammaln(d) - special.gammaln(c + d)
    return np.asarray(log_beta - special.betaln(a, b) + drift)


def _clipped_law(counts: float, n: float, scale: float, *, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights for the distribution of clip(counts + Lap(scale), 0, n), the atoms first.

    Nodes are denser at the ends of every piece, where the integrand may behave like a square root.
    """
    steps = scale * np.array([0.0, 1.0, 3.0, 8.0, 20.0, 60.0])
    ends = np.unique(np.clip(np.concatenate([counts - steps, counts + steps, cuts, [0, n]]), 0, n))
    angle, widths = np.pi / 2 * _SHARES, np.diff(ends)[:, None]
    nodes = (ends[:-1, None] + widths * np.sin(angle) ** 2).ravel()
    lengths = (widths * _WEIGHTS * np.pi / 2 * np.sin(2 * angle)).ravel()
    density = np.exp(-np.abs(nodes - counts) / scale) / (2 * scale) * lengths
    atoms = np.exp(-np.array([counts, n - counts]) / scale) / 2
    return np.concatenate([[0.0, n], nodes]), np.concatenate([atoms, density])


def _slope(row: Rows, k: int, updates: tuple[FloatArray, FloatArray]) -> FloatArray:
    """df/dZ_k, which rises with Z_k."""
    a, both = row.posterior[0], row.prior[0].sum() + updates[0] + updates[1]
    released = special.digamma(row.prior[0, k] + updates[k]) - special.digamma(both)
    return np.asarray(released - special.digamma(a[k]) + special.digamma(a.sum()))


def _turn(is_beyond: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray) -> FloatArray:
    inside, outside = turning_point(lambda z: ~is_beyond(z), low, high, halvings=40)
    return (inside + outside) / 2


def _laplace_below(x: FloatArray, scale: float) -> FloatArray:
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(x < 0, tail, 1 - tail)


def counterexample_deviation(which: Constants = Constants.THEOREM) -> Counterexample:
    """Return an example with alpha, beta >= 2 and P[f >= E f + deviation] > delta. [Zhang16] Theorem 1."""
    row, scale, delta = beta_row((2, 2), (100, 0), 100), 2 / 0.001, 0.2
    mean = float(expected_kl((row,), np.array([scale]))[0])
    truth = exceedance(row, scale, mean + printed_deviation((row,), which, delta=delta))
    setting = (
        "One binary node, prior Beta(2, 2), counts (100, 0), ε = 0.001, δ = 0.2; the values "
        "are probabilities that the bound is exceeded."
    )
    return Counterexample(THEOREM_1, setting, truth, delta, math.nan, "probability")


def counterexample_expectation() -> Counterexample:
    """Return an example with a uniform prior and zero counts: U is below E f. [Zhang16] Theorem 1, U."""
    row = beta_row((1, 1), (0, 0), 50)
    exact = float(expected_kl((row,), np.array([34.0]))[0])
    setting = "Prior Beta(1, 1), counts (0, 0) of n = 50, b = 34."
    return Counterexample(EXPECTATION, setting, exact, printed_expectation((row,)), exact, "nats")


def counterexample_refinement() -> Counterexample:
    """Return an example with n >= b and alpha, beta >= 2: the bound is below E f. [Zhang16] Theorem 1, refined."""
    row, scale = beta_row((2, 2), (25, 25), 50), np.array([2.0])
    exact, printed = float(expected_kl((row,), scale)[0]), float(printed_refinement((row,), scale)[0])
    return Counterexample(REFINED, "Prior Beta(2, 2), counts (25, 25), n = 50, b = 2.", exact, printed, exact, "nats")


def counterexample_order() -> Counterexample:
    """Return an example: the stated order of the KL rises with epsilon. [Zhang16] Theorem 1, last display."""
    less, more = (float(x) for x in printed_order(33, 50, 34 / np.array([0.1, 10.0]), delta=0.05))
    setting = "Naive Bayes with 16 features, n = 50, δ = 0.05: the O() terms at ε = 10 exceed those at ε = 0.1."
    return Counterexample(ORDER, setting, more, less, math.nan, "nats")


def counterexample_lemma_a3() -> Counterexample:
    """Return an example: the KL divergence at one release is above the stated bound. [Zhang16] Lemma A.3."""
    row, updates = beta_row((2, 2), (0, 0), 10), (3.0, 0.0)
    exact, printed = float(kl_at(row, np.array([updates]))[0]), printed_lemma_a3(row, updates)
    setting = "Prior Beta(2, 2), counts (0, 0), released (3, 0), n = 10."
    return Counterexample(LEMMA_A3, setting, exact, printed, exact, "nats")


def printed_lemma_a3(row: Rows, updates: tuple[float, float]) -> float:
    """Return sum_k D_k ln(alpha_k + D_k) - Z_k ln(alpha_k + D_k - 1) in nats. [Zhang16] Lemma A.3."""
    a = row.posterior[0]
    return float(row.counts[0] @ np.log(a) - np.array(updates) @ np.log(a - 1))


def lemma_a2_slack(a: float, t: float) -> float:
    """Return the right side minus the left side: t - a ln((a+t)/a) >= 0 for a, t >= 0. [Zhang16] Lemma A.2."""
    if a == 0:
        return t
    # For a far below t the ratio t/a may overflow.
    return t - a * (math.log1p(t / a) if t < a else math.log(a + t) - math.log(a))


def counterexample_lemma_a4(which: Constants = Constants.LEMMA) -> Counterexample:
    """Return an example with a small prior: the oscillation is above the stated constants. [Zhang16] Lemma A.4.

    The prior is below the paper's condition; no example within the condition is known.
    """
    row = beta_row((0.1, 0.1), (1, 0), 1)
    exact, printed = float(oscillation(row)[0]), float(printed_constants(row, which)[0])
    setting = "Prior Beta(0.1, 0.1), outside the paper's condition alpha, beta >= 2; counts (1, 0), n = 1."
    return Counterexample(LEMMA_A4, setting, exact, printed, exact, "nats")


def counterexample_mean_of_z() -> Counterexample:
    """Return an example: the stated mean of a clipped update is above n, its maximum. [Zhang16] Appendix A.2, E Z.

    `truth` is the error of the stated mean, (n/2) exp(-(n-D)/b).
    """
    counts, n, scale = np.array(50.0), 50.0, np.array(34.0)
    printed, correct = float(printed_clipped_mean(counts, n, scale)), float(clipped_mean(counts, n, scale))
    setting = "Count 50 of n = 50, b = 34; the numbers are errors of the stated mean; a correct mean has the error 0."
    return Counterexample(MEAN_OF_Z, setting, printed - correct, 0.0, printed - correct, "counts")


def counterexample_truncation() -> Counterexample:
    """Return an example: clipping increases the KL divergence. [Zhang16] Section 3.1, truncation."""
    row = beta_row((1, 1), (10, 0), 10)
    before, after = (float(kl_at(row, np.array([[z, 2.0]]))[0]) for z in (30.0, 10.0))
    setting = (
        "Prior Beta(1, 1), counts (10, 0), n = 10, noisy counts (30, 2); the KL divergence "
        "after clipping is compared with the KL divergence before clipping."
    )
    return Counterexample(TRUNCATION, setting, after, before, math.nan, "nats")
