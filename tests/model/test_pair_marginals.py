"""The joint distributions of all pairs and families of nodes, against sums over all records."""

import numpy as np
import pytest

from dpbayes.model.cpts import random_cpts
from dpbayes.model.elimination import elimination_plan
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import clique_cells, family_marginals, pair_marginals
from dpbayes.sources.named_networks import load_named
from tests.strategies import all_records, random_network

NETWORKS = [random_network(np.random.default_rng(k), 1 + k % 6, states=(1, 3)) for k in range(24)]


def by_records(network: Network, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs and all families, summed record by record."""
    starts = np.concatenate(([0], np.cumsum(network.cards)))
    pairs, families = np.zeros((starts[-1], starts[-1])), np.zeros(network.cell_count)
    for record in all_records(network):
        cells = [tuple(record[j] for j in family) for family in network.families]
        chance = np.prod([network.table(probabilities, i)[cell] for i, cell in enumerate(cells)])
        states = starts[:-1] + record
        pairs[np.ix_(states, states)] += chance
        for i, cell in enumerate(cells):
            network.table(families, i)[cell] += chance
    return pairs, families


@pytest.mark.parametrize("network", NETWORKS)
def test_pairs_and_families_are_sums_over_all_records(network: Network) -> None:
    probabilities = random_cpts(network, np.random.default_rng(1))
    pairs, families = by_records(network, probabilities)
    np.testing.assert_allclose(pair_marginals(network, probabilities), pairs, atol=1e-13)
    np.testing.assert_allclose(family_marginals(network, probabilities), families, atol=1e-13)


@pytest.mark.parametrize("network", NETWORKS[::3])
def test_pairs_of_many_tables_are_those_of_each(network: Network) -> None:
    rng = np.random.default_rng(2)
    probabilities = np.stack([random_cpts(network, rng) for _ in range(6)]).reshape(2, 3, -1)
    alone = [[pair_marginals(network, one) for one in row] for row in probabilities]
    np.testing.assert_allclose(pair_marginals(network, probabilities), alone, atol=1e-15)


def test_impossible_states_divide_nothing_by_zero() -> None:
    network = Network.from_edges("abc", ["ab", "bc", "ac"])
    probabilities = np.array([1, 0, 0, 1, 0.5, 0.5, 1, 0, 0, 1, 0.5, 0.5, 0.2, 0.8])
    pairs, families = by_records(network, probabilities)
    np.testing.assert_allclose(pair_marginals(network, probabilities), pairs)
    np.testing.assert_allclose(family_marginals(network, probabilities), families)


def test_a_large_network_has_pairs_that_agree_with_its_families() -> None:
    network, probabilities = load_named("alarm")
    pairs, families = pair_marginals(network, probabilities), family_marginals(network, probabilities)
    starts = np.concatenate(([0], np.cumsum(network.cards)))
    np.testing.assert_allclose(pairs, pairs.T)
    for i, family in enumerate(network.families):
        table = network.table(families, i)
        for k, j in enumerate(family[:-1]):
            rest = tuple(axis for axis in range(len(family) - 1) if axis != k)
            block = pairs[starts[j] : starts[j + 1], starts[i] : starts[i + 1]]
            np.testing.assert_allclose(block, table.sum(axis=rest), atol=1e-12)


def test_the_largest_clique_is_that_of_the_elimination() -> None:
    network = Network.from_edges("abcd", ["ad", "bd", "cd"], {"a": "xyz"})
    assert clique_cells(elimination_plan(network.families), network.cards) == 3 * 2 * 2 * 2
