import numpy as np
import pytest
from hypothesis import given

from dpbayes.base.validation import InputError
from dpbayes.model import network as network_module
from dpbayes.model.network import MAX_STATES, Network
from tests.strategies import ASIA, cell_positions, complete, networks

CATEGORICAL = networks(most_nodes=5, states=(1, 3))


@given(CATEGORICAL)
def test_the_cell_axis_is_nodes_then_rows_then_states_as_walked_naively(network):
    positions = cell_positions(network)
    assert network.cell_count == len(positions)
    assert network.row_count == len({(i, codes[:-1]) for i, codes in positions})
    for (i, codes), cell in positions.items():
        assert network.table(np.arange(network.cell_count), i)[codes] == cell


@given(CATEGORICAL)
def test_cells_of_one_row_share_node_and_parent_codes_and_nothing_else_does(network):
    rows: dict[tuple, list[int]] = {}
    for (i, codes), cell in cell_positions(network).items():
        rows.setdefault((i, codes[:-1]), []).append(cell)
    for row, ((node, _), cells) in enumerate(rows.items()):
        assert list(range(network.cell_count))[network.cells_of_row(row)] == cells
        assert set(network.row_of_cell[cells]) == {row}
        assert network.node_of_row[row] == node
        assert network.row_starts[row] == cells[0]
    assert list(network.row_offsets) == [
        0,
        *np.cumsum([len({r for r in rows if r[0] == i}) for i in range(len(network.names))]),
    ]


@given(CATEGORICAL)
def test_row_sums_add_each_row_for_every_batch(network):
    values = np.arange(3 * network.cell_count).reshape(3, -1)
    expected = np.array([[v[network.cells_of_row(r)].sum() for r in range(network.row_count)] for v in values])
    assert np.array_equal(network.row_sums(values), expected)


@given(CATEGORICAL)
def test_the_order_puts_parents_before_children(network):
    place = {network.names[i]: k for k, i in enumerate(network.order)}
    assert sorted(place.values()) == list(range(len(network.names)))
    assert all(place[parent] < place[child] for parent, child in network.edges)


@given(CATEGORICAL)
def test_a_network_is_rebuilt_from_its_names_edges_and_states(network):
    states = dict(zip(network.names, network.states, strict=True))
    assert Network.from_edges(network.names, network.edges, states) == network


@given(networks(most_nodes=4, states=(1, 3)))
def test_without_edge_removes_that_arrow_and_keeps_everything_else(network):
    for edge in network.edges:
        smaller = network.without_edge(*edge)
        assert set(smaller.edges) == set(network.edges) - {edge}
        assert (smaller.names, smaller.states) == (network.names, network.states)


def test_parents_are_kept_in_network_order_however_they_are_listed():
    assert Network.from_edges("abc", ["bc", "ac"]).parents[2] == ("a", "b")


def test_row_labels_read_as_conditions_first_parent_slowest():
    network = Network.from_edges("abc", ["ac", "bc"], {"b": ("lo", "mid")})
    assert network.row_labels() == (
        "a",
        "b",
        "c | a=no, b=lo",
        "c | a=no, b=mid",
        "c | a=yes, b=lo",
        "c | a=yes, b=mid",
    )


@given(CATEGORICAL)
def test_rows_and_cells_are_named_by_their_node_and_codes(network):
    labels = network.row_labels()
    for row in range(network.row_count):
        node, codes = network.node_and_codes(row)
        assert (
            network.row_offsets[node]
            + (np.ravel_multi_index(codes, network.cards[[*network.families[node][:-1]]]) if codes else 0)
            == row
        )
    for cell in range(network.cell_count):
        row = network.row_of_cell[cell]
        name, bar, given = labels[row].partition(" | ")
        code = cell - network.row_starts[row]
        assert network.cell_label(cell) == f"{name}={network.states[network.node_of_row[row]][code]}{bar}{given}"


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Network.from_edges([], []), "has no nodes"),
        (lambda: Network.from_edges("aa", []), '"a" is used twice for a node'),
        (lambda: Network.from_edges(["a", " "], []), "needs a name"),
        (lambda: Network.from_edges("ab", ["ab", "ab"]), "same parent twice"),
        (lambda: Network.from_edges("ab", ["cb"]), 'parent "c" that is not in the network'),
        (lambda: Network.from_edges("ab", ["ac"]), 'ends at "c", which is not a node'),
        (lambda: Network.from_edges("ab", ["aa"]), "close a cycle: a → a"),
        (lambda: Network.from_edges("ab", ["ab", "ba"]), "close a cycle"),
        (lambda: Network.from_edges("abcd", ["ab", "bc", "cd", "da"]), "close a cycle"),
        (lambda: Network.from_edges("a", [], {"a": ()}), "no states"),
        (lambda: Network.from_edges("a", [], {"a": ("x", "x")}), 'name "x" is used twice'),
        (lambda: Network.from_edges("a", [], {"a": [str(k) for k in range(MAX_STATES + 1)]}), "257 states"),
        (lambda: Network(("a",), (), ((),)), "one list of states and one list of parents"),
        (lambda: ASIA.index("Asia"), 'no node "Asia"'),
        (lambda: complete(22), "cells; the limit is"),
    ],
)
def test_what_is_no_network_is_refused_in_one_sentence(build, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        build()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_cycle_is_named_arrow_by_arrow():
    with pytest.raises(InputError) as caught:
        Network.from_edges("xabc", ["xa", "ab", "bc", "ca"])
    path = str(caught.value).split(": ")[1].split(".")[0].split(" → ")
    assert path[0] == path[-1]
    assert set(path) == set("abc")


def test_many_small_tables_that_add_up_to_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(network_module, "MAX_CELLS", 7)
    assert Network.from_edges("abc", []).cell_count == 6
    with pytest.raises(InputError, match="would have 8 cells; the limit is 7"):
        Network.from_edges("abcd", [])


def test_hundreds_of_parents_are_refused_without_building_their_table():
    names = [f"v{i}" for i in range(400)]
    with pytest.raises(InputError, match="with its 399 parents"):
        Network.from_edges(names, [(name, names[-1]) for name in names[:-1]])
