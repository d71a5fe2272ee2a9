"""[Zhang16] Assumption 1, Assumption 2, Lemma 2, Lemma 3, Appendix B.2, Appendix C.1, Appendix C.2."""

import math
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from scipy import integrate, special

from dpbayes.base.validation import InputError
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.smoothness import beta_concentration_from, network_concentration
from dpbayes.theory.dimitrakakis14.game import KAPPA
from dpbayes.theory.zhang16.sampling import (
    OMEGA,
    appendix_c_2,
    constant_m,
    counterexample_appendix_c_2,
    least_printed_variation,
    likelihood_ratio,
    theorem_4_1,
    theorem_4_2,
)
from dpbayes.theory.zhang16.smoothness import (
    counterexample_appendix_b2,
    counterexample_lemma_2,
    counterexample_uniform_exponential,
    lemma_2,
    lemma_3,
)
from tests.conftest import IS_THOROUGH
from tests.strategies import DIAMOND, NAIVE_BAYES, chain, empty


def test_assumption_1_holds_for_no_constant_over_all_exponential_rates():
    """[Zhang16] Assumption 1. [Zhang16] Section 4.1, the exponential distribution."""
    example = counterexample_uniform_exponential(7.0)
    assert example.refutes
    rate, x, y = 14.0, 0.3, 1.3
    moved = abs(math.log(rate * math.exp(-rate * x)) - math.log(rate * math.exp(-rate * y)))
    assert example.truth == pytest.approx(moved, rel=1e-12)


def test_lemma_2_is_a_sum_and_vacuous_for_distances_of_a_node_alone():
    """[Zhang16] Lemma 2."""
    bound = lemma_2([1.0, 2.0, 5.0], distances=[1.0, 1.0, 0.5])
    assert (float(bound.printed), float(bound.certified)) == (12.5, 5.5)
    example = counterexample_lemma_2(0.1)
    assert example.printed == 0
    assert example.truth == pytest.approx(math.log(9))
    assert example.certified == pytest.approx(example.truth, rel=1e-12)


def test_lemma_3_is_above_the_union_bound_and_says_where_it_applies():
    """[Zhang16] Assumption 2. [Zhang16] Lemma 3."""
    bound = lemma_3([1.0, 2.0, 3.0], start=5.0, at=[5.0, 6.0, 9.0])
    assert bound.applies
    levels = np.array([5.0, 6.0, 9.0])
    exact = 1 - np.prod(1 - np.exp(-np.outer(levels, [1, 2, 3])), axis=1)
    assert np.all(exact <= bound.certified)
    assert np.all(bound.certified <= bound.printed)
    assert bound.printed[0] == pytest.approx(3 * math.exp(-5))
    too_small = lemma_3([1.0, 1.0, 1.0], start=1.0, at=2.0)
    assert not too_small.applies
    assert np.isnan(too_small.printed)
    assert np.isnan(lemma_3([1.0], start=2.0, at=1.0).certified)


def test_lemma_3_certifies_below_its_start_what_is_known_of_the_nodes_there():
    """[Zhang16] Lemma 3: the union bound needs the nodes to be concentrated at L, and no L0."""
    bound = lemma_3([1.0, 2.0], start=5.0, at=[0.5, 2.0, 5.0], valid_from=1.0)
    np.testing.assert_allclose(bound.certified, [np.nan, math.exp(-2) + math.exp(-4), math.exp(-5) + math.exp(-10)])
    assert np.array_equal(np.isnan(bound.printed), [True, True, False])


def test_appendix_b_2_names_a_concentration_that_three_nodes_refute():
    """[Zhang16] Appendix B.2: .00678 > .0041 (report)."""
    example = counterexample_appendix_b2()
    assert example.refutes
    assert example.truth == pytest.approx(0.00678, abs=5e-6)
    assert example.printed == pytest.approx(0.0041, abs=5e-5)
    assert example.truth <= example.certified
    draws = np.random.default_rng(1).exponential(1 / np.array([1.0, 2.0, 3.0]), (10**6, 3))
    simulated = np.mean(draws.max(axis=1) > 5)
    assert abs(simulated - example.truth) < 6.2 * math.sqrt(example.truth / 10**6)


