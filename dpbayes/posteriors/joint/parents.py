"""Normal factors for the joint tables of parents that no other family contains.

In a tree, every row's total is a cell of the parent's own table. A node with several parents also has a joint table of
the parents, which may be part of no other family. Given the tables of all earlier families, this joint table is
distributed like n records sampled from the network with these tables as probabilities. The residuals of the joint table
that no other family has are approximated as normal given the other residuals. The moments are computed over samples of
the tables from their current distribution.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.network import Network
from dpbayes.model.query import joint_probabilities
from dpbayes.model.residuals import contrasts
from dpbayes.posteriors.joint.design import JointDesign

MOST_CONFIGURATIONS = 512
"""The largest number of joint states of parents for which a factor is used; without it, the posterior is wider."""

_MOST_OBSERVED = 64
"""The largest number of observed residuals of parents and their own parents; beyond it, only the parents' are used."""

_LEAST = 1e-3
"""The smallest sampled count, because samples of a normal distribution can be negative."""


@dataclass(frozen=True, eq=False)
class ParentsDesign:
    """Parents whose joint table has residuals `new` (N,) of no earlier family, and `observed` (L,) of earlier families.

    `of_new` (N, configurations) and `of_observed` (L, configurations) are the maps from the table to the residuals.
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
    """Return the parents whose joint tables no earlier family contains, from ancestors to descendants."""
    network = design.network
    designs, seen = [], {0}
    for node in network.order:
        *parents, _ = network.families[node]
        masks = _subsets(parents)
        new = [mask for mask in masks if mask not in seen and mask in design.numbers_of_set]
        if new and int(np.prod(network.cards[parents])) <= MOST_CONFIGURATIONS:
            for scope in (sorted(set(parents).union(*(network.families[parent] for parent in parents))), parents):
                observed = [mask for mask in _subsets(scope) if mask in seen and mask in design.numbers_of_set]
                size = sum(len(design.numbers_of_set[mask]) for mask in observed)
                if np.prod(network.cards[scope].astype(float)) <= MOST_CONFIGURATIONS and size <= _MOST_OBSERVED:
                    break
            numbers, functions = zip(*(_numbers(design, scope, part) for part in (new, observed)), strict=True)
            if len(numbers[0]):
                designs.append(ParentsDesign(tuple(scope), *numbers, *functions))
        seen.update(_subsets(network.families[node]))
    return tuple(designs)


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
    """Return the factors, from samples of all tables (S, B, K)."""
    drawn = np.maximum(counts, _LEAST)
    probabilities = drawn / network.over_cells(network.row_sums(drawn))
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    joint = joint_probabilities(network, flat, *(own.nodes for own in parents))
    return [_factor(own, tables.reshape(*counts.shape[:2], -1), n) for own, tables in zip(parents, joint, strict=True)]


def _factor(own: ParentsDesign, tables: FloatArray, n: int) -> ParentsFactor:
    """Return the factor of some parents, from their joint probabilities (S, B, configurations)."""
    draws = np.moveaxis(tables, 0, 1)
    mean = draws.mean(axis=1)
    functions = np.concatenate((own.of_new, own.of_observed))
    first = draws @ functions.T
    # The variance of n records given the probabilities, and the variance of the probabilities.
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
