"""Parquet files of any size, counted by our own kernel over record batches: memory does not grow with the table."""

import os
from collections import Counter, deque
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.base.steps import Work
from dpbayes.base.types import BoolArray, Codes, FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.counts import BLOCK, block_sums, values_of
from dpbayes.model.network import Network
from dpbayes.model.regression import GramMatrix, NumericColumn
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.arrow_codes import Coder, as_dictionary, coder
from dpbayes.sources.engines.engine import Field, Tally
from dpbayes.sources.engines.gram import Products, UnitMapping, no_numbers, require_mappings, scaled_gram
from dpbayes.sources.tables import UNREADABLE, texts_of

Item = TypeVar("Item")

MOST_ROWS, LEAST_ROWS = 1 << 16, 1 << 10
"""Records of a batch: at most, so that a column of it stays in the processor's cache; and, unless the file ends, at
least."""

AHEAD = 4
"""Batches that are decoded while one is counted: decoding goes on while a whole block is."""

BATCH_BYTES = 1 << 25
"""Bytes of a batch that its number of records is chosen for; AHEAD and one are in memory at a time."""

BLOCK_BYTES = 1 << 25
"""Bytes of the codes that are gathered before they are counted."""

BUFFER_BYTES = 1 << 26
"""Bytes that are read ahead of a file, over all columns."""

MOST_VALUES = 1_000_000
"""Different values of a column that are told apart."""

SUMMED = 1 << 13
"""Records whose products are summed up at a time, so that their numbers stay in the processor's cache."""

CHANGED = "The table changed while it was counted; count it again."


@dataclass(frozen=True)
class ParquetFiles:
    """A Parquet file, or all of a folder and the folders in it: those ending in .parquet or .pq.

    Names that begin with a dot or an underscore are passed over, as other programs do.
    """

    path: Path

    @property
    def title(self) -> str:
        """The name of the file or folder."""
        return self.path.name or str(self.path)

    def fields(self) -> tuple[Field, ...]:
        """Return the columns, of the first file. Errors: InputError for what cannot be read."""
        with _opened(_parts(self.path)[0], ()) as file:
            return tuple(Field(each.name, str(each.type), _is_number(each.type)) for each in file.schema_arrow)

    def tally(self, network: Network, columns: Sequence[Column]) -> Work[Tally]:
        """Count a batch a step, while the next is decoded. Errors: InputError, also for a file that changes meanwhile.

        Only the columns in use are read.
        """
        by_name = {column.name: column for column in columns}
        nodes = [by_name[name] for name in network.names]
        others = [column for column in columns if column.name not in network.position]
        parts = _parts(self.path)
        with _opened(parts[0], ()) as file:
            schema = file.schema_arrow
        for name in by_name:
            _field(schema, name)
        gathered = _Gathered(network, [*nodes, *others])
        names = [column.name for column in gathered.columns]
        # The thread only decodes, which needs no Python: were it to look codes up, it and the counting would wait for
        # each other at every step.
        with closing(_ahead(_batches(self.path, parts, names))) as batches:
            for share, batch in batches:
                gathered.add([batch.column(batch.schema.get_field_index(name)) for name in names])
                yield share
        if _is_changed(self.path, parts):
            raise InputError(CHANGED)
        return gathered.tally()

    def gram(self, columns: Sequence[NumericColumn]) -> Work[GramMatrix]:
        """Sum up products, a batch a step, while the next is decoded. Errors: InputError, as of `tally`."""
        mappings, parts = require_mappings(columns), _parts(self.path)
        with _opened(parts[0], ()) as file:
            schema = file.schema_arrow
        for mapping in mappings:
            _require_numbers(_field(schema, mapping.column.name))
        sums = Products.nothing(len(mappings))
        with closing(_ahead(_batches(self.path, parts, [mapping.column.name for mapping in mappings]))) as batches:
            for share, batch in batches:
                for start in range(0, len(batch), SUMMED):
                    sums += _products(batch.slice(start, SUMMED), mappings)
                yield share
        if _is_changed(self.path, parts):
            raise InputError(CHANGED)
        return scaled_gram(columns, sums)

    def values(self, name: str, most: int) -> Work[pd.Series]:
        """Look up up to `most` different values of a column as text with their records, the most frequent first.

        Errors: InputError for more than MOST_VALUES of them.
        """
        parts, numbers = _parts(self.path), Counter[str]()
        with closing(_batches(self.path, parts, [name])) as batches:
            for share, batch in batches:
                places, entries = as_dictionary(name, batch.column(batch.schema.get_field_index(name)))
                records = np.bincount(places, minlength=len(entries) + 1).tolist()
                for text, times in zip([*texts_of(name, entries), ""], records, strict=True):
                    if times:
                        numbers[text] += times
                if len(numbers) > MOST_VALUES:
                    raise InputError(
                        f"Column {brief(name)} has more than {MOST_VALUES:,} different values; declare it by cut "
                        "points."
                    )
                yield share
        ordered = sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
        texts = pd.Index([text for text, _ in ordered], dtype="str")
        return pd.Series([times for _, times in ordered], index=texts, name=name, dtype=np.int64)

    def head(self, most: int) -> Work[pd.DataFrame]:
        """Look up a few records as text, in the columns of one value per record; for the curator alone."""
        parts = _parts(self.path)
        names = _shown(parts)
        texts: dict[str, list[str]] = {name: [] for name in names}
        rows = 0
        with closing(_batches(self.path, parts, names, most_rows=max(1, most))) as batches:
            for _, batch in batches:
                _add_texts(texts, batch.slice(0, most - rows))
                rows += len(batch)
                if rows >= most:
                    break
                yield rows / most
        return pd.DataFrame(texts, dtype="str")

    def sample(self, most: int, rng: np.random.Generator) -> Work[pd.DataFrame]:
        """Draw records at random without replacement, as text, a batch a step; for the curator alone.

        The files say how many records they have, so places are drawn first. Errors: InputError, as of `tally`.
        """
        parts = _parts(self.path)
        names, total = _shown(parts), sum(_records(part) for part in parts)
        places = np.sort(rng.choice(total, min(most, total), replace=False))
        texts: dict[str, list[str]] = {name: [] for name in names}
        start = 0
        with closing(_ahead(_batches(self.path, parts, names))) as batches:
            for share, batch in batches:
                inside = places[slice(*np.searchsorted(places, [start, start + len(batch)]))] - start
                if len(inside):
                    _add_texts(texts, batch.take(pa.array(inside)))
                start += len(batch)
                yield share
        if _is_changed(self.path, parts):
            raise InputError(CHANGED)
        return pd.DataFrame(texts, dtype="str")


