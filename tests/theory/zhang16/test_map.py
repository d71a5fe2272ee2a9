"""[Zhang16] Algorithm 3, footnote 4, Corollary 4, Lemma 4."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpbayes.base.validation import InputError
from dpbayes.theory.zhang16.map import (
    TrimmedRow,
    corollary_4,
    counterexample_algorithm_3,
    counterexample_corollary_4,
    counterexample_footnote_4,
    counterexample_lemma_4,
    counterexample_lemma_4_masses,
    lemma_4,
    mass_sensitivity,
    shortfall,
)


def trimmed_density(theta, a, b, omega):
    law = stats.beta(a, b)
    return law.pdf(theta) / (law.cdf(1 - omega) - law.cdf(omega))


@pytest.mark.parametrize(("n", "moved"), [(1, 2.0), (5, 4.44), (50, 9.44), (1000, 11.0)])
def test_algorithm_3_density_moves_further_than_printed(n, moved):
    """[Zhang16] Algorithm 3: Beta(1, 1) on [.1, .9], Delta = 1.482 (report)."""
    example = counterexample_algorithm_3(TrimmedRow(n=n))
    assert example.truth == pytest.approx(moved, abs=0.013)
    assert example.printed == pytest.approx(1.482, abs=5e-4)
    assert example.refutes


@pytest.mark.parametrize(("a", "b", "omega", "n"), [(1, 1, 0.1, 3), (0.5, 3, 0.2, 6), (5, 2, 0.05, 4), (2, 2, 0.3, 1)])
def test_algorithm_3_density_sensitivity_is_that_of_a_grid(a, b, omega, n):
    """[Zhang16] Algorithm 3: all tables and a fine grid of theta, by scipy's Beta law."""
    theta = np.linspace(omega, 1 - omega, 20_001)
    table = np.array([trimmed_density(theta, a + k, b + n - k, omega) for k in range(n + 1)])
    grid = np.abs(np.diff(table, axis=0)).max()
    exact = TrimmedRow(a, b, omega, n).density_sensitivity
    assert grid <= exact * (1 + 1e-9)
    assert grid == pytest.approx(exact, rel=1e-6)


def test_algorithm_3_masses_move_by_the_hyperbolic_tangent():
    """[Zhang16] Algorithm 3: for masses sqrt(L r) holds and tanh(L r / 2) = 1 - 2 omega is sharper."""
    ratios = [0.0, math.log(9), 0.1, 30.0]
    moves = mass_sensitivity(ratios)
    np.testing.assert_allclose(moves, [0, 0.8, math.tanh(0.05), 1], rtol=1e-12)
    assert np.all(moves <= np.sqrt(ratios))
    omega, n = 0.1, 4
    worst = 0.0
    for k in range(n):
        cuts = np.linspace(omega, 1 - omega, 400)
        laws = [stats.beta(1 + k + j, 1 + n - k - j) for j in (0, 1)]
        cdfs = [(law.cdf(cuts) - law.cdf(omega)) / (law.cdf(1 - omega) - law.cdf(omega)) for law in laws]
        worst = max(worst, float(np.abs(cdfs[0] - cdfs[1]).max()))
    assert 0.2 < worst <= 0.8


@pytest.mark.parametrize(
    ("n", "epsilon", "loss"),
    [(5, 1, 1.34), (50, 1, 3.22), (1000, 1, 4.20), (5, 0.1, 0.149), (50, 0.1, 0.312), (1000, 0.1, 0.402)],
)
def test_corollary_4_is_violated_by_the_printed_score(n, epsilon, loss):
    """[Zhang16] Corollary 4 (report)."""
    example = counterexample_corollary_4(TrimmedRow(n=n), epsilon=epsilon)
    assert example.truth == pytest.approx(loss, abs=0.004)
    assert example.refutes
    assert example.truth <= example.certified


def test_corollary_4_loss_agrees_with_adaptive_quadrature():
    """[Zhang16] Corollary 4: n = 3 by scipy."""
    omega, n, rate = 0.1, 3, 1 / (2 * math.sqrt(math.log(9)))

    def weight(theta, k):
        return math.exp(rate * trimmed_density(theta, 1 + k, 1 + n - k, omega))

    masses = [integrate.quad(weight, omega, 1 - omega, args=(k,))[0] for k in range(n + 1)]
    theta = np.linspace(omega, 1 - omega, 501)
    law = np.array([rate * trimmed_density(theta, 1 + k, 1 + n - k, omega) - math.log(masses[k]) for k in range(n + 1)])
    worst = np.abs(np.diff(law, axis=0)).max()
    assert counterexample_corollary_4(TrimmedRow(n=n)).truth == pytest.approx(worst, rel=1e-6)


