import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpbayes.audit.attacker import (
    MOST_SIMULATED,
    attack_die,
    attack_network,
    log_odds,
    log_ratios,
    probability_ceiling,
)
from dpbayes.audit.loss.trimmed_network import network_loss
from dpbayes.audit.regression import bad_tables, regression_ratios
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, Exact, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import Die
from tests.strategies import V_STRUCTURE, chain, random_table, table_of

N = 12
COIN = Die((1.0, 1.0), 30)
KINDS = {
    "Laplace": (LaplaceUpdates, {}),
    "Fourier": (LaplaceFourier, {}),
    "Fourier as printed": (LaplaceFourier, {"calibration": Calibration.AS_PRINTED}),
    "sampler": (PosteriorSampler, {}),
    "three draws": (PosteriorSampler, {"draws": 3}),
    "map": (MapExponential, {"cells": 5}),
}
DICE = {
    "global": (HellingerGlobal, {}),
    "local": (HellingerLocal, {}),
    "smooth": (HellingerSmooth, {"delta": 1e-5}),
    "one": (LaplaceOne, {}),
    "cells": (LaplaceCells, {}),
}
with_every_kind = pytest.mark.parametrize(("kind", "options"), KINDS.values(), ids=KINDS)
with_every_die = pytest.mark.parametrize(("kind", "options"), DICE.values(), ids=DICE)


def rng(seed: int = 4) -> np.random.Generator:
    return np.random.default_rng(seed)


def neighbours(network: Network, n: int = N) -> tuple[Counts, Counts]:
    """All records alike, but one that is its opposite in the first table."""
    alike = [[1] * len(network.names)] * (n - 1)
    return tuple(count(network, table_of(network, [*alike, [odd] * len(network.names)])) for odd in (0, 1))


def build(kind, options, network=V_STRUCTURE, epsilon=1.0):
    return kind(prior=Dirichlets.symmetric(network), epsilon=epsilon, **options)


def attack(mechanism, tables, size=(400, 30), prior=0.5):
    truth, other = tables
    return attack_network(mechanism, truth=truth, other=other, prior=prior, rng=rng(), size=size)


# Every release


@with_every_kind
@pytest.mark.parametrize("order", [1, -1])
def test_no_release_says_more_than_is_certified(kind, options, order):
    mechanism = build(kind, options)
    attackers = attack(mechanism, neighbours(V_STRUCTURE)[::order])
    assert attackers.ratios.shape == (400, 30)
    assert np.abs(attackers.ratios).max() <= mechanism.certified.epsilon * (1 + 1e-9)
    assert np.abs(attackers.ratios).max() > 0.05 * mechanism.certified.epsilon


@with_every_kind
def test_the_likelihoods_are_those_of_the_law_the_releases_come_from(kind, options):
    # E_x[e^(-L)] = 1 for any law whose support is that of y: it fails when noise and ratio do not belong together.
    mechanism, tables = build(kind, options), neighbours(V_STRUCTURE)
    sample = np.exp(-attack(mechanism, tables, size=(400, 100)).ratios).ravel()
    assert abs(sample.mean() - 1) < 6.2 * sample.std() / math.sqrt(sample.size)
    released = mechanism.release(tables[0], rng(), (40_000,)).outcome
    wrong = build(kind, options, epsilon=3.0)
    if kind is not MapExponential:  # a sampler at another epsilon draws from another region
        broken = np.exp(-log_ratios(wrong, released, first=tables[0].values, second=tables[1].values))
        assert abs(broken.mean() - 1) > 6.2 * broken.std() / math.sqrt(broken.size)


CONSTANT = Network.from_edges("ab", ["ab"], {"a": "x", "b": "y"})


@pytest.mark.parametrize("name", [name for name in KINDS if "Fourier" not in name])
@pytest.mark.parametrize("size", [(3, 2), ()])
def test_where_every_column_is_constant_no_release_tells_anything(name, size):
    """One table is possible, and its noise has scale 0; Fourier refuses nodes of one state."""
    kind, options = KINDS[name]
    mechanism = build(kind, options, CONSTANT)
    counts = Counts(CONSTANT, np.array([N, N]), N)
    outcome = mechanism.release(counts, rng(), size).outcome
    ratios = log_ratios(mechanism, outcome, first=counts.values, second=counts.values)
    assert ratios.tolist() == np.zeros(size).tolist()


