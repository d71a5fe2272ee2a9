"""Graphs as plain text, one arrow, one chain of arrows or one lone node to a line: what a person can type."""

import json
import re
from collections.abc import Iterable
from itertools import pairwise

from dpbayes.base.libraries import nx
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.domains import Declarations, declare

_NAME = r'(?:"(?:[^"\\]|\\.)*+"|(?:(?!->|→)[^",#])*+)\s*+'
_LINE = re.compile(rf"({_NAME})(,\s*+{_NAME}|(?:(?:->|→)\s*+{_NAME})*+)(?:#.*)?", re.DOTALL)
_NEXT = re.compile(rf"(?:->|→|,)\s*({_NAME})", re.DOTALL)
_WHOLE_OR_END = re.compile(r'("(?:[^"\\]|\\.)*+"|#[^\r\n]*+)|;|\r\n?')
_PLAIN = re.compile(r'(?:(?!->|→)[^\s",#;])+(?: (?:(?!->|→)[^\s",#;])+)*')
_OTHER_ARROW = re.compile(r"=>|<-|[⇒←]|\s[->]\s")


def read_edges(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Read names, in order of first mention, and arrows.

    A line is `parent -> child`, a chain `a -> b -> c`, `parent,child`, or a name; the rest of a line after # is a
    comment, and a semicolon before it ends a line, too. Names with a comma, a semicolon, an arrow, a quote or # in them
    are written in quotes, as JSON texts.
    Errors: InputError that names the line, for another form, an arrow to its own node, and an arrow that occurs twice.
    """
    names: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    lines = _WHOLE_OR_END.sub(lambda match: match[1] or "\n", text.removeprefix("\ufeff")).split("\n")
    for number, line in enumerate(lines, start=1):
        nodes = _names_in(line, number)
        names.update(dict.fromkeys(nodes))
        for parent, child in pairwise(nodes):
            if parent == child:
                raise InputError(f"Line {number} has an arrow from {brief(parent)} to itself.")
            if (parent, child) in edges:
                raise InputError(f"Line {number} repeats the arrow from {brief(parent)} to {brief(child)}.")
            edges[parent, child] = None
    return tuple(names), tuple(edges)


def network(arrows: str | Iterable[tuple[str, str]], states: Declarations | Dataset | None = None) -> Network:
    """Return the network of a text such as "rain -> grass; sun -> grass", or "cloudy -> rain -> grass".

    Args:
        arrows: Arrows, chains of arrows, or nodes, between semicolons or on lines; or pairs (parent, child).
        states: The table whose columns are the nodes, or declarations of columns without records, such as the states
            of nodes by name; a node that is not in them has the states no and yes.

    Returns:
        The network, with nodes in order of first mention.

    Raises:
        InputError: A part is neither an arrow nor a name, the table lacks a node, or the network is not valid.

    Example:
        >>> dp.network("rain -> grass; sun -> grass").parents
        ((), ('rain', 'sun'), ())
    """
    if isinstance(arrows, str):
        names, edges = read_edges(arrows)
    else:
        try:
            graph = nx.DiGraph([*arrows])
        except nx.NetworkXError:
            raise InputError('arrows must be a text or pairs: "rain -> grass" or [("rain", "grass")].') from None
        names, edges = tuple(map(str, graph)), tuple((str(parent), str(child)) for parent, child in graph.edges)
    if isinstance(states, Dataset):
        return Network.from_edges(names, edges, {name: states.domain(name) for name in names})
    return Network.from_edges(
        names, edges, {column.name: column.domain for column in declare({} if states is None else states)}
    )


def write_edges(network: Network) -> str:
    """Return all names in network order, then all arrows, as a text that `network` reads.

    Args:
        network: The network.

    Returns:
        The text, a name or an arrow on each line.

    Example:
        >>> print(dp.write_edges(dp.chain(2)), end="")
        x1
        x2
        x1 -> x2
    """
    lines = [_written(name) for name in network.names]
    lines += [f"{_written(parent)} -> {_written(child)}" for parent, child in network.edges]
    return "\n".join(lines) + "\n"


def _names_in(line: str, number: int) -> tuple[str, ...]:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise InputError(
            f'Line {number}, {brief(line.strip())}, is neither "parent -> child" nor the name of one node. Write one '
            "arrow, or a chain of arrows, on each line, or semicolons between arrows."
        )
    if not line.partition("#")[0].strip():
        return ()
    given = [name.strip() for name in (match[1], *_NEXT.findall(match[2]))]
    try:
        nodes = tuple(str(json.loads(name)) if name.startswith('"') else name for name in given)
    except json.JSONDecodeError:
        raise InputError(f"Line {number}, {brief(line.strip())}, has a name with invalid backslashes.") from None
    if any(_OTHER_ARROW.search(name) for name in given if not name.startswith('"')):
        raise InputError(
            f'Line {number}, {brief(line.strip())}, has another arrow than "->". Write "parent -> child", or the name '
            "of a node in quotes."
        )
    if not all(name.strip() for name in nodes):
        raise InputError(f'Line {number}, {brief(line.strip())}, needs a name on both sides: "parent -> child".')
    return nodes


def _written(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and not _OTHER_ARROW.search(name) else json.dumps(name)
