"""The error of all tables of two columns."""

import numpy as np
import pytest

import dpbayes as dp
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
