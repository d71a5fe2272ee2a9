import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.model.network import Network
from dpbayes.posteriors import divergence
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    distances,
    global_sensitivity,
    hellinger_between,
    local_sensitivity,
    log_pmf,
    loggamma_dip,
    smooth_guarantee,
    smooth_sensitivities,
    smooth_sensitivity,
    smoothing_rate,
)

mpmath.mp.dps = 60
BILLION = 10**9
DICE = [
    Die((1.0, 1.0), 1),
    Die((1.0, 1.0), 2),
    Die((1.0, 1.0), 9),
    Die((0.1, 0.1), 12),
    Die((0.3, 4.0), 8),
    Die((50.0, 0.01), 7),
    Die((1.0, 1.0, 1.0), 1),
    Die((1.0, 1.0, 1.0), 6),
    Die((0.2, 3.0, 1.0), 5),
    Die((1.0, 1.0, 1.0, 1.0), 4),
    Die((2.0, 0.05, 7.0, 0.5), 3),
]
with_every_die = pytest.mark.parametrize("die", DICE, ids=[f"{d.prior} n={d.n}" for d in DICE])


def exact_hellinger(prior, x, r) -> float:
    log_bc = mpmath.mpf(0)
    for a, i, j in zip(prior, x, r, strict=True):
        a, i, j = mpmath.mpf(a), int(i), int(j)
        log_bc += mpmath.loggamma(a + mpmath.mpf(i + j) / 2) - (mpmath.loggamma(a + i) + mpmath.loggamma(a + j)) / 2
    return mpmath.sqrt(-mpmath.expm1(log_bc))


def brute_local(die: Die) -> np.ndarray:
    """The definition: over neighbours y of x and all candidates r, the largest |H(x, r) - H(y, r)|."""
    distance, largest = all_distances(die), np.zeros(die.size)
    for x, y in neighbour_pairs(die.n, sides=die.sides):
        largest[x] = max(largest[x], np.abs(distance[x] - distance[y]).max())
    return largest


def brute_smooth(die: Die, beta: float) -> np.ndarray:
    replaced = np.abs(die.candidates[:, None] - die.candidates).sum(axis=-1) / 2
    return (brute_local(die) * np.exp(-beta * replaced)).max(axis=1)


# Distance


@pytest.mark.parametrize("a", [1e-3, 0.1, 1.0, 15.9, 1e4])
@pytest.mark.parametrize("n", [1, 10, 1000, BILLION])
@pytest.mark.parametrize("gap", [1, 2, 30, 40_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5])
def test_hellinger_distances_agree_with_sixty_digits_up_to_a_billion_throws(a, n, gap, share):
    die, low = Die((a, a), n), int(share * n)
    high = min(low + gap, n)
    exact = exact_hellinger(die.prior, (low, n - low), (high, n - high))
    distance = hellinger_between(die, first=(low, n - low), second=(high, n - high))
    assert float(distance) == pytest.approx(float(exact), rel=1e-12, abs=0)


@given(st.floats(1e-3, 1e6), st.integers(0, BILLION), st.integers(0, BILLION))
def test_dips_are_symmetric_never_positive_and_zero_only_on_the_diagonal(a, i, j):
    dip = float(loggamma_dip(a, first=i, second=j))
    assert dip == float(loggamma_dip(a, first=j, second=i))
    assert (dip == 0) is (i == j)
    assert dip <= 0


@with_every_die
def test_the_distances_are_those_of_the_general_formula(die):
    network = Network.from_edges("a", [], {"a": [f"s{k}" for k in range(die.sides)]})
    posteriors = Dirichlets(network, die.posterior(die.candidates))
    table = all_distances(die)
    for place, counts in enumerate(die.candidates):
        general = divergence.hellinger(Dirichlets(network, die.posterior(counts)), posteriors)
        assert table[place] == pytest.approx(general, abs=1e-7)
        assert np.array_equal(distances(die, counts=counts), table[place])
    assert np.array_equal(table, table.T)
    assert not np.any(np.diag(table))


# Sensitivities


@with_every_die
def test_sensitivities_equal_their_definitions_by_brute_force(die):
    local = brute_local(die)
    assert die.local_sensitivities == pytest.approx(local, rel=1e-12)
    assert [local_sensitivity(die, counts=c) for c in die.candidates] == pytest.approx(local.tolist(), rel=1e-12)
    assert global_sensitivity(die) == pytest.approx(local.max(), rel=1e-12)


