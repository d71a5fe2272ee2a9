"""The truth beside a bound: simulations agree with exact laws, and a wrong bound is found out."""

import numpy as np
import pytest

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.model.counts import Counts
from dpbayes.sources.named_networks import chain, empty
from dpbayes.theory.claims.exhibit import exactly, not_measured
from dpbayes.theory.claims.setting import scaled_counts
from dpbayes.theory.claims.simulation import Simulation, mean_beside, quantile_beside
from dpbayes.theory.zhang16.counts import noise_scale
from dpbayes.theory.zhang16.fourier import printed_noise
from dpbayes.theory.zhang16.largest_noise import exact_largest_noise, largest_count_error, largest_noise
from dpbayes.theory.zhang16.rebuilt_tables import NoisyTable, simulated_table_error, table_error_bound
from dpbayes.theory.zhang16.stealth import negative_share

EPSILON = np.array([0.1, 1.0, 10.0])
NETWORK = chain(3)
COUNTS = Counts(NETWORK, np.array([60, 40, 30, 30, 20, 20, 50, 10, 10, 30]), 100)


def test_the_largest_noise_agrees_with_its_exact_law_and_mean() -> None:
    """[Zhang16] Proposition 1: the exact quantile is exceeded by a share delta, the interval holds it at 1e-9."""
    exact = exact_largest_noise(NETWORK, epsilon=EPSILON, delta=0.1)
    draws, rng = 100_000, stream(1, "noise")
    largest = largest_noise(NETWORK, rng, epsilon=EPSILON, printed=exact, delta=0.1, releases=draws)
    assert np.all(np.abs(largest.exceeded - 0.1) < 6.2 * np.sqrt(0.09 / draws))
    assert not largest.violated.any()
    np.testing.assert_allclose(largest.exact, noise_scale(NETWORK, EPSILON) * sum(1 / k for k in range(1, 11)))
    assert np.all((largest.low <= largest.value) & (largest.value <= largest.high))
    np.testing.assert_allclose(largest.value, exact, rtol=0.03)


def test_a_bound_a_tenth_too_small_is_violated() -> None:
    """[Zhang16] Proposition 1, made too small."""
    printed = 0.9 * exact_largest_noise(NETWORK, epsilon=EPSILON, delta=0.1)
    largest = largest_noise(NETWORK, stream(1, "noise"), epsilon=EPSILON, printed=printed, delta=0.1, releases=50_000)
    assert largest.violated.all()


def test_clipped_changes_are_within_n_and_those_of_small_noise_the_noise() -> None:
    """[Zhang16] Proposition 1, for the clipped updates."""
    printed = exact_largest_noise(NETWORK, epsilon=EPSILON, delta=0.1)
    change = largest_count_error(COUNTS, stream(1, "n"), epsilon=EPSILON, printed=printed, delta=0.1, releases=20_000)
    assert change.value.max() <= COUNTS.n
    np.testing.assert_allclose(change.value[2], printed[2], rtol=0.1)
    assert not change.violated.any()


def test_the_error_of_a_table_without_lift_is_that_of_its_definition() -> None:
    """[Zhang16] Theorem 3: one node's table has cells (x + y)/2 and (x - y)/2, whose L1 norm is max(|x|, |y|)."""
    table = NoisyTable(nodes=1, lift=0.0, scale=np.array([1.0, 7.0]))
    delta, draws = 0.2, 100_000
    exact = -np.log(1 - np.sqrt(1 - delta)) * table.scale
    error = simulated_table_error(stream(2, "table"), table=table, printed=exact, delta=delta, releases=draws)
    assert np.all(np.abs(error.exceeded - delta) < 6.2 * np.sqrt(0.16 / draws))
    np.testing.assert_allclose(error.value, exact, rtol=0.03)


def test_the_certified_error_of_a_table_is_kept() -> None:
    """[Zhang16] Theorem 3, certified."""
    network, t = empty(3), 0.3
    bound = table_error_bound(network, epsilon=EPSILON, t=t, delta=0.05)
    lift = 2 * t * len(network.closure)
    table = NoisyTable(nodes=1, lift=lift, scale=printed_noise(network).scale(EPSILON))
    certified = bound.certified[:, 0]
    error = simulated_table_error(stream(2, "table"), table=table, printed=certified, delta=0.05, releases=20_000)
    assert not error.violated.any()
    assert np.all(error.value <= certified)


def test_shares_and_exact_values_tell_violations() -> None:
    share = negative_share(np.linspace(0, 1, 10_001), np.array([0.25, 0.5]), printed=np.array([0.5, 0.6]))
    assert list(share.violated) == [True, False]
    np.testing.assert_allclose(share.value, [0.75, 0.5], atol=1e-3)
    share = exactly(np.array([2.0, 1.0, np.nan]), printed=np.array([1.0, 1.0, 1.0]), name="loss")
    assert list(share.violated) == [True, False, False]
    assert not not_measured(2).violated.any()


def test_quantile_and_mean_of_a_known_law() -> None:
    """The KL of a study that is 1, 2, ..., 1000: too few releases say nothing of a rare quantile."""
    study = Simulation(np.arange(1.0, 1001.0)[None])
    expected, printed = np.array([500.5]), np.array([899.5])
    quantile = quantile_beside(study, expected, printed=printed, delta=0.05)
    assert quantile.value == 950
    assert quantile.exceeded == pytest.approx(0.101)
    assert quantile.violated.all()
    assert np.isnan(quantile_beside(study, expected, printed=printed, delta=1e-4).value).all()
    assert not mean_beside(study, expected, printed=np.array([500.5])).violated.any()
    assert mean_beside(study, expected, printed=np.array([500.4])).violated.all()


def test_scaled_counts_keep_the_proportions() -> None:
    ten = scaled_counts(COUNTS, 1000)
    assert ten.n == 1000
    assert np.array_equal(ten.values, 10 * COUNTS.values)
    with pytest.raises(InputError):
        scaled_counts(COUNTS, -1)
