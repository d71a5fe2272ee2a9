"""[Dimitrakakis14] Equation 2.7, Assumption 1, Assumption 2, Lemma 1, Lemma 3 to Lemma 7."""

import math

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.theory.dimitrakakis14.constants import counterexample_exponential_family, counterexample_lemma_7, lemma_1
from dpbayes.theory.dimitrakakis14.families import (
    counterexample_lemma_4,
    counterexample_lemma_5,
    counterexample_lemma_6,
    lemma_3,
    lemma_4,
    lemma_5,
    lemma_5_without_coefficient,
    lemma_6,
    lemma_6_of_precision,
    printed_beta_concentration,
)
from tests.conftest import FAR


def test_equation_2_7_is_infinite_where_one_probability_is_zero():
    """[Dimitrakakis14] Equation 2.7."""
    with np.errstate(divide="ignore"):
        assert np.isinf(np.abs(np.log(0.0) - np.log(0.3)))


def test_assumption_1_and_lemma_1_constants_of_many_records_are_those_of_one():
    """[Dimitrakakis14] Assumption 1. [Dimitrakakis14] Lemma 1."""
    bound = lemma_1([0.5, 2.0], records=7)
    np.testing.assert_array_equal(bound.printed, [3.5, 14])
    random = np.random.default_rng(8)
    x, y = random.exponential(size=(2, 2000, 7))
    y[::2, 1:] = x[::2, 1:]  # half of the pairs differ in one record, which reaches the constant
    steepest = np.abs(2.0 * (x - y).sum(axis=1)) / np.abs(x - y).sum(axis=1)
    assert steepest.max() == pytest.approx(bound.certified[1], rel=1e-9)


@pytest.mark.parametrize("claim", [lemma_3, lemma_4])
def test_assumption_2_holds_with_equality_for_exponential_and_laplace_records(claim):
    """[Dimitrakakis14] Assumption 2. [Dimitrakakis14] Lemma 3. [Dimitrakakis14] Lemma 4."""
    rate, levels = 0.7, np.array([0.0, 0.5, 3.0])
    draws = np.random.default_rng(9).exponential(1 / rate, 10**6)  # theta, or 1/s
    outside = np.array([np.mean(draws > level) for level in levels])
    bound = claim(rate, at=levels)
    assert np.all(np.abs(outside - bound.certified) <= FAR * np.sqrt(outside * (1 - outside) / len(draws)))
    np.testing.assert_array_equal(bound.printed, bound.certified)


def test_lemma_4_printed_set_lets_in_rough_scales():
    """[Dimitrakakis14] Lemma 4: s >= L for s >= 1/L."""
    example = counterexample_lemma_4(0.5)
    scale = 0.5
    moved = abs(stats.laplace(0, scale).logpdf(3.0) - stats.laplace(0, scale).logpdf(2.0))
    assert example.truth == pytest.approx(moved)
    assert example.refutes


@pytest.mark.parametrize(("a", "n", "c"), [(2, 10, -4.397), (50, 10, -131.9), (2, 1, 0.208)])
def test_lemma_5_appendix_concentration_is_negative(a, n, c):
    """[Dimitrakakis14] Lemma 5 (report)."""
    assert printed_beta_concentration(a, trials=n) == pytest.approx(c, rel=2e-3)


def test_lemma_5_no_parameter_is_smooth_below_ln_n():
    """[Dimitrakakis14] Lemma 5: the least constant over theta is ln n, by all pairs of counts."""
    n = 10
    k = np.arange(n + 1)
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    i, j = np.tril_indices(n + 1, -1)

    def constant(z):
        return np.abs((logs[i] - logs[j]) / (i - j) + z).max()

    assert min(constant(z) for z in np.linspace(-3, 3, 601)) == pytest.approx(math.log(n))
    example = counterexample_lemma_5(n)
    assert example.refutes
    assert example.truth == 1
    levels = [0.0, 1.0, 2.0, 2.5, 4.0, 7.0]
    bound = lemma_5(2.0, at=levels, trials=n)
    draws = special.logit(np.random.default_rng(10).beta(2, 2, 4000))
    constants = np.array([constant(z) for z in draws])
    for level, mass in zip(levels, bound.certified, strict=True):
        seen = np.mean(constants > level)
        assert abs(seen - mass) <= FAR * math.sqrt(max(mass * (1 - mass), 1e-9) / len(draws)) + 1e-9
    assert bound.certified[0] == bound.certified[2] == 1
    assert bound.certified[3] < 1


def test_lemma_5_without_its_coefficient():
    """[Dimitrakakis14] Lemma 5, mended: the mass of |logit theta| > L, whatever n is."""
    levels = [0.0, 1.0, 4.0]
    draws = special.logit(np.random.default_rng(10).beta(2, 2, 10**6))
    masses = lemma_5_without_coefficient(2.0, at=levels)
    for level, mass in zip(levels, masses, strict=True):
        seen = np.mean(np.abs(draws) > level)
        assert abs(seen - mass) <= FAR * math.sqrt(max(mass * (1 - mass), 1e-9) / len(draws)) + 1e-9
    np.testing.assert_array_equal(masses, lemma_5(2.0, at=levels, trials=1).certified)


def test_lemma_6_small_variances_are_not_rare_enough():
    """[Dimitrakakis14] Lemma 6: .0952 > .0067 at L = 5 (report)."""
    example = counterexample_lemma_6()
    assert (example.truth, example.printed) == (pytest.approx(0.0952, abs=5e-5), pytest.approx(0.0067, abs=5e-5))
    variances = np.random.default_rng(11).exponential(1.0, 10**6)
    assert abs(np.mean(1 / (2 * variances) > 5) - example.truth) < FAR * math.sqrt(example.truth / 10**6)
    bound = lemma_6(1.0, at=[0.0, 0.5, 5.0])
    np.testing.assert_allclose(bound.certified, [1.0, np.mean(variances < 1), np.mean(variances < 0.1)], atol=2e-3)
    assert bound.certified[2] == example.certified
    corrected = lemma_6_of_precision(1.0, at=[2.5])
    precisions = np.random.default_rng(12).exponential(1.0, 10**6)
    assert abs(np.mean(precisions > 5) - corrected[0]) < FAR * math.sqrt(corrected[0] / 10**6)


def test_lemma_7_two_nodes_reach_the_corrected_bound():
    """[Dimitrakakis14] Lemma 7: 4.394 > 2.303 (report)."""
    example = counterexample_lemma_7()
    assert example.truth == pytest.approx(4.394, abs=5e-4)
    assert example.printed == pytest.approx(2.303, abs=5e-4)
    assert example.truth == pytest.approx(example.certified)


def test_section_5_exponential_families_need_the_absolute_parameter():
    """[Dimitrakakis14] Section 5, exponential families."""
    example = counterexample_exponential_family(0.2)
    assert example.refutes
    assert example.truth == pytest.approx(example.certified)
