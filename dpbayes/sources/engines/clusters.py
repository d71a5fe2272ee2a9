"""Families packed into few clusters of nodes; one GROUP BY for a cluster gives the counts of all its families."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.model.network import Network

MOST_CODES = 1 << 12
"""The largest number of joint codes of a cluster, unless a single family has more: 2^W with W = 12 for every engine.

Wide clusters are few, and each needs one pass over its columns. For Spark, whose tasks exchange codes, a smaller width
could be faster. No other width was measured.
"""


@dataclass(frozen=True)
class Cluster:
    """Nodes that are counted jointly, in network order, and the nodes whose families they contain."""

    nodes: tuple[int, ...]
    children: tuple[int, ...]


def clusters(network: Network, most: int = MOST_CODES) -> tuple[Cluster, ...]:
    """Pack every family into one cluster of at most `most` joint codes; a family with more has its own.

    Families are packed in decreasing order of size, each where the number of joint codes grows least.
    """
    packed: list[tuple[set[int], list[int]]] = []
    codes = [_joint(network, family) for family in network.families]
    for child in sorted(range(len(codes)), key=lambda i: (-codes[i], i)):
        family = set(network.families[child])
        fits = [(size, k) for k in range(len(packed)) if (size := _joint(network, packed[k][0] | family)) <= most]
        growth = [(size / _joint(network, packed[k][0]), size, k) for size, k in fits]
        inside = next((k for k in range(len(packed)) if family <= packed[k][0]), None)
        if inside is None and growth:
            inside = min(growth)[-1]
        if inside is None:
            packed.append((family, [child]))
        else:
            packed[inside][0].update(family)
            packed[inside][1].append(child)
    return tuple(Cluster(tuple(sorted(nodes)), tuple(sorted(children))) for nodes, children in packed)


def strides(network: Network, cluster: Cluster) -> IntArray:
    """Return the stride of each node in the joint code, the first node most significant: (nodes,)."""
    cards = network.cards[list(cluster.nodes)]
    return np.concatenate((np.cumprod(cards[:0:-1])[::-1], [1])).astype(np.int64)


def add_marginals(values: IntArray, network: Network, cluster: Cluster, joint: IntArray) -> None:
    """Add a cluster's counts by joint code (codes,) to the cells (K,) of its families."""
    table = joint.reshape(network.cards[list(cluster.nodes)])
    place = {node: axis for axis, node in enumerate(cluster.nodes)}
    for child in cluster.children:
        family = [place[node] for node in network.families[child]]
        others = tuple(axis for axis in range(table.ndim) if axis not in family)
        kept = sorted(family)
        cells = table.sum(axis=others, dtype=np.int64).transpose([kept.index(axis) for axis in family])
        values[network.cell_offsets[child] : network.cell_offsets[child + 1]] += cells.ravel()


def node_marginals(network: Network, cluster: Cluster, joint: IntArray) -> dict[int, IntArray]:
    """Return for each node of a cluster how many records have each of its states, by the counts of joint codes."""
    table = joint.reshape(network.cards[list(cluster.nodes)])
    axes = range(table.ndim)
    return {
        node: table.sum(axis=tuple(other for other in axes if other != axis), dtype=np.int64)
        for axis, node in enumerate(cluster.nodes)
    }


def _joint(network: Network, nodes: Iterable[int]) -> int:
    return math.prod(int(network.cards[node]) for node in nodes)
