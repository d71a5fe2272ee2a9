"""A table of n categorical records with public domains, and its counts under a network: all that a mechanism gets."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.libraries import pd
from dpbayes.base.text import many
from dpbayes.base.types import AnyArray, Codes, IntArray
from dpbayes.base.validation import InputError, brief, distinct_names, type_checked
from dpbayes.model.network import MAX_STATES, Network

Words = NDArray[np.uint64]

BLOCK = 1 << 19
"""Records per pass: the bit planes of a family (64 kB each) stay in the processor's cache."""

MOST_PLANES = 512
"""Families with more cells than this are counted by index instead: one plane per cell would cost more."""


@type_checked
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """n records over named columns with public domains, as small-integer codes.

    The codes are read-only, use one byte each, and are contiguous for each column. Neighbours are tables
    of the same n that differ in one record (`replace`).

    Args:
        names: The columns.
        states: Every column's *public* domain.
        codes: The records (n, d), as indices into the domains.

    Raises:
        InputError: Names are repeated, a domain has too many states, or a code is outside its domain.

    Example:
        >>> table = dp.Dataset(("rain",), (("no", "yes"),), np.array([[0], [1], [1]]))
        >>> table.n, table.column("rain").tolist()
        (3, [0, 1, 1])
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: Codes

    def __post_init__(self) -> None:
        names = distinct_names("column", self.names)
        codes = np.asfortranarray(self.codes)
        if codes.dtype.kind not in "biu" and codes.size:
            raise InputError("The codes of a table must be whole numbers: the places of the states in their columns.")
        if codes.ndim != 2 or codes.shape[1] != len(names) or len(self.states) != len(names):
            raise InputError("A table needs one column of codes and one domain for every name.")
        for j, (name, states) in enumerate(zip(names, self.states, strict=True)):
            if not 1 <= len(states) <= MAX_STATES:
                raise InputError(f"Column {brief(name)} has {len(states):,} states; it needs 1 to {MAX_STATES}.")
            if len(codes) and (codes[:, j].min() < 0 or codes[:, j].max() >= len(states)):
                raise InputError(f"Column {brief(name)} has a code outside its {len(states)} declared states.")
        codes = codes.astype(np.uint8, order="F", copy=codes is self.codes)
        codes.setflags(write=False)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", tuple(tuple(s) for s in self.states))
        object.__setattr__(self, "codes", codes)

    def __repr__(self) -> str:
        columns = (f"{name}: {', '.join(states)}" for name, states in zip(self.names, self.states, strict=True))
        return titled_lines(f"Table of {self.n:,} records", columns, len(self.names))

    def _repr_html_(self) -> str:
        columns = ((name, ", ".join(states)) for name, states in zip(self.names, self.states, strict=True))
        return html_table(f"Table of {self.n:,} records", ("column", "values"), list(columns), len(self.names))

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, key: object) -> NoReturn:
        raise InputError(f"A {type(self).__name__} is no data frame: write .to_frame()[{brief(key)}].")

    @property
    def n(self) -> int:
        """The number of records; public, since neighbours share it."""
        return int(self.codes.shape[0])

    @cached_property
    def position(self) -> dict[str, int]:
        """The index of every column by its name."""
        return {name: j for j, name in enumerate(self.names)}

    def column(self, name: str) -> Codes:
        """Return one column's codes (n,). Errors: InputError naming an unknown column."""
        if not isinstance(name, str) or name not in self.position:
            raise InputError(f"The table has no column {brief(name)}; it has {brief(', '.join(self.names), 200)}.")
        return self.codes[:, self.position[name]]

    def domain(self, name: str) -> tuple[str, ...]:
        """Return one column's public states."""
        self.column(name)
        return self.states[self.position[name]]

    @type_checked
    def select(self, names: Iterable[str]) -> "Dataset":
        """Return the table with these columns only, in this order."""
        names = tuple(names)
        columns = [self.position[name] for name in names if self.column(name) is not None]
        return Dataset(names, tuple(self.states[j] for j in columns), self.codes[:, columns])

    @type_checked
    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a data frame of states."""
        columns = zip(self.names, self.states, self.codes.T, strict=True)
        return pd.DataFrame({name: np.array(states, dtype=object)[codes] for name, states, codes in columns})

    def take(self, records: Sequence[int] | NDArray[np.integer] | slice) -> Self:
        """Return the table with these records only. Errors: InputError for a record that the table does not have."""
        try:
            return replace(self, codes=self.codes[records])
        except (IndexError, InputError):
            raise InputError(f"records must be indices below {self.n:,}, not {brief(records)}.") from None

    @type_checked
    def replace(self, k: int, record: Sequence[int]) -> "Dataset":
        """Return the neighbour in which record k has the codes `record` instead."""
        if k not in range(self.n):
            raise InputError(f"There is no record {k}; the table has {self.n}.")
        if len(record) != len(self.names):
            have = f"a code for each of the {len(self.names)} columns"
            raise InputError(f"record must have {have}, not {brief(record)}: write, for example, table.codes[1].")
        # Checked before it is stored: a byte would wrap a code that is out of range into it.
        checked = Dataset(self.names, self.states, np.asarray(record)[None])
        codes = self.codes.copy(order="F")
        codes[k] = checked.codes[0]
        return Dataset(self.names, self.states, codes)


# Counts


@type_checked
@dataclass(frozen=True, eq=False)
class Counts:
    """The number of records in every CPT cell, and n. A mechanism uses no other data.

    Args:
        network: The network whose cells are counted.
        values: The counts (..., K), whole numbers.
        n: The public number of records.

    Raises:
        InputError: `values` does not have one whole number for each of the network's K cells.

    Example:
        >>> dp.Counts(dp.chain(2), np.array([7, 3, 6, 1, 1, 2]), 10).n
        10
    """

    network: Network
    values: IntArray
    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values))
        if self.values.shape[-1:] != (self.network.cell_count,):
            raise InputError(
                f"Counts need one value for each of the network's {self.network.cell_count} cells; "
                f"got an array of shape {self.values.shape}."
            )
        if self.values.dtype.kind not in "iu" or (self.values.size and self.values.min() < 0):
            raise InputError("Counts must be whole numbers from 0 on. Use dp.count for those of a table.")

    def __repr__(self) -> str:
        return f"<{self._title}>"

    def __str__(self) -> str:
        return titled_lines(self._title, (f"{label}: {counts}" for label, counts in self._rows()), self._shown)

    def _repr_html_(self) -> str:
        return html_table(self._title, ("row", "counts"), self._rows(), self._shown)

    @property
    def _shown(self) -> int:
        """How many rows can be shown: of a batch none."""
        return self.network.row_count if self.values.ndim == 1 else 0

    @property
    def _title(self) -> str:
        batch = f", {self.values.shape[:-1]} of them" if self.values.ndim > 1 else ""
        return f"Counts of {many(self.n, 'record')} in {many(self.network.cell_count, 'cell')}{batch}"

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield the label and the counts of every row."""
        for row in range(self._shown):
            yield self.network.row_label(row), ", ".join(map(str, self.values[self.network.cells_of_row(row)].tolist()))

    @cached_property
    def digest(self) -> str:
        """A text that identifies these counts, as a key for cached results."""
        return hashlib.sha256(np.ascontiguousarray(self.values).tobytes() + str(self.n).encode()).hexdigest()