def test_theorem_4_1_counts_nodes_and_draws():
    """[Zhang16] Theorem 4(1)."""
    bound = theorem_4_1(DIAMOND, omega=0.2, draws=3)
    assert float(bound.certified) == pytest.approx(3 * 4 * 2 * math.log(4))
    assert float(bound.printed) == pytest.approx(4 * 2 * math.log(4))
    assert not bound.applies
    assert theorem_4_1(DIAMOND, omega=0.2).applies
    with pytest.raises(InputError, match="least probability"):
        theorem_4_1(DIAMOND, omega=0.6)


def test_constant_m_has_the_papers_constants_and_formula():
    """[Zhang16] Theorem 4(2): kappa, omega, M written out."""
    assert math.exp(OMEGA) == pytest.approx(2 * OMEGA + 1, rel=1e-14)
    assert pytest.approx(2 * OMEGA / (1 - math.exp(-OMEGA)) ** 2, rel=1e-12) == KAPPA
    c, begin, d, ratio = 0.7, 1.3, 0.4, 4.0
    last = math.exp(-begin * d * c) / (math.exp(-OMEGA * (1 - d)) - math.exp(-OMEGA)) + math.exp(begin * (1 - d) * c)
    m = (KAPPA / c + begin * (1 / (1 - math.exp(-OMEGA)) + 1) + math.log(ratio) + math.log(last)) * ratio
    assert float(constant_m(c, start=begin, slack=d, ratio=ratio)) == pytest.approx(m, rel=1e-12)


@pytest.mark.parametrize(("nodes", "least"), [(1, 3.37), (2, 5.95), (17, 1581)])
def test_theorem_4_2_is_vacuous_for_uniform_priors_at_its_best(nodes, least):
    """[Zhang16] Theorem 4(2): min over L0 and delta of sqrt(M/2); M = 22.7 for one node (report)."""

    starts = np.geomspace(0.2, 20, 90 if IS_THOROUGH else 45)
    printed = np.array([float(theorem_4_2(empty(nodes), start=start, slack=0.99).printed) for start in starts])
    assert np.nanmin(printed) == pytest.approx(least, rel=2e-3)
    if nodes > 1:
        assert 1 < least_printed_variation(empty(nodes)) < least


def test_theorem_4_2_least_value_for_two_nodes_and_any_prior():
    """[Zhang16] Theorem 4(2): sqrt(M/2) >= 1.66 for two nodes."""
    assert least_printed_variation(chain(2)) == pytest.approx(1.665, abs=5e-4)
    for alpha in (0.1, 1.0, 5000.0):
        skewed = Dirichlets(chain(2), alpha * np.array([1.0, 3.0, 2.0, 1.0, 1.0, 1.0]))
        assert likelihood_ratio(skewed) == pytest.approx(4 * 3)
        m = constant_m(1e6, start=1e-6, slack=0.999, ratio=likelihood_ratio(skewed))
        assert math.sqrt(m / 2) > least_printed_variation(chain(2))


def test_theorem_4_2_certified_distance_is_reached_by_one_node_and_one_record():
    """[Zhang16] Theorem 4(2), certified: Beta(2, 1) and Beta(1, 2) are 1/2 apart."""
    bound = theorem_4_2(empty(1), start=1.0)
    apart, _ = integrate.quad(lambda t: abs(2 * t - 2 * (1 - t)) / 2, 0, 1)
    assert float(bound.certified) == pytest.approx(apart)
    assert not bound.applies
    assert float(theorem_4_2(NAIVE_BAYES, start=6.0).certified) == 1.0
    too_small = theorem_4_2(NAIVE_BAYES, start=0.1)
    assert np.isnan(too_small.printed)
    assert not too_small.assumptions[1].holds


