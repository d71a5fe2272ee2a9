"""Networks as networkx graphs: both ways without loss, and in any order of nodes and parents."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from tests.strategies import networks


@given(networks(states=(1, 4)), st.integers(0, 2**32 - 1))
def test_a_round_trip_is_exact(network: Network, seed: int) -> None:
    probabilities = random_cpts(network, np.random.default_rng(seed))
    again, read = dp.from_networkx(network.to_networkx(probabilities))
    assert again == network
    assert read is not None
    assert read.tobytes() == probabilities.tobytes()
    assert dp.from_networkx(network.to_networkx()) == (network, None)


def test_the_order_of_the_nodes_may_differ_from_that_of_the_axes() -> None:
    network = Network.from_edges(["a", "b", "c"], [("a", "c"), ("b", "c")])
    probabilities = random_cpts(network, np.random.default_rng(1))
    graph = nx.DiGraph()
    graph.add_nodes_from(reversed(list(network.to_networkx(probabilities).nodes(data=True))))
    graph.add_edges_from(network.edges)
    turned, read = dp.from_networkx(graph)
    assert turned.names == ("c", "b", "a")
    assert read is not None
    np.testing.assert_array_equal(turned.table(read, 0).transpose(1, 0, 2), network.table(probabilities, 2))


def spoilt(**attributes: object) -> "nx.DiGraph[str]":
    graph = dp.chain(2).to_networkx([0.25, 0.75, 0.5, 0.5, 0.5, 0.5])
    graph.nodes["x2"].update(attributes)
    return graph


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (nx.Graph([("a", "b")]), "must be directed"),
        (nx.MultiDiGraph([("a", "b")]), "at most one arrow"),
        (nx.DiGraph([(1, "1")]), "same name as text"),
        (nx.DiGraph([("a", "b"), ("b", "a")]), "close a cycle"),
        (spoilt(parents=("elsewhere",)), '"x2" must be over the node and its parents'),
        (spoilt(parents=()), '"x2" must be over the node and its parents'),
        (spoilt(probabilities=[0.5, 0.5]), r'"x2" have the shape \(2,\)'),
        (spoilt(probabilities=[[0.5, 0.5], [0.5, 0.6]]), "sum to 1.1"),
        (spoilt(states=("no", "yes", "maybe")), "have the shape"),
        (spoilt(states=5), "states of the node .* must be a list"),
        (spoilt(parents=3), "parents of the node .* must be a list"),
        (spoilt(probabilities="z"), "must be an array of numbers"),
        (spoilt(probabilities=[[0.5], [0.5, 1]]), "must be an array of numbers"),
        (None, "must be directed"),
    ],
)
def test_what_is_no_network_is_refused(graph: "nx.Graph[str]", sentence: str) -> None:
    with pytest.raises(dp.InputError, match=sentence):
        dp.from_networkx(graph)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [None, 5, "a", dp.chain(2)])
def test_what_is_no_model_of_pgmpy_is_refused(model: object) -> None:
    with pytest.raises(dp.InputError, match="DiscreteBayesianNetwork of pgmpy"):
        dp.from_pgmpy(model)


def test_a_node_without_probabilities_among_others_is_refused() -> None:
    graph = spoilt()
    del graph.nodes["x2"]["probabilities"]
    with pytest.raises(dp.InputError, match='"x2" has no probabilities'):
        dp.from_networkx(graph)
