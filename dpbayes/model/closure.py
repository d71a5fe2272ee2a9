"""The downward closure N_I of a network's families, and the sensitivity of its Fourier coefficients."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import AnyArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.elimination import eliminated, elimination_plan, widest_scope

MAX_FAMILY = 19
"""The largest family, a node with its parents; it has 2^size coefficients."""

MAX_TABLE_BITS = 20
"""The largest table of the exact search, as a power of two."""

_LAST_BITS = 6


@dataclass(frozen=True)
class OddOverlap:
    """O = max over d of #{gamma in N_I : <gamma, d> odd}: its value, or an upper bound if it is not exact."""

    value: int
    exact: bool


@dataclass(frozen=True)
class Closure:
    """All subsets gamma of all families pi_i + {i}: the Fourier coefficients of a release.

    `families[i]` lists node indices, most significant first. Slot j of family i is the subset given by the bits of j.
    The slots of all families follow each other on one flat axis. For binary nodes, this axis has the length of the
    network's cell axis. [Zhang16] section 3.2, the set N_I.
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
        """The index of every slot's member, and the first slot of every member."""
        first = first_slots(self.families)
        is_first = first == np.arange(len(first))
        return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)

    @property
    def slots(self) -> IntArray:
        """For every slot on the flat axis, the position of its gamma in `members`."""
        return self._index[0]

    @property
    def representatives(self) -> IntArray:
        """The first slot of every member: (|N_I|,)."""
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
        """The largest number of coefficients whose sign one record can change: exact, or an upper bound.

        The L1 sensitivity of the integer Walsh coefficients sum_x (-1)^<gamma, x> under replacing one record is
        twice this number: gamma changes sign iff <gamma, d> is odd, where d is the exclusive or of the two records.
        Sharper than [Zhang16] Corollary 2, which uses |N_I|.
        """
        plan = elimination_plan(table.kinds for table in self._tables)
        if widest_scope(plan) <= MAX_TABLE_BITS:
            factors = [(table.kinds, table.odd_counts()) for table in self._tables]
            return OddOverlap(int(eliminated(factors, plan, np.max)), exact=True)
        bound = sum(2 ** (len(family) - 1) for family in maximal_sets(self.families) if family)
        return OddOverlap(min(len(self) - 1, bound), exact=False)

    @cached_property
    def _tables(self) -> "tuple[_OwnSets, ...]":
        """The gammas by maximal families, which no other family contains; a gamma belongs to its first family.

        Nodes that are in the same maximal families have the same kind. A family contains all nodes of a kind or none.
        Therefore, the family of a gamma depends only on the kinds of its nodes, and the number of a family's gammas
        with odd <gamma, d> depends only on the kinds of the nodes in d. The tables are over kinds, for any number of
        nodes of a kind.
        """
        families = maximal_sets(self.families)
        within: dict[int, list[int]] = {}
        for k, family in enumerate(families):
            for node in family:
                within.setdefault(node, []).append(k)
        numbers = Counter(tuple(within[node]) for node in sorted(within))
        kinds_of: list[list[int]] = [[] for _ in families]
        for kind, where in enumerate(numbers):
            for k in where:
                kinds_of[k].append(kind)
        sizes, grouped = tuple(numbers.values()), tuple(map(tuple, kinds_of))
        first = first_slots(grouped)
        is_first = (first == np.arange(len(first))).astype(np.int64)
        is_first[:1] = 0  # the empty set
        ends = np.cumsum([2 ** len(family) for family in grouped]).tolist()
        return tuple(
            _OwnSets(family, tuple(sizes[kind] for kind in family), is_first[end - 2 ** len(family) : end])
            for family, end in zip(grouped, ends, strict=True)
        )


