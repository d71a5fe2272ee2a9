"""The true values beside the theorems of [Dimitrakakis14], found by other routes: quadrature, programs, simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14 import robustness
from dpbayes.theory.dimitrakakis14.game import GammaPair
from dpbayes.theory.dimitrakakis14.robustness import worst_chain
from dpbayes.theory.index import EXHIBITS


def exponential(apart: float, n: int = 20) -> GammaPair:
    return GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart)


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1.0, 0.05, 5), (0.3, 0.1, 3), (0.1, 0.01, 6), (0.0, 0.3, 4)])
def test_the_worst_chain_by_linear_programming(epsilon: float, delta: float, k: int) -> None:
    """[Dimitrakakis14] Remark 1: largest P_k(B) - e^(k epsilon) P_0(B) over chains of private laws."""
    rows, ratio = [], math.exp(epsilon)
    for one, two in [(j, j + 1) for j in range(k)] + [(j + 1, j) for j in range(k)]:
        inside, outside = np.zeros(k + 1), np.zeros(k + 1)
        inside[[one, two]] = -ratio, 1
        outside[[one, two]] = ratio, -1
        rows += [(inside, delta), (outside, ratio - 1 + delta)]
    gain = np.zeros(k + 1)
    gain[0], gain[k] = math.exp(k * epsilon), -1
    optimum = optimize.linprog(gain, A_ub=[row for row, _ in rows], b_ub=[most for _, most in rows], bounds=(0, 1))
    assert optimum.fun is not None
    assert worst_chain(epsilon, delta=delta, records=k) == pytest.approx(-optimum.fun, rel=1e-9)


def test_the_worst_chain_of_three_is_the_counterexample() -> None:
    """[Dimitrakakis14] Remark 1."""
    counterexample = robustness.counterexample_definition_2()
    assert worst_chain(0.5, delta=0.1, records=2) == pytest.approx(counterexample.truth, rel=1e-12)


def measured(name: str, **knobs: float) -> float:
    """Return the truth beside a claim, as its board shows it."""
    subject = Subject(load_named("asia")[0], 1.0, None, None, 1)
    at = EvaluationPoint((1.0,), 1, ClaimParameters.usual(**knobs))
    exhibit = EXHIBITS[name]
    return float(exhibit.measure(subject, at, exhibit.bound(subject, at)).exact[0])


@pytest.mark.parametrize(("n", "apart"), [(1, 0.01), (20, 1.0), (500, 0.1), (3, 50.0)])
def test_divergence_and_distance_by_quadrature(n: int, apart: float) -> None:
    """[Dimitrakakis14] Theorem 1(ii), [Dimitrakakis14] Theorem 2(ii)."""
    one, two = stats.gamma(n + 1), stats.gamma(n + 1, scale=1 / (1 + apart))
    top = one.ppf(1 - 1e-16) * 2
    points = [one.mean(), two.mean(), (n + 1) * math.log1p(apart) / apart]
    kl = integrate.quad(lambda t: one.pdf(t) * (one.logpdf(t) - two.logpdf(t)), 0, top, points=points, limit=200)[0]
    tv = integrate.quad(lambda t: abs(one.pdf(t) - two.pdf(t)) / 2, 0, top, points=points, limit=200)[0]
    assert measured("ALT_THEOREM_1_II", size=n, apart=apart) == pytest.approx(kl, rel=1e-6, abs=1e-9)
    assert measured("ALT_THEOREM_2_II", size=n, apart=apart) == pytest.approx(tv, rel=1e-6)


@pytest.mark.parametrize(("apart", "error"), [(1.0, 0.05), (0.1, 0.2), (0.01, 1e-6), (30.0, 0.01), (1000.0, 0.4)])
def test_the_best_adversary_errs_too_often_with_one_answer_less(apart: float, error: float) -> None:
    """[Dimitrakakis14] Theorem 3 (4.4): the sum of N answers against the point where both laws are as likely."""
    enough = int(measured("ALT_THEOREM_3_TAIL", apart=apart, error=error))

    def share(n: int) -> float:
        edge = 2 * n * math.log1p(apart) / apart
        return float(stats.gamma(2 * n).cdf(edge) + stats.gamma(2 * n, scale=1 / (1 + apart)).sf(edge)) / 2

    assert share(enough) <= error * (1 + 1e-9)
    assert enough == 1 or share(enough - 1) > error * (1 - 1e-9)


def test_losses_of_rare_parameters_reach_the_bound() -> None:
    """[Dimitrakakis14] Theorem 2(i), [Dimitrakakis14] Algorithm 1: at both ends of the slider."""
    for moved in (1e-3, 0.5, 20.0):
        assert measured("ALT_THEOREM_2_I", log_ratio=moved) == pytest.approx(2 * moved, rel=1e-6)
        loss = measured("ALT_ALGORITHM_1", log_ratio=moved, answers=10**6)
        assert loss == pytest.approx(2e6 * moved, rel=1e-6)
