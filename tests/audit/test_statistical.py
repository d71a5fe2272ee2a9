import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.audit.statistical import epsilon_lower_bound
from dpbayes.validation import InputError


def sample(hits: int, draws: int) -> np.ndarray:
    return np.arange(draws) < hits


def test_the_bound_is_that_of_two_binomial_tests():
    bound = epsilon_lower_bound(sample(60, 100), opposite=sample(20, 100), doubt=0.1)
    low = stats.binomtest(60, 100, alternative="greater").proportion_ci(0.95, method="exact").low
    high = stats.binomtest(20, 100, alternative="less").proportion_ci(0.95, method="exact").high
    assert bound == pytest.approx(math.log(low / high), rel=1e-9)


def test_the_bound_is_wrong_no_more_often_than_stated_and_comes_close():
    # Randomised response with epsilon = ln 3 exactly.
    rng, runs, doubt = np.random.default_rng(7), 3_000, 0.1
    first, second = rng.random((runs, 400)) < 0.75, rng.random((runs, 400)) < 0.25
    bounds = np.array([epsilon_lower_bound(a, opposite=b, doubt=doubt) for a, b in zip(first, second, strict=True)])
    wrong = int((bounds > math.log(3)).sum())
    assert stats.binom.sf(wrong - 1, runs, doubt) > 1e-9
    assert np.median(bounds) > 0.75 * math.log(3)


def test_half_the_noise_is_proved_and_the_honest_is_not():
    rng = np.random.default_rng(3)
    for scale, caught in [(1.0, False), (0.5, True)]:  # one count, epsilon = 1
        hits = [shift + rng.laplace(scale=scale, size=100_000) <= 0 for shift in (0, 1)]
        assert (epsilon_lower_bound(hits[0], opposite=hits[1], doubt=1e-9) > 1) is caught


@pytest.mark.parametrize(("first", "second"), [(0, 50), (0, 0), (100, 100), (50, 50)])
def test_samples_that_prove_nothing_give_zero(first, second):
    assert epsilon_lower_bound(sample(first, 100), opposite=sample(second, 100), doubt=0.05) == 0


def test_an_output_that_one_table_never_gives_is_bounded_by_the_number_of_draws():
    bound = epsilon_lower_bound(sample(1000, 1000), opposite=sample(0, 1000), doubt=0.05)
    assert 5 < bound < math.log(1000)


def test_delta_is_taken_off_the_likelier_side():
    with_delta, without = (
        epsilon_lower_bound(sample(60, 100), opposite=sample(20, 100), doubt=0.1, delta=d) for d in (0.1, 0.0)
    )
    assert with_delta < without
    assert epsilon_lower_bound(sample(60, 100), opposite=sample(1, 100), doubt=0.1, delta=0.6) == 0


@pytest.mark.parametrize("bad", [[], [0.5, 1.0], [[True]], True])
def test_samples_that_are_no_booleans_are_refused(bad):
    with pytest.raises(InputError, match="true and false"):
        epsilon_lower_bound(bad, opposite=sample(1, 10), doubt=0.05)


@pytest.mark.parametrize("doubt", [0, 0.6, math.nan])
def test_a_bad_doubt_is_refused(doubt):
    with pytest.raises(InputError, match="doubt must be"):
        epsilon_lower_bound(sample(1, 10), opposite=sample(1, 10), doubt=doubt)