@with_every_die
@pytest.mark.parametrize("beta", [1e-9, 0.02, 0.3, 2.0, 50.0])
def test_smooth_sensitivity_equals_its_definition_by_brute_force(die, beta):
    expected = brute_smooth(die, beta)
    assert smooth_sensitivities(die, beta=beta) == pytest.approx(expected, rel=1e-12)
    single = [smooth_sensitivity(die, counts=c, beta=beta) for c in die.candidates]
    assert single == pytest.approx(expected.tolist(), rel=1e-12)


@pytest.mark.parametrize(("n", "expected"), [(1, 0.46325), (10, 0.35324), (100, 0.33894), (BILLION, 0.33730)])
def test_known_global_sensitivities_of_a_coin(n, expected):
    assert global_sensitivity(Die((1.0, 1.0), n)) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize("sides", [3, 4, 7])
@pytest.mark.parametrize("n", [1, 10, BILLION])
def test_with_three_sides_or_more_the_global_sensitivity_does_not_depend_on_n(sides, n):
    expected = math.sqrt(1 - math.pi / 4)
    assert global_sensitivity(Die((1.0,) * sides, n)) == pytest.approx(expected, rel=1e-12)


def test_no_throws_no_sensitivity():
    die = Die((1.0, 2.0, 3.0), 0)
    assert global_sensitivity(die) == 0
    assert die.local_sensitivities.tolist() == [0.0]
    assert local_sensitivity(die, counts=[0, 0, 0]) == 0
    assert smooth_sensitivities(die, beta=0.1).tolist() == [0.0]
    assert smooth_sensitivities(Die((1.0, 2.0), 0), beta=0.1).tolist() == [0.0]


# The smoothing rate and what is proved for it


def test_the_smoothing_rate_counts_the_candidates_and_for_a_coin_is_the_printed_one():
    printed = math.log(1 - 1 / (2 * math.log(1e-5 / (2 * 101))))
    assert smoothing_rate(Die((1.0, 1.0), 100), epsilon=1, delta=1e-5) == pytest.approx(printed, rel=1e-12)
    assert smoothing_rate(Die((1.0, 1.0, 1.0), 100), epsilon=1, delta=1e-5) < printed


@pytest.mark.parametrize("die", [Die((1.0, 1.0), 200), Die((1.0,) * 3, 30)])
@pytest.mark.parametrize(("epsilon", "factor"), [(1e-3, 1.505), (0.1, 1.5), (1.0, 1.5), (10.0, 1.5)])
def test_the_proved_epsilon_of_smooth_noise_is_three_halves_in_practice(die, epsilon, factor):
    assert smooth_guarantee(die, epsilon=epsilon, delta=1e-5) == pytest.approx(factor * epsilon, rel=1e-4)


# The law


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_the_law_is_the_exponential_of_the_scores_for_one_data_set_and_for_all(epsilon):
    die = Die((1.0, 0.5, 2.0), 6)
    table = all_distances(die)
    every = log_pmf(table, epsilon=epsilon, sensitivity=die.local_sensitivities)
    assert np.exp(every).sum(axis=1) == pytest.approx(np.ones(die.size))
    for x, row in enumerate(table):
        one = log_pmf(row, epsilon=epsilon, sensitivity=float(die.local_sensitivities[x]))
        assert every[x] == pytest.approx(one)
        slope = -epsilon / (2 * die.local_sensitivities[x])
        assert every[x] - every[x, x] == pytest.approx(slope * row, rel=1e-9)


# Refusals


@pytest.mark.parametrize(
    ("prior", "n", "words"),
    [
        ((1.0,), 5, "between 2 and 1000 sides"),
        ((), 5, "between 2 and 1000 sides"),
        ((1.0, 0.0), 5, "prior must be between"),
        ((1.0, math.nan), 5, "prior must be a number"),
        ((1.0, "much"), 5, "prior must be a number"),
        (((1.0, 1.0), (2.0, 2.0)), 5, "prior must be a number"),
        ((1.0, 1.0), -1, "number of throws must be between"),
        ((1.0, 1.0), 2.5, "whole number"),
        ((1.0, 1.0), 10**10, "number of throws must be between"),
    ],
)
def test_impossible_dice_are_refused_in_a_sentence(prior, n, words):
    with pytest.raises(InputError, match=words):
        Die(prior, n)


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3], [-1, 5], [2.0, 2.0], [[2, 2]], ["2", "2"]])
def test_counts_of_another_die_are_refused(counts):
    with pytest.raises(InputError, match="counts must"):
        distances(Die((1.0, 1.0), 4), counts=counts)


def test_all_pairs_of_too_many_candidates_are_refused():
    with pytest.raises(InputError, match=r"at most 3,000 can be listed here. Use at most 2,999 throws"):
        all_distances(Die((1.0, 1.0), 5000))
