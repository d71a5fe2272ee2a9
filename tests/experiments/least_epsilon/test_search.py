import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.bisection import turning_point
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon import search
from dpbayes.experiments.least_epsilon.search import crossing, interval_shares, least_epsilon, least_epsilon_steps
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.least_epsilon.wish import Question, Wish
from dpbayes.experiments.releases import concluded
from dpbayes.mechanisms import PRIVATE, Exact, LaplaceUpdates, MapExponential, Noise, PosteriorSampler
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import random_cpts
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.conftest import thorough
from tests.strategies import V_STRUCTURE, chain

COIN = Dirichlets.symmetric(chain(1))
HEADS = Question(COIN.network, *COIN.network.names, COIN.network.states[0][0])
EVEN = Counts(COIN.network, np.array([500, 500]), 1000)
FALSE_ALARM = 1e-9

V_PRIOR = Dirichlets.symmetric(V_STRUCTURE)
V_CPTS = np.array([0.5, 0.5] * 2 + [0.9, 0.1] * 4)
V_TABLE = planned_tables(V_STRUCTURE, V_CPTS, 200, 1, np.random.default_rng(9))


class TooLittleNoise(LaplaceUpdates):
    @property
    def noise_scale(self) -> float:
        return 0.9 * super().noise_scale


def wish(mechanism=None, **others) -> Wish:
    mechanism = mechanism or LaplaceUpdates(prior=COIN, epsilon=1.0)
    return Wish(**{"mechanism": mechanism, "question": HEADS, "tables": EVEN, "tolerance": 0.05} | others)


def rng(seed: int = 6) -> np.random.Generator:
    return np.random.default_rng(seed)


def exact_share(epsilon: float, tolerance: float = 0.05) -> float:
    """P[|(501 + X)/(1002 + X + Y) - 1/2| <= t], X and Y Laplace of scale b = 2/epsilon, which reach no end of [0, n].

    With c = 2t the answer is too large where (1 - c) X - (1 + c) Y > 1002 c, a sum of Laplace noise of scales
    s = (1 - c) b and u = (1 + c) b: P = (s^2 e^(-x/s) - u^2 e^(-x/u)) / (2 (s^2 - u^2)). Too small is as likely.
    """
    b, c = 2 / epsilon, 2 * tolerance
    s, u, x = (1 - c) * b, (1 + c) * b, 1002 * c
    return 1 - (s**2 * math.exp(-x / s) - u**2 * math.exp(-x / u)) / (s**2 - u**2)


TRUE = float(turning_point(lambda epsilon: np.asarray(exact_share(float(epsilon)) < 0.95), 0.01, 10.0)[1])


# Known values


def misses(mechanism: LaplaceUpdates, draws: int = 20_000) -> bool:
    """Whether the shares that passed are not those of the true least epsilon, but for a false alarm."""
    least = least_epsilon(wish(mechanism, draws=draws), rng())
    low, high = stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], draws, 0.95) / draws
    return not crossing(least.epsilons, least.shares, low) <= TRUE <= crossing(least.epsilons, least.shares, high)


def test_the_least_epsilon_of_a_coin_is_that_of_its_formula_and_of_noise_ten_percent_off_it_is_not():
    assert not misses(LaplaceUpdates(prior=COIN, epsilon=1.0))
    assert misses(TooLittleNoise(prior=COIN, epsilon=1.0))


def test_the_interval_holds_the_truth_as_often_as_it_says_and_half_of_it_does_not():
    runs, wide, narrow = 60, 0, 0
    for seed in range(runs):
        least = least_epsilon(wish(draws=200), rng(seed))
        wide += least.low <= TRUE <= least.high
        narrow += abs(TRUE - least.epsilon) <= min(least.high - least.epsilon, least.epsilon - least.low) / 2
    assert stats.binom.cdf(wide, runs, 0.95) > FALSE_ALARM
    assert stats.binom.cdf(narrow, runs, 0.95) < FALSE_ALARM


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("draws", [100, 2000])
def test_ranks_hold_the_quantile_and_no_narrower_ones_do(confidence, draws):
    low, high = (round(draws * share) for share in interval_shares(confidence, draws=draws))
    law = stats.binom(draws, confidence)
    assert law.cdf(high - 1) - law.cdf(low - 1) >= 0.95
    assert law.cdf(low) > 0.025  # a higher first rank would leave out more than its half
    assert law.sf(high - 2) > 0.025


def test_too_few_draws_leave_the_interval_open_above():
    least = least_epsilon(wish(draws=20), rng())
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


# Every mechanism


PLANNED = list(itertools.product(PRIVATE, (False, True)))
CHEAP = [case for case in PLANNED if case not in {(PosteriorSampler, True), (MapExponential, True)}]


