"""Permute-and-flip: its exact law against all orders, its promise, its limits, and its two ways to be drawn."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import opendp.measurements
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.noise.exact import rounded_up
from dpbayes.mechanisms.structure.selection import draw_flip, flip_scale, simulate_flip
from tests.mechanisms.structure.flip_law import flip_log_pmf

CERTAINTY = 1e-9
WITHOUT_SEED = 1e-6
"""How improbable a false alarm is where the operating system draws, each time anew."""


def law_over_all_orders(scores: list[float], scale: float) -> np.ndarray:
    """Walk through every order in which the candidates may be offered."""
    accepted = np.exp((np.array(scores) - max(scores)) / scale)
    law = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for k in order:
            law[k] += left * accepted[k]
            left *= 1 - accepted[k]
    return law / math.factorial(len(scores))


@pytest.mark.parametrize("scores", [[3], [0, 5], [2, 2], [1, 4, 4], [0, 1, 2, 3, 7], [-3, 0, 0, 2, 9, -1]])
@pytest.mark.parametrize("scale", [0.05, 1.0, 7.0, 1e6])
def test_the_law_is_that_over_all_orders(scores: list[float], scale: float) -> None:
    """[McKenna20] Algorithm 1."""
    np.testing.assert_allclose(np.exp(flip_log_pmf(scores, scale)), law_over_all_orders(scores, scale), atol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 150, 1000, 5000])
def test_the_law_of_many_candidates_adds_up(count: int) -> None:
    level = np.zeros(count, dtype=np.int64)
    np.testing.assert_allclose(flip_log_pmf(level, 3.0), -math.log(count), atol=1e-9)
    mixed = np.random.default_rng(count).integers(0, 40, count)
    assert np.exp(flip_log_pmf(mixed, 3.0)).sum() == pytest.approx(1.0, abs=1e-9)


def worst_loss(scale: float, *, sensitivity: int, most: int, count: int) -> float:
    """The worst log ratio over all scores 0..most of some candidates that move by at most the sensitivity."""
    vectors = list(product(range(most + 1), repeat=count))
    laws = {scores: flip_log_pmf(scores, scale) for scores in vectors}
    moves = list(product(range(-sensitivity, sensitivity + 1), repeat=count))
    pairs = ((scores, tuple(np.add(scores, move).tolist())) for scores in vectors for move in moves)
    return max(float(np.max(laws[a] - laws[b])) for a, b in pairs if b in laws)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("count", [2, 3])
def test_no_move_of_the_scores_loses_more_than_epsilon(epsilon: Fraction, count: int) -> None:
    """[McKenna20]: privacy; with half the scale the same enumeration finds more."""
    scale = flip_scale(2, epsilon)
    assert worst_loss(scale, sensitivity=2, most=4, count=count) <= float(epsilon) * (1 + 1e-12)
    assert worst_loss(scale / 2, sensitivity=2, most=4, count=count) > float(epsilon) * 1.3


def test_epsilon_decides_between_chance_and_the_best() -> None:
    scores = np.array([5, 9, 9, 0])
    np.testing.assert_allclose(np.exp(flip_log_pmf(scores, flip_scale(4, Fraction(1, 10**9)))), 0.25, rtol=1e-8)
    np.testing.assert_allclose(
        np.exp(flip_log_pmf(scores, flip_scale(4, Fraction(1000)))), [0, 0.5, 0.5, 0], atol=1e-100
    )


def p_value(places: list[int], log_pmf: np.ndarray) -> float:
    seen = np.bincount(places, minlength=len(log_pmf))
    return float(stats.chisquare(seen, np.exp(log_pmf) / np.exp(log_pmf).sum() * len(places)).pvalue)


def test_simulated_draws_follow_the_law_and_not_one_of_a_scale_10_percent_off() -> None:
    rng, scores = np.random.default_rng(5), np.array([0, 1, 2, 4])
    places = [simulate_flip(scores, 2.0, rng) for _ in range(60_000)]
    assert p_value(places, flip_log_pmf(scores, 2.0)) > CERTAINTY
    assert p_value(places, flip_log_pmf(scores, 2.2)) < CERTAINTY


def test_draws_of_opendp_follow_the_law_and_not_the_exponential_mechanisms() -> None:
    """No seed: false alarms are as improbable as WITHOUT_SEED says, and missing the other law still less probable."""
    scores, epsilon = np.array([0, 1, 2, 4]), Fraction(1)
    places = [draw_flip(scores, sensitivity=1, epsilon=epsilon) for _ in range(3_000)]
    assert p_value(places, flip_log_pmf(scores, 2.0)) > WITHOUT_SEED
    assert p_value(places, np.log(np.exp(scores / 2.0) / np.exp(scores / 2.0).sum())) < WITHOUT_SEED


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 3), Fraction("0.1") / 7, Fraction(10) / 11, Fraction(5, 3), Fraction(1, 10**6)]
)
@pytest.mark.parametrize("sensitivity", [1, 4 * 48_841, 6 * (2**31 - 2)])
def test_opendp_is_called_at_the_scale_that_its_map_confirms(epsilon, sensitivity, monkeypatch) -> None:
    make, calls = opendp.measurements.make_noisy_max, []

    def remembered(*arguments, scale):
        calls.append((make(*arguments, scale=scale), scale))
        return calls[-1][0]

    monkeypatch.setattr(opendp.measurements, "make_noisy_max", remembered)
    assert draw_flip(np.array([7]), sensitivity=sensitivity, epsilon=epsilon) == 0
    chooser, scale = calls[-1]
    assert (
        Fraction(chooser.map(sensitivity)) <= epsilon <= Fraction(chooser.map(sensitivity)) * (1 + Fraction(1, 10**12))
    )
    assert Fraction(scale) >= 2 * sensitivity / epsilon
    assert len(calls) <= 4


def test_nothing_is_drawn_when_opendp_does_not_confirm_epsilon(monkeypatch) -> None:

    class Doubtful:
        def map(self, distance: int) -> float:
            return 1.0 + 1e-9

        def __call__(self, scores: list[int]) -> int:
            raise AssertionError("drawn")

    monkeypatch.setattr(opendp.measurements, "make_noisy_max", lambda *arguments, scale: Doubtful())
    with pytest.raises(InputError, match="does not confirm"):
        draw_flip(np.array([1, 2]), sensitivity=1, epsilon=Fraction(1))


def test_the_draw_does_not_use_a_scale_that_doubles_cannot_hold() -> None:
    with pytest.raises(InputError, match="too small"):
        flip_scale(1, Fraction(1, 10**400))
    assert flip_scale(0, Fraction(1)) == 1.0
    for exact in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(10**17 + 1)):
        assert Fraction(rounded_up(exact)) >= exact > Fraction(math.nextafter(rounded_up(exact), 0))


def test_equal_candidates_are_equally_likely_to_be_simulated() -> None:
    rng = np.random.default_rng(8)
    seen = Counter(simulate_flip(np.zeros(5, dtype=np.int64), 1.0, rng) for _ in range(20_000))
    assert stats.chisquare([seen[k] for k in range(5)]).pvalue > CERTAINTY
