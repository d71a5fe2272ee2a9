"""Errors of an answer against epsilon, and the least epsilon, whose value for a coin is known."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.quadrature import turning_point
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon import AnswerErrors, answer_errors, crossing, interval_shares
from dpbayes.experiments.planned_tables import planned_tables
from dpbayes.mechanisms import PRIVATE, Exact, LaplaceUpdates
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading
from tests.strategies import V_STRUCTURE, chain

COIN = Dirichlets.symmetric(chain(1))
HEADS = Question(COIN.network, *COIN.network.names, COIN.network.states[0][0])
GRID = tuple(np.geomspace(0.1, 10, 31))
FALSE_ALARM = 1e-9


def even(draws: int) -> Counts:
    """Return the counts of a coin that fell on each side 500 times, once for each release."""
    return Counts(COIN.network, np.full((draws, 2), 500), 1000)


class TooLittleNoise(LaplaceUpdates):
    @property
    def noise_scale(self) -> float:
        return 0.9 * super().noise_scale


def errors_of(kind=LaplaceUpdates, draws: int = 2000, seed: int = 6) -> AnswerErrors:
    rng = np.random.default_rng(seed)
    return answer_errors(lambda epsilon: kind(prior=COIN, epsilon=epsilon), HEADS, even(draws), GRID, rng)


def exact_share(epsilon: float, tolerance: float = 0.05) -> float:
    """P[|(501 + X)/(1002 + X + Y) - 1/2| <= t], X and Y Laplace of scale b = 2/epsilon, which reach no end of [0, n].

    With c = 2t the answer is too large where (1 - c) X - (1 + c) Y > 1002 c, a sum of Laplace noise of scales
    s = (1 - c) b and u = (1 + c) b: P = (s^2 e^(-x/s) - u^2 e^(-x/u)) / (2 (s^2 - u^2)). Too small is as likely.
    """
    b, c = 2 / epsilon, 2 * tolerance
    s, u, x = (1 - c) * b, (1 + c) * b, 1002 * c
    return 1 - (s**2 * math.exp(-x / s) - u**2 * math.exp(-x / u)) / (s**2 - u**2)


def test_shares_of_a_coin_are_those_of_its_formula_and_with_less_noise_they_are_not():
    draws = 20_000

    def misses(kind) -> bool:
        errors = errors_of(kind, draws)
        k = int(np.argmin(np.abs(errors.epsilons - 0.1)))
        passed = int(np.count_nonzero(errors.errors[k] <= 0.05))
        expected = exact_share(float(errors.epsilons[k]))
        return stats.binomtest(passed, draws, expected).pvalue < FALSE_ALARM

    assert not misses(LaplaceUpdates)
    assert misses(TooLittleNoise)


def test_the_interval_of_the_least_epsilon_holds_the_truth_as_often_as_it_says():
    tolerance = 0.02
    true = float(turning_point(lambda e: np.asarray(exact_share(float(e), tolerance) < 0.95), 0.01, 10.0)[1])
    leasts = [errors_of(draws=200, seed=seed).least(tolerance) for seed in range(60)]
    contained = sum(least.low <= true <= least.high for least in leasts)
    assert stats.binom.cdf(contained, len(leasts), 0.95) > FALSE_ALARM
    halved = sum(abs(true - one.epsilon) <= min(one.high - one.epsilon, one.epsilon - one.low) / 2 for one in leasts)
    assert stats.binom.cdf(halved, len(leasts), 0.95) < FALSE_ALARM


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("draws", [100, 2000])
def test_ranks_hold_the_quantile_and_no_narrower_ones_do(confidence, draws):
    low, high = (round(draws * share) for share in interval_shares(confidence, draws=draws))
    law = stats.binom(draws, confidence)
    assert law.cdf(high - 1) - law.cdf(low - 1) >= 0.95
    assert law.cdf(low) > 0.025  # a higher first rank would leave out more than its half
    assert law.sf(high - 2) > 0.025


def test_too_few_releases_leave_the_interval_open_above():
    least = errors_of(draws=20).least(0.05)
    assert interval_shares(0.95, draws=20)[1] > 1
    assert least.high == math.inf
    assert least.low <= least.epsilon < math.inf


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.2, 0.6, 0.9, 1.0], 100 * 10**0.5),  # halfway, on a logarithmic scale, from .9 to 1
        ([0.2, 0.96, 0.9, 1.0], 100 * 10**0.5),  # an epsilon that passes below one that does not is no answer
        ([0.95, 0.96, 1.0, 1.0], 1.0),
        ([0.0, 0.1, 0.2, 0.94], math.inf),
    ],
)
def test_every_epsilon_from_the_crossing_on_passes(shares, expected):
    assert crossing(np.array([1.0, 10.0, 100.0, 1000.0]), np.array(shares), 0.95) == pytest.approx(expected)


@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize("reading", list(Reading))
def test_every_mechanism_has_errors_which_fall(kind, reading):
    rng = np.random.default_rng(1)
    prior = Dirichlets.symmetric(V_STRUCTURE)
    tables = planned_tables(V_STRUCTURE, random_cpts(V_STRUCTURE, rng), 500, 40, rng)
    question = Question(V_STRUCTURE, V_STRUCTURE.names[0], V_STRUCTURE.states[0][0])
    at = answer_errors(lambda e: kind(prior=prior, epsilon=e), question, tables, (0.1, 100.0), rng, reading=reading)
    assert np.isfinite(at.errors).all()
    assert at.within(0.5)[1] < at.within(0.5)[0]


def test_the_exact_posterior_has_no_error_and_an_epsilon_that_is_refused_is_not_sufficient():
    def at(epsilon: float):
        if epsilon < 1:
            raise InputError("This epsilon is too small.")
        return Exact(prior=COIN)

    errors = answer_errors(at, HEADS, even(30), (0.1, 1.0, 10.0), np.random.default_rng(1))
    assert np.isinf(errors.errors[0]).all()
    assert (errors.errors[1:] == 0).all()
    assert errors.least(0.01).epsilon == pytest.approx(0.1 * 10**0.95)
    with pytest.raises(InputError, match="too small"):
        answer_errors(at, HEADS, even(30), (0.1, 0.2), np.random.default_rng(1))


@pytest.mark.parametrize(("tolerance", "share"), [(0, 0.95), (-1, 0.95), (2, 0.95), (0.1, 0), (0.1, 1)])
def test_bad_numbers_are_refused(tolerance, share):
    with pytest.raises(InputError):
        errors_of(draws=20).least(tolerance, share)
