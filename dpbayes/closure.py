"""The downward closure N_I of a network's families, and how far one record can move its Fourier coefficients."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dpbayes.validation import InputError

MAX_FAMILY = 20
"""Largest family (a node with its parents) whose 2^size coefficients are handled."""

MAX_TABLE_BITS = 20
"""Largest table, as a power of two, that the exact search may build on its way."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class OddOverlap:
    """O = max over d of #{gamma in N_I : <gamma, d> odd}: its value, or an upper bound when not exact."""

    value: int
    exact: bool


@dataclass(frozen=True)
class Closure:
    """All subsets gamma of all families pi_i + {i}: the Fourier coefficients a release needs.

    `families[i]` lists node indices, most significant first; slot j of family i is the subset picked by the bits
    of j, and slots of all families lie one after another on one flat axis (for binary nodes this axis is as long
    as the network's cell axis). [Zhang16] section 3.2, the set N_I.
    """

    families: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        widest = max(map(len, self.families), default=0)
        if widest > MAX_FAMILY:
            raise InputError(
                f"A node with {widest - 1} parents has 2^{widest} Fourier coefficients; "
                f"the limit is {MAX_FAMILY - 1} parents."
            )

    @cached_property
    def _index(self) -> tuple[IntArray, tuple[int, ...]]:
        members: dict[int, int] = {0: 0}
        slots: list[int] = []
        for family in self.families:
            subsets = [0]
            for node in reversed(family):
                subsets += [subset | (1 << node) for subset in subsets]
            slots += [members.setdefault(subset, len(members)) for subset in subsets]
        return np.array(slots, dtype=np.int64), tuple(members)

    @property
    def slots(self) -> IntArray:
        """For every slot on the flat axis, the position of its gamma in `members`."""
        return self._index[0]

    @property
    def members(self) -> tuple[int, ...]:
        """The gammas as bit masks over nodes (bit i for node i); the empty set comes first."""
        return self._index[1]

    @cached_property
    def representatives(self) -> IntArray:
        """For every member, the first slot that holds it. Shape (|N_I|,)."""
        return np.unique(self.slots, return_index=True)[1]

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def odd_overlap(self) -> OddOverlap:
        """How many coefficients one record can flip at most, in closed search or as a bound.

        The L1 sensitivity of the integer Walsh coefficients sum_x (-1)^<gamma, x> under replacing one record is
        twice this number: gamma changes sign iff <gamma, d> is odd, where d is the exclusive or of the two records.
        Sharper than [Zhang16] Corollary 2, which uses |N_I|.
        """
        best = _largest_odd_count(self._odd_tables())
        if best is not None:
            return OddOverlap(best, exact=True)
        maximal = [f for f in map(set, self.families) if not any(f < set(g) for g in self.families)]
        distinct = {frozenset(family) for family in maximal}
        bound = sum(2 ** (len(family) - 1) for family in distinct)
        return OddOverlap(min(len(self) - 1, bound), exact=False)

    def _odd_tables(self) -> list[tuple[tuple[int, ...], IntArray]]:
        """For every family, the count of its *own* gammas (held first by it) that are odd against each d in it."""
        first = np.zeros(len(self.slots), dtype=np.int64)
        first[self.representatives] = 1
        tables, start = [], 0
        for family in self.families:
            size = 2 ** len(family)
            own = first[start : start + size].reshape((2,) * len(family))
            start += size
            tables.append((family, (own.sum() - walsh(own, len(family))) // 2))
        return tables


def walsh(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return sum_x values[x] (-1)^<gamma, x> over the last `bits` axes of length two, for every gamma."""
    for axis in range(values.ndim - bits, values.ndim):
        zero, one = np.take(values, 0, axis), np.take(values, 1, axis)
        values = np.stack((zero + one, zero - one), axis)
    return values


def _largest_odd_count(tables: Sequence[tuple[tuple[int, ...], IntArray]]) -> int | None:
    """Return max over d of the sum of the tables by eliminating variables, or None beyond MAX_TABLE_BITS."""
    moral: nx.Graph[int] = nx.Graph()
    for family, _ in tables:
        moral.add_nodes_from(family)
        moral.add_edges_from((u, v) for u in family for v in family if u < v)
    factors = list(tables)
    while moral:
        node = min(moral, key=lambda v: (moral.degree(v), v))
        around = tuple(sorted(moral[node]))
        if len(around) + 1 > MAX_TABLE_BITS:
            return None
        scope = (*around, node)
        total = np.zeros((2,) * len(scope), dtype=np.int64)
        for variables, table in [f for f in factors if node in f[0]]:
            total += _spread(table, variables, scope)
        factors = [f for f in factors if node not in f[0]] + [(around, total.max(axis=-1))]
        moral.add_edges_from((u, v) for u in around for v in around if u < v)
        moral.remove_node(node)
    return int(sum(table.item() for _, table in factors))


def _spread(table: IntArray, variables: tuple[int, ...], scope: tuple[int, ...]) -> IntArray:
    """Return `table` over `variables` as a broadcastable table over `scope`."""
    order = sorted(range(len(variables)), key=lambda axis: scope.index(variables[axis]))
    shape = tuple(2 if variable in variables else 1 for variable in scope)
    return table.transpose(order).reshape(shape)
