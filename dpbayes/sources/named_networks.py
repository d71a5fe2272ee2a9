"""Networks to start from: published ones with their tables, and binary templates of any size."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.model.network import BINARY, Network
from dpbayes.sources.bif import read_bif
from dpbayes.sources.data_files import read_data, read_index

MAX_NODES = 1000
"""Most nodes of a template, and of a drawing."""

MAX_FEATURES = 200
MAX_FULL = 12
"""A complete graph on k binary nodes has 2^(k+1) - 2 cells and a closure of 2^k sets."""


@dataclass(frozen=True)
class NamedNetwork:
    """A published network that comes with its tables: what it is about and where it is from."""

    title: str
    description: str
    source: str


NAMED = {key: NamedNetwork(**entry) for key, entry in read_index("networks").items()}


@functools.cache
def load_named(key: str) -> tuple[Network, FloatArray]:
    """Return a network that comes with the package, and its published probabilities.

    Args:
        key: Its name, such as "asia" or "alarm".

    Returns:
        The network, and the probabilities (K,) of its cells, read-only.

    Raises:
        InputError: There is no such network, or its file cannot be read.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> len(network.names), probabilities.shape
        (8, (36,))
    """
    if key not in NAMED:
        raise InputError(f"There is no network {brief(key)}; choose one of {', '.join(NAMED)}.")
    network, probabilities = read_bif(read_data(f"networks/{key}.bif.gz").decode())
    probabilities.setflags(write=False)
    return network, probabilities


# Starts over declared columns: graphs that look at no record. `states` has every column's public domain, by name.


def naive_bayes_over(states: Mapping[str, Sequence[str]], root: str) -> Network:
    """The column `root`, such as a class, with arrows to all others. Errors: InputError naming an unknown column."""
    return Network.from_edges(states, [(root, name) for name in states if name != root], states)


def empty_over(states: Mapping[str, Sequence[str]]) -> Network:
    """The columns and no arrows."""
    return Network.from_edges(states, [], states)


# Templates. All nodes are binary, with the states "no" and "yes".


def naive_bayes(d: int) -> Network:
    """Return the node `class` with arrows to the features x1, ..., xd, all binary.

    Args:
        d: The number of features, 1 to MAX_FEATURES.

    Returns:
        The network.

    Raises:
        InputError: d is out of range.

    Example:
        >>> dp.naive_bayes(2).edges
        (('class', 'x1'), ('class', 'x2'))
    """
    features = _nodes(d, "The number of features", MAX_FEATURES)
    return naive_bayes_over(dict.fromkeys(("class", *features), BINARY), "class")


def chain(k: int) -> Network:
    """Return the network x1 -> x2 -> ... -> xk of binary nodes.

    Args:
        k: The number of nodes, 1 to MAX_NODES.

    Returns:
        The network.

    Raises:
        InputError: k is out of range.

    Example:
        >>> dp.chain(3).edges
        (('x1', 'x2'), ('x2', 'x3'))
    """
    names = _nodes(k)
    return Network.from_edges(names, itertools.pairwise(names))


def tree(k: int) -> Network:
    """Return the binary tree of k binary nodes, filled in level by level from the root x1.

    Args:
        k: The number of nodes, 1 to MAX_NODES.

    Returns:
        The network.

    Raises:
        InputError: k is out of range.

    Example:
        >>> dp.tree(4).edges
        (('x1', 'x2'), ('x1', 'x3'), ('x2', 'x4'))
    """
    names = _nodes(k)
    return Network.from_edges(names, [(names[(j - 1) // 2], names[j]) for j in range(1, len(names))])


def full(k: int) -> Network:
    """Return the complete network of k binary nodes: every earlier node is a parent of every later one.

    Args:
        k: The number of nodes, 1 to MAX_FULL.

    Returns:
        The network.

    Raises:
        InputError: k is out of range.

    Example:
        >>> dp.full(3).edges
        (('x1', 'x2'), ('x1', 'x3'), ('x2', 'x3'))
    """
    names = _nodes(k, "The number of nodes of a complete network", MAX_FULL)
    return Network.from_edges(names, itertools.combinations(names, 2))


def empty(k: int) -> Network:
    """Return k binary nodes without arrows.

    Args:
        k: The number of nodes, 1 to MAX_NODES.

    Returns:
        The network.

    Raises:
        InputError: k is out of range.

    Example:
        >>> dp.empty(3).cell_count
        6
    """
    return empty_over(dict.fromkeys(_nodes(k), BINARY))


def _nodes(k: int, what: str = "The number of nodes", most: int = MAX_NODES) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(1, whole_number(what, k, low=1, high=most) + 1))
