"""Curves of simulated releases against epsilon agree with releases of each epsilon alone, and with their limits."""

from dataclasses import replace

import numpy as np
import pytest

from dpbayes.experiments.epsilon_curves import EpsilonCurves, _kl_of_means, epsilon_curves
from dpbayes.mechanisms import GaussianUpdates, LaplaceFourier, LaplaceUpdates, MapExponential, Mechanism, Outcome
from dpbayes.model.dataset import Counts, count
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.divergence import kl_rows
from dpbayes.sources.named_networks import load_named

GRID = (0.01, 1.0, 100.0, 1000.0)


@pytest.fixture(scope="module")
def counts() -> Counts:
    network, cpts = load_named("sprinkler")
    return count(network, sample_dataset(network, cpts, 500, np.random.default_rng(1)))


def curves_of(mechanism: Mechanism[Outcome], counts: Counts, *, releases: int = 40) -> EpsilonCurves:
    return epsilon_curves(
        lambda epsilon: replace(mechanism, epsilon=epsilon),  # type: ignore[type-var, call-arg]
        counts,
        GRID,
        np.random.default_rng(2),
        releases=releases,
    )


@pytest.mark.parametrize("kind", [LaplaceUpdates, GaussianUpdates, LaplaceFourier, MapExponential])
def test_each_point_is_a_study_of_releases_at_its_epsilon(kind: type, counts: Counts) -> None:
    mechanism = kind(prior=counts.network, epsilon=1.0)
    curves = curves_of(mechanism, counts)
    seed = int(np.random.default_rng(2).integers(2**63))
    exact = mechanism.prior.updated(counts)
    for k, epsilon in enumerate(GRID):
        release = replace(mechanism, epsilon=epsilon).simulate(counts, np.random.default_rng(seed), (40,))
        if curves.of_posteriors:
            expected = kl_rows(exact, release.posterior)
            np.testing.assert_array_equal(curves.negative[k], (release.outcome.updates <= 0).any(axis=-1))
        else:
            shares = release.outcome.probabilities
            expected = np.where(exact.mean > 0, exact.mean * np.log(exact.mean / shares), 0.0)
        np.testing.assert_allclose(curves.divergence[k], expected.sum(axis=-1), rtol=1e-9)


def test_little_noise_leaves_the_exact_posterior_and_each_count_of_0_is_negative_half_the_time(counts: Counts) -> None:
    curves = curves_of(LaplaceUpdates(prior=counts.network, epsilon=1.0), counts, releases=400)
    assert curves.divergence[-1].mean() < 1e-3 < curves.divergence[0].mean()
    assert curves.negative[0].all()
    assert curves.negative[-1].mean() == pytest.approx(1 - 0.5 ** np.count_nonzero(counts.values == 0), abs=0.15)


@pytest.mark.parametrize("kind", [LaplaceUpdates, MapExponential])
def test_a_random_part_of_the_records_has_the_share_of_its_divergence(kind: type, counts: Counts) -> None:
    """Half of the records of a table, drawn without noise, from the records themselves."""
    table, network = sample_dataset(*load_named("sprinkler"), 500, np.random.default_rng(1)), counts.network
    curves, prior = curves_of(kind(prior=network, epsilon=1.0), counts), kind(prior=network, epsilon=1.0).prior
    rng, exact = np.random.default_rng(5), prior.updated(counts)
    halves = [prior.updated(count(network, table.take(np.flatnonzero(rng.random(500) < 0.5)))) for _ in range(200)]
    rows = [kl_rows(exact, half) if curves.of_posteriors else _kl_of_means(exact, half.mean) for half in halves]
    assert curves.share_of_records(np.sum(rows) / 200) == pytest.approx(0.5, abs=0.05)
    assert curves.share_of_records(np.array([0.0, 1e9])).tolist() == [1.0, 0.0]