@pytest.mark.parametrize(("kind", "is_planned"), thorough(PLANNED, sample=CHEAP))
def test_fresh_releases_keep_to_the_wish_at_the_least_epsilon_and_not_far_below(kind, is_planned):
    draws, fresh, confidence, tolerance = 60, 400, 0.8, 0.15
    mechanism, names, states = kind(prior=V_PRIOR, epsilon=1.0), V_STRUCTURE.names, V_STRUCTURE.states
    question = Question(V_STRUCTURE, names[2], states[2][0], {names[0]: states[0][1]})
    planned, others = (planned_tables(V_STRUCTURE, V_CPTS, 200, releases, rng(releases)) for releases in (draws, fresh))
    tables = planned if is_planned else only(V_TABLE)
    wished = wish(mechanism, question=question, tables=tables, tolerance=tolerance, confidence=confidence, draws=draws)
    least = least_epsilon(wished, rng())
    again, size = (others, ()) if is_planned else (tables, (fresh,))
    exact = question.answers(V_PRIOR.updated(again).mean)

    def share(epsilon: float) -> float:
        outcome = wished.at(epsilon).release(again, rng(31), size).outcome
        return float((np.abs(question.answers(outcome.probabilities) - exact) <= tolerance).mean())

    assert least.low < least.epsilon < least.high < math.inf
    # Six standard errors of 400 releases are .12; the upper end is too low with 2.5% chance, and then not by much.
    assert share(least.high) > confidence - 0.12
    assert share(least.low / 3) < confidence - 0.05


def only(tables: Counts) -> Counts:
    return Counts(tables.network, tables.values[0], tables.n)


@pytest.mark.parametrize("kind", [PosteriorSampler, MapExponential])
def test_planned_tables_are_released_one_by_one(kind):
    tables = planned_tables(V_STRUCTURE, V_CPTS, 50, 3, rng())
    outcome = kind(prior=V_PRIOR, epsilon=500.0).release(tables, rng()).outcome
    assert outcome.probabilities.shape == (3, V_STRUCTURE.cell_count)


def test_an_epsilon_that_a_mechanism_does_not_allow_passes_nothing():
    mechanism = PosteriorSampler(prior=COIN, epsilon=10.0, calibration=Calibration.AS_PRINTED)
    least = least_epsilon(wish(mechanism, tolerance=0.5, draws=100), rng())
    assert least.epsilon > 2 * math.log(2) / 1.2
    assert np.all(least.shares[least.epsilons < 2 * math.log(2)] == 0)


def test_whole_noise_of_the_same_scale_needs_about_the_same():
    real, whole = (least_epsilon(wish(LaplaceUpdates(prior=COIN, epsilon=1.0, noise=noise)), rng()) for noise in Noise)
    assert whole.epsilon == pytest.approx(real.epsilon, rel=0.15)
    assert whole.mechanism.noise is Noise.WHOLE


# Other ways of answering


# Steps, luck and refusals


def test_steps_tell_how_far_the_work_is_and_return_the_same():
    work, shares = least_epsilon_steps(wish(draws=600), rng()), []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as end:
            least = end.value
            break
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert least.epsilon == finished(least_epsilon_steps(wish(draws=600), rng())).epsilon
    assert least.mechanism.certified.epsilon == least.epsilon


def test_all_epsilons_share_their_luck():
    # With luck of their own, the shares of 60 draws would fall somewhere among 13 epsilons so near to each other.
    for seed in range(5):
        least = least_epsilon(wish(draws=60), rng(seed))
        # Near 0 clipping leaves both counts alike so often that the answer is right by chance, whatever the luck.
        assert np.all(np.diff(least.shares[least.epsilons > 0.03]) >= 0)


def test_draws_are_tried_where_they_are_in_doubt_and_the_shares_are_those_of_all(monkeypatch):
    sizes: list[int] = []

    def watched(release, *others):
        sizes.append(len(release.numbers))
        return concluded(release, *others)

    tables = planned_tables(V_STRUCTURE, V_CPTS, 200, 2000, rng(4))
    question = Question(
        V_STRUCTURE, V_STRUCTURE.names[2], V_STRUCTURE.states[2][0], {V_STRUCTURE.names[0]: V_STRUCTURE.states[0][1]}
    )
    monkeypatch.setattr(search, "concluded", watched)
    wished = wish(LaplaceUpdates(prior=V_PRIOR, epsilon=1.0), question=question, tables=tables)
    least = least_epsilon(wished, rng())
    # Both ends by all draws, a few draws on the way, and between the ends three or four halvings by those in doubt.
    assert sum(sizes) < 3.7 * 2000
    every = search._Trials(wished, tuple(search._blocks(wished, rng())))
    near = (least.epsilons > least.low / 1.2) & (least.epsilons < least.high * 1.2)
    assert near.sum() >= 3
    assert least.shares[near] == pytest.approx(
        [every.share(float(epsilon)) for epsilon in least.epsilons[near]], abs=0.002
    )


