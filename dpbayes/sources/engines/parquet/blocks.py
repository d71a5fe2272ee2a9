"""Codes of records, gathered in a block and counted when it is full."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dpbayes.base.types import BoolArray, Codes, IntArray
from dpbayes.model.counts import BLOCK, block_sums, values_of
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.engine import Tally
from dpbayes.sources.engines.parquet.codes import Coder, coder

BLOCK_BYTES = 1 << 25
"""Bytes of the codes that are gathered before they are counted."""


class CodeBlock:
    """Codes of records that are counted once there is a block of them, and what was counted so far.

    The columns of all nodes come first; the others decide only whether a record is counted.
    """

    def __init__(self, network: Network, columns: Sequence[Column]) -> None:
        self.network, self.columns = network, tuple(columns)
        self.coders: list[Coder] = []
        width = len(network.names)
        self.block: Codes = np.empty((width, max(64, min(BLOCK, BLOCK_BYTES // width))), dtype=np.uint8)
        self.unused: Codes = np.empty(self.block.shape[1], dtype=np.uint8)
        self.filled = self.n = self.left_out = 0
        self.sums: IntArray = np.zeros(network.cell_count, dtype=np.int64)
        self.outside: IntArray = np.zeros(len(columns), dtype=np.int64)

    def add(self, arrays: Sequence[pa.Array]) -> None:
        """Take a batch of records: an array of each column."""
        if not self.coders:
            self.coders = [coder(column, array.type) for column, array in zip(self.columns, arrays, strict=True)]
        start, records = 0, len(arrays[0])
        while start < records:
            end = min(records, start + self.block.shape[1] - self.filled)
            self._fill([array.slice(start, end - start) for array in arrays])
            start = end

    def tally(self) -> Tally:
        """Return what was counted, and count what is left of it."""
        self._count()
        names = [column.name for column in self.columns]
        outside = dict(zip(names, self.outside.tolist(), strict=True))
        return Tally(values_of(self.network, self.sums), self.n, self.left_out, outside)

    def _fill(self, arrays: Sequence[pa.Array]) -> None:
        """Write the codes of records that the block has room for; those of records that do not count are lost."""
        records = len(arrays[0])
        nodes = self.block[:, self.filled : self.filled + records]
        rows = [*nodes, *[self.unused[:records]] * (len(arrays) - len(nodes))]
        masks = [code(array, row) for code, array, row in zip(self.coders, arrays, rows, strict=True)]
        left_out = _any([mask.left_out for mask in masks])
        if left_out is not None:
            self.left_out += int(left_out.sum())
        for place, mask in enumerate(masks):
            if mask.outside is not None:
                self.outside[place] += int((mask.outside if left_out is None else mask.outside & ~left_out).sum())
        without = _any([left_out, *(mask.outside for mask in masks)])
        if without is not None:
            keep = ~without
            records = int(keep.sum())
            for row in nodes:
                row[:records] = row[keep]
        self.n += records
        self.filled += records
        if self.filled == self.block.shape[1]:
            self._count()

    def _count(self) -> None:
        self.sums += block_sums(self.network, list(self.block[:, : self.filled]))
        self.filled = 0


def _any(masks: Sequence[BoolArray | None]) -> BoolArray | None:
    told = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(told) if told else None
