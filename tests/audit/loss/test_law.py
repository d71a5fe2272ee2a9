import math
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.audit.loss.law import PromisedLoss, chance_above, chance_above_at_most
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.normal import BetweenLosses
from dpbayes.audit.noise import pairs_of
from dpbayes.base.validation import InputError
from tests.conftest import thorough

FALSE_ALARM = 1e-9


def finite_delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """delta by its definition."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def whole_pair(moved: int, rate: float, farthest: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """The laws of `moved` whole numbers with noise q^|k| about 0 and about 1, over all their joint values."""
    k = np.arange(-farthest, farthest + 2)
    one, other = (np.exp(-rate * np.abs(k - at)) * math.tanh(rate / 2) for at in (0, 1))
    first, second = np.ones(1), np.ones(1)
    for _ in range(moved):
        first, second = np.multiply.outer(first, one).ravel(), np.multiply.outer(second, other).ravel()
    return first, second


# Tails


@pytest.mark.parametrize("level", [1e-3, 0.2, 0.7, 0.99])
def test_one_moved_value_passes_a_level_as_often_as_its_law_says(level):
    # L = a - min(X, 2a), X = 0 with probability 1/2 and else exponential with rate 1/2.
    exact = 0.5 + (1 - math.exp(-(1 - level) / 2)) / 2
    low, high = chance_above(LaplaceNoise(1, 1.0), level)
    assert low <= exact + 1e-12
    assert exact <= high + 1e-12
    assert high - low < 1e-3


@pytest.mark.parametrize(("moved", "level"), [(1, 0.3), (2, 0.5), (3, 0.41), (3, 1.0)])
def test_whole_numbers_pass_a_level_as_often_as_all_their_values_say(moved, level):
    p, q = whole_pair(moved, 0.5, farthest=40)
    loss = np.log(p) - np.log(q)
    exact = p[loss > level].sum()
    low, high = chance_above(LaplaceNoise(moved, 0.5, whole=1), level)
    assert low - 1e-8 <= exact <= high + 1e-8
    assert high - low < 1e-4 + 0.01 * exact


def simulated_losses(scale: float, draws: int = 200_000) -> np.ndarray:
    noise = np.random.default_rng(5).laplace(scale=scale, size=(draws, 6))
    return (np.abs(noise + 1) - np.abs(noise)).sum(axis=1) / 6  # what the attacker takes the scale for


def rejects(scale: float, level: float = 0.1) -> bool:
    """Whether simulated losses pass a level at another rate than between the two values."""
    low, high = chance_above(LaplaceNoise(6, 1 / 6), level)
    passed, draws = int((simulated_losses(scale) > level).sum()), 200_000
    return bool(
        stats.binom.sf(passed - 1, draws, high) < FALSE_ALARM or stats.binom.cdf(passed, draws, low) < FALSE_ALARM
    )


def test_simulated_losses_pass_a_level_as_often_and_those_of_noise_ten_percent_off_do_not():
    assert not rejects(6.0)
    assert rejects(6.6)
    assert rejects(5.4)


@pytest.mark.parametrize("level", thorough([0.05, 0.4, 0.9], sample=[0.4]))
def test_no_pair_below_a_curve_passes_a_level_more_often_than_the_curve_allows(level):
    worst = LaplaceNoise(8, 1 / 8)
    bound = chance_above_at_most(worst, level)
    for pair in pairs_of(worst, 1):
        assert chance_above(pair, level)[0] <= bound


def test_the_bound_of_a_curve_is_reached_by_some_pair():
    # Randomised response at 1, seen through a filter that keeps it with chance c: delta(l) = c (p - e^l (1 - p)).
    truth, keep = special.expit(1.0), 0.3

    class Filtered:
        def deltas(self, epsilons):
            value = keep * np.maximum(truth - np.exp(epsilons) * (1 - truth), 0)
            return value, value

    assert chance_above(Filtered(), 0.999)[1] == pytest.approx(keep * truth, rel=0.01)
    assert chance_above_at_most(Filtered(), 0.999) >= keep * truth


@pytest.mark.parametrize("level", [0, -1, math.nan])
def test_a_level_that_is_not_positive_is_refused(level):
    for bound in (chance_above, chance_above_at_most):
        with pytest.raises(InputError):
            bound(LaplaceNoise(2, 1), level)


# What a promise allows


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.01), (3.0, 1e-6), (1.0, 1.0)])
def test_one_release_separates_by_the_known_total_variation(epsilon, delta):
    expected = (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    assert PromisedLoss(epsilon, delta).deltas(0.0)[1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "delta", "releases"), [(1.0, 0.0, 2), (0.7, 0.0, 5), (1.0, 0.05, 3), (2.0, 0.2, 4)]
)
def test_several_releases_lose_what_all_outputs_of_the_worst_ones_show(epsilon, delta, releases):
    # Four outputs: the table is told (delta), or the truth with odds e^epsilon.
    odds = special.expit(epsilon)
    one = np.array([delta, (1 - delta) * odds, (1 - delta) * (1 - odds), 0])
    p, q = (np.array([math.prod(chances) for chances in product(law, repeat=releases)]) for law in (one, one[::-1]))
    for level in (0.0, 0.3, epsilon, 1.7 * epsilon):
        exact = finite_delta(p, q, level)
        assert PromisedLoss(epsilon, delta, releases).deltas(level)[1] == pytest.approx(exact, abs=1e-14)


def test_extreme_promises_are_stated_without_overflow():
    assert PromisedLoss(math.inf).deltas(0.0)[1] == 1
    assert PromisedLoss(1000.0, 0.0, 1000).deltas(0.0)[1] == pytest.approx(1)
    assert PromisedLoss(0.0, 0.0, 1000).deltas(0.0)[1] == 0
    for wrong in ((-1.0, 0.0, 1), (1.0, 2.0, 1), (1.0, 0.0, 0)):
        with pytest.raises(InputError):
            PromisedLoss(*wrong)


def test_a_bracket_has_the_lower_value_of_one_law_and_the_upper_of_another():
    low, high = BetweenLosses(LaplaceNoise(2, 0.1), LaplaceNoise(4, 0.1)).deltas(0.0)
    assert low == LaplaceNoise(2, 0.1).deltas(0.0)[0]
    assert high == LaplaceNoise(4, 0.1).deltas(0.0)[1]


def test_several_releases_are_so_many_values_that_move():
    four, two = pairs_of(LaplaceNoise(12, 0.3), 6)
    assert (four.moved, two.moved) == (12, 6)
    assert pairs_of(LaplaceNoise(0, 0.3), 2) == ()