@runtime_checkable
class Source(Protocol):
    """A table of any size that is counted where it lies: its columns, their public domains, and the scan."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    @property
    def states(self) -> tuple[tuple[str, ...], ...]:
        """Every column's public domain."""

    def counts(self, network: Network) -> Counts:
        """Count the records of every cell of a network over these columns."""


def count(network: Network, data: Dataset | Source) -> Counts:
    """Count the records of every cell in one pass over the table.

    Args:
        network: The network whose cells are counted.
        data: The table: a `Dataset`, or a `DeclaredTable` that is counted in place.

    Returns:
        The counts (K,) and the number of records.

    Raises:
        InputError: A node is not a column of the table, or their states differ, or the scan of a source fails.

    Example:
        >>> network = dp.network("rain -> grass")
        >>> table = dp.Dataset(network.names, network.states, np.array([[0, 0], [1, 1], [1, 0]]))
        >>> dp.count(network, table).values
        array([1, 2, 1, 0, 1, 1])
    """
    require_columns(network, data)
    if not isinstance(data, Dataset):
        return data.counts(network)
    columns, sums = dict(zip(data.names, data.codes.T, strict=True)), np.zeros(network.cell_count, dtype=np.int64)
    for start in range(0, data.n, BLOCK):
        sums += _block_sums(network, [columns[name][start : start + BLOCK] for name in network.names])
    return Counts(network, _assembled(network, sums), data.n)