def test_theorem_4_2_concentration_is_the_mass_of_smooth_networks():
    """[Zhang16] Lemma 3 within Theorem 4(2): rows within |logit| <= L make a node L-Lipschitz."""
    start, rows = 4.0, 3
    c = network_concentration(np.full(rows, beta_concentration_from(1.0, start)), start)
    theta = np.random.default_rng(3).random((400_000, rows))
    cells = np.log(np.concatenate([theta, 1 - theta], axis=1))
    for level in (start, 6.0):
        rough = np.mean(cells.max(axis=1) - cells.min(axis=1) > level)
        assert rough <= math.exp(-c * level) + 6.2 * math.sqrt(rough / len(theta))


def test_appendix_c_1_predictive_probability_is_the_mean():
    """[Zhang16] Appendix C.1."""
    a, b = 3.0, 1.5
    integral, _ = integrate.quad(lambda t: t * t ** (a - 1) * (1 - t) ** (b - 1) / special.beta(a, b), 0, 1)
    mean = Dirichlets(empty(1), np.array([b, a])).mean
    assert mean[1] == pytest.approx(integral, rel=1e-9)
    assert mean[1] == pytest.approx(a / (a + b))


def brute_force_loss(n: int, omega: float) -> float:
    """All tables of n records of X -> Y and all replacements, masses by adaptive quadrature."""
    records = [(0, 0), (0, 1), (1, 0), (1, 1)]

    def mass(a: float, b: float) -> float:
        return integrate.quad(lambda t: t ** (a - 1) * (1 - t) ** (b - 1), omega, 1 - omega)[0]

    def counted(table) -> np.ndarray:
        cells = np.zeros((3, 2))
        for x, y in table:
            cells[0, x] += 1
            cells[1 + x, y] += 1
        return cells

    ends = np.log([[omega, 1 - omega], [1 - omega, omega]])
    worst = 0.0
    for rest in combinations_with_replacement(records, n - 1):
        for one, other in permutations(records, 2):
            p, q = counted([*rest, one]), counted([*rest, other])
            gain = sum(max((p[j] - q[j]) @ end for end in ends) for j in range(3))
            shift = sum(math.log(mass(*(1 + q[j]))) - math.log(mass(*(1 + p[j]))) for j in range(3))
            worst = max(worst, gain + shift)
    return worst


@pytest.mark.parametrize(("n", "omega"), [(2, 0.1), (4, 0.1), (3, 0.3)])
def test_appendix_c_2_counterexample_is_the_worst_pair_of_tables(n, omega):
    """[Zhang16] Appendix C.2: n = 2 loses 5.021 > 4.605 at omega = .1."""
    assert counterexample_appendix_c_2(n, omega=omega).truth == pytest.approx(brute_force_loss(n, omega), rel=1e-9)


def test_appendix_c_2_real_loss_of_naive_bayes():
    """[Zhang16] Appendix C.2: nominal 2, 5, 10, 20 cost 18.4, 82, 170, 340, and every draw as much."""
    bound = appendix_c_2(NAIVE_BAYES, epsilon=[1.0, 2.0, 5.0, 10.0, 20.0, 5000.0])
    assert np.isnan(bound.certified[0])
    np.testing.assert_allclose(bound.certified[1:5], [18.4, 82.1, 169.8, 340.0], atol=0.05)
    assert bound.certified[5] == pytest.approx(17 * 5000)
    assert not bound.applies
    twice = appendix_c_2(NAIVE_BAYES, epsilon=5.0, draws=2)
    assert float(twice.certified) == pytest.approx(2 * bound.certified[2])
    for epsilon in (2.0, 20.0):
        trimmed = theorem_4_1(NAIVE_BAYES, omega=math.exp(-epsilon / 2))
        assert float(appendix_c_2(NAIVE_BAYES, epsilon=epsilon).certified) == pytest.approx(float(trimmed.certified))
