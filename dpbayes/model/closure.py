"""The downward closure N_I of a network's families, and how far one record can move its Fourier coefficients."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.elimination import eliminated, elimination_plan, widest_scope

MAX_FAMILY = 19
"""Largest family (a node with its parents) whose 2^size coefficients are handled."""

MAX_TABLE_BITS = 20
"""Largest table, as a power of two, that the exact search may build on its way."""

_LAST_BITS = 6


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
    def _index(self) -> tuple[IntArray, IntArray]:
        """The slots' positions among the members, and the first slot of every member.

        A subset that an earlier family holds too lies within what the two share: it is looked up there.
        """
        starts = np.concatenate(([0], np.cumsum([2 ** len(family) for family in self.families], dtype=np.int64)))
        first = np.arange(starts[-1])
        for k, shared in enumerate(_shared_before(self.families)):
            first[starts[k]] = 0  # the empty set
            for nodes, earlier in shared:
                there = starts[earlier] + _subset_slots(self.families[earlier], nodes)
                first[starts[k] + _subset_slots(self.families[k], nodes)] = first[there]
        is_first = first == np.arange(len(first))
        return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)

    @property
    def slots(self) -> IntArray:
        """For every slot on the flat axis, the position of its gamma in `members`."""
        return self._index[0]

    @property
    def representatives(self) -> IntArray:
        """For every member, the first slot that holds it. Shape (|N_I|,)."""
        return self._index[1]

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The gammas as bit masks over nodes (bit i for node i); the empty set comes first."""
        masks: list[int] = []
        for family in self.families:
            subsets = [0]
            for node in reversed(family):
                subsets += [subset | (1 << node) for subset in subsets]
            masks += subsets
        return tuple(masks[slot] for slot in self.representatives.tolist())

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _size(self) -> int:
        return 1 + sum(int(table.total) for table in self._tables)

    @cached_property
    def odd_overlap(self) -> OddOverlap:
        """How many coefficients one record can flip at most, in closed search or as a bound.

        The L1 sensitivity of the integer Walsh coefficients sum_x (-1)^<gamma, x> under replacing one record is
        twice this number: gamma changes sign iff <gamma, d> is odd, where d is the exclusive or of the two records.
        Sharper than [Zhang16] Corollary 2, which uses |N_I|.
        """
        plan = elimination_plan(table.kinds for table in self._tables)
        if widest_scope(plan) <= MAX_TABLE_BITS:
            factors = [(table.kinds, table.odd_counts()) for table in self._tables]
            return OddOverlap(int(eliminated(factors, plan, np.max)), exact=True)
        bound = sum(2 ** (family.bit_count() - 1) for family in _maximal(map(_mask, self.families)))
        return OddOverlap(min(len(self) - 1, bound), exact=False)

    @cached_property
    def _tables(self) -> "tuple[_OwnSets, ...]":
        """The gammas by the families that lie in no other, each held by the first that has it.

        Nodes that lie in the same of these families are of one kind. Families share all or none of a kind, so that
        it depends only on the kinds that a gamma has nodes of by whom it is held, and on the kinds that d touches how
        many of a family's gammas are odd against it: tables are over kinds, however many nodes a kind has.
        """
        families = _maximal(map(_mask, self.families))
        within: dict[int, int] = {}
        for k, family in enumerate(families):
            for node in _bits(family):
                within[node] = within.get(node, 0) | 1 << k
        numbers = Counter(within[node] for node in sorted(within))
        kinds_of: list[list[int]] = [[] for _ in families]
        for kind, where in enumerate(numbers):
            for k in _bits(where):
                kinds_of[k].append(kind)
        sizes = tuple(numbers.values())
        grouped = tuple(map(tuple, kinds_of))
        return tuple(
            _OwnSets(family, tuple(sizes[kind] for kind in family), tuple(nodes for nodes, _ in shared))
            for family, shared in zip(grouped, _shared_before(grouped), strict=True)
        )


