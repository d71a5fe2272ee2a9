"""[Dimitrakakis14] Algorithm 1, Example 1, Lemma 2, Theorem 3."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from dpbayes.theory.dimitrakakis14.answers import (
    counterexample_theorem_3,
    counterexample_theorem_3_equal,
    counterexample_theorem_3_tail,
    needed_at_least,
    theorem_3,
    theorem_3_tail,
)
from dpbayes.theory.dimitrakakis14.draws import algorithm_1, concentrated_cost, lemma_2
from dpbayes.theory.dimitrakakis14.game import BetaPair, GammaPair
from tests.conftest import FAR


def test_algorithm_1_answers_add_up():
    """[Dimitrakakis14] Algorithm 1: the loss of k answers that all fall on the rarest parameter."""
    bound = algorithm_1(0.5, answers=[1, 3, 10])
    q = 1e-9
    p = q * math.exp(0.5) / (q * math.exp(0.5) + (1 - q) * math.exp(-0.5))
    losses = np.array([1, 3, 10]) * math.log(p / q)
    assert np.all(losses <= bound.certified)
    np.testing.assert_allclose(losses, bound.certified, rtol=1e-6)
    assert np.all(losses[1:] > bound.printed[1:])
    assert not bound.applies
    assert algorithm_1(0.5, answers=1).applies


def test_algorithm_1_concentrated_cost_bounds_renyi_divergences():
    """[Dimitrakakis14] Algorithm 1: two-point laws with a log ratio of range 2 L rho, all orders."""
    moved = 0.6
    cost = float(concentrated_cost(moved, answers=1))
    assert concentrated_cost(moved, answers=[2, 5]) == pytest.approx([2 * cost, 5 * cost])
    q = np.linspace(1e-6, 1 - 1e-6, 4001)
    p = q * math.exp(2 * moved) / (q * math.exp(2 * moved) + 1 - q)
    for order in (1.5, 2.0, 8.0):
        renyi = np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)
        assert renyi.max() <= order * cost


def test_example_1_an_expectation_need_not_be_a_value():
    """[Dimitrakakis14] Example 1."""
    assert stats.bernoulli(0.3).mean() not in (0, 1)


def test_lemma_2_holds_and_the_sharper_radius_as_well():
    """[Dimitrakakis14] Lemma 2: simulated coverage for 4 cells, delta = 2^-8."""
    delta, cells, n, games = 2.0**-8, 4, 60, 40_000
    bound = lemma_2(n, delta=delta, cells=cells)
    assert bound.applies
    assert bound.certified < bound.printed
    law = np.array([0.5, 0.3, 0.1, 0.1])
    counts = np.random.default_rng(15).multinomial(n, law, games)
    far = np.abs(counts / n - law).sum(axis=1) >= float(bound.certified)
    assert stats.binom.sf(far.sum() - 1, games, delta) > 1e-9
    assert not lemma_2(n, delta=0.1, cells=2).applies
    assert lemma_2(n, delta=1 / 16, cells=2).applies
    assert float(lemma_2(1, delta=1e-9, cells=9).certified) == 2.0


def test_theorem_3_bracket_of_two_betas():
    """[Dimitrakakis14] Theorem 3 (4.3): Beta(51, 51) against (52, 50), d = .05: bracket from 168 (report)."""
    pair = BetaPair(np.asarray(51.0), np.asarray(51.0), -1)
    bound = theorem_3(pair, log_ratio=0.5, error=0.05)
    least = float(needed_at_least(pair, log_ratio=0.5, error=0.05))
    log_bc = special.betaln(51.5, 50.5) - (special.betaln(51, 51) + special.betaln(52, 50)) / 2
    assert least == pytest.approx(-math.log(4 * 0.05 * 0.95) / (-2 * log_bc), rel=1e-6)
    assert math.ceil(least) == 168
    assert float(bound.certified) == pytest.approx(math.log(10) / -log_bc, rel=1e-6)
    random, games = np.random.default_rng(16), 20_000
    for answers, low, high in ((167, 0.05, 1.0), (math.ceil(float(bound.certified)), 0.0, 0.05)):
        wrong = 0
        for true, sign in (((51, 51), 1), ((52, 50), -1)):
            theta = random.beta(*true, (games // 2, answers))
            gain = special.logit(theta).sum(axis=1) * -1 + answers * (special.betaln(52, 50) - special.betaln(51, 51))
            wrong += np.sum(sign * gain < 0)
        share = wrong / games
        assert low - FAR * 0.5 / math.sqrt(games) <= share <= high


def test_theorem_3_promises_success_where_no_adversary_can_have_it():
    """[Dimitrakakis14] Theorem 3 (4.3): a trimmed coin, with the true L, by quadrature."""
    example = counterexample_theorem_3(0.01)
    assert example.refutes
    assert example.truth > 800 * example.printed
    z = np.linspace(-0.01, 0.01, 20_001)
    laws = [np.exp(a * special.log_expit(z) + b * special.log_expit(-z)) for a, b in ((2, 1), (1, 2))]
    laws = [law / integrate.simpson(law, x=z) for law in laws]
    hellinger = integrate.simpson((np.sqrt(laws[0]) - np.sqrt(laws[1])) ** 2, x=z) / 2
    needed = -math.log(4 * 0.05 * 0.95) / (-2 * math.log1p(-hellinger))
    assert example.truth == pytest.approx(needed, rel=1e-4)
    assert math.isinf(counterexample_theorem_3_equal().truth)
    assert counterexample_theorem_3_equal().refutes


def test_theorem_3_under_assumption_2():
    """[Dimitrakakis14] Theorem 3 (4.4): one exponential record."""
    example = counterexample_theorem_3_tail()
    assert example.refutes
    log_bc = math.log(2 * math.sqrt(1.01) / 2.01)  # of Gamma(2, 1) and Gamma(2, 1.01), per unit of shape
    assert example.truth == pytest.approx(-math.log(4 * 0.05 * 0.95) / (-4 * log_bc), rel=1e-6)
    assert example.printed == pytest.approx(3 * math.log(20) / (2 * 4.910815 * 0.01), rel=1e-6)
    pair = GammaPair(np.asarray(2.0), np.asarray(1.0), 0.01)
    assert theorem_3_tail(pair, concentration=1.0, distance=0.01, error=0.05).certified > example.truth
