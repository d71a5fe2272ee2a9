import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import special

from dpbayes.audit.loss.law import PromisedLoss
from dpbayes.audit.risk import RARE, Between, Risk, best_guess, ceiling, losses_of, risk
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
)
from dpbayes.model.dataset import Counts
from dpbayes.model.elimination import LargestSum
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
    guess = best_guess(losses_of(mechanism, n=1, releases=releases), belief)
    assert guess.low - 1e-12 <= exact <= guess.high + 1e-12
    assert guess.high - guess.low < 1e-9


USUAL = "; in 99% of cases it rises to at most"


@pytest.mark.parametrize(
    ("delta", "ceiling", "rare", "text"),
    [
        (0.0, 0.3, 0.5, f"at most 30.0%{USUAL} 15.5%, even if it is true."),
        (0.0, 0.3, math.log(0.3 / 0.7 * 9), "at most 30.0%."),
        (0.0, 1.0, math.inf, "near certainty."),
        (1e-6, 0.3, 0.5, f"at most 30.0%, apart from rare cases (δ){USUAL} 15.5%, even if it is true."),
        (1e-6, 1.0, 1.0, f"near certainty{USUAL} 23.2%, even if it is true."),
    ],
)
def test_a_belief_in_words(delta, ceiling, rare, text):
    one = Risk(Guarantee(1.0, delta), 3, Between(0.6, 0.61), promised=0.7, suspicion=0.1, ceiling=ceiling, rare=rare)
    assert ", by the distribution of the noise; other noise" in str(one)
    assert str(one).endswith(f" The attacker’s 10% belief can rise to {text}")


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
    one = risk(mechanism, n=4, releases=releases)
    tv = (chances * -np.expm1(-np.maximum(losses, 0.0))).sum()
    assert one.guess.low == pytest.approx((1 + tv) / 2, abs=1e-9)
    assert one.guess.high == pytest.approx((1 + tv) / 2, abs=1e-9)
    assert chances[losses > one.rare].sum() <= RARE < chances[losses > 0.75 * one.rare].sum()


@pytest.mark.parametrize("kind", [GaussianUpdates, GaussianResiduals])
def test_releases_with_gaussian_noise_are_one_that_moves_further(kind):
    mechanism = kind(prior=ASIA, epsilon=1.0, delta=1e-6)
    one = risk(mechanism, n=50, releases=4)
    shift = 2 * mechanism.shift
    assert one.guess.high == pytest.approx(special.ndtr(shift / 2), rel=1e-9)
    exact = shift**2 / 2 + 2.3263479 * shift
    assert exact <= one.rare < 1.2 * exact


def test_counts_that_are_fitted_tell_as_much_as_the_noisy_ones():
    fitted, counts = (kind(prior=ASIA, epsilon=1.0) for kind in (ConsistentLaplace, LaplaceUpdates))
    assert risk(fitted, n=50, releases=3) == risk(counts, n=50, releases=3)


@pytest.mark.parametrize("releases", [1, 3])
def test_a_belief_rises_above_what_is_usual_in_few_of_all_outputs(releases):
    p, q = clipped_whole_laws(0.65)
    p, q = (np.array([math.prod(masses) for masses in product(law, repeat=releases)]) for law in (p, q))
    mechanism = LaplaceUpdates(prior=COIN, epsilon=1.3, noise=Noise.WHOLE)
    one = risk(mechanism, n=1, releases=releases, suspicion=0.3)
    usual = float(one.usual(0.3))
    after = 0.3 * p / (0.3 * p + 0.7 * q)
    assert p[after > usual + 1e-9].sum() <= RARE
    assert after.max() <= one.ceiling + 1e-12
    assert usual <= one.ceiling + 1e-12


def test_ceilings_are_those_of_the_odds():
    for epsilon, releases, belief in ((1.0, 1, 0.1), (0.3, 7, 0.5), (2.0, 3, 0.01)):
        raised = belief * math.exp(releases * epsilon)
        expected = raised / (1 - belief + raised)
        assert ceiling(belief, Guarantee(epsilon), releases=releases) == pytest.approx(expected, rel=1e-12)


def test_a_promise_with_a_delta_bounds_the_advantage():
    advantage = (math.expm1(0.8) + 0.04) / (math.exp(0.8) + 1)
    assert best_guess(PromisedLoss(0.8, 0.02)).high == pytest.approx((1 + advantage) / 2, rel=1e-12)
    assert best_guess(PromisedLoss(1.0)).high == pytest.approx(float(special.expit(1.0)), rel=1e-12)
    assert best_guess(PromisedLoss(0.0), 0.2).high == pytest.approx(0.8)


@pytest.mark.parametrize("kind", PRIVATE)
def test_every_mechanism_keeps_within_its_promise_and_more_releases_tell_no_less(kind):
    mechanism = kind(prior=Dirichlets.symmetric(V_STRUCTURE), epsilon=1.0)
    risks = [risk(mechanism, n=3, releases=releases) for releases in (1, 3)]
    for one in risks:
        assert 0.5 <= one.guess.low <= one.guess.high <= one.promised + 1e-12
        assert one.rare >= 0
        assert one.suspicion < one.ceiling < 1
    for fewer, more in pairwise(risks):
        assert more.guess.high >= fewer.guess.high - 1e-9
        assert more.ceiling > fewer.ceiling


def test_a_fourier_release_whose_worst_record_is_not_known_lies_between_two_values(monkeypatch):
    mechanism = LaplaceFourier(prior=ASIA, epsilon=1.0)
    exact = best_guess(losses_of(mechanism, n=6))
    network = mechanism.prior.network
    monkeypatch.setitem(vars(network), "odd_overlap", LargestSum(network.odd_overlap.value, exact=False))
    vague = best_guess(losses_of(mechanism, n=6))
    assert vague.low < exact.low
    assert vague.high == exact.high


def test_nothing_is_lost_of_a_table_without_records():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    assert best_guess(losses_of(mechanism, n=0)).high == 0.5


def test_bad_numbers_and_mechanisms_without_a_promise_are_refused():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    with pytest.raises(InputError, match="suspicion must"):
        risk(mechanism, n=10, suspicion=0.0)
    with pytest.raises(InputError, match="belief"):
        best_guess(losses_of(mechanism, n=10), 0)
    with pytest.raises(InputError, match="number of releases"):
        best_guess(losses_of(mechanism, n=10, releases=0))
    with pytest.raises(InputError, match="has no guarantee"):
        risk(Exact(prior=ASIA), n=10)


def test_the_risk_of_a_release_is_that_of_its_guarantee():
    release = GaussianUpdates(prior=COIN, epsilon=1, delta=1e-6).simulate(Counts(COIN.network, np.array([1, 2]), 3), 1)
    one = risk(release, releases=2, suspicion=0.2)
    assert "by the guarantee alone. The risk of the mechanism" in str(one)
    assert one.guess.high == one.promised == best_guess(PromisedLoss(1, 1e-6, 2)).high
    assert one.ceiling == ceiling(0.2, release.guarantee, releases=2)
