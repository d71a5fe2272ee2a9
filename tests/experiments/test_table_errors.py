"""The error of all tables of two columns."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.model.counts import count
from tests.strategies import pair_error


def test_the_error_is_that_of_all_pairs_of_columns_by_enumeration() -> None:
    network, probabilities = dp.load_named("sprinkler")
    data = dp.sample_dataset(network, probabilities, 300, np.random.default_rng(1))
    errors = []
    for k, first in enumerate(network.names):
        for second in network.names[k + 1 :]:
            states = network.states[network.index(second)]
            given = [(state, dp.query(network, probabilities, second, {})[j]) for j, state in enumerate(states)]
            modelled = np.stack([dp.query(network, probabilities, first, {second: state}) * p for state, p in given])
            pair = np.zeros_like(modelled)
            np.add.at(pair, (data.column(second), data.column(first)), 1 / data.n)
            errors.append(np.abs(pair - modelled).sum() / 2)
    assert pair_error(data, network, probabilities) == pytest.approx(np.mean(errors))


def test_an_adaptive_release_is_nearer_with_a_delta_and_a_public_graph_is_nearer_still() -> None:
    network, cpts = dp.load_named("asia")
    data = dp.sample_dataset(network, cpts, 1000, np.random.default_rng(1))
    rng = np.random.default_rng(3)
    pure, gaussian = (dp.simulate_adaptive(data, epsilon=1, delta=delta, rng=rng) for delta in (0.0, 1e-5))
    residuals = dp.GaussianResiduals(prior=network, epsilon=1.0, delta=1e-5)
    public = residuals.simulate(count(network, data), rng).noise_aware().mean
    errors = [pair_error(data, release.network, release.probabilities) for release in (pure, gaussian)]
    public_error = pair_error(data.select(list(network.names)), network, public)
    assert public_error < min(errors)
    assert max(errors) < 1
