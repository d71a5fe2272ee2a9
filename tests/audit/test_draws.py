import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from dpbayes.audit.draws import MOST_NUMBERS, audit_by_draws, epsilon_lower_bound, loss_from_draws, released_numbers
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.mechanisms.die.hellinger import HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import Die
from tests.strategies import empty, table_of


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


@pytest.mark.parametrize(("first", "second"), [(0, 50), (0, 0), (100, 100), (50, 50)])
def test_samples_that_prove_nothing_give_zero(first, second):
    assert epsilon_lower_bound(sample(first, 100), opposite=sample(second, 100), doubt=0.05) == 0


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


# From releases


class Rounded:
    """A mechanism that nobody has audited: a count with Laplace noise, rounded; its epsilon is 1/scale."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def simulate(self, count: int, rng: np.random.Generator, size: tuple[int, ...] = ()) -> np.ndarray:
        return np.rint(count + rng.laplace(scale=self.scale, size=size))


def by_draws(mechanism, first, second, **more):
    return audit_by_draws(mechanism, first=first, second=second, rng=np.random.default_rng(5), **more)


@pytest.mark.parametrize("tables", [(0, 1), (1, 0)])
def test_a_mechanism_that_nobody_knows_is_bounded_from_its_releases(tables):
    report = by_draws(Rounded(1.0), *tables, doubt=1e-9)
    assert 0.8 < report.epsilon <= 1
    assert report.counted == 50_000
    assert report.hits[0] > report.hits[1]
    assert not report.refutes(Guarantee(1.0))
    broken = by_draws(Rounded(0.5), *tables, doubt=1e-9)
    assert broken.refutes(Guarantee(1.0))
    assert broken.refutes(1)
    assert not broken.refutes(2)
    assert broken.epsilon <= 2


def test_the_bound_is_seldom_wrong_however_the_event_was_chosen():
    """Equal laws of 40 numbers: any positive bound is wrong; 400 runs at a doubt of 0.1, alarm below 1e-9."""
    rng, runs = np.random.default_rng(11), 400
    wrong = sum(loss_from_draws(*rng.normal(size=(2, 120, 40)), doubt=0.1).epsilon > 0 for _ in range(runs))
    assert stats.binom.sf(wrong - 1, runs, 0.1) > 1e-9


def test_many_numbers_that_each_say_little_are_taken_together():
    rng = np.random.default_rng(13)
    first, second = (rng.laplace(size=(40_000, 20)) + at for at in (0.15, 0.0))
    together = loss_from_draws(first, second, doubt=1e-6).epsilon
    alone = loss_from_draws(first[:, :1], second[:, :1], doubt=1e-6).epsilon
    assert 2 * alone + 0.2 < together <= 20 * 0.15


def test_delta_is_that_of_the_claim():
    mechanism = HellingerSmooth(die=Die((1.0, 1.0), 5), epsilon=3.0, delta=0.01)
    first, second = np.array([5, 0]), np.array([4, 1])
    report = by_draws(mechanism, first, second)
    assert report.delta == 0.01
    assert 0.3 < report.epsilon <= 3
    assert report.refutes(Guarantee(0.1, 0.01))
    assert report.refutes(Guarantee(0.1)), "a smaller delta promises more"
    assert not report.refutes(Guarantee(0.1, 0.02))


@dataclass(frozen=True)
class HalfTheNoise:
    """A mechanism of a user, whose Laplace noise is too small for its epsilon."""

    prior: Dirichlets
    epsilon: float

    def simulate(self, counts: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()) -> np.ndarray:
        return counts.values + rng.laplace(scale=1 / self.epsilon, size=(*size, *counts.values.shape))


def test_a_verdict_on_two_tables_is_printed():
    prior = Dirichlets.symmetric(empty(1))
    table = table_of(empty(1), [(0,)] * 10)
    tables = {"first": table, "second": table.replace(0, [1])}
    sound, broken = (
        audit_by_draws(mechanism, **tables, rng=1)
        for mechanism in (LaplaceUpdates(prior=prior, epsilon=1.0), HalfTheNoise(prior, 1.0))
    )
    assert 0.8 < sound.epsilon <= 1 < broken.epsilon <= 2
    assert str(sound).startswith("stated ε = 1, privacy loss of at least ε = 0.")
    assert ": not refuted" in str(sound)
    assert str(broken).endswith(": refuted")
    assert "stated" not in str(by_draws(Rounded(1.0), 0, 1))


def test_the_numbers_of_a_release_are_found():
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(empty(1)), epsilon=1.0)
    release = mechanism.simulate(mechanism.statistic(table_of(empty(1), [(0,)])), np.random.default_rng(1), (3,))
    assert np.array_equal(released_numbers(release), release.outcome.updates)
    with pytest.raises(InputError, match="without numbers"):
        released_numbers(object())


def test_bad_draws_are_refused():
    with pytest.raises(InputError, match="number of draws must be"):
        by_draws(Rounded(1.0), 0, 1, draws=2)
    with pytest.raises(InputError, match="use at most"):
        by_draws(
            LaplaceCells(die=Die((1.0,) * 10, 5), epsilon=1.0), [5] + [0] * 9, [4, 1] + [0] * 8, draws=MOST_NUMBERS
        )
    for first, second in (
        ([1.0] * 9, [1.0] * 9),
        (np.ones((9, 2)), np.ones((9, 1))),
        (np.ones((4, 1)), np.ones((4, 1))),
    ):
        with pytest.raises(InputError, match="equal shape"):
            loss_from_draws(first, second, doubt=0.1)
    with pytest.raises(InputError, match="finite"):
        loss_from_draws(np.full((9, 1), np.nan), np.ones((9, 1)), doubt=0.1)


def test_what_only_the_first_half_shows_proves_nothing():
    """The event is fixed on a first half; counted there again, it would prove whatever chance put there."""
    first, second = np.zeros((8000, 1)), np.zeros((8000, 1))
    first[:4000] = 1.0
    assert loss_from_draws(first, second, doubt=1e-6).epsilon == 0
    first[4000:] = 1.0
    assert loss_from_draws(first, second, doubt=1e-6).epsilon > 4