@with_every_kind
def test_exchanging_the_tables_turns_the_sign(kind, options):
    mechanism, (first, second) = build(kind, options), neighbours(V_STRUCTURE)
    released = mechanism.release(first, rng(), (50,)).outcome
    forth = log_ratios(mechanism, released, first=first.values, second=second.values)
    back = log_ratios(mechanism, released, first=second.values, second=first.values)
    assert forth == pytest.approx(-back, abs=1e-12)
    same = log_ratios(mechanism, released, first=first.values, second=first.values)
    assert same == pytest.approx(np.zeros(50), abs=1e-12)


@pytest.mark.parametrize("kind", [LaplaceUpdates, LaplaceFourier])
def test_half_the_noise_goes_through_the_ceiling(kind):
    promised = build(kind, {}).certified.epsilon
    broken = build(kind, {}, network=chain(2), epsilon=2.0)
    ratios = attack(broken, neighbours(chain(2))).ratios
    assert ratios.max() > 1.5 * promised
    assert ratios.max() <= 2 * promised * (1 + 1e-9)


def test_the_printed_sampler_goes_through_its_ceiling_at_its_witness():
    prior = Dirichlets.symmetric(chain(4))
    mechanism = PosteriorSampler(prior=prior, epsilon=2.0, calibration=Calibration.AS_PRINTED)
    audited = network_loss(prior, n=5, bound=mechanism.log_odds_bound)
    released = mechanism.release(Counts(chain(4), audited.first, 5), rng(), ()).outcome
    at_witness = type(released)(audited.theta[None])
    loss = float(log_ratios(mechanism, at_witness, first=audited.first, second=audited.second))
    assert loss == pytest.approx(audited.least)
    assert loss > mechanism.claimed.epsilon == pytest.approx(2)


def test_atoms_of_clipped_counts_are_weighed_right():
    # One binary node, n = 1: the counts are (1, 0) against (0, 1); by hand from the law's atoms and densities.
    network = chain(1)
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0)
    first, second = np.array([1, 0]), np.array([0, 1])
    ratios = []
    for z in ([0.0, 1.0], [1.0, 0.0], [0.25, 0.0]):
        outcome = mechanism.release(Counts(network, first, 1), rng()).outcome
        released = type(outcome)(mechanism.prior, np.array(z))
        ratios.append(float(log_ratios(mechanism, released, first=first, second=second)))

    def law(value: float, mean: int) -> float:
        noise = stats.laplace(loc=mean, scale=2)
        return float(noise.cdf(0) if value == 0 else noise.sf(1) if value == 1 else noise.pdf(value))

    for z, ratio in zip(([0.0, 1.0], [1.0, 0.0], [0.25, 0.0]), ratios, strict=True):
        by_hand = math.log(law(z[0], 1) * law(z[1], 0) / law(z[0], 0) / law(z[1], 1))
        assert ratio == pytest.approx(by_hand, abs=1e-12)


# Dice


@with_every_die
def test_no_release_of_a_die_says_more_than_the_worst_case(kind, options):
    mechanism = kind(die=COIN, epsilon=1.0, **options)
    first, second = np.array([30, 0]), np.array([29, 1])
    attackers = attack_die(mechanism, truth=first, other=second, prior=0.3, rng=rng(), size=(300, 40))
    assert attackers.ratios.shape == (300, 40)
    assert np.abs(attackers.ratios).max() <= 1 + 1e-9
    sample = np.exp(-attackers.ratios).ravel()
    assert abs(sample.mean() - 1) < 6.2 * sample.std() / math.sqrt(sample.size)
    if kind not in (LaplaceOne, LaplaceCells):
        laws = mechanism.log_pmf(first) - mechanism.log_pmf(second)
        assert np.isin(attackers.ratios.round(10), laws.round(10)).all()


def test_a_broken_die_goes_through_the_ceiling():
    broken = LaplaceOne(die=COIN, epsilon=2.0)
    attackers = attack_die(broken, truth=[30, 0], other=[29, 1], prior=0.5, rng=rng(), size=(100, 10))
    assert attackers.ratios.max() == pytest.approx(2)


# Odds


