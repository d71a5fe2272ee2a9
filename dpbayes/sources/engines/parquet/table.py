"""Parquet files of any size, counted over record batches by `dpbayes.model.counts`; memory does not grow with n."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpbayes.base.libraries import pa, pd
from dpbayes.base.steps import Work
from dpbayes.base.types import BoolArray, Codes, FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.counts import BLOCK, assembled_counts, block_sums
from dpbayes.model.network import Network
from dpbayes.model.regression import GramMatrix, NumericColumn
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.engine import Field, Tally
from dpbayes.sources.engines.gram import Products, UnitMapping, no_numbers, require_mappings, scaled_gram
from dpbayes.sources.engines.parquet.codes import Coder, as_dictionary, coder
from dpbayes.sources.engines.parquet.files import (
    CHANGED,
    ahead,
    batches_of,
    is_changed,
    kind_text,
    opened,
    parts_of,
    plain_column,
    plain_columns,
    row_count,
)
from dpbayes.sources.tables import texts_of

MOST_VALUES = 1_000_000
"""The largest number of distinct values of a column in a query of its values."""

SUMMED = 1 << 13
"""Records in one sum of products, few enough for the processor's cache."""

BLOCK_BYTES = 1 << 25
"""Bytes of the codes in one block."""


class CodeBlock:
    """A block of codes, which is counted when it is full, and the counts so far.

    The columns of all nodes come first. The other columns determine only whether a record is counted.
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

    def add(self, arrays: "Sequence[pa.Array]") -> None:
        """Add a batch of records, with one array for each column."""
        if not self.coders:
            self.coders = [coder(column, array.type) for column, array in zip(self.columns, arrays, strict=True)]
        start, records = 0, len(arrays[0])
        while start < records:
            end = min(records, start + self.block.shape[1] - self.filled)
            self._fill([array.slice(start, end - start) for array in arrays])
            start = end

    def tally(self) -> Tally:
        """Count the rest of the block, and return the result."""
        self._count()
        names = [column.name for column in self.columns]
        outside = dict(zip(names, self.outside.tolist(), strict=True))
        return Tally(assembled_counts(self.network, self.sums), self.n, self.left_out, outside)

    def _fill(self, arrays: "Sequence[pa.Array]") -> None:
        """Write the codes of as many records as fit into the block; records that do not count are overwritten."""
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
    present = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(present) if present else None


@dataclass(frozen=True)
class ParquetFiles:
    """A Parquet file, or all files of a folder and its subfolders that end in .parquet or .pq.

    As in other programs, names that begin with a dot or an underscore are ignored.
    """

    path: Path

    @property
    def title(self) -> str:
        return self.path.name or str(self.path)

    def fields(self) -> tuple[Field, ...]:
        """Return the columns of the first file. Errors: InputError for an unreadable file."""
        with opened(parts_of(self.path)[0], ()) as file:
            return tuple(Field(field.name, str(field.type), is_number(field.type)) for field in file.schema_arrow)

    def tally(self, network: Network, columns: Sequence[Column]) -> Work[Tally]:
        """Count one batch in each step, while the next is decoded; only the columns in use are read.

        Errors: InputError, also if a file changes during the count.
        """
        by_name = {column.name: column for column in columns}
        nodes = [by_name[name] for name in network.names]
        others = [column for column in columns if column.name not in network.position]
        parts = parts_of(self.path)
        with opened(parts[0], ()) as file:
            schema = file.schema_arrow
        for name in by_name:
            plain_column(schema, name)
        block = CodeBlock(network, [*nodes, *others])
        names = [column.name for column in block.columns]
        # The thread only decodes, which needs no Python. If it also looked up codes, it and the counting would wait for
        # each other in every step.
        with closing(ahead(batches_of(self.path, parts, names))) as batches:
            for share, batch in batches:
                block.add([batch.column(batch.schema.get_field_index(name)) for name in names])
                yield share
        if is_changed(self.path, parts):
            raise InputError(CHANGED)
        return block.tally()

    def gram(self, columns: Sequence[NumericColumn]) -> Work[GramMatrix]:
        """Sum the products of one batch in each step, while the next is decoded. Errors: those of `tally`."""
        mappings, parts = require_mappings(columns), parts_of(self.path)
        with opened(parts[0], ()) as file:
            schema = file.schema_arrow
        for mapping in mappings:
            require_numbers(plain_column(schema, mapping.column.name))
        sums = Products.nothing(len(mappings))
        with closing(ahead(batches_of(self.path, parts, [mapping.column.name for mapping in mappings]))) as batches:
            for share, batch in batches:
                sums = added(sums, batch, mappings)
                yield share
        if is_changed(self.path, parts):
            raise InputError(CHANGED)
        return scaled_gram(columns, sums)

    def values(self, name: str, most: int) -> "Work[pd.Series]":
        """Return up to `most` distinct values of a column as text with their records, the most frequent first.

        Errors: InputError for a column with more than MOST_VALUES distinct values.
        """
        parts, numbers = parts_of(self.path), Counter[str]()
        with closing(batches_of(self.path, parts, [name])) as batches:
            for share, batch in batches:
                places, entries = as_dictionary(name, batch.column(batch.schema.get_field_index(name)))
                records = np.bincount(places, minlength=len(entries) + 1).tolist()
                for text, times in zip([*texts_of(name, entries), ""], records, strict=True):
                    if times:
                        numbers[text] += times
                if len(numbers) > MOST_VALUES:
                    raise InputError(
                        f"Column {brief(name)} has more than {MOST_VALUES:,} different values. Declare it with cut "
                        "points."
                    )
                yield share
        ordered = sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
        texts = pd.Index([text for text, _ in ordered], dtype="str")
        return pd.Series([times for _, times in ordered], index=texts, name=name, dtype=np.int64)

    def head(self, most: int) -> "Work[pd.DataFrame]":
        """Return a few records as text, without nested columns, for the curator only."""
        parts = parts_of(self.path)
        names = plain_columns(parts)
        texts: dict[str, list[str]] = {name: [] for name in names}
        rows = 0
        with closing(batches_of(self.path, parts, names, most_rows=max(1, most))) as batches:
            for _, batch in batches:
                _add_texts(texts, batch.slice(0, most - rows))
                rows += len(batch)
                if rows >= most:
                    break
                yield rows / most
        return pd.DataFrame(texts, dtype="str")

    def sample(self, most: int, rng: np.random.Generator) -> "Work[pd.DataFrame]":
        """Sample records without replacement, as text, one batch in each step, for the curator only.

        The files state their numbers of records, so the indices are sampled first. Errors: those of `tally`.
        """
        parts = parts_of(self.path)
        names, total = plain_columns(parts), sum(row_count(part) for part in parts)
        places = np.sort(rng.choice(total, min(most, total), replace=False))
        texts: dict[str, list[str]] = {name: [] for name in names}
        start = 0
        with closing(ahead(batches_of(self.path, parts, names))) as batches:
            for share, batch in batches:
                inside = places[slice(*np.searchsorted(places, [start, start + len(batch)]))] - start
                if len(inside):
                    _add_texts(texts, batch.take(pa.array(inside)))
                start += len(batch)
                yield share
        if is_changed(self.path, parts):
            raise InputError(CHANGED)
        return pd.DataFrame(texts, dtype="str")


def _add_texts(texts: dict[str, list[str]], batch: "pa.RecordBatch") -> None:
    for name, column_texts in texts.items():
        column_texts += texts_of(name, batch.column(batch.schema.get_field_index(name))).tolist()


def is_number(kind: "pa.DataType") -> bool:
    """Return whether values of a type are numbers."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain))