def require_columns(network: Network, data: Dataset | Source) -> None:
    """Errors: InputError when a node is not a column of the table or their states differ."""
    domains = dict(zip(data.names, data.states, strict=True))
    for name, states in zip(network.names, network.states, strict=True):
        if name not in domains:
            raise InputError(f"The table has no column {brief(name)}; it has {brief(', '.join(data.names), 200)}.")
        if domains[name] != states:
            raise InputError(
                f"The node {brief(name)} has other states than the table's column of that name. Make the network with "
                "those of the table: dp.network(arrows, table)."
            )


def _block_sums(network: Network, columns: Sequence[Codes]) -> IntArray:
    """Return numbers of records (K,) that add up over blocks, and of which `_assembled` makes the counts.

    `columns` holds every node's codes (n,), in network order; at most BLOCK of them. In the cell of a family where
    nodes are in state 0 stands the number of records in which the others are as the cell says: a plane less to pack for
    each node, and half as many to combine for binary ones.
    """
    n = len(columns[0]) if columns else 0
    planes = [_bit_planes(column, card) for column, card in zip(columns, network.cards.tolist(), strict=True)]
    sums = np.empty(network.cell_count, dtype=np.int64)
    sizes = np.diff(network.cell_offsets)
    room = np.empty((max(sizes[sizes <= MOST_PLANES], default=0), -(-n // 64)), dtype=np.uint64)
    room[:1] = ~np.uint64(0)
    for node, cells in enumerate(np.split(sums, network.cell_offsets[1:-1])):
        if len(cells) <= MOST_PLANES:
            cells[0] = n
            cells[1:] = _count_planes([planes[j] for j in network.families[node]], room[: len(cells)])
        else:
            cells[:] = np.bincount(places(network, node, columns), minlength=len(cells))
    return sums


def _assembled(network: Network, sums: IntArray) -> IntArray:
    """Return the counts (K,) of every cell, from the added sums of all blocks."""
    values, cards = sums.copy(), network.cards.tolist()
    for family, cells in zip(network.families, np.split(values, network.cell_offsets[1:-1]), strict=True):
        if len(cells) > MOST_PLANES:
            continue
        below = 1  # cells in which nodes further to the right differ
        for node in reversed(family):
            states = cells.reshape(-1, cards[node], below)
            # In the first state are all that are in no other.
            states[:, 0] -= states[:, 1] if cards[node] == 2 else states[:, 1:].sum(axis=1)
            below *= cards[node]
    return values


def _bit_planes(column: Codes, card: int) -> Words:
    """Pack one bit per record and state but the first: (card - 1, words)."""
    n = len(column)
    bits = np.zeros((card - 1, -(-n // 64) * 8), dtype=np.uint8)
    if card == 2:  # a binary column is its own plane
        bits[0, : -(-n // 8)] = np.packbits(column)
    else:
        states = np.arange(1, card, dtype=np.uint8)[:, None]
        bits[:, : -(-n // 8)] = np.packbits(column == states, axis=-1)
    return bits.view(np.uint64)


def _count_planes(family: Sequence[Words], room: Words) -> IntArray:
    """Count the records in every combination of states but that of first ones only, first plane set most significant.

    `room` has a row for each combination. Its first is all ones: no bit is required of a node where its state is any.
    """
    rows = 1
    for planes in reversed(family):
        more = len(planes) * rows
        above = room[rows : rows + more].reshape(len(planes), rows, room.shape[1])
        np.bitwise_and(room[:rows], planes[:, None], out=above)
        rows += more
    # A block has at most 2^19 records, so 32 bits hold every sum.
    counts: IntArray = np.bitwise_count(room[1:]).sum(axis=-1, dtype=np.uint32).astype(np.int64)
    return counts


def places(network: Network, node: int, codes: Sequence[AnyArray] | AnyArray) -> IntArray:
    """Return the cell within a node's table of every record (...), from the codes (...) of each node."""
    index = np.zeros(codes[0].shape, dtype=np.int64)
    for member in network.families[node]:
        index *= int(network.cards[member])
        index += codes[member]
    return index
