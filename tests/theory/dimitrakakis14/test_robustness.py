"""[Dimitrakakis14] Definition 1, Remark 1."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from dpbayes.posteriors.smoothness import beta_concentration
from dpbayes.theory.dimitrakakis14.draws import (
    counterexample_theorem_2_ii,
    loss_of_rare_parameter,
    theorem_2_i,
    theorem_2_ii,
)
from dpbayes.theory.dimitrakakis14.game import KAPPA, BetaPair, GammaPair
from dpbayes.theory.dimitrakakis14.robustness import (
    counterexample_definition_2,
    counterexample_theorem_1_ii,
    counterexample_theorem_1_ii_binomial,
    counterexample_theorem_1_ii_normal,
    remark_1,
    theorem_1_i,
    theorem_1_ii,
    theorem_1_ii_by_likelihood,
)

# Definitions


def test_definition_1_of_neighbours_does_not_give_definition_2():
    """[Dimitrakakis14] Definition 1. [Dimitrakakis14] Remark 1: P(B) = 0, .1, .26487 (report)."""
    example = counterexample_definition_2()
    assert example.truth == pytest.approx(0.26487, abs=5e-6)
    assert example.printed == pytest.approx(0.2)
    assert example.refutes
    chance = [0.0, 0.1, example.truth]
    for p, q in ((0, 1), (1, 0), (1, 2), (2, 1)):
        for here, other in ((chance[p], chance[q]), (1 - chance[p], 1 - chance[q])):
            assert here <= math.exp(0.5) * other + 0.1 + 1e-12


def test_remark_1_group_privacy_by_repeated_use():
    """[Dimitrakakis14] Remark 1."""
    bound = remark_1(0.3, delta=0.01, records=[1, 2, 5, 1e6])
    most = 0.0
    for k in range(1, 6):
        most = math.exp(0.3) * most + 0.01
        if k in (1, 2, 5):
            assert bound.certified[[1, 2, 5].index(k)] == pytest.approx(most)
    assert bound.certified[-1] == 1
    assert not bound.applies
    for exact in (remark_1(0.0, delta=0.01, records=[1, 7]), remark_1(0.3, delta=0.0, records=[1, 1e6])):
        assert exact.applies
        np.testing.assert_array_equal(exact.printed, exact.certified)


# Theorem 1


def test_theorem_1_i_sharp_bound():
    """[Dimitrakakis14] Theorem 1(i): L rho = .1: .2 printed, .004997 the largest (report)."""
    bound = theorem_1_i([0.1, 1.0, 5.0])
    assert bound.certified[0] == pytest.approx(0.004997, abs=5e-7)
    assert np.all(bound.certified <= np.minimum(bound.printed, np.array([0.1, 1.0, 5.0]) ** 2 / 2))
    eta = 2.0

    def divergence(q):  # two parameters, log ratio of x to y eta at the first and 0 at the second
        p = q * math.exp(eta) / (q * math.exp(eta) + 1 - q)
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    minimum = optimize.minimize_scalar(lambda q: -divergence(q), bounds=(1e-6, 1 - 1e-6), method="bounded")
    assert bound.certified[1] == pytest.approx(-minimum.fun, rel=1e-6)


def gamma_divergence(shape, rate, other):
    one, two = stats.gamma(shape, scale=1 / rate), stats.gamma(shape, scale=1 / other)
    top = one.ppf(1 - 1e-16) * 3
    return integrate.quad(lambda t: one.pdf(t) * (one.logpdf(t) - two.logpdf(t)), 0, top, points=[one.mean()])[0]


@pytest.mark.parametrize(
    ("example", "truth", "printed", "shape", "rates"),
    [
        (counterexample_theorem_1_ii, 572.309, 491.081, 6.0, (1.0, 101.0)),
        (counterexample_theorem_1_ii_normal, 54906, 25045, 11.0, (1.0, 5001.0)),
    ],
)
def test_theorem_1_ii_is_violated(example, truth, printed, shape, rates):
    """[Dimitrakakis14] Theorem 1(ii), by quadrature (report)."""
    counterexample = example()
    assert counterexample.truth == pytest.approx(truth, abs=0.5)
    assert counterexample.printed == pytest.approx(printed, abs=0.5)
    assert counterexample.truth == pytest.approx(gamma_divergence(shape, *rates), rel=1e-6)
    assert counterexample.refutes
    assert counterexample.truth <= counterexample.certified


@pytest.mark.parametrize(("a", "n"), [(1.0, 10347), (10.0, 145), (100.0, 139)])
def test_theorem_1_ii_binomial_violations_begin_where_the_report_says(a, n):
    """[Dimitrakakis14] Theorem 1(ii), Beta(a, a) with all 0 against all 1."""
    counterexample = counterexample_theorem_1_ii_binomial(n, a=a)
    assert counterexample.refutes
    assert counterexample.truth <= counterexample.certified
    assert counterexample.truth == pytest.approx(n * (special.digamma(a + n) - special.digamma(a)), rel=1e-12)
    assert not counterexample_theorem_1_ii_binomial(n - 1, a=a).refutes


def test_theorem_1_ii_first_violation_of_exponential_records_is_at_four():
    """[Dimitrakakis14] Theorem 1(ii)."""
    assert counterexample_theorem_1_ii(4, apart=1e4).refutes
    assert not any(counterexample_theorem_1_ii(3, apart=10.0**k).refutes for k in range(-3, 12))


def test_theorem_1_ii_corrected_bounds_hold():
    """[Dimitrakakis14] Theorem 1(ii), corrected: random Gamma and Beta pairs."""
    random = np.random.default_rng(14)
    for _ in range(40):
        n, apart = int(random.integers(1, 50)), float(random.exponential(5))
        total = float(random.exponential(3))
        pair = GammaPair(np.asarray(n + 1.0), np.asarray(1 + total), apart)
        divergence, swapped = float(pair.kl), float(pair.swapped().kl)
        bound = theorem_1_ii(pair, concentration=1.0, distance=apart)
        assert divergence + swapped <= bound.certified * (1 + 1e-9)
        # ln C = ln (n/S)^n e^-n - ln n!/(1 + S)^(n + 1)
        logs = [
            n * math.log(n / s) - n - special.gammaln(n + 1) + (n + 1) * math.log1p(s) for s in (total, total + apart)
        ]
        direct = theorem_1_ii_by_likelihood(1.0, distance=apart, log_c_x=logs[0], log_c_y=logs[1])
        assert divergence + swapped <= float(direct.certified)
        assert float(bound.certified) <= float(direct.certified) * (1 + 1e-9)
    for a in (1.0, 5.0):
        pair = BetaPair(np.asarray(a + 3), np.asarray(a + 2), 1)
        assert pair.kl <= theorem_1_ii(pair, concentration=beta_concentration(a), distance=1.0).certified


def test_kappa_is_the_least_value_of_the_proofs_constant():
    """[Dimitrakakis14] Appendix A, kappa."""
    minimum = optimize.minimize_scalar(lambda w: 2 * w / math.expm1(-w) ** 2, bounds=(0.1, 5), method="bounded")
    assert pytest.approx(minimum.fun, rel=1e-10) == KAPPA


# Theorem 2


def test_theorem_2_i_factor_two_is_reached():
    """[Dimitrakakis14] Theorem 2(i): 1.938, 1.9994, 1.999994 for prior masses 1e-2, 1e-4, 1e-6 (report)."""
    losses = loss_of_rare_parameter([1e-2, 1e-4, 1e-6])
    assert losses[0] == pytest.approx(1.938, abs=5e-4)
    assert losses[1] == pytest.approx(1.9994, abs=5e-5)
    assert losses[2] == pytest.approx(1.999994, abs=5e-7)
    assert np.all(losses <= theorem_2_i(1.0).printed)
    q = 0.01
    x, y = np.array([q * math.e, (1 - q) / math.e]), np.array([q, 1 - q])
    assert losses[0] == pytest.approx(math.log(x[0] / x.sum() / y[0]))


@pytest.mark.parametrize(
    ("n", "apart", "truth", "printed"), [(200, 0.2, 0.8035, 0.7008), (10_000, 0.02, 0.678, 0.2216)]
)
def test_theorem_2_ii_is_violated(n, apart, truth, printed):
    """[Dimitrakakis14] Theorem 2(ii) (report), the distance by a grid."""
    counterexample = counterexample_theorem_2_ii(n, apart=apart)
    assert counterexample.truth == pytest.approx(truth, abs=5e-4)
    assert counterexample.printed == pytest.approx(printed, abs=5e-4)
    assert counterexample.refutes
    assert counterexample.truth <= counterexample.certified
    t = np.linspace(n * 0.7, n * 1.2, 200_001) if n > 1000 else np.linspace(90, 290, 200_001)
    gap = np.abs(stats.gamma(n + 1).pdf(t) - stats.gamma(n + 1, scale=1 / (1 + apart)).pdf(t))
    assert integrate.trapezoid(gap, t) / 2 == pytest.approx(counterexample.truth, abs=1e-5)


def test_theorem_2_ii_first_violation_and_vacuity():
    """[Dimitrakakis14] Theorem 2(ii): 122 the smallest n; sqrt(kappa/2c) = 2.216, 1.18, .66 for a = 1, 10, 100."""
    grid = np.geomspace(0.1, 1, 1000)
    assert any(counterexample_theorem_2_ii(122, apart=float(s)).refutes for s in grid)
    assert not any(counterexample_theorem_2_ii(121, apart=float(s)).refutes for s in grid)
    for a, printed in ((1.0, 2.216), (10.0, 1.18), (100.0, 0.66)):
        pair = BetaPair(np.asarray(a + 100), np.asarray(a), 1)
        bound = theorem_2_ii(pair, concentration=beta_concentration(a), distance=1.0)
        assert float(bound.printed) == pytest.approx(printed, abs=5e-3)
        assert bound.applies == (printed < 1)
        t = np.linspace(1e-9, 1 - 1e-9, 200_001)
        gap = np.abs(stats.beta(a + 100, a).pdf(t) - stats.beta(a + 99, a + 1).pdf(t))
        assert integrate.trapezoid(gap, t) / 2 <= float(bound.certified)