def test_corollary_4_promises_too_little_where_the_density_moves_further():
    """[Zhang16] Corollary 4."""
    bound = corollary_4(TrimmedRow(n=5), epsilon=[0.1, 1.0])
    assert bound.applies, "the corollary has no conditions that could fail"
    np.testing.assert_allclose(bound.certified / bound.printed, 4.4443 / 1.4823, rtol=1e-4)
    wide = corollary_4(TrimmedRow(50, 50, 0.01, 1), epsilon=1.0)
    assert wide.certified < wide.printed


def test_footnote_4_no_bound_on_the_density_below_one():
    """[Zhang16] Section 4.2, footnote 4."""
    example = counterexample_footnote_4(0.5, theta=1e-10)
    assert example.truth == pytest.approx(stats.beta(0.5, 0.5).pdf(1e-10), rel=1e-9)
    assert example.refutes
    assert counterexample_footnote_4(0.5, theta=1e-14).truth > 90 * example.truth


@pytest.mark.parametrize(
    ("example", "truth", "printed"),
    [(counterexample_lemma_4, 0.1295, 0.1181), (counterexample_lemma_4_masses, 9.03e-9, 7.88e-9)],
)
def test_lemma_4_is_violated(example, truth, printed):
    """[Zhang16] Lemma 4: n = 1, G = 5 (report)."""
    counterexample = example()
    assert counterexample.truth == pytest.approx(truth, rel=1e-3)
    assert counterexample.printed == pytest.approx(printed, rel=1.1e-2)
    assert counterexample.refutes
    assert counterexample.truth <= counterexample.certified


def test_lemma_4_quantities_are_those_of_five_cells_by_hand():
    """[Zhang16] Lemma 4: one record in the second state, uniform prior: masses (9, 7, 5, 3, 1)/25."""
    mechanism = shortfall(1, 1, counts=(0, 1), cells=5, sensitivity=2.0)
    masses = np.array([9, 7, 5, 3, 1]) / 25
    np.testing.assert_allclose(mechanism.masses, masses, rtol=1e-12)
    law = np.exp(50 * masses / 4)
    assert float(mechanism.outside(epsilon=50, t=0.0749)) == pytest.approx(law[2:].sum() / law.sum(), rel=1e-12)
    np.testing.assert_allclose(mechanism.near([0.0749, 0.09, 1.0]), [0.2, 0.4, 1.0], rtol=1e-12)


def test_lemma_4_corrected_is_never_violated_and_printed_needs_a_small_delta():
    """[Zhang16] Lemma 4, corrected: a grid of counts, priors, cells, Delta and t."""
    random, refuted = np.random.default_rng(4), 0
    for _ in range(150):
        a, b = random.uniform(0.2, 4, 2)
        counts = tuple(int(c) for c in random.integers(0, 8, 2))
        sensitivity = float(random.choice([0.3, 0.5, 1.0, 2.0]))
        mechanism = shortfall(a, b, counts=counts, cells=int(random.integers(2, 12)), sensitivity=sensitivity)
        epsilon = float(random.choice([1.0, 20.0, 200.0]))
        t = np.linspace(0.001, 0.5, 200)
        bound = lemma_4(mechanism, epsilon=epsilon, t=t)
        outside = mechanism.outside(epsilon=epsilon, t=t)
        assert np.all(outside <= bound.certified * (1 + 1e-9))
        if sensitivity <= 0.5:
            assert np.all(outside <= bound.printed * (1 + 1e-9))
        refuted += int(np.any(outside > bound.printed * (1 + 1e-9)))
    assert refuted > 5


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: TrimmedRow(omega=0.5),
        lambda: TrimmedRow(n=0),
        lambda: corollary_4(TrimmedRow(), epsilon=0.0),
    ],
)
def test_impossible_arguments_are_refused(attempt):
    with pytest.raises(InputError):
        attempt()