def test_log_odds_start_at_the_prior_and_add_up():
    odds = log_odds([[1.0, -0.5, 0.25], [0.0, 0.0, 2.0]], prior=0.2)
    start = math.log(0.25)
    assert odds == pytest.approx(np.array([[0, 1, 0.5, 0.75], [0, 0, 0, 2]]) + start)


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_probabilities_stay_under_the_ceiling_of_all_releases_together(prior):
    mechanism = build(LaplaceUpdates, {}, epsilon=0.3)
    attackers = attack(mechanism, neighbours(V_STRUCTURE), prior=prior)
    low, high = probability_ceiling(0.3, releases=30, prior=prior)
    assert attackers.probabilities.shape == (400, 31)
    assert np.all(attackers.probabilities <= high * (1 + 1e-9))
    assert np.all(attackers.probabilities >= low * (1 - 1e-9))
    assert low[0] == high[0] == attackers.probabilities[0, 0] == pytest.approx(prior)
    assert high[2] / (1 - high[2]) == pytest.approx(math.exp(0.6) * prior / (1 - prior))


def test_many_releases_find_the_truth():
    attackers = attack(build(LaplaceUpdates, {}), neighbours(V_STRUCTURE), size=(50, 400))
    assert attackers.probabilities[:, -1].min() > 0.99


def test_without_a_promise_there_is_no_ceiling():
    low, high = probability_ceiling(math.inf, releases=2, prior=0.5)
    assert low.tolist() == [0.5, 0, 0]
    assert high.tolist() == [0.5, 1, 1]


# Bad input


def test_tables_of_another_size_or_network_are_refused():
    mechanism, (first, second) = build(LaplaceUpdates, {}), neighbours(V_STRUCTURE)
    elsewhere = neighbours(chain(2))[0]
    longer = count(V_STRUCTURE, random_table(V_STRUCTURE, rng(), N + 1))
    for other in (elsewhere, longer):
        with pytest.raises(InputError, match="same network and the same number"):
            attack(mechanism, (first, other))
    with pytest.raises(InputError, match="fewer repeats"):
        attack(mechanism, (first, second), size=(MOST_SIMULATED, 2))
    with pytest.raises(InputError, match="throws"):
        attack_die(LaplaceOne(die=COIN, epsilon=1.0), truth=[30, 0], other=[29, 0], prior=0.5, rng=rng(), size=(1, 1))


def test_mechanisms_whose_law_is_not_known_are_refused_in_a_sentence():
    three = LaplaceCells(die=Die((1.0, 1.0, 1.0), 30), epsilon=1.0)
    with pytest.raises(InputError, match="rescaled counts is not known for 3 sides"):
        attack_die(three, truth=[30, 0, 0], other=[29, 1, 0], prior=0.5, rng=rng(), size=(1, 1))
    with pytest.raises(InputError, match="not known"):
        attack(Exact(prior=Dirichlets.symmetric(V_STRUCTURE)), neighbours(V_STRUCTURE))


@pytest.mark.parametrize("prior", [0.0, 1.0, math.nan, -0.1])
def test_bad_prior_probabilities_are_refused(prior):
    with pytest.raises(InputError, match="prior probability must be"):
        log_odds([0.0], prior=prior)


@pytest.mark.parametrize(("features", "draws"), [(1, 1), (2, 3), (5, 2)])
def test_attacks_on_regression_weights_are_weighed_by_the_law_they_come_from(features, draws):
    """E_x[e^(-L)] = 1 and |L| <= the pair's exact loss; the sign matters."""
    mechanism = RegressionSampler(prior_precision=0.5, norm_bound=0.8, draws=draws)
    pair = bad_tables(mechanism, n=6, features=features)
    ratios = regression_ratios(mechanism, pair, rng(), (400, 50))
    sample = np.exp(-ratios).ravel()
    assert abs(sample.mean() - 1) < 6.2 * sample.std() / math.sqrt(sample.size)
    assert ratios.max() <= draws * pair.loss * (1 + 1e-9)
    assert ratios.max() > 0.3 * draws * pair.loss
    turned = replace(pair, first=pair.second, second=pair.first)
    back = np.exp(regression_ratios(mechanism, turned, rng(), (400, 50))).ravel()
    assert abs(back.mean() - 1) > 6.2 * back.std() / math.sqrt(back.size), "E_y[e^L] is not 1"