def require_numbers(field: "pa.Field") -> None:
    """Require a numeric column. Errors: InputError."""
    if not (is_number(field.type) or pa.types.is_null(field.type)):
        raise no_numbers(field.name, kind_text(field.type))


def added(sums: Products, batch: "pa.RecordBatch", mappings: Sequence[UnitMapping]) -> Products:
    """Return the sums including those of a batch, computed for SUMMED records at a time."""
    for start in range(0, len(batch), SUMMED):
        sums += _products(batch.slice(start, SUMMED), mappings)
    return sums


def _products(batch: "pa.RecordBatch", mappings: Sequence[UnitMapping]) -> Products:
    joint, tells = np.ones((len(mappings) + 1, len(batch))), np.empty((3, len(mappings)), dtype=np.int64)
    for k, mapping in enumerate(mappings):
        values = batch.column(batch.schema.get_field_index(mapping.column.name))
        joint[k], tells[:, k] = mapping.mapped(*_doubles(values))
    return Products(joint @ joint.T, tells)


def _doubles(values: "pa.Array") -> tuple[FloatArray, BoolArray | None]:
    """Return numbers as doubles (n,), NaN if missing, and the mask of missing values; None if there are none."""
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    missing = plain.is_null().to_numpy(zero_copy_only=False) if plain.null_count else None
    return plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), missing
