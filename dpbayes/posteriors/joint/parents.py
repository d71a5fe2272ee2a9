"""What the network says of the joint table of parents that share no family: their interactions given their margins.

On trees every row's total is a number of the parent's own table. A node of several parents has a joint table of them
that no other family may have. Given the tables of all earlier families, it is as if n records were drawn from the
network with these tables as probabilities. Its residuals that no other family has are taken as normal given those that
one has, with the moments over draws of the tables from their present law.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.network import Network
from dpbayes.model.query import joint_probabilities
from dpbayes.model.residuals import contrasts
from dpbayes.posteriors.joint.design import JointDesign

MOST_CONFIGURATIONS = 512
"""Joint states of parents beyond which what the network says of them is left out: the posterior is wider then."""

_MOST_OBSERVED = 64
"""Known residuals of parents and their own parents, beyond which only those of the parents count."""

_LEAST = 1e-3
"""Of a drawn count: a normal law may be negative."""


@dataclass(frozen=True, eq=False)
class ParentsDesign:
    """Parents whose joint table has residuals `new` (N,) that no earlier family has, and `observed` (L,) that one has.

    `of_new` (N, configurations) and `of_observed` (L, configurations) turn the table into residuals.
    """

    nodes: tuple[int, ...]
    new: IntArray
    observed: IntArray
    of_new: FloatArray
    of_observed: FloatArray


@dataclass(frozen=True, eq=False)
class ParentsFactor:
    """A normal factor for each of some releases: residuals `numbers` with precision (B, X, X) and shift (B, X)."""

    numbers: IntArray
    precision: FloatArray
    shift: FloatArray


def parents_designs(design: JointDesign) -> tuple[ParentsDesign, ...]:
    """Return the parents whose joint tables no earlier family has, from ancestors to descendants."""
    network = design.network
    designs, seen = [], {0}
    for node in network.order:
        *parents, _ = network.families[node]
        masks = _subsets(parents)
        new = [mask for mask in masks if mask not in seen and mask in design.numbers_of_set]
        if new and int(np.prod(network.cards[parents])) <= MOST_CONFIGURATIONS:
            scope = sorted(set(parents).union(*(network.families[parent] for parent in parents)))
            if not _is_small(design, scope, seen):
                scope = parents
            observed = [mask for mask in _subsets(scope) if mask in seen and mask in design.numbers_of_set]
            numbers, functions = zip(*(_numbers(design, scope, part) for part in (new, observed)), strict=True)
            if len(numbers[0]):
                designs.append(ParentsDesign(tuple(scope), *numbers, *functions))
        seen.update(_subsets(network.families[node]))
    return tuple(designs)


def _is_small(design: JointDesign, scope: list[int], seen: set[int]) -> bool:
    if int(np.prod(design.network.cards[scope].astype(float))) > MOST_CONFIGURATIONS:
        return False
    observed = [mask for mask in _subsets(scope) if mask in seen and mask in design.numbers_of_set]
    return sum(len(design.numbers_of_set[mask]) for mask in observed) <= _MOST_OBSERVED


def _subsets(nodes: tuple[int, ...] | list[int]) -> list[int]:
    masks = [0]
    for node in nodes:
        masks += [mask | 1 << node for mask in masks]
    return masks


def _numbers(design: JointDesign, parents: list[int], masks: list[int]) -> tuple[IntArray, FloatArray]:
    cards = design.network.cards
    rows = []
    for mask in masks:
        part: FloatArray = np.ones((1, 1))
        for node in parents:
            r = int(cards[node])
            own = contrasts(r) if mask >> node & 1 else np.ones((1, r))
            part = np.asarray(np.kron(part, own), dtype=np.float64)
        rows.append(part)
    configurations = int(np.prod(cards[parents]))
    numbers = [design.numbers_of_set[mask] for mask in masks]
    return (
        np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64),
        np.concatenate(rows) if rows else np.empty((0, configurations)),
    )


def parents_factors(
    parents: tuple[ParentsDesign, ...], network: Network, counts: FloatArray, n: int
) -> list[ParentsFactor]:
    """Return the factors from draws of all tables (S, B, K)."""
    drawn = np.maximum(counts, _LEAST)
    probabilities = drawn / network.over_cells(network.row_sums(drawn))
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    return [
        _factor(own, joint_probabilities(network, flat, own.nodes).reshape(*counts.shape[:2], -1), n) for own in parents
    ]


def _factor(own: ParentsDesign, tables: FloatArray, n: int) -> ParentsFactor:
    """From joint probabilities (S, B, configurations)."""
    draws = np.moveaxis(tables, 0, 1)
    mean = draws.mean(axis=1)
    functions = np.concatenate((own.of_new, own.of_observed))
    first = draws @ functions.T
    # Of n records given the probabilities, and of the probabilities.
    square = np.matmul(functions * mean[:, None], functions.T)
    away = first - first.mean(axis=1, keepdims=True)
    between = np.matmul(np.swapaxes(away, 1, 2), away) / draws.shape[1]
    within = square - np.matmul(np.swapaxes(first, 1, 2), first) / draws.shape[1]
    covariance = n * within + n**2 * between
    at = n * first.mean(axis=1)
    split = len(own.new)
    observed = covariance[:, split:, split:] + 1e-9 * (1 + n) * np.eye(len(own.observed))
    by = np.swapaxes(np.linalg.solve(observed, covariance[:, split:, :split]), 1, 2)
    left = covariance[:, :split, :split] - np.matmul(by, covariance[:, split:, :split])
    left = (left + np.swapaxes(left, 1, 2)) / 2 + (1e-3 + 1e-9 * n) * np.eye(split)
    inverse = np.linalg.inv(left)
    lift = np.concatenate((np.broadcast_to(np.eye(split), (len(by), split, split)), -by), axis=2)
    back = np.matmul(np.swapaxes(lift, 1, 2), inverse)
    wanted = np.matmul(lift, at[..., None])
    return ParentsFactor(
        np.concatenate((own.new, own.observed)), np.matmul(back, lift), np.matmul(back, wanted)[..., 0]
    )
