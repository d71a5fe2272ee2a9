"""Counterexamples to [Zhang16] Theorem 1 and its lemmas, at small settings: one Beta row and one epsilon."""

import math

import numpy as np

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

GRID = 1000
"""Quantiles of an update whose pairs stand for all pairs of updates."""


def _beta_row(prior: tuple[float, float], counts: tuple[float, float], n: float) -> Rows:
    """Return the single row of one binary node, counts not above n."""
    return Rows(np.array([prior], dtype=float), np.array([counts], dtype=float), np.ones(1, dtype=np.int64), float(n))


def exceedance(row: Rows, scale: float, threshold: float) -> float:
    """Return P[f >= threshold] for one Beta row, over a grid of equally likely pairs of updates: within about 1e-4."""
    levels = (np.arange(GRID) + 0.5) / GRID - 0.5
    noise = -scale * np.sign(levels) * np.log1p(-2 * np.abs(levels))
    first, second = (np.clip(count + noise, 0, row.n) for count in row.counts[0])
    updates = np.stack(np.meshgrid(first, second), axis=-1)
    return float((kl_at(row, updates[..., None, :]) >= threshold).mean())


def counterexample_deviation(which: Constants = Constants.THEOREM) -> Counterexample:
    """Return an example with alpha, beta >= 2 and P[f >= E f + deviation] > delta. [Zhang16] Theorem 1."""
    row, scale, delta = _beta_row((2, 2), (100, 0), 100), 2 / 0.001, 0.2
    mean = float(expected_kl((row,), np.array([scale]))[0])
    truth = exceedance(row, scale, mean + printed_deviation((row,), which, delta=delta))
    setting = (
        "One binary node, prior Beta(2, 2), counts (100, 0), ε = 0.001, δ = 0.2; the values "
        "are probabilities that the bound is exceeded."
    )
    return Counterexample(THEOREM_1, setting, truth, delta, math.nan, "probability")


def counterexample_expectation() -> Counterexample:
    """Return an example with a uniform prior and zero counts: U is below E f. [Zhang16] Theorem 1, U."""
    row = _beta_row((1, 1), (0, 0), 50)
    exact = float(expected_kl((row,), np.array([34.0]))[0])
    setting = "Prior Beta(1, 1), counts (0, 0) of n = 50, b = 34."
    return Counterexample(EXPECTATION, setting, exact, printed_expectation((row,)), exact, "nats")


def counterexample_refinement() -> Counterexample:
    """Return an example with n >= b and alpha, beta >= 2: the bound is below E f. [Zhang16] Theorem 1, refined."""
    row, scale = _beta_row((2, 2), (25, 25), 50), np.array([2.0])
    exact, printed = float(expected_kl((row,), scale)[0]), float(printed_refinement((row,), scale)[0])
    return Counterexample(REFINED, "Prior Beta(2, 2), counts (25, 25), n = 50, b = 2.", exact, printed, exact, "nats")


def counterexample_order() -> Counterexample:
    """Return an example: the stated order of the KL rises with epsilon. [Zhang16] Theorem 1, last display."""
    less, more = (float(x) for x in printed_order(33, 50, 34 / np.array([0.1, 10.0]), delta=0.05))
    setting = "Naive Bayes with 16 features, n = 50, δ = 0.05: the O() terms at ε = 10 exceed those at ε = 0.1."
    return Counterexample(ORDER, setting, more, less, math.nan, "nats")


def counterexample_lemma_a3() -> Counterexample:
    """Return an example: the KL divergence at one release is above the stated bound. [Zhang16] Lemma A.3."""
    row, updates = _beta_row((2, 2), (0, 0), 10), (3.0, 0.0)
    exact, printed = float(kl_at(row, np.array([updates]))[0]), printed_lemma_a3(row, updates)
    setting = "Prior Beta(2, 2), counts (0, 0), released (3, 0), n = 10."
    return Counterexample(LEMMA_A3, setting, exact, printed, exact, "nats")


def printed_lemma_a3(row: Rows, updates: tuple[float, float]) -> float:
    """Return sum_k D_k ln(alpha_k + D_k) - Z_k ln(alpha_k + D_k - 1) in nats. [Zhang16] Lemma A.3."""
    a = row.posterior[0]
    return float(row.counts[0] @ np.log(a) - np.array(updates) @ np.log(a - 1))


def small_prior_lemma_a4(which: Constants = Constants.LEMMA) -> Counterexample:
    """Return an example with a small prior: the oscillation is above the stated constants. [Zhang16] Lemma A.4.

    The prior is below the paper's condition; no example within the condition is known.
    """
    row = _beta_row((0.1, 0.1), (1, 0), 1)
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
    row = _beta_row((1, 1), (10, 0), 10)
    before, after = (float(kl_at(row, np.array([[z, 2.0]]))[0]) for z in (30.0, 10.0))
    setting = (
        "Prior Beta(1, 1), counts (10, 0), n = 10, noisy counts (30, 2); the KL divergence "
        "after clipping is compared with the KL divergence before clipping."
    )
    return Counterexample(TRUNCATION, setting, after, before, math.nan, "nats")
