"""Lists of arrows: typed forms, exact round trips, and refusals with line numbers."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.sources.domains import declare
from dpbayes.sources.edgelist import network, read_edges, write_edges

NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() != "")


def test_all_forms_of_lines() -> None:
    text = (
        "# a graph\n\nrain -> wet grass -> frog  # a; chain\nsprinkler,wet grass\r\nalone;  cloudy → rain\r"
        + '"a, \\"b\\"" -> #x'
    )
    with pytest.raises(InputError, match="Line 7"):
        read_edges(text)
    names, edges = read_edges(text.replace("#x", "c"))
    assert names == ("rain", "wet grass", "frog", "sprinkler", "alone", "cloudy", 'a, "b"', "c")
    chain, rest = (("rain", "wet grass"), ("wet grass", "frog")), (("cloudy", "rain"), ('a, "b"', "c"))
    assert edges == (*chain, ("sprinkler", "wet grass"), *rest)
    assert read_edges("") == ((), ())


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.data())
def test_round_trip(names: list[str], data: st.DataObject) -> None:
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    edges = [pair for pair in pairs if data.draw(st.booleans())]
    graph = Network.from_edges(names, edges)
    text = write_edges(graph)
    read_names, read_arrows = read_edges("\ufeff" + text)
    assert Network.from_edges(read_names, read_arrows) == graph == network(text)
    assert read_arrows == graph.edges
    assert network("; ".join(text.split("\n"))) == graph
    assert read_edges(" -> ".join(map(json.dumps, names))) == (tuple(names), tuple(pairwise(names)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("b\na -> b, c", 'Line 2, "a -> b, c", is neither'),
        ("a,b,c", "Line 1"),
        ("a -> -> c", "needs a name on both sides"),
        ("a -> b -> b", 'an arrow from "b" to itself'),
        ("a > b", "another arrow"),
        ("-> b", "needs a name on both sides"),
        ("a -> a", 'an arrow from "a" to itself'),
        ("a -> b\n\na,b", 'Line 3 repeats the arrow from "a" to "b"'),
        ('"a', "Line 1"),
        ('"\\q" -> b', "invalid backslashes"),
    ],
)
def test_refusals(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_edges(text)


def test_a_network_is_written_on_one_line():
    sprinkler = network("rain -> grass; sun -> grass; wind")
    assert sprinkler.names == ("rain", "grass", "sun", "wind")
    assert set(sprinkler.edges) == {("rain", "grass"), ("sun", "grass")}
    assert set(sprinkler.states) == {("no", "yes")}
    assert network("rain -> grass\nsun -> grass;wind") == sprinkler
    assert network("sun", declare({"sun": [False, None], "sea": ["no"]})).states == (("False", "missing"),)
    parsed = network('"a;b" -> c', {"c": ("low", "high", "higher")})
    assert dict(zip(parsed.names, parsed.states, strict=True)) == {"a;b": ("no", "yes"), "c": ("low", "high", "higher")}


@pytest.mark.parametrize("name", [";", "a;", "a;b", "a\x1cb", "a\x85b", "a;\x1cb"])
def test_a_name_with_what_parts_lines_is_written_so_that_both_readers_read_it(name: str) -> None:
    lone = Network.from_edges((name,), ())
    assert network(write_edges(lone)) == lone
    assert read_edges(write_edges(lone)) == ((name,), ())
