import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.figures import dag
from dpbayes.figures.dag import HEIGHT, WIDTH, _mean
from dpbayes.sources.named_networks import NAMED, load_named


def layered_positions(graph):
    return dag.layered_positions(graph.nodes, graph.edges)


@st.composite
def dags(draw):
    size = draw(st.integers(1, 12))
    graph = nx.DiGraph()
    graph.add_nodes_from(f"v{i}" for i in range(size))
    pairs = [(f"v{i}", f"v{j}") for j in range(size) for i in range(j)]
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


@given(dags())
def test_every_node_has_a_place_of_its_own_inside_the_box_and_below_its_parents(graph):
    places = layered_positions(graph)
    assert set(places) == set(graph)
    assert len(set(places.values())) == len(graph)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in places.values())
    assert all(places[parent][1] < places[child][1] for parent, child in graph.edges)


def test_neighbours_listed_in_another_order_pull_a_node_to_the_same_place():
    shares = [0.1, 0.2, 0.3]  # added up from the left they are not what they are from the right
    assert sum(shares) != sum(shares[::-1])
    assert _mean(shares, 0.0) == _mean(shares[::-1], 0.0)


def test_a_lone_node_is_in_the_middle_and_a_chain_goes_straight_down():
    assert layered_positions(nx.DiGraph({"a": []})) == {"a": (WIDTH / 2, HEIGHT / 2)}
    places = layered_positions(nx.DiGraph([("a", "b"), ("b", "c")]))
    assert len({x for x, _ in places.values()}) == 1


def test_arrows_that_need_not_cross_do_not():
    """The children of the left parent are put on the left."""
    graph = nx.DiGraph([("p", "z"), ("p", "y"), ("q", "b"), ("q", "a")])
    places = layered_positions(graph)
    below = sorted("zyba", key=lambda node: places[node][0])
    parents = [next(iter(graph.pred[node])) for node in below]
    assert parents in (["p", "p", "q", "q"], ["q", "q", "p", "p"])
    assert (parents[0] == "p") == (places["p"][0] < places["q"][0])


@pytest.mark.parametrize("key", NAMED)
def test_nodes_of_a_published_network_do_not_lie_on_each_other(key):
    places = np.array(list(layered_positions(load_named(key)[0].graph).values()))
    apart = np.abs(places[:, None] - places).max(axis=-1)
    assert apart[~np.eye(len(places), dtype=bool)].min() > 5


def test_neighbours_of_a_crowded_layer_leave_each_other_room_for_their_names():
    """Of a star with sixteen children nodes at one height are four places apart."""
    places = layered_positions(nx.DiGraph([("party", f"vote {k:02}") for k in range(16)]))
    children = [place for node, place in places.items() if node != "party"]
    for x, y in children:
        assert sorted(abs(x - other) for other, at in children if at == y)[1] > 200


@given(dags())
def test_rows_of_a_small_drawing_fit_its_width_and_keep_parents_above_their_children(graph):
    places = dag.places_in_rows(layered_positions(graph), graph.edges)
    boxes = {node: dag._wide(node) / 2 for node in graph}
    assert all(boxes[node] <= x <= dag.ROOM - boxes[node] for node, (x, _) in places.items())
    assert all(places[parent][1] < places[child][1] for parent, child in graph.edges)
    for one, other in itertools.combinations(graph, 2):
        (x, y), (u, v) = places[one], places[other]
        assert y != v or abs(x - u) > boxes[one] + boxes[other]
