"""A drawn graph becomes text and comes back the same."""

import base64
import contextlib
import json
import math
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.figures.dag import HEIGHT, WIDTH
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.ui.session.graphs import MAX_NAME, TEMPLATES, Graph, code_of, graph_of, network_of, placed
from dpbayes.ui.widgets import dag_editor

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


@given(graphs())
def test_a_graph_is_a_network_or_refused(graph: Graph) -> None:
    with contextlib.suppress(InputError):
        network = network_of(graph)
        assert set(network.edges) == set(graph.edges)
        assert Graph.of(network).names == graph.names


@pytest.mark.parametrize("shape", TEMPLATES)
def test_every_shape_has_a_size(shape: str) -> None:
    assert len(graph_of(f"{shape}:4").names) in (4, 5)  # naive Bayes counts features, and has a class too
    for size in ("0", "-1", "1e9", "nan", "x", "", "2.5"):
        with pytest.raises(InputError):
            graph_of(f"{shape}:{size}")


def test_a_graph_that_could_not_be_read_back_has_no_code() -> None:
    long = tuple(f"{i:03d}" + "".join(chr(0x4E00 + (i * j * 7919) % 20000) for j in range(1, 190)) for i in range(300))
    states = {name: tuple(f"{name}{i}" for i in range(256)) for name in long[:100]}
    for graph in (Graph(long, ()), Graph(long[:100], (), {}, states)):
        with pytest.raises(InputError, match=r"too large to keep"):
            code_of(graph)


def test_every_node_is_placed_in_the_box_and_apart_in_a_cycle_too() -> None:
    cycle = placed(Graph(("a", "b", "c"), (("a", "b"), ("b", "c"), ("c", "a")), {"b": (1e300, -3.0)}))
    assert cycle.places["b"] == (WIDTH, 0)
    (x, y), (u, v) = cycle.places["a"], cycle.places["c"]
    assert math.hypot(x - u, y - v) > 100
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in cycle.places.values())


def test_the_editor_knows_the_same_limits_in_the_browser() -> None:
    script = (Path(dag_editor.__file__).parent / "graph.js").read_text(encoding="utf-8")
    assert f"const MAX_NODES = {MAX_NODES};" in script
    assert f"const MAX_NAME = {MAX_NAME};" in script


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
