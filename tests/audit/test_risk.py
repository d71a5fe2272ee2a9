import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import special

from dpbayes.audit.die.laplace import laplace_cells_delta
from dpbayes.audit.loss.law import Losses, PromisedLoss, chance_above, loss_rarely_passed
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.risk import (
    RARE,
    Between,
    Risk,
    best_guess,
    ceiling,
    chance_of_passing,
    level_above,
    losses_of,
    promised_guess,
    risk,
    sentences,
)
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import (
    PRIVATE,
    ConsistentLaplace,
    Exact,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Noise,
    PosteriorSampler,
)
from dpbayes.model.closure import OddOverlap
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from tests.strategies import V_STRUCTURE, chain

ASIA = Dirichlets.symmetric(load_named("asia")[0])
COIN = Dirichlets.symmetric(chain(1))


def clipped_whole_laws(rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The laws of what Laplace with whole noise hands over of one record of a coin, clipped to [0, 1]: four outputs."""
    far = math.exp(-rate) / (1 + math.exp(-rate))  # P[noise >= 1], and so P[noise <= -1]
    kept = np.array([1 - far, far])  # the count comes out as it is, or as the other one
    first = np.array([kept[a] * kept[b] for a, b in product((0, 1), repeat=2)])
    return first, np.array([kept[1 - a] * kept[1 - b] for a, b in product((0, 1), repeat=2)])


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("belief", [0.5, 0.1, 0.8])
def test_the_best_guess_and_a_belief_that_rises_are_those_of_all_outputs(releases, belief):
    epsilon = 1.3
    first, second = clipped_whole_laws(epsilon / 2)
    p, q = (np.array([math.prod(chances) for chances in product(law, repeat=releases)]) for law in (first, second))
    mechanism = LaplaceUpdates(prior=COIN, epsilon=epsilon, noise=Noise.WHOLE)
    exact = np.maximum(belief * p, (1 - belief) * q).sum()
    guess = best_guess(losses_of(mechanism, n=1, releases=releases).curve, belief)
    assert guess.low - 1e-12 <= exact <= guess.high + 1e-12
    assert guess.high - guess.low < 1e-9
    level = belief + 0.07
    rises = p[belief * p / (belief * p + (1 - belief) * q) > level].sum()
    passing = chance_of_passing(losses_of(mechanism, n=1, releases=releases), suspicion=belief, level=level)
    assert passing.low - 1e-6 <= rises <= passing.high + 1e-6
    assert passing.high - passing.low < 1e-3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_two_moved_counts_have_their_closed_form(epsilon):
    exact = (1 + float(laplace_cells_delta(0.0, scale=2 / epsilon))) / 2
    guess = best_guess(losses_of(LaplaceUpdates(prior=COIN, epsilon=epsilon), n=10).curve)
    assert guess.low <= exact + 1e-12
    assert exact <= guess.high + 1e-12
    assert guess.high - guess.low < 1e-6


def test_asia_at_epsilon_one_in_words():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    text = sentences([risk(mechanism, n=1000, releases=releases) for releases in (1, 5)])
    assert text == (
        "Consider an attacker who knows all other records and finds two values of one record equally likely. Without "
        "the release, the attacker guesses right 50 times in 100; with it, at most 54.9 times. The guarantee alone "
        "allows 73.2 times. The attacker’s 10% belief can rise to at most 23.2%, and rises above 20% in at most 4 of "
        "10,000 cases, even if it is true. After 5 releases, the attacker guesses right at most 61.0 times in 100. The "
        "attacker’s 10% belief can rise to at most 94.3%, and rises above 20% in at most 12 of 100 cases, even if it "
        "is true."
    )


def belief_text(*, delta: float = 0.0, ceiling: float = 0.3, passing: float = 0.04, beyond: float = 0.0) -> str:
    return (
        sentences(
            [
                Risk(
                    guarantee=Guarantee(1.0, delta),
                    releases=3,
                    guess=Between(0.6, 0.61),
                    promised=0.7,
                    suspicion=0.1,
                    ceiling=ceiling,
                    level=0.2,
                    passing=Between(0.0, passing),
                    beyond=Between(0.0, beyond),
                )
            ]
        )
        .partition(" times. ")[2]
        .partition(" times. ")[2]
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "can rise to at most 30.0%, and rises above 20% in at most 4 of 100 cases"),
        ({"ceiling": 0.15}, "can rise to at most 15.0%"),
        (
            {"ceiling": 0.99961},
            "can rise to at most 99.97%, and rises above 20% in at most 4 of 100 cases",
        ),
        ({"ceiling": 1.0, "passing": 1.0}, "rises above 20% in at most 100 of 100 cases"),
        (
            {"passing": 3.2e-7},
            "can rise to at most 30.0%, and rises above 20% in at most 4 of 10,000,000 cases",
        ),
        ({"passing": 0.0}, "can rise to at most 30.0%, and never rises above 20%"),
    ],
)
def test_a_belief_in_words(options, text):
    passes = ", even if it is true." if "rises" in text else "."
    assert belief_text(**options) == f"The attacker’s 10% belief {text}{passes}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"beyond": 2.1e-5},
            "rises above 20% in at most 4 of 100 cases, even if it is true. It rises above 30.0% (the limit "
            "of ε alone) in at most 3 of 100,000 cases.",
        ),
        (
            {"ceiling": 0.15, "beyond": 1e-14},
            "rises above 15.0% (the limit of ε alone) with probability below 10⁻¹².",
        ),
        ({"ceiling": 1.0}, "rises above 20% in at most 4 of 100 cases, even if it is true."),
    ],
)
def test_with_a_delta_it_is_said_how_often_a_belief_passes_what_epsilon_allows(options, text):
    assert belief_text(delta=1e-6, **options) == f"The attacker’s 10% belief {text}"


def gaussian_losses(mechanism: GaussianUpdates, releases: int) -> tuple[np.ndarray, np.ndarray]:
    """All losses that whole Gaussian noise on both counts of a coin can have, and their chances."""
    places = np.arange(-60, 61)
    law = np.exp(-(places**2) / (2 * mechanism.noise_scale**2))
    chances = law / law.sum()
    total = chances
    for _ in range(2 * releases - 1):
        total = np.convolve(total, chances)
    reach = len(total) // 2
    return (2 * np.arange(-reach, reach + 1) + 2 * releases) / (2 * mechanism.noise_scale**2), total


@pytest.mark.parametrize("releases", [1, 3])
def test_whole_gaussian_noise_is_composed_as_all_its_outputs_are(releases):
    mechanism = GaussianUpdates(prior=COIN, epsilon=2.0, delta=1e-3, noise=Noise.WHOLE)
    losses, chances = gaussian_losses(mechanism, releases)
    one = risk(mechanism, n=4, releases=releases, suspicion=0.1, level=0.3)
    tv = (chances * -np.expm1(-np.maximum(losses, 0.0))).sum()
    assert one.guess.low == pytest.approx((1 + tv) / 2, abs=1e-9)
    assert one.guess.high == pytest.approx((1 + tv) / 2, abs=1e-9)
    for between, loss in ((one.passing, math.log(0.3 / 0.7 * 9)), (one.beyond, releases * mechanism.epsilon)):
        exact = chances[losses > loss].sum()
        assert between.low - 1e-9 <= exact <= between.high + 1e-9
        assert between.high - between.low < 0.02 * exact + 1e-9
    assert chances[losses > one.rare].sum() <= RARE < chances[losses > 0.8 * one.rare].sum()


@pytest.mark.parametrize("kind", [GaussianUpdates, GaussianResiduals])
def test_releases_with_gaussian_noise_are_one_that_moves_further(kind):
    mechanism = kind(prior=ASIA, epsilon=1.0, delta=1e-6)
    one = risk(mechanism, n=50, releases=4, suspicion=0.1, level=0.2)
    shift, loss = 2 * mechanism.shift, math.log(0.2 / 0.8 * 9)
    assert one.guess.high == pytest.approx(special.ndtr(shift / 2), rel=1e-9)
    assert one.passing.high == pytest.approx(special.ndtr(shift / 2 - loss / shift), rel=1e-4)
    assert one.rare == pytest.approx(shift**2 / 2 + 2.3263479 * shift, rel=0.02)


def test_whole_gaussian_noise_is_judged_for_every_number_of_counts_that_a_record_may_move():
    """Each node with records in different cells moves two counts."""
    mechanism = GaussianUpdates(prior=V_STRUCTURE, epsilon=1.0, delta=1e-6, noise=Noise.WHOLE)
    for releases in (1, 2):
        losses = losses_of(mechanism, n=5, releases=releases)
        assert [law.moved for law in losses.pairs] == [moved * releases for moved in (6, 4, 2)]
        assert losses.curve is losses.pairs[0]


def test_counts_that_are_fitted_tell_as_much_as_the_noisy_ones():
    fitted, counts = (kind(prior=ASIA, epsilon=1.0) for kind in (ConsistentLaplace, LaplaceUpdates))
    assert risk(fitted, n=50, releases=3) == risk(counts, n=50, releases=3)


@pytest.mark.parametrize("releases", [1, 3])
def test_a_belief_rises_above_what_is_usual_in_few_of_all_outputs(releases):
    p, q = clipped_whole_laws(0.65)
    p, q = (np.array([math.prod(masses) for masses in product(law, repeat=releases)]) for law in (p, q))
    mechanism = LaplaceUpdates(prior=COIN, epsilon=1.3, noise=Noise.WHOLE)
    one = risk(mechanism, n=1, releases=releases, suspicion=0.3, level=0.5)
    usual = float(one.usual(0.3))
    after = 0.3 * p / (0.3 * p + 0.7 * q)
    assert p[after > usual + 1e-9].sum() <= RARE
    assert after.max() <= one.ceiling + 1e-12 == pytest.approx(float(one.raised(0.3)))
    assert usual <= one.ceiling + 1e-12


@pytest.mark.parametrize(("suspicion", "level"), [(0.1, 0.2), (0.5, 0.75), (0.96, 0.98)])
def test_the_chosen_level_is_above_the_suspicion(suspicion, level):
    assert level_above(suspicion) == pytest.approx(level)


def simulated_guess(scale: float, draws: int = 100_000) -> float:
    """How often a likelihood test guesses right on Asia at epsilon 1, less the certified value, in standard errors."""
    noise = np.random.default_rng(3).laplace(scale=scale, size=(draws, 16))
    loss = (np.abs(noise + 1) - np.abs(noise)).sum(axis=1)
    share = (loss > 0).mean() + (loss == 0).mean() / 2
    certified = best_guess(losses_of(LaplaceUpdates(prior=ASIA, epsilon=1.0), n=1000).curve).high
    return float((share - certified) / math.sqrt(certified * (1 - certified) / draws))


def test_a_simulated_guesser_is_right_as_often_and_with_a_quarter_less_noise_more_often():
    # A false alarm is 1e-9 likely: 6.1 standard errors.
    assert abs(simulated_guess(16.0)) < 6.1
    assert simulated_guess(12.0) > 6.1


def test_ceilings_are_those_of_the_odds():
    for epsilon, releases, belief in ((1.0, 1, 0.1), (0.3, 7, 0.5), (2.0, 3, 0.01)):
        raised = belief * math.exp(releases * epsilon)
        expected = raised / (1 - belief + raised)
        assert ceiling(belief, Guarantee(epsilon), releases=releases) == pytest.approx(expected, rel=1e-12)


def test_a_promise_with_a_delta_bounds_the_advantage():
    promise = Guarantee(0.8, 0.02)
    advantage = (math.expm1(0.8) + 0.04) / (math.exp(0.8) + 1)
    assert promised_guess(promise) == pytest.approx((1 + advantage) / 2, rel=1e-12)
    assert promised_guess(Guarantee(1.0), belief=0.5) == pytest.approx(float(special.expit(1.0)), rel=1e-12)
    assert promised_guess(Guarantee(0.0), belief=0.2) == pytest.approx(0.8)


@pytest.mark.parametrize("kind", PRIVATE)
def test_every_mechanism_keeps_within_its_promise_and_more_releases_tell_no_less(kind):
    mechanism = kind(prior=Dirichlets.symmetric(V_STRUCTURE), epsilon=1.0)
    risks = [risk(mechanism, n=3, releases=releases) for releases in (1, 3)]
    for one in risks:
        assert 0.5 <= one.guess.low <= one.guess.high <= one.promised + 1e-12
        assert 0 <= one.passing.low <= one.passing.high <= 1
        assert one.suspicion < one.ceiling < 1
    for fewer, more in pairwise(risks):
        assert more.guess.high >= fewer.guess.high - 1e-9
        assert more.ceiling > fewer.ceiling


def test_draws_of_one_binary_row_have_their_own_curve():
    mechanism = PosteriorSampler(prior=COIN, epsilon=1.0)
    guess = best_guess(losses_of(mechanism, n=5).curve)
    assert guess.low == guess.high
    assert 0.5 < guess.high < promised_guess(mechanism.certified)


def test_a_fourier_release_whose_worst_record_is_not_known_lies_between_two_values(monkeypatch):
    mechanism = LaplaceFourier(prior=ASIA, epsilon=1.0)
    exact = best_guess(losses_of(mechanism, n=6).curve)
    closure = mechanism.prior.network.closure
    value = closure.odd_overlap.value
    monkeypatch.setitem(vars(closure), "odd_overlap", OddOverlap(value, exact=False))
    vague = best_guess(losses_of(mechanism, n=6).curve)
    assert vague.low < exact.low
    assert vague.high == exact.high
    passing = chance_of_passing(losses_of(mechanism, n=6), suspicion=0.1, level=0.11)
    assert 0 < passing.low < passing.high <= 1


def test_the_pair_with_whom_a_belief_rises_most_often_need_not_be_the_worst_one():
    # Of 14 coefficients as many often rise as fall, and the belief stays; of 13 never. Asia's O is 14.
    mechanism = LaplaceFourier(prior=ASIA, epsilon=1.0)
    passing = chance_of_passing(losses_of(mechanism, n=10), suspicion=0.1, level=0.10001)
    worst, other = (chance_above(LaplaceNoise(moved, 1 / 14), math.log(0.10001 / 0.89999 * 9)) for moved in (14, 13))
    assert worst[1] < other[0] <= passing.high
    assert passing.low <= worst[1]


def test_nothing_is_lost_of_a_table_without_records():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    assert best_guess(losses_of(mechanism, n=0).curve).high == 0.5
    assert chance_of_passing(losses_of(mechanism, n=0), suspicion=0.1, level=0.2).high == 0


def test_bad_numbers_and_mechanisms_without_a_promise_are_refused():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    with pytest.raises(InputError, match="not above"):
        chance_of_passing(losses_of(mechanism, n=10), suspicion=0.3, level=0.2)
    with pytest.raises(InputError, match="belief"):
        best_guess(losses_of(mechanism, n=10).curve, 0)
    with pytest.raises(InputError, match="number of releases"):
        best_guess(losses_of(mechanism, n=10, releases=0).curve)
    with pytest.raises(InputError, match="has no guarantee"):
        risk(Exact(prior=ASIA), n=10)


def test_what_is_passed_rarely_is_found_up_to_the_largest_losses() -> None:
    """At steps of hundreds of nats e^step is no number; the slope there is that of a certain loss."""
    one = PromisedLoss(1.0)
    losses = Losses(one, (one,))
    assert 1 <= loss_rarely_passed(losses, 0.05, 1000.0) < 1000