def tried_everywhere(wished: Wish) -> tuple[float, float, float]:
    """The answer and its interval with all draws in doubt tried at every epsilon between the ends."""
    trials = search._Trials(wished, tuple(search._blocks(wished, rng())))
    low, high = finished(search._bracket(trials, finished(search._coarse(trials))))
    epsilons = np.geomspace(low, high, max(2, 1 + math.ceil(math.log(high / low) / search._STEP)))
    doubtful = trials.passed[low] != trials.passed[high]
    shares = []
    for epsilon in epsilons[1:-1]:
        passed = trials.tried(float(epsilon), doubtful)
        shares.append(float(np.where(doubtful, passed, trials.passed[high]).mean()))
    every = np.array([trials.share(low), *shares, trials.share(high)])
    first, last = interval_shares(wished.confidence, draws=wished.draws)
    answer, least, most = (crossing(epsilons, every, share) for share in (wished.confidence, first, last))
    return answer, least, most


@pytest.mark.parametrize("kind", [LaplaceUpdates])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_epsilons_that_are_passed_over_would_change_nothing(kind, confidence):
    prior = Dirichlets.symmetric(chain(3))
    tables = planned_tables(prior.network, random_cpts(prior.network, rng()), 300, 1000, rng())
    question = Question(prior.network, prior.network.names[2], prior.network.states[2][0])
    wished = wish(kind(prior=prior, epsilon=1.0), question=question, tables=tables, draws=1000, confidence=confidence)
    least = least_epsilon(wished, rng())
    assert (least.epsilon, least.low, least.high) == pytest.approx(tried_everywhere(wished), rel=1e-9)


@pytest.mark.parametrize(("share", "seed"), [(0.5, 1), (0.5, 2), (0.15, 3), (0.15, 4)])
def test_a_share_that_falls_again_at_a_large_epsilon_is_seen(share, seed, monkeypatch):
    """Releases err between epsilons 30 and 300 with this chance; what suffices below them does not count."""

    def wrong(release, *others):
        probabilities = concluded(release, *others)
        errs = (release.numbers[:, :1] * 997 % 1 < share) & (30 < release.public["epsilon"] < 300)
        return np.where(errs, probabilities + 0.2, probabilities)

    assert least_epsilon(wish(), rng(seed)).epsilon < 3
    monkeypatch.setattr(search, "concluded", wrong)
    assert least_epsilon(wish(), rng(seed)).epsilon > 290


def test_of_a_few_draws_fewer_are_tried_where_all_pass(monkeypatch):
    tried: dict[float, int] = {}

    def watched(release, *others):
        epsilon = float(release.public["epsilon"])
        tried[epsilon] = tried.get(epsilon, 0) + len(release.numbers)
        return concluded(release, *others)

    monkeypatch.setattr(search, "concluded", watched)
    least = least_epsilon(wish(), rng())
    far = [size for epsilon, size in tried.items() if epsilon > 5 * least.high]
    assert set(far) == {38}  # .9^38 < .02, .9 being what no fewer than 100 draws tell from .95
    assert 100 in tried.values()
    assert max(tried.values()) == 2000


def test_the_epsilon_that_a_mechanism_comes_with_does_not_matter():
    first, second = (
        least_epsilon(wish(LaplaceUpdates(prior=COIN, epsilon=epsilon), draws=100), rng()) for epsilon in (0.1, 7.0)
    )
    assert first.epsilon == second.epsilon


def test_a_table_without_records_needs_no_epsilon():
    least = least_epsilon(wish(tables=Counts(COIN.network, np.array([0, 0]), 0), draws=100), rng())
    assert least.epsilon == least.low == 1e-3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tolerance": 0}, "above 0"),
        ({"tolerance": 1.5}, "between 0 and 1"),
        ({"confidence": 1}, "confidence must be between"),
        ({"confidence": 0}, "confidence must be between"),
        ({"draws": 3}, "number of draws"),
        ({"tables": Counts(COIN.network, np.zeros((7, 2), dtype=np.int64), 0)}, "one table for each"),
        ({"tables": V_TABLE}, "The counts and the prior have"),
        ({"mechanism": PosteriorSampler(prior=COIN, epsilon=1.0, draws=10_000), "draws": 5000}, "too many to simulate"),
        ({"mechanism": Exact(prior=COIN)}, "has no epsilon"),
        (
            {"question": Question(V_STRUCTURE, V_STRUCTURE.names[0], V_STRUCTURE.states[0][0])},
            "The question and the prior have",
        ),
    ],
)
def test_bad_wishes_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        wish(**wrong)


def test_what_no_epsilon_grants_is_said():
    with pytest.raises(InputError, match=r"No epsilon up to 1,000 is enough: at 1,000, .*% of the releases"):
        least_epsilon(replace(wish(tolerance=1e-9), draws=100), rng())
