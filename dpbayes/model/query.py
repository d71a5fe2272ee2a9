"""P(target | evidence) by exact inference, for many sets of CPTs at once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import opt_einsum

from dpbayes.base.libraries import nx
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import TOLERANCE
from dpbayes.model.network import Network

MOST_ENTRIES = 2**24
"""Largest table that inference may build on its way, batch axes included."""


def query(network: Network, probabilities: FloatArray, target: str, evidence: Mapping[str, object]) -> FloatArray:
    """Return P(target | evidence) under given CPTs, exactly.

    Under independent Dirichlet rows, the posterior means are the CPTs to use for the joint probability of one new
    record.

    Args:
        network: The network.
        probabilities: The CPTs (..., K).
        target: The node in question.
        evidence: States of other nodes, by name; True is the state "True".

    Returns:
        The probabilities (..., r) of the target's r states.

    Raises:
        InputError: A name or a state is unknown, the evidence has probability zero, or the network is too dense.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.query(network, probabilities, "dysp", {"smoke": "yes"}).round(3)
        array([0.553, 0.447])
    """
    values = np.asarray(probabilities)
    sums = [network.table(values, node).sum(axis=-1) for node in range(len(network.names))]
    if values.min() < 0 or not all((np.abs(own - 1) <= TOLERANCE).all() for own in sums):
        raise InputError("The probabilities of each row must be at least 0 and sum to 1, as in posterior.mean.")
    return conditioned(network, values, target, evidence)


def conditioned(network: Network, probabilities: FloatArray, target: str, evidence: Mapping[str, object]) -> FloatArray:
    """Return what `query` returns, without a check of the cells, of which some do not matter."""
    aim, observed = places_of(network, target, evidence)
    batch = probabilities.shape[:-1]
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    plan = _plan(network, (aim,), observed)
    joint = _summed(plan, _tables(network, plan, flat, observed))
    total = joint.sum(axis=-1, keepdims=True)
    if np.any(total <= 0):
        raise InputError("The evidence has probability zero under this network. Remove one of its states.")
    answer: FloatArray = (joint / total).reshape(*batch, -1)
    return answer


def query_slopes(network: Network, probabilities: FloatArray, target: str, evidence: Mapping[str, str]) -> FloatArray:
    """Return the derivatives of P(target | evidence) by every cell of CPTs (..., K): (..., r, K).

    P(target, evidence) is linear in a cell, so its derivative is the joint probability of the cell's family, the target
    and the evidence, divided by the cell. Cells of probability 0 get 0. Errors: those of `query`.
    """
    answer = query(network, probabilities, target, evidence)
    aim, observed = places_of(network, target, evidence)
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    slopes = np.zeros((len(flat), answer.shape[-1], flat.shape[-1]))
    shares = answer.reshape(len(flat), -1, 1)
    for node in _plan(network, (aim,), observed).nodes:
        family = network.families[node]
        free = [member for member in family if member not in observed]
        aims = tuple(dict.fromkeys((aim, *free)))
        plan = _plan(network, aims, observed)
        joint = _summed(plan, _tables(network, plan, flat, observed))
        if aim in free:
            joint = _apart(joint, free.index(aim))
        places = agreeing(network, node, observed)
        cells = network.table(flat, node)[:, None, *places]
        part = np.divide(joint, cells, out=np.zeros_like(joint), where=cells > 0).reshape(*shares.shape[:2], -1)
        total = joint.reshape(len(flat), -1).sum(axis=-1)[:, None, None]
        own = np.zeros((*shares.shape[:2], *network.cards[list(family)]))
        own[:, :, *places] = ((part - shares * part.sum(axis=1, keepdims=True)) / total).reshape(joint.shape)
        slopes[..., network.cell_offsets[node] : network.cell_offsets[node + 1]] = own.reshape(*shares.shape[:2], -1)
    return slopes.reshape(*answer.shape, -1)


def _apart(joint: FloatArray, place: int) -> FloatArray:
    """Return a table (batch, r, ...) with its first state also at an axis of the rest: 0 where the two differ."""
    r = joint.shape[1]
    moved = np.moveaxis(joint, 1, 1 + place)
    same = np.eye(r).reshape(r, *(r if axis == place else 1 for axis in range(moved.ndim - 1)))
    return np.asarray(moved[:, None] * same)


def joint_probabilities(network: Network, probabilities: FloatArray, *scopes: tuple[int, ...]) -> list[FloatArray]:
    """Return joint probabilities of sets of nodes under given CPTs (B, K): (B, joint states), the first node's first.

    Sums that several sets have in common are computed once. Errors: InputError where the network is too dense.
    """
    tables = [network.table(probabilities, node) for node in range(len(network.names))]
    joint = []
    with opt_einsum.shared_intermediates():
        for nodes in scopes:
            plan = _plan(network, nodes)
            joint.append(_summed(plan, [tables[node] for node in plan.nodes]).reshape(len(probabilities), -1))
    return joint


def places_of(network: Network, target: str, evidence: Mapping[str, object]) -> tuple[int, dict[int, int]]:
    """Return the index of a target, and the states of nodes with evidence, by index. Errors: those of `query`."""
    observed = {network.index(name): place_of(network, name, state) for name, state in evidence.items()}
    aim = network.index(target)
    if aim in observed:
        raise InputError(f"{brief(target)} is both the target and part of the evidence. Remove it from the evidence.")
    return aim, observed


def place_of(network: Network, name: str, state: object) -> int:
    """Return the index of a node's state, whose text counts: True is "True". Errors: InputError with the states."""
    states, text = network.states[network.index(name)], str(state)
    if text not in states:
        listed = ", ".join(map(brief, states[:8]))
        raise InputError(f"{brief(name)} has no state {brief(text)}; it has {listed}.")
    return states.index(text)


