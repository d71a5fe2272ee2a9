import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.die.hellinger import HellingerEnumerated, HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.posteriors.hellinger import Die

ALARM = 1e-9
COIN = Die((1.0, 1.0), 40)
LISTED = {"global": (HellingerGlobal, {}), "local": (HellingerLocal, {}), "smooth": (HellingerSmooth, {"delta": 1e-5})}
FINITE = {**LISTED, "enumerated": (HellingerEnumerated, {"delta": 1e-5})}
EVERY = {**FINITE, "Laplace cells": (LaplaceCells, {}), "Laplace one": (LaplaceOne, {})}
with_every_finite_die = pytest.mark.parametrize(("kind", "options"), FINITE.values(), ids=FINITE)
with_every_die = pytest.mark.parametrize(("kind", "options"), EVERY.values(), ids=EVERY)


def rng(seed: int = 19) -> np.random.Generator:
    return np.random.default_rng(seed)


def exact_loss(mechanism):
    die = mechanism.die
    return exact_pure_epsilon(mechanism.log_pmf_table(), pairs=neighbour_pairs(die.n, sides=die.sides))


# The common shape


@with_every_die
@pytest.mark.parametrize("size", [(), (5,), (2, 3)])
def test_releases_are_posteriors_of_the_given_size(kind, options, size):
    release = kind(die=COIN, epsilon=1.0, **options).simulate([10, 30], rng(), size)
    assert release.shape == (*size, 2)
    assert np.all(release >= 1)
    assert release.sum(axis=-1) == pytest.approx(np.full(size, 42.0))


@with_every_die
def test_the_same_generator_gives_the_same_release(kind, options):
    mechanism = kind(die=COIN, epsilon=1.0, **options)
    one, same, other = (mechanism.simulate([10, 30], rng(seed), (50,)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@with_every_die
def test_no_throws_release_the_prior(kind, options):
    release = kind(die=Die((1.0, 3.0), 0), epsilon=1.0, **options).simulate([0, 0], rng(), (4,))
    assert np.array_equal(release, [[1.0, 3.0]] * 4)


# The law of the exponential mechanisms


@with_every_finite_die
@pytest.mark.parametrize("die", [COIN, Die((0.5, 1.0, 2.0), 6)])
def test_draws_follow_the_stated_law(kind, options, die):
    mechanism = kind(die=die, epsilon=2.0, **options)
    counts, draws = die.candidates[die.size // 3], 100_000
    law = np.exp(mechanism.log_pmf(counts))
    alpha = mechanism.simulate(counts, rng(), (draws,))
    places = (alpha[:, None] == die.posterior(die.candidates)).all(axis=-1).argmax(axis=-1)
    kept = law * draws > 5
    seen = np.bincount(places, minlength=die.size)
    observed, expected = [*seen[kept], seen[~kept].sum()], [*law[kept] * draws, law[~kept].sum() * draws + 1e-9]
    if kept.all():
        observed, expected = observed[:-1], expected[:-1]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True) if e > 1)
    assert stats.chi2.sf(statistic, kept.sum()) > ALARM


@with_every_finite_die
@pytest.mark.parametrize("die", [Die((0.3, 2.0), 12), Die((1.0, 0.1, 2.0), 5), Die((1.0,) * 4, 4)])
def test_the_law_of_one_data_set_is_a_row_of_the_table(kind, options, die):
    mechanism = kind(die=die, epsilon=1.0, **options)
    table = mechanism.log_pmf_table()
    for x, counts in enumerate(die.candidates):
        assert table[x] == pytest.approx(mechanism.log_pmf(counts), rel=1e-10)


# Promises and what exact audits find


AUDITED = [
    Die((1.0, 1.0), 1),
    Die((1.0, 1.0), 60),
    Die((0.01, 0.01), 120),
    Die((0.001, 5.0), 50),
    Die((1.0, 1.0, 1.0), 9),
    Die((0.01, 0.2, 3.0), 8),
    Die((1.0,) * 4, 5),
]


@pytest.mark.parametrize("die", AUDITED, ids=[f"{d.prior} n={d.n}" for d in AUDITED])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
def test_smooth_and_global_noise_never_lose_more_than_certified(die, epsilon, delta):
    pairs = neighbour_pairs(die.n, sides=die.sides)
    smooth = HellingerSmooth(die=die, epsilon=epsilon, delta=delta)
    table = smooth.log_pmf_table()
    promise = smooth.certified
    assert promise.delta == delta / 2
    assert exact_curve(table, pairs=pairs, epsilons=[promise.epsilon])[0] <= promise.delta
    assert exact_epsilon(table, pairs=pairs, delta=promise.delta) <= promise.epsilon
    # The claim is not proved, and has never been seen to fail.
    assert exact_curve(table, pairs=pairs, epsilons=[epsilon])[0] <= delta
    assert exact_loss(HellingerGlobal(die=die, epsilon=epsilon)).epsilon <= epsilon * (1 + 1e-12)


# Refusals


@with_every_die
@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, 1e-4, 1e4, "much", None, True])
def test_a_bad_epsilon_is_refused_in_one_sentence(kind, options, epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        kind(die=COIN, epsilon=epsilon, **options)


@pytest.mark.parametrize(("kind", "options"), LISTED.values(), ids=LISTED)
def test_too_many_candidates_are_refused_before_anything_is_computed(kind, options):
    with pytest.raises(InputError, match="Use at most 1,998 throws, or fewer sides"):
        kind(die=Die((1.0,) * 3, 10**6), epsilon=1.0, **options)


def test_one_count_needs_two_sides():
    with pytest.raises(InputError, match="this die has 3"):
        LaplaceOne(die=Die((1.0,) * 3, 5), epsilon=1.0)


@with_every_die
@pytest.mark.parametrize("counts", [[1, 2], [41, -1], [20, 20, 0], [20.0, 20.0]])
def test_counts_of_another_die_are_refused(kind, options, counts):
    with pytest.raises(InputError, match="counts must"):
        kind(die=COIN, epsilon=1.0, **options).simulate(counts, rng())
