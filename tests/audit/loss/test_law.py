import math
from itertools import product

import numpy as np
import pytest
from scipy import special

from dpbayes.audit.loss.law import PromisedLoss, loss_rarely_passed
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.normal import BetweenLosses
from dpbayes.base.validation import InputError


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


# Rare losses


@pytest.mark.parametrize("moved", [1, 2, 3])
@pytest.mark.parametrize("share", [0.3, 0.1, 0.01])
def test_no_pair_passes_a_rare_loss_more_often_than_in_its_share(moved, share):
    """Pairs that move fewer whole numbers are below the curve of the worst pair."""
    rare = loss_rarely_passed(LaplaceNoise(moved, 1.0, whole=1), share, float(moved))
    for fewer in range(1, moved + 1):
        p, q = whole_pair(fewer, 1.0, farthest=40)
        assert p[np.log(p) - np.log(q) > rare + 1e-9].sum() <= share


def test_a_rare_loss_is_nearly_reached_by_some_pair():
    # Randomised response at 1, seen through a filter that keeps it with chance c: delta(l) = c (p - e^l (1 - p)).
    truth, keep = special.expit(1.0), 0.3

    class Filtered:
        def deltas(self, epsilons):
            value = keep * np.maximum(truth - np.exp(epsilons) * (1 - truth), 0)
            return value, value

    chance = keep * truth
    assert loss_rarely_passed(Filtered(), chance * 0.9, 2.0) == pytest.approx(1, abs=0.02)
    assert loss_rarely_passed(Filtered(), chance * 1.01, 2.0) < 1


def test_a_rare_loss_is_found_up_to_the_largest_levels_and_may_be_unknown():
    """At steps of hundreds of nats e^step is no number."""
    assert 1 <= loss_rarely_passed(PromisedLoss(1.0), 0.05, 1000.0) < 8
    assert loss_rarely_passed(PromisedLoss(5.0), 0.05, 1.0) == math.inf
    for share, most in ((0.0, 1.0), (1.0, 1.0), (0.1, 0.0), (0.1, math.nan)):
        with pytest.raises(InputError):
            loss_rarely_passed(PromisedLoss(1.0), share, most)


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
