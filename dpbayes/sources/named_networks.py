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
    """Return a network of NAMED and its published probabilities (K,), read-only.

    Errors: InputError naming an unknown key, and those of `read_data`.
    """
    if key not in NAMED:
        raise InputError(f"There is no network {brief(key)}; choose one of {', '.join(NAMED)}.")
    network, probabilities = read_data(f"networks/{key}.bif.gz", lambda content: read_bif(content.decode()))
    probabilities.setflags(write=False)
    return network, probabilities


# Starts over declared columns: graphs that look at no record. `states` has every column's public domain, by name.


def naive_bayes_over(states: Mapping[str, Sequence[str]], root: str) -> Network:
    """The column `root`, such as a class, with arrows to all others. Errors: InputError naming an unknown column."""
    if root not in states:
        raise InputError(f"There is no column {brief(root)} to put above the others.")
    return Network.from_edges(states, [(root, name) for name in states if name != root], states)


def chain_over(states: Mapping[str, Sequence[str]]) -> Network:
    """An arrow from every column to the next, in their order."""
    return Network.from_edges(states, itertools.pairwise(states), states)


def empty_over(states: Mapping[str, Sequence[str]]) -> Network:
    """The columns and no arrows."""
    return Network.from_edges(states, [], states)


# Templates. All nodes are binary, with the states "no" and "yes".


def naive_bayes(d: int) -> Network:
    """The node `class` with arrows to the features x1, ..., xd; d from 1 to MAX_FEATURES."""
    features = _numbered(whole_number("The number of features", d, low=1, high=MAX_FEATURES))
    return naive_bayes_over(dict.fromkeys(("class", *features), BINARY), "class")


def chain(k: int) -> Network:
    """x1 -> x2 -> ... -> xk; k from 1 to MAX_NODES."""
    return chain_over(dict.fromkeys(_nodes(k), BINARY))


def tree(k: int, *, branching: int = 2) -> Network:
    """k nodes filled in level by level, each with `branching` children; x1 is the root. Branching from 1 to 50."""
    names = _nodes(k)
    branching = whole_number("The number of children", branching, low=1, high=50)
    return Network.from_edges(names, [(names[(j - 1) // branching], names[j]) for j in range(1, len(names))])


def full(k: int) -> Network:
    """Every earlier node is a parent of every later one; k from 1 to MAX_FULL."""
    names = _numbered(whole_number("The number of nodes of a complete network", k, low=1, high=MAX_FULL))
    return Network.from_edges(names, itertools.combinations(names, 2))


def empty(k: int) -> Network:
    """k nodes and no arrows; k from 1 to MAX_NODES."""
    return empty_over(dict.fromkeys(_nodes(k), BINARY))


def _nodes(k: int) -> tuple[str, ...]:
    return _numbered(whole_number("The number of nodes", k, low=1, high=MAX_NODES))


def _numbered(k: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(1, k + 1))