def _plan(network: Network, aims: tuple[int, ...], observed: Iterable[int] = ()) -> "_Contraction":
    """Return the stored contraction for targets and nodes with evidence."""
    given = frozenset(observed)
    return network.plans.once((aims, given), _Contraction.of, network, aims, given)


def _tables(network: Network, plan: "_Contraction", flat: FloatArray, observed: Mapping[int, int]) -> list[FloatArray]:
    """Return the CPTs of a plan, without the states that the evidence excludes."""
    return [network.table(flat, node)[:, *agreeing(network, node, observed)] for node in plan.nodes]


def agreeing(network: Network, node: int, observed: Mapping[int, int]) -> tuple[int | slice, ...]:
    """Return the part of a node's table that agrees with evidence, as an index of its axes."""
    return tuple(observed.get(member, slice(None)) for member in network.families[node])


def relevant(network: Network, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return these nodes and their ancestors, in network order: the tables of all others sum to one."""
    names = {network.names[node] for node in nodes}
    every = names.union(*(nx.ancestors(network.graph, name) for name in names))
    return tuple(node for node, name in enumerate(network.names) if name in every)


def _summed(plan: "_Contraction", tables: list[FloatArray]) -> FloatArray:
    """Sum the product of tables (batch, ...) by a plan."""
    if plan.entries * len(tables[0]) > MOST_ENTRIES:
        raise InputError(
            "This query connects too many nodes for an exact answer. Use fewer nodes in the query or the evidence."
        )
    return np.asarray(plan.sum(*tables))


@dataclass(frozen=True, eq=False)
class _Contraction:
    """Which nodes' CPTs matter to a query, and in which order their product is summed whatever they are.

    `entries` is how many the largest table on the way has, of one set of CPTs.
    """

    nodes: tuple[int, ...]
    sum: Callable[..., FloatArray]
    entries: float

    @classmethod
    def of(cls, network: Network, aims: tuple[int, ...], observed: frozenset[int]) -> "_Contraction":
        nodes = relevant(network, (*aims, *observed))
        left = [[j for j in network.families[node] if j not in observed] for node in nodes]
        batch, *labels = (opt_einsum.get_symbol(k) for k in range(1 + len(network.names)))
        factors = ",".join(batch + "".join(labels[j] for j in members) for members in left)
        shapes = [(1, *network.cards[members].tolist()) for members in left]
        words = f"{factors}->{batch}{''.join(labels[aim] for aim in aims)}"
        path, path_info = opt_einsum.contract_path(words, *shapes, shapes=True, optimize="greedy")
        summed = opt_einsum.contract_expression(words, *shapes, optimize=path)
        return cls(nodes, summed, float(path_info.largest_intermediate))
