"""The joint distribution of every two nodes under given CPTs, exactly, all pairs at once.

Eliminating node after node gives a tree of cliques: the clique of v is v with its neighbours S_v when it is eliminated,
and its parent is the clique of the first node of S_v to be eliminated later. The joint distribution is the product of
the P(v | S_v). A walk through the tree carries P(x_i, clique) for all nodes i passed so far: down an edge to the clique
of v, x_i is independent of v given S_v; up an edge, x_i is independent of the rest of the parent's clique given S_v.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.elimination import Plan, spread
from dpbayes.model.network import Network


@dataclass(frozen=True, eq=False)
class _Clique:
    """A node v and the nodes around it: P(v | around), (..., *around, v), and the clique that it hangs on."""

    node: int
    around: tuple[int, ...]
    conditional: FloatArray
    parent: int | None

    @property
    def scope(self) -> tuple[int, ...]:
        return (*self.around, self.node)


def clique_cells(plan: Plan, cards: Sequence[int] | IntArray) -> int:
    """Return how many cells the largest clique of an elimination has."""
    return max(int(np.prod([float(cards[j]) for j in (*around, node)])) for node, around in plan)


def pair_marginals(network: Network, probabilities: FloatArray) -> FloatArray:
    """Return P(x_i = a, x_j = b) of all pairs of states (..., R, R), R the number of states of all nodes.

    The diagonal block of a node has its marginal distribution on the diagonal. The CPTs are (..., K).
    """
    starts = np.concatenate(([0], np.cumsum(network.cards))).astype(np.int64)
    cliques = _cliques(network, probabilities)
    children: dict[int | None, list[int]] = {}
    for node, clique in cliques.items():
        children.setdefault(clique.parent, []).append(node)
    joint = np.zeros((*probabilities.shape[:-1], starts[-1], starts[-1]))
    walk = _Walk(network.cards, starts, joint)
    # Trees of their own are independent of each other.
    trees = [walk.through(cliques, children, root) for root in children.get(None, ())]
    margins = np.diagonal(joint, axis1=-2, axis2=-1).copy()
    for rows in trees:
        others = np.setdiff1d(np.arange(starts[-1]), rows)
        joint[..., rows[:, None], others] = margins[..., rows, None] * margins[..., None, others]
    return joint


def family_marginals(network: Network, probabilities: FloatArray) -> FloatArray:
    """Return the joint distribution of every family under CPTs (K,), on the same axis: (K,)."""
    cliques = _cliques(network, probabilities)
    when = {node: k for k, node in enumerate(cliques)}
    beliefs: dict[int, FloatArray] = {}
    for node, clique in reversed(cliques.items()):
        above = np.ones(()) if clique.parent is None else beliefs[clique.parent]
        scope = () if clique.parent is None else cliques[clique.parent].scope
        beliefs[node] = _summed(above, scope, clique.around)[..., None] * clique.conditional
    joint = np.empty(network.cell_count)
    for i, family in enumerate(network.families):
        first = min(family, key=when.__getitem__)
        cells = slice(network.cell_offsets[i], network.cell_offsets[i + 1])
        joint[cells] = _summed(beliefs[first], cliques[first].scope, family).ravel()
    return joint


@dataclass(frozen=True, eq=False)
class _Walk:
    """A walk through the trees of cliques that fills `joint` (..., R, R); `starts` are the nodes' first states."""

    cards: IntArray
    starts: IntArray
    joint: FloatArray

    def through(self, cliques: dict[int, _Clique], children: dict[int | None, list[int]], root: int) -> IntArray:
        """Fill the joint of all nodes of one tree, and return the places of their states."""
        carried = {root: self._root(cliques[root])}
        stack = [(root, False), *((child, True) for child in children.get(root, ()))]
        while True:
            node, is_entered = stack.pop()
            above = cliques[node].parent
            if above is None:
                return carried[root].places
            if is_entered:
                carried[node] = self._down(cliques[node], carried[above])
                stack.append((node, False))
                stack.extend((child, True) for child in children.get(node, ()))
            else:
                carried[above] = self._up(carried.pop(node), cliques[node], carried[above])

    def _root(self, clique: _Clique) -> "_PassedStates":
        own = self._places(clique.node)
        self.joint[..., own, own] = clique.conditional
        return _PassedStates(clique.scope, _by_last_state(clique.conditional), own, len(own))

    def _down(self, clique: _Clique, above: "_PassedStates") -> "_PassedStates":
        """Go to the clique of v: v is independent of all nodes passed, given those around v."""
        own = self._places(clique.node)
        joint = _summed(above.joint, above.scope, clique.around)[..., None] * clique.conditional
        law = joint[: above.root].sum(axis=0)
        batch = self.joint.ndim - 2
        pairs = np.moveaxis(joint.sum(axis=tuple(range(1 + batch, joint.ndim - 1))), 0, -2)
        self.joint[..., above.places[:, None], own] = pairs
        self.joint[..., own[:, None], above.places] = pairs.swapaxes(-1, -2)
        self.joint[..., own, own] = law.sum(axis=tuple(range(batch, law.ndim - 1)))
        places = np.concatenate((above.places, own))
        return _PassedStates(clique.scope, np.concatenate((joint, _by_last_state(law))), places, above.root)

    def _up(self, below: "_PassedStates", clique: _Clique, above: "_PassedStates") -> "_PassedStates":
        """Go back, with all nodes passed since: they are independent of the clique above given those around v."""
        before = len(above.places)
        ours = below.joint[before:].sum(axis=-1)
        law = above.joint[: above.root].sum(axis=0)
        around = _summed(law, above.scope, clique.around)
        given = np.divide(ours, around, out=np.zeros_like(ours), where=around > 0)
        joint = law * _over(given, clique.around, above.scope)
        places = np.concatenate((above.places, below.places[before:]))
        return _PassedStates(above.scope, np.concatenate((above.joint, joint)), places, above.root)

    def _places(self, node: int) -> IntArray:
        return np.arange(self.starts[node], self.starts[node + 1])


