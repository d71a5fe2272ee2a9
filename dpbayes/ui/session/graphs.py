"""A drawn graph as a value, and as the short text in a link. This module does not use Streamlit."""

import base64
import binascii
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from dpbayes.base.validation import InputError, brief, distinct_names, whole_number
from dpbayes.figures.dag import HEIGHT, WIDTH, layered_positions
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import MAX_NODES, NAMED, chain, empty, full, load_named, naive_bayes, tree

MAX_CODE = 6_000
"""The longest text of a graph in a link; browsers and chat programs cut longer addresses."""

MAX_TEXT, MAX_JSON = 10 * MAX_CODE, 200_000
"""The longest text of a graph that is read, compressed and as JSON."""

MAX_NAME = 200
"""The longest name of a node; the screen shows its beginning."""

Place = tuple[float, float]


@dataclass(frozen=True)
class Graph:
    """Names, arrows and positions of a drawing, with states for nodes that are not columns of a table.

    A graph may have a cycle or an unknown name, because only `Network` validates it.
    """

    names: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    places: Mapping[str, Place] = field(default_factory=dict)
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Network) -> "Graph":
        """Return a network's graph with automatic positions."""
        states = dict(zip(network.names, network.states, strict=True))
        return cls(network.names, network.edges, layered_positions(network.names, network.edges), states)


TEMPLATES = {"bayes": naive_bayes, "chain": chain, "tree": tree, "full": full, "empty": empty}
"""Graphs by shape and size, such as `bayes:16` in a link."""


@lru_cache(maxsize=64)
def graph_of(spec: str) -> Graph:
    """Return the graph of a text: a named network, `template:size`, or `g:` and a code.

    Errors: InputError for any other text.
    """
    if spec in NAMED:
        return Graph.of(load_named(spec)[0])
    head, _, tail = spec.partition(":")
    if head in TEMPLATES:
        return Graph.of(TEMPLATES[head](whole_number("The size of the network", tail, low=1, high=MAX_NODES)))
    if head == "g":
        return _decoded(tail)
    raise InputError(f"There is no network called {brief(spec)}.")


def drawable(graph: Graph) -> Graph:
    """Return the graph if the editor can show it. Errors: InputError for too many nodes and for invalid names."""
    if len(graph.names) > MAX_NODES:
        raise InputError(f"A drawing has at most {MAX_NODES:,} nodes; this one has {len(graph.names):,}.")
    for name in distinct_names("node", graph.names):
        if len(name) > MAX_NAME:
            raise InputError(f"A node's name must be 1 to {MAX_NAME} characters of text, not {brief(name)}.")
    return graph


def code_of(graph: Graph) -> str:
    """Return the `g:` text of a graph, which `graph_of` reads. It may be too long for a link (MAX_CODE).

    Errors: InputError for a graph whose text is too long for `graph_of`.
    """
    index = {name: i for i, name in enumerate(graph.names)}
    content = {
        "n": graph.names,
        "e": [[index[a], index[b]] for a, b in graph.edges if a in index and b in index],
        "p": [[round(v) for v in graph.places[name]] if name in graph.places else None for name in graph.names],
        "s": {str(index[name]): states for name, states in graph.states.items() if name in index},
    }
    text = json.dumps(content, separators=(",", ":")).encode()
    code = base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")
    if len(text) >= MAX_JSON or len(code) > MAX_TEXT:
        raise InputError(
            f"A network of {len(graph.names)} nodes and {len(graph.edges)} arrows with names this long is too large to "
            "keep; draw fewer arrows or shorten the names."
        )
    return f"g:{code}"


def _decoded(code: str) -> Graph:
    refusal = InputError("The network in this link is damaged; ask for the link again, or draw the network again.")
    if len(code) > MAX_TEXT:
        raise InputError("The network in this link is too long for this program; draw the network again.")
    try:
        packed = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, MAX_JSON)
        if unpacker.unconsumed_tail:
            raise refusal
        return _graph_from(json.loads(text))
    except (binascii.Error, zlib.error, json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise refusal from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise (error if isinstance(error, InputError) else refusal) from None


def _graph_from(content: Mapping[str, Any]) -> Graph:
    json.dumps(content, ensure_ascii=False).encode()  # raises for unpaired surrogates, which no page can show
    names = tuple(content["n"])
    places = {
        name: (float(place[0]), float(place[1]))
        for name, place in zip(names, content["p"], strict=True)
        if place and math.isfinite(place[0]) and math.isfinite(place[1])
    }
    states = {names[int(i)]: tuple(map(str, s)) for i, s in content["s"].items()}
    edges = tuple((names[_position(a)], names[_position(b)]) for a, b in content["e"])
    return Graph(names, edges, places, states)


def _position(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError
    return value


def placed(graph: Graph) -> Graph:
    """Return the graph with a position in the box for every node: its own, else in layers; a cycle is one layer."""
    places = graph.places
    if len(places) < len(graph.names):
        try:
            edges = network_of(graph).edges
        except InputError:
            edges = ()
        places = layered_positions(graph.names, edges) | dict(places)
    inside = {name: (min(max(x, 0.0), WIDTH), min(max(y, 0.0), HEIGHT)) for name, (x, y) in places.items()}
    return replace(graph, places={name: inside[name] for name in graph.names})


def network_of(graph: Graph, domains: Mapping[str, Sequence[str]] | None = None) -> Network:
    """Return the graph as a network. States come from the table's domains, else from the graph, else no / yes."""
    return Network.from_edges(graph.names, graph.edges, {**graph.states, **(domains or {})})
