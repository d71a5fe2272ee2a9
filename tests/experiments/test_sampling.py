import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.experiments.sampling import Game, GameStudy, RowState, answering, needed_answers, play
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.sampler import PosteriorSampler
from dpbayes.model.dataset import count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_mass
from dpbayes.theory.dimitrakakis14.game import adversary_ceiling, needed_answers_bracket
from tests.conftest import FAR
from tests.strategies import ASIA, random_table

MIXED = Network.from_edges("abc", ["ab"], {"a": "uvwxy", "b": "xy", "c": ["s"]})


def rng() -> np.random.Generator:
    return np.random.default_rng(20160212)


# A trimmed row


def test_the_shift_of_a_binary_row_follows_from_a_ratio_of_masses_and_falls_with_epsilon():
    row, bound = RowState(np.array([31.0, 11.0]), 0), 0.7
    w = 1 / (1 + math.exp(bound))
    mean = math.exp(log_mass(32, 11, w) - log_mass(31, 11, w))
    assert row.shift(bound) == pytest.approx(31 / 42 - mean, rel=1e-9)
    assert row.deviation == pytest.approx(stats.beta(31, 11).std(), rel=1e-12)
    assert np.all(np.diff(row.shift(np.geomspace(0.01, 10, 99))) <= 1e-15)


@pytest.mark.parametrize("state", range(5))
def test_shift_region_and_density_of_a_long_row_are_those_of_its_draws(state):
    row, bound = RowState(np.array([4.0, 1.0, 9.0, 2.0, 0.5]), state), 1.2
    drawn = row.sample(bound, rng(), (60_000,))
    low, high = row.region(bound)
    assert low <= drawn.min() <= drawn.max() <= high
    assert abs(abs(drawn.mean() - row.mean) - row.shift(bound)) < FAR * drawn.std() / math.sqrt(len(drawn))
    theta = np.linspace(float(low), float(high), 4001)
    density = row.trimmed_density(bound, theta)
    cumulative = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(theta))])
    assert cumulative[-1] == pytest.approx(1, abs=0.01)
    test = stats.kstest(drawn[:5000], lambda x: np.interp(x, theta, cumulative / cumulative[-1]))
    assert test.pvalue > 1e-9
    assert stats.kstest(drawn[:5000] * 1.1, lambda x: np.interp(x, theta, cumulative)).pvalue < 1e-9


def test_a_binary_rows_density_is_the_trimmed_beta():
    row, bound = RowState(np.array([6.0, 3.0]), 1), 0.5
    low, high = (float(end) for end in row.region(bound))
    theta = np.array([low * 0.99, low, 0.5, high, high * 1.01])
    inside = stats.beta(3, 6).pdf(theta) / (stats.beta(3, 6).cdf(high) - stats.beta(3, 6).cdf(low))
    assert row.trimmed_density(bound, theta) == pytest.approx(inside * [0, 1, 1, 1, 0], rel=1e-9)


def test_a_row_of_one_state_is_certain():
    row = RowState(np.array([7.0]), 0)
    assert row.mean == 1
    assert [float(end) for end in row.region(0.3)] == [1, 1]
    assert np.array_equal(row.sample(0.3, rng(), (3,)), np.ones(3))
    assert np.array_equal(row.shift(np.array([0.1, 1.0])), [0, 0])


@pytest.mark.parametrize(("epsilon", "draws"), [(8.0, 1), (12.0, 4), (40.0, 20)])
def test_the_shift_is_that_of_the_mechanisms_releases(epsilon, draws):
    counts = count(ASIA, random_table(ASIA, rng(), 300))
    mechanism = PosteriorSampler(prior=Dirichlets.symmetric(ASIA), epsilon=epsilon, draws=draws)
    cells = ASIA.cells_of_row(2)
    row = RowState(mechanism.prior.updated(counts).alpha[cells], 0)
    released = mechanism.simulate(counts, rng(), (4000,)).outcome.probabilities[:, cells.start]
    bounds, doubt = mechanism.log_odds_bound * np.array([1.0, 0.5]), FAR * released.std() / math.sqrt(4000)
    right, wrong = np.abs(abs(released.mean() - row.mean) - row.shift(bounds))
    assert right < doubt < wrong


# The game


def network_pair(epsilon=1.0, calibration=Calibration.CERTIFIED, columns=1, records=20, successes=15):
    mechanism = answering(columns, epsilon=epsilon, calibration=calibration)
    return mechanism, Game(mechanism, records, successes).pair


def test_the_tables_are_neighbours():
    for successes in (0, 1, 7, 20):
        pair = Game(answering(3, epsilon=1.0, calibration=Calibration.CERTIFIED), 20, successes, 2.0).pair
        other = pair.swapped()
        assert pair.a + pair.b == other.a + other.b == 24
        assert abs(pair.a - other.a) == 1
        assert pair.a == 2 + successes
        assert pair.columns == 3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("columns", [1, 4])
def test_the_ceiling_is_never_exceeded_with_a_trimmed_prior(epsilon, columns):
    sampler, pair = network_pair(epsilon, columns=columns, records=3, successes=1)
    study = play(pair, rng(), answers=60, games=600)
    ceilings = adversary_ceiling(sampler.certified.epsilon, np.arange(1, 61))
    assert sampler.certified.epsilon == pytest.approx(epsilon)
    assert study.above(ceilings) == 0


def test_the_printed_claim_is_exceeded_and_the_certified_ceiling_is_not():
    sampler, pair = network_pair(2.0, Calibration.AS_PRINTED, columns=8, records=3, successes=1)
    study = play(pair, rng(), answers=30, games=2000)
    steps = np.arange(1, 31)
    assert sampler.claimed.epsilon == pytest.approx(2)
    assert study.above(adversary_ceiling(sampler.claimed.epsilon, steps)) > 0
    assert study.above(adversary_ceiling(sampler.certified.epsilon, steps)) == 0


def test_the_adversarys_probability_is_how_often_they_are_right():
    _, pair = network_pair(4.0)
    study = play(pair, rng(), answers=80, games=20_000)
    often = (study.log_odds > 0).mean(axis=1)
    spread = np.sqrt(often * (1 - often) / 20_000) + study.right_error
    assert np.all(np.abs(often - study.right) < FAR * spread)
    assert np.all(study.right_error < np.sqrt(often * (1 - often) / 20_000))


def test_the_log_odds_rise_by_the_divergence():
    _, pair = network_pair()
    study = play(pair, rng(), answers=50, games=4000)
    for side, half in ((pair, study.log_odds[-1, :2000]), (pair.swapped(), study.log_odds[-1, 2000:])):
        assert abs(half.mean() - 50 * float(side.kl)) < FAR * half.std() / math.sqrt(2000)


def test_needed_answers_lie_in_the_proved_bracket():
    _, pair = network_pair(4.0)
    least, most = needed_answers_bracket(pair, error=0.05)
    study = play(pair, rng(), answers=math.ceil(most), games=2000)
    needed = needed_answers(study, level=0.95)
    assert needed is not None
    assert least <= needed <= most
    assert study.right[needed - 1] >= 0.95 > study.right[needed - 2]


def test_needed_answers_are_unknown_where_no_game_is_long_enough():
    assert needed_answers(GameStudy(np.zeros((5, 10))), level=0.95) is None
    assert needed_answers(GameStudy(np.full((5, 10), 50.0)), level=0.95) == 1


def test_the_printed_calibration_of_an_answer_can_be_refused():
    with pytest.raises(InputError, match="Choose an epsilon above"):
        network_pair(1.0, Calibration.AS_PRINTED)