@dataclass(frozen=True, eq=False)
class _OwnSets:
    """The gammas of a family that no earlier one holds, by the `kinds` of nodes that they have nodes of.

    `sizes` says how many nodes of each kind there are; `is_own` (2^kinds,) whether gammas that have nodes of just these
    kinds are the family's own, which the empty set is not.
    """

    kinds: tuple[int, ...]
    sizes: tuple[int, ...]
    is_own: IntArray

    @property
    def total(self) -> int:
        numbers = np.ones(1, dtype=np.int64)
        for size in self.sizes:
            numbers = np.stack((numbers, (2**size - 1) * numbers), axis=-1).ravel()
        return int(self.is_own @ numbers)

    def odd_counts(self) -> IntArray:
        """How many are odd against a d that touches some of the kinds: (2, ..., 2), an axis for each kind.

        The sets of nodes of one kind, but for the empty one, are 2^size - 1; their signs against a d that touches the
        kind add up to -1.
        """
        signs = self.is_own
        for k, size in enumerate(self.sizes):
            without, having = np.moveaxis(signs.reshape(2**k, 2, -1), 1, 0)
            signs = np.stack((without + (2**size - 1) * having, without - having), axis=1)
        return ((signs.flat[0] - signs) // 2).reshape((2,) * len(self.sizes))


def maximal_sets(families: Iterable[Iterable[int]]) -> list[tuple[int, ...]]:
    """Return the distinct sets of nodes, ascending, that lie in no other; the largest first.

    Whatever holds a set holds its rarest node. A node's family is looked for only among those that hold the node, so
    that the work grows with the arrows, and not with pairs of families.
    """
    sets = sorted(dict.fromkeys(frozenset(family) for family in families), key=len, reverse=True)
    holding: dict[int, list[frozenset[int]]] = {}
    for members in sets:
        for node in members:
            holding.setdefault(node, []).append(members)

    def lies_in_another(members: frozenset[int]) -> bool:
        rarest = min((holding[node] for node in members), key=len, default=sets)
        return any(members < larger for larger in rarest)

    return [tuple(sorted(members)) for members in sets if not lies_in_another(members)]


def first_slots(families: Sequence[tuple[int, ...]]) -> IntArray:
    """Return for every slot of all families, as `Closure` lays them out, the first slot that holds the same set.

    A set is what is left without its last node, and that node: sets of ever more nodes are told apart by these two
    numbers, all families at once. The work grows as that of sorting the slots, (slots,).
    """
    starts = np.concatenate(([0], np.cumsum([2 ** len(family) for family in families]))).astype(np.int64)
    first, last, without, size = (np.zeros(starts[-1], dtype=np.int64) for _ in range(4))
    for width in sorted({len(family) for family in families} - {0}):
        places = [k for k, family in enumerate(families) if len(family) == width]
        slots = starts[places][:, None] + np.arange(2**width)
        nodes = np.array([families[k] for k in places], dtype=np.int64)
        last[slots], without[slots] = _last_nodes(nodes, starts[places])
        size[slots] = np.bitwise_count(np.arange(2**width))
    stride = 1 + last.max(initial=0)
    for nodes_of_set in range(1, 1 + int(size.max(initial=0))):
        (slots,) = np.nonzero(size == nodes_of_set)
        keys = first[without[slots]] * stride + last[slots]
        _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first[slots] = slots[index][inverse]
    return first


def _last_nodes(nodes: IntArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """Return of every set of families' nodes (F, width) the last node, and the slot of what is left: (F, 2^width).

    Both mean nothing for the empty set.
    """
    width = nodes.shape[1]
    sets = np.arange(2**width)
    last = np.full((len(nodes), len(sets)), -1, dtype=np.int64)
    without = np.zeros_like(last)
    for place in range(width):
        bit = 1 << (width - 1 - place)
        is_later = (sets & bit > 0) & (nodes[:, place, None] > last)
        last = np.where(is_later, nodes[:, place, None], last)
        without = np.where(is_later, sets ^ bit, without)
    return np.maximum(last, 0), without + starts[:, None]


def walsh(values: AnyArray, bits: int) -> AnyArray:
    """Return sum_x values[x] (-1)^<gamma, x> over the last `bits` axes of length two, for every gamma."""
    low = min(bits, _LAST_BITS)
    first = _sums_and_differences(values.reshape(-1, 2**bits).copy(), bits - low)
    # Of the last bits the pairs are close together: put first, they are long runs that are added at once.
    turned = np.ascontiguousarray(first.reshape(-1, 2**low).T)
    return np.ascontiguousarray(_sums_and_differences(turned.reshape(1, -1), low).reshape(2**low, -1).T).reshape(
        values.shape
    )


def _sums_and_differences(values: AnyArray, bits: int) -> AnyArray:
    """Replace pairs (a, b) that differ in one of the first `bits` bits of the last axis by (a + b, a - b), bit by bit.

    `values` (batch, size) is used up.
    """
    spare = np.empty_like(values)
    for k in range(bits):
        pairs, sums = (array.reshape(len(values) << k, 2, values.shape[-1] >> k + 1) for array in (values, spare))
        np.add(pairs[:, 0], pairs[:, 1], out=sums[:, 0])
        np.subtract(pairs[:, 0], pairs[:, 1], out=sums[:, 1])
        values, spare = spare, values
    return values
