"""The joint distributions of every two nodes and of families under given CPTs, exactly, by a tree of cliques.

Eliminating node after node gives the tree: the clique of v is v with its neighbours S_v when it is eliminated, and its
parent is the clique of the first node of S_v to be eliminated later. The joint distribution is the product of the
P(v | S_v), so one pass from the roots gives the distribution of every clique. The distribution of all pairs is that of
all nodes given each state of each node, with the states as one batch axis. Batch axes come last, so that a sum over
states adds whole rows of numbers.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.elimination import Plan, spread
from dpbayes.model.network import Network


def clique_cells(plan: Plan, cards: Sequence[int] | IntArray) -> int:
    """Return how many cells the largest clique of an elimination has."""
    return max(int(np.prod([float(cards[j]) for j in (*around, node)])) for node, around in plan)


def pair_marginals(network: Network, probabilities: FloatArray) -> FloatArray:
    """Return P(x_i = a, x_j = b) of all pairs of states (..., R, R), R the number of states of all nodes.

    The diagonal block of a node has its marginal distribution on the diagonal. The CPTs are (..., K).
    """
    first = np.concatenate(([0], np.cumsum(network.cards)[:-1]))
    node_of_cell = network.node_of_row[network.row_of_cell]
    state_of_cell = first[node_of_cell] + np.arange(network.cell_count) - network.row_starts[network.row_of_cell]
    states = np.arange(network.cards.sum())[:, None]
    is_possible = (np.repeat(np.arange(len(first)), network.cards)[:, None] != node_of_cell) | (states == state_of_cell)
    last = np.moveaxis(probabilities, -1, 0)
    cliques, chance = _cliques(network, last[..., None] * np.expand_dims(is_possible.T, tuple(range(1, last.ndim))))
    columns = [_summed(belief, scope, (node,)) for node, (scope, belief) in sorted(cliques.items())]
    return np.moveaxis(np.concatenate(columns) * chance, 0, -2)


def family_marginals(network: Network, probabilities: FloatArray) -> FloatArray:
    """Return the joint distribution of every family under CPTs (K,), on the same axis: (K,)."""
    cliques, _ = _cliques(network, probabilities)
    when = {node: k for k, (node, _) in enumerate(network.elimination)}
    of_first = (cliques[min(family, key=when.__getitem__)] for family in network.families)
    parts = [_summed(belief, scope, family) for (scope, belief), family in zip(of_first, network.families, strict=True)]
    return np.concatenate([part.ravel() for part in parts])


def _cliques(network: Network, factors: FloatArray) -> tuple[dict[int, tuple[tuple[int, ...], FloatArray]], FloatArray]:
    """Return the nodes and the distribution (scope, ...) of every node's clique for factors (K, ...) of all families.

    The second result is the sum of the product of all factors: (...). Distributions of sum 0 are 0.
    """
    plan, total = network.elimination, np.ones(factors.shape[1:])
    when = {node: k for k, (node, _) in enumerate(plan)}
    tables: dict[int, list[tuple[tuple[int, ...], FloatArray]]] = {}
    for i, family in enumerate(network.families):
        cells = factors[network.cell_offsets[i] : network.cell_offsets[i + 1]]
        table = cells.reshape(*network.cards[list(family)], *total.shape)
        tables.setdefault(min(family, key=when.__getitem__), []).append((family, table))
    conditionals = []
    for node, around in plan:
        scope = (*around, node)
        belief = reduce(np.multiply, (spread(table, over, scope) for over, table in tables.pop(node)))
        message = belief.sum(axis=len(around), keepdims=True)
        conditionals.append((node, around, belief / np.where(message > 0, message, 1)))
        if around:
            tables.setdefault(min(around, key=when.__getitem__), []).append((around, message.squeeze(len(around))))
        else:
            total = total * message[0]
    cliques: dict[int, tuple[tuple[int, ...], FloatArray]] = {}
    for node, around, belief in reversed(conditionals):
        if around:
            scope, above = cliques[min(around, key=when.__getitem__)]
            belief = np.expand_dims(_summed(above, scope, around), len(around)) * belief
        cliques[node] = (*around, node), belief
    return cliques, total


def _summed(table: FloatArray, scope: tuple[int, ...], kept: tuple[int, ...]) -> FloatArray:
    """Return a table (scope, ...) summed to the nodes kept, in their order."""
    left = table.sum(axis=tuple(k for k, node in enumerate(scope) if node not in kept))
    rest = [node for node in scope if node in kept]
    return np.asarray(left.transpose(*map(rest.index, kept), *range(len(kept), left.ndim)))
