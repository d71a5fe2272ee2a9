"""A drawn graph becomes text and comes back the same."""

import base64
import contextlib
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.networks import NAMED
from dpbayes.ui.graphs import TEMPLATES, Graph, code_of, graph_of, network_of
from dpbayes.validation import InputError

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes = tuple(draw(st.lists(names, min_size=1, max_size=6, unique=True)))
    node = st.sampled_from(nodes)
    edges = tuple(draw(st.lists(st.tuples(node, node), max_size=8)))
    place = st.tuples(st.integers(0, 1000).map(float), st.integers(0, 600).map(float))
    places = draw(st.dictionaries(node, place))
    states = draw(st.dictionaries(node, st.lists(names, min_size=1, max_size=3, unique=True).map(tuple)))
    return Graph(nodes, edges, places, states)


@given(graphs())
def test_a_code_gives_back_its_graph(graph: Graph) -> None:
    assert graph_of(code_of(graph)) == graph


@pytest.mark.parametrize(
    "name", ["<b>x</b>", "a|b, c=d", '"', "'", "\\", "$x$", "a\nb", "\x00", " ", "~~", "\U0001f600"]
)
def test_odd_names_come_back(name: str) -> None:
    graph = Graph((name, "other"), ((name, "other"),), {}, {name: (name, "x")})
    assert graph_of(code_of(graph)) == graph


@given(graphs())
def test_a_graph_is_a_network_or_refused(graph: Graph) -> None:
    with contextlib.suppress(InputError):
        network = network_of(graph)
        assert set(network.edges) == set(graph.edges)
        assert Graph.of(network).names == graph.names


@pytest.mark.parametrize("name", NAMED)
def test_every_named_network_comes_back_from_its_code(name: str) -> None:
    graph = graph_of(name)
    again = graph_of(code_of(graph))
    assert network_of(again) == network_of(graph)


@pytest.mark.parametrize("shape", TEMPLATES)
def test_every_shape_has_a_size(shape: str) -> None:
    assert len(graph_of(f"{shape}:4").names) in (4, 5)  # naive Bayes counts features, and has a class too
    for size in ("0", "-1", "1e9", "nan", "x", "", "2.5"):
        with pytest.raises(InputError):
            graph_of(f"{shape}:{size}")


@given(st.text(max_size=200))
def test_any_code_is_a_graph_or_refused(code: str) -> None:
    with contextlib.suppress(InputError):
        graph_of("g:" + code)


@given(
    st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5), st.sampled_from("neps")
)
def test_any_content_is_a_graph_or_refused(content: object, field: str) -> None:
    whole = {"n": ["a", "b"], "e": [[0, 1]], "p": [None, None], "s": {}, field: content}
    packed = base64.urlsafe_b64encode(zlib.compress(json.dumps(whole).encode())).decode()
    with contextlib.suppress(InputError):
        graph_of("g:" + packed)


@pytest.mark.parametrize(
    "graph",
    [
        Graph(tuple(f"n{i}" for i in range(300)), tuple((f"n{i}", f"n{j}") for i in range(300) for j in range(i))),
        Graph(tuple("".join(chr(0x4E00 + (i * j * 7919) % 20000) for j in range(1, 200)) for i in range(300)), ()),
    ],
    ids=["arrows", "names"],
)
def test_what_could_not_be_read_back_is_refused_when_it_is_written(graph: Graph) -> None:
    with pytest.raises(InputError, match="too large to keep"):
        code_of(graph)
