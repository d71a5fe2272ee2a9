"""The sufficient statistics of a table under a network, counted on packed bits."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.types import Codes, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network

Words = NDArray[np.uint64]

BLOCK = 1 << 18
"""Records per pass: the bit planes of a block (32 kB each) stay in the processor's cache."""

MOST_PLANES = 512
"""Families with more cells than this are counted by index instead: one plane per cell would cost more."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How many of n records fall in every CPT cell: `values` (..., K). All that a mechanism may see of the data."""

    network: Network
    values: IntArray
    n: int

    def __post_init__(self) -> None:
        if self.values.shape[-1:] != (self.network.cell_count,):
            raise InputError(
                f"Counts need one value for each of the network's {self.network.cell_count} cells; "
                f"got an array of shape {self.values.shape}."
            )

    @cached_property
    def digest(self) -> str:
        """A text that tells counts apart, so that what was computed of them can be found again."""
        return hashlib.sha256(np.ascontiguousarray(self.values).tobytes() + str(self.n).encode()).hexdigest()


def count(network: Network, data: Dataset) -> Counts:
    """Count the records of every cell in one pass over the table.

    Errors: InputError when a node is not a column of the table or their states differ.
    """
    columns = [_matching_column(network, data, i) for i in range(len(network.names))]
    values = np.zeros(network.cell_count, dtype=np.int64)
    for start in range(0, data.n, BLOCK):
        values += _count_block(network, [column[start : start + BLOCK] for column in columns])
    return Counts(network, values, data.n)


def _matching_column(network: Network, data: Dataset, node: int) -> Codes:
    name = network.names[node]
    column = data.column(name)
    if data.domain(name) != network.states[node]:
        raise InputError(f"The node {brief(name)} and the table's column of that name have different states.")
    return column


def _count_block(network: Network, columns: Sequence[Codes]) -> IntArray:
    n = len(columns[0]) if columns else 0
    planes = [_bit_planes(column, int(card)) for column, card in zip(columns, network.cards, strict=True)]
    values = np.empty(network.cell_count, dtype=np.int64)
    for node, family in enumerate(network.families):
        cells = slice(network.cell_offsets[node], network.cell_offsets[node + 1])
        size = cells.stop - cells.start
        if size <= MOST_PLANES:
            values[cells] = _count_planes([planes[j] for j in family])
        else:
            cards = network.cards[list(family)]
            values[cells] = np.bincount(_cell_index([columns[j] for j in family], cards, n), minlength=size)
    return values


def _bit_planes(column: Codes, card: int) -> Words:
    """Pack one bit per record and state: (card, words)."""
    n = len(column)
    bits = np.zeros((card, -(-n // 64) * 8), dtype=np.uint8)
    if card == 2:  # a binary column is its own second plane
        bits[1, : -(-n // 8)] = np.packbits(column)
        bits[0, : -(-n // 8)] = np.packbits(column ^ 1)
    else:
        states = np.arange(card, dtype=np.uint8)[:, None]
        bits[:, : -(-n // 8)] = np.packbits(column == states, axis=-1)
    return bits.view(np.uint64)


def _count_planes(planes: Sequence[Words]) -> IntArray:
    """Count the records in every combination of states, first plane set most significant."""
    both = planes[0]
    for plane in planes[1:]:
        both = (both[:, None] & plane).reshape(-1, plane.shape[1])
    # A block has at most 2^18 records, so 32 bits hold every sum.
    counts: IntArray = np.bitwise_count(both).sum(axis=-1, dtype=np.uint32).astype(np.int64)
    return counts


def _cell_index(columns: Sequence[Codes], cards: IntArray, n: int) -> IntArray:
    index = np.zeros(n, dtype=np.int64)
    for column, card in zip(columns, cards, strict=True):
        index *= card
        index += column
    return index
