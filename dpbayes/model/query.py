"""P(target | evidence) by exact inference, for many sets of CPTs at once."""

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import opt_einsum

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import Network

MOST_ENTRIES = 2**24
"""Largest table that inference may build on its way, batch axes included."""

_BATCH = -1
"""The label of the batch axis; nodes have labels from 0."""


def query(network: Network, probabilities: FloatArray, target: str, evidence: Mapping[str, str]) -> FloatArray:
    """Return P(target | evidence) for CPTs (..., K): (..., r_target).

    Under independent Dirichlet rows, the posterior means are the CPTs to use for the joint probability of one new
    record. Errors: InputError for unknown names and states, evidence of probability zero, networks too entangled.
    """
    observed = {network.index(name): _state(network, name, state) for name, state in evidence.items()}
    aim = network.index(target)
    if aim in observed:
        raise InputError(f"{brief(target)} is both asked for and given; remove it from the evidence.")
    batch = probabilities.shape[:-1]
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    joint = _contract(network, flat, aim, observed)
    total = joint.sum(axis=-1, keepdims=True)
    if np.any(total <= 0):
        raise InputError("The evidence has probability zero under this network; remove one of its states.")
    answer: FloatArray = (joint / total).reshape(*batch, -1)
    return answer


def _state(network: Network, name: str, state: str) -> int:
    states = network.states[network.index(name)]
    if state not in states:
        raise InputError(f"{brief(name)} has no state {brief(state)}; it has {', '.join(map(brief, states[:8]))}.")
    return states.index(state)


def _contract(network: Network, flat: FloatArray, aim: int, observed: Mapping[int, int]) -> FloatArray:
    """Sum the product of the CPTs that matter over all nodes but the target: (batch, r_target)."""
    asked = {network.names[i] for i in (aim, *observed)}
    # A node with no asked-for descendant sums to one, so it never enters the product.
    relevant = asked.union(*(nx.ancestors(network.graph, name) for name in asked))
    operands: list[Any] = []
    for node, family in enumerate(network.families):
        if network.names[node] not in relevant:
            continue
        table: FloatArray = network.table(flat, node)
        for axis in reversed(range(len(family))):
            if family[axis] in observed:
                table = np.take(table, observed[family[axis]], axis=1 + axis)
        operands += [table, [_BATCH, *(j for j in family if j not in observed)]]
    output = [_BATCH, aim]
    path, plan = opt_einsum.contract_path(*operands, output, optimize="greedy")
    if plan.largest_intermediate > MOST_ENTRIES:
        raise InputError("This query ties too many nodes together to be answered exactly; give or ask for fewer.")
    joint: FloatArray = opt_einsum.contract(*operands, output, optimize=path)
    return joint