# Counting


class _Gathered:
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


# Sums of products


def _is_number(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain))


def _require_numbers(field: pa.Field) -> None:
    if not (_is_number(field.type) or pa.types.is_null(field.type)):
        raise no_numbers(field.name, _said(field.type))


def _products(batch: pa.RecordBatch, mappings: Sequence[UnitMapping]) -> Products:
    joint, tells = np.ones((len(mappings) + 1, len(batch))), np.empty((3, len(mappings)), dtype=np.int64)
    for k, mapping in enumerate(mappings):
        values = batch.column(batch.schema.get_field_index(mapping.column.name))
        joint[k], tells[:, k] = mapping.mapped(*_doubles(values))
    return Products(joint @ joint.T, tells)


def _doubles(values: pa.Array) -> tuple[FloatArray, BoolArray | None]:
    """Return numbers as doubles (n,), NaN where there is none, and where that is; None where it is nowhere."""
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    missing = plain.is_null().to_numpy(zero_copy_only=False) if plain.null_count else None
    return plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), missing


# Reading


@dataclass(frozen=True)
class _Part:
    """A file as it was when reading began."""

    path: Path
    size: int
    changed: int


def _parts(path: Path) -> tuple[_Part, ...]:
    """Return the files in order. Errors: InputError where there is none."""
    try:
        if not path.is_dir():
            return (_part(path),)
        inside = sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        parts = tuple(_part(file) for file in inside if _is_data(file.relative_to(path)))
    except FileNotFoundError:
        raise InputError(f"There is no file or folder {brief(path.name or path)}.") from None
    except OSError as error:
        raise InputError(f"{brief(path.name or path)} cannot be read ({brief(error.strerror, 80)}).") from None
    if not parts:
        raise InputError(f"The folder {brief(path.name or path)} has no Parquet file in it.")
    return parts


def _part(path: Path) -> _Part:
    status = path.stat()
    return _Part(path, status.st_size, status.st_mtime_ns)


def _is_data(path: Path) -> bool:
    hidden = any(name.startswith((".", "_")) for name in path.parts)
    return not hidden and path.suffix.lower() in (".parquet", ".pq")