@dataclass(frozen=True)
class _OwnSets:
    """The gammas of a family that no earlier one holds, by the `kinds` of nodes that they have nodes of.

    `sizes` says how many nodes of each kind there are; `shared` are the kinds in common with earlier families.
    """

    kinds: tuple[int, ...]
    sizes: tuple[int, ...]
    shared: tuple[tuple[int, ...], ...]

    @cached_property
    def _is_own(self) -> IntArray:
        """Whether gammas that have nodes of just these kinds are the family's own: (2^kinds,); not the empty set."""
        own = np.ones(2 ** len(self.kinds), dtype=np.int64)
        own[0] = 0
        for kinds in self.shared:
            own[_subset_slots(self.kinds, kinds)] = 0
        return own

    @property
    def total(self) -> int:
        """How many they are."""
        numbers = np.ones(1, dtype=np.int64)
        for size in self.sizes:
            numbers = np.stack((numbers, (2**size - 1) * numbers), axis=-1).ravel()
        return int(self._is_own @ numbers)

    def odd_counts(self) -> IntArray:
        """How many are odd against a d that touches some of the kinds: (2, ..., 2), an axis for each kind.

        The sets of nodes of one kind, but for the empty one, are 2^size - 1; their signs against a d that touches the
        kind add up to -1.
        """
        signs = self._is_own
        for k, size in enumerate(self.sizes):
            without, having = np.moveaxis(signs.reshape(2**k, 2, -1), 1, 0)
            signs = np.stack((without + (2**size - 1) * having, without - having), axis=1)
        return ((signs.flat[0] - signs) // 2).reshape((2,) * len(self.sizes))


def _mask(nodes: Iterable[int]) -> int:
    return sum(1 << node for node in nodes)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _maximal(sets: Iterable[int]) -> list[int]:
    """Return the distinct sets, as bit masks, that lie in no other."""
    maximal: list[int] = []
    for each in sorted(dict.fromkeys(sets), key=int.bit_count, reverse=True):
        if all(each & ~larger for larger in maximal):
            maximal.append(each)
    return maximal


def _shared_before(families: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[tuple[int, ...], int]]]:
    """Yield for every family the largest sets of nodes that it shares with an earlier one, and the place of that."""
    masks = [_mask(family) for family in families]
    for k, family in enumerate(families):
        shared = {masks[k] & masks[earlier]: earlier for earlier in range(k)}
        shared.pop(0, None)
        yield [(tuple(node for node in family if each >> node & 1), shared[each]) for each in _maximal(shared)]


def _subset_slots(family: Sequence[int], nodes: Sequence[int]) -> IntArray:
    """Return the slots of all subsets of some nodes of a family: (2^nodes,)."""
    slots = np.zeros(1, dtype=np.int64)
    for node in nodes:
        slots = np.concatenate((slots, slots + (1 << len(family) - 1 - family.index(node))))
    return slots


def walsh(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return sum_x values[x] (-1)^<gamma, x> over the last `bits` axes of length two, for every gamma."""
    low = min(bits, _LAST_BITS)
    first = _sums_and_differences(values.reshape(-1, 2**bits).copy(), bits - low)
    # Of the last bits the pairs are close together: put first, they are long runs that are added at once.
    turned = np.ascontiguousarray(first.reshape(-1, 2**low).T)
    return np.ascontiguousarray(_sums_and_differences(turned.reshape(1, -1), low).reshape(2**low, -1).T).reshape(
        values.shape
    )


def _sums_and_differences(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Replace pairs (a, b) that differ in one of the first `bits` bits of the last axis by (a + b, a - b), bit by bit.

    `values` (batch, size) is used up.
    """
    spare = np.empty_like(values)
    for k in range(bits):
        pairs, sums = (each.reshape(len(values) << k, 2, values.shape[-1] >> k + 1) for each in (values, spare))
        np.add(pairs[:, 0], pairs[:, 1], out=sums[:, 0])
        np.subtract(pairs[:, 0], pairs[:, 1], out=sums[:, 1])
        values, spare = spare, values
    return values
