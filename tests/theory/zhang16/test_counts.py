"""[Zhang16] Lemma 1 and Corollary 1."""

from itertools import product

import numpy as np

from dpbayes.model.dataset import count
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.counts import corollary_1, lemma_1
from tests.strategies import ASIA, random_networks, table_of

ALARM = 1e-9
CONSTANT = Network.from_edges("ab", [], {"a": ["only"], "b": ["x", "y", "z"]})


def test_lemma_1_is_reached_on_every_graph():
    """[Zhang16] Lemma 1, by all pairs of records on random networks."""
    for network in [*random_networks(12, most_nodes=4, states=(2, 3)), CONSTANT]:
        records = list(product(*(range(len(states)) for states in network.states)))
        counts = np.array([count(network, table_of(network, [record])).values for record in records])
        largest = np.abs(counts[:, None] - counts[None]).sum(axis=-1).max()
        assert largest == float(lemma_1(network).certified) <= float(lemma_1(network).printed)


def test_corollary_1_promises_epsilon():
    """[Zhang16] Corollary 1."""
    assert np.array_equal(corollary_1(ASIA, epsilon=[0.1, 1.0]).certified, [0.1, 1.0])
    assert float(corollary_1(CONSTANT, epsilon=1.0).certified) == 0.5