def _opened(part: _Part, names: Sequence[str]) -> arrow_parquet.ParquetFile:
    """Open a file to read these columns. Errors: InputError for one that is not Parquet."""
    buffer = max(1 << 16, BUFFER_BYTES // max(1, len(names)))
    try:
        metadata = arrow_parquet.read_metadata(part.path)
        leaves = {metadata.schema.column(k).path for k in range(metadata.num_columns)} if names else set()
        return arrow_parquet.ParquetFile(
            part.path,
            metadata=metadata,
            read_dictionary=[name for name in names if name in leaves],
            buffer_size=buffer,
        )
    except UNREADABLE as error:
        raise _unreadable(part, error) from None


def _unreadable(part: _Part, error: Exception) -> InputError:
    return InputError(f"{brief(part.path.name)} is not a Parquet file that can be read ({brief(error, 80)}).")


def _field(schema: pa.Schema, name: str) -> pa.Field:
    """Errors: InputError for a column that is not there, or there twice, or holds several values in one.

    The schema is asked of a file once for all columns: pyarrow makes it anew each time.
    """
    place = schema.get_field_index(name)
    if place < 0:
        twice = name in schema.names
        raise InputError(
            f"Two columns are named {brief(name)}; give each column its own name."
            if twice
            else f"The table has no column {brief(name)}."
        )
    field = schema.field(place)
    if pa.types.is_nested(field.type):
        raise InputError(f"Column {brief(name)} holds lists or records; a column must hold one value per record.")
    return field


def _shown(parts: Sequence[_Part]) -> list[str]:
    """Return the columns of one value per record."""
    with _opened(parts[0], ()) as file:
        return [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]


def _records(part: _Part) -> int:
    with _opened(part, ()) as file:
        return int(file.metadata.num_rows)


def _add_texts(texts: dict[str, list[str]], batch: pa.RecordBatch) -> None:
    for name, known in texts.items():
        known += texts_of(name, batch.column(batch.schema.get_field_index(name))).tolist()


def _batches(
    path: Path, parts: Sequence[_Part], names: Sequence[str], most_rows: int = MOST_ROWS
) -> Generator[tuple[float, pa.RecordBatch], None, None]:
    """Yield the share that is read, and the next records. Errors: InputError."""
    total, before = max(1, sum(part.size for part in parts)), 0
    kinds: list[pa.DataType] = []
    for part in parts:
        try:
            with _opened(part, names) as file:
                kinds = _same_kinds(kinds, file, parts[0], part, names)
                rows, read = min(most_rows, _rows(file, names)), 0
                for batch in file.iter_batches(batch_size=rows, columns=list(names)):
                    read += len(batch)
                    yield (before + part.size * read / file.metadata.num_rows) / total, batch
        except (*UNREADABLE, InputError) as error:
            if _is_changed(path, parts):
                raise InputError(CHANGED) from None
            raise error if isinstance(error, InputError) else _unreadable(part, error) from None
        before += part.size


def _is_changed(path: Path, parts: Sequence[_Part]) -> bool:
    try:
        return _parts(path) != parts
    except InputError:
        return True


def _same_kinds(
    kinds: list[pa.DataType], file: arrow_parquet.ParquetFile, first: _Part, part: _Part, names: Sequence[str]
) -> list[pa.DataType]:
    """Return the types of the columns in a file. Errors: InputError unless they are those of the first."""
    schema = file.schema_arrow
    here = [_field(schema, name).type for name in names]
    for name, kind, other in zip(names, kinds, here, strict=False):
        if kind != other:
            raise InputError(
                f"Column {brief(name)} holds {_said(kind)} in {brief(first.path.name)} and {_said(other)} in "
                f"{brief(part.path.name)}; the files of a folder need the same columns."
            )
    return here


def _said(kind: pa.DataType) -> str:
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _rows(file: arrow_parquet.ParquetFile, names: Sequence[str]) -> int:
    """Return how many records a batch may have, from the widths of values and, for text, from the file's own sizes."""
    schema = file.schema_arrow
    kinds = {name: _field(schema, name).type for name in names}
    texts = {name for name, kind in kinds.items() if pa.types.is_dictionary(kind) or not pa.types.is_primitive(kind)}
    widths = sum(4 if name in texts else kind.bit_width / 8 for name, kind in kinds.items())
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    places = [k for k in range(len(file.schema)) if file.schema.column(k).path in texts]
    sizes = [sum(g.column(k).total_uncompressed_size for k in places) / max(1, g.num_rows) for g in groups]
    return int(min(MOST_ROWS, max(LEAST_ROWS, BATCH_BYTES / max(1, widths + max(sizes, default=0)))))


def _ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield items while a thread makes the next ones, AHEAD at most."""
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="parquet") as pool:
        coming = deque(pool.submit(next, items, None) for _ in range(AHEAD))
        try:
            while (item := coming.popleft().result()) is not None:
                coming.append(pool.submit(next, items, None))
                yield item
        finally:
            for item_to_be in coming:
                item_to_be.cancel()