@dataclass(frozen=True, eq=False)
class _PassedStates:
    """P(x_i = a, clique) of all states passed, (states, ..., *clique), their `places`, and the states of the first.

    The first node passed is the `root` of the tree.
    """

    scope: tuple[int, ...]
    joint: FloatArray
    places: IntArray
    root: int


def _cliques(network: Network, probabilities: FloatArray) -> dict[int, _Clique]:
    """Return the cliques by node, in the order in which the nodes are eliminated."""
    plan = network.elimination
    when = {node: k for k, (node, _) in enumerate(plan)}
    factors: dict[int, list[tuple[tuple[int, ...], FloatArray]]] = {}
    for i, family in enumerate(network.families):
        factors.setdefault(min(family, key=when.__getitem__), []).append((family, network.table(probabilities, i)))
    cliques = {}
    for node, around in plan:
        scope = (*around, node)
        belief = np.ones([int(network.cards[j]) for j in scope])
        for over, table in factors.pop(node, ()):
            belief = belief * _over(table, over, scope)
        message = belief.sum(axis=-1)
        conditional = np.divide(belief, message[..., None], out=np.zeros_like(belief), where=message[..., None] > 0)
        parent = min(around, key=when.__getitem__, default=None)
        if parent is not None:
            factors.setdefault(parent, []).append((around, message))
        cliques[node] = _Clique(node, around, conditional, parent)
    return cliques


def _over(table: FloatArray, over: tuple[int, ...], scope: tuple[int, ...]) -> FloatArray:
    """Return a table (..., over) with the axes of `scope`, of length one where it does not depend on a node."""
    batch = table.ndim - len(over)
    last = np.moveaxis(table, range(batch), range(-batch, 0))
    return np.moveaxis(spread(last, over, scope), range(-batch, 0), range(batch))


def _by_last_state(table: FloatArray) -> FloatArray:
    """Return the part of a table (..., r) in which its last node has each of its states: (r, ..., r)."""
    return np.moveaxis(table[..., None, :] * np.eye(table.shape[-1]), -2, 0)


def _summed(table: FloatArray, scope: tuple[int, ...], kept: tuple[int, ...]) -> FloatArray:
    """Return a table (..., scope) summed to the nodes kept, in their order."""
    batch = table.ndim - len(scope)
    left = table.sum(axis=tuple(batch + k for k, node in enumerate(scope) if node not in kept))
    rest = [node for node in scope if node in kept]
    return np.asarray(left.transpose(*range(batch), *(batch + rest.index(node) for node in kept)))
