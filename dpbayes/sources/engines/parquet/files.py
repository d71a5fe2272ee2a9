"""The Parquet files of a table, read as batches of records, and checks that the files are valid and do not change."""

import os
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dpbayes.base.libraries import arrow_parquet, pa
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.tables import unreadable

Item = TypeVar("Item")

MOST_ROWS, LEAST_ROWS = 1 << 16, 1 << 10
"""The largest number of records of a batch, so that a column fits into the processor's cache, and the smallest number,
except at the end of a file."""

AHEAD = 4
"""The number of batches that are decoded in advance, so that decoding continues while a whole block is counted."""

BATCH_BYTES = 1 << 25
"""The intended size of a batch in bytes; AHEAD + 1 batches are in memory."""

BUFFER_BYTES = 1 << 26
"""The size of the read buffers of a file, over all columns."""

CHANGED = "The table changed during the count. Count it again."


@dataclass(frozen=True)
class Part:
    """The state of a file at the start of reading."""

    path: Path
    size: int
    changed: int


def parts_of(path: Path) -> tuple[Part, ...]:
    """Return the files in order. Errors: InputError if there is none."""
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


def _part(path: Path) -> Part:
    status = path.stat()
    return Part(path, status.st_size, status.st_mtime_ns)


def _is_data(path: Path) -> bool:
    hidden = any(name.startswith((".", "_")) for name in path.parts)
    return not hidden and path.suffix.lower() in (".parquet", ".pq")


def opened(part: Part, names: Sequence[str]) -> "arrow_parquet.ParquetFile":
    """Open a file to read these columns. Errors: InputError if it is not Parquet."""
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
    except unreadable() as error:
        raise _unreadable(part, error) from None


def _unreadable(part: Part, error: Exception) -> InputError:
    return InputError(f"{brief(part.path.name)} is not a readable Parquet file ({brief(error, 80)}).")


def plain_column(schema: "pa.Schema", name: str) -> "pa.Field":
    """Return a column with one value per record.

    Errors: InputError if the column does not exist, exists twice, or has several values per record.
    Callers read the schema once for all columns, because pyarrow creates it for each access.
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
        raise InputError(f"Column {brief(name)} has lists or records; a column must have one value per record.")
    return field


def plain_columns(parts: Sequence[Part]) -> list[str]:
    """Return the names of the first file's columns with one value per record."""
    with opened(parts[0], ()) as file:
        return [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]


def row_count(part: Part) -> int:
    """Return the number of records that a file states."""
    with opened(part, ()) as file:
        return int(file.metadata.num_rows)


def batches_of(
    path: Path, parts: Sequence[Part], names: Sequence[str], most_rows: int = MOST_ROWS
) -> "Generator[tuple[float, pa.RecordBatch], None, None]":
    """Yield the share of the files that was read, and the next records. Errors: InputError."""
    total, before = max(1, sum(part.size for part in parts)), 0
    kinds: list[pa.DataType] = []
    problems: tuple[type[Exception], ...] = (InputError, *unreadable())
    for part in parts:
        try:
            with opened(part, names) as file:
                kinds = _same_kinds(kinds, file, parts[0], part, names)
                rows, read = min(most_rows, _rows(file, names)), 0
                for batch in file.iter_batches(batch_size=rows, columns=list(names)):
                    read += len(batch)
                    yield (before + part.size * read / file.metadata.num_rows) / total, batch
        except problems as error:
            if is_changed(path, parts):
                raise InputError(CHANGED) from None
            raise error if isinstance(error, InputError) else _unreadable(part, error) from None
        before += part.size


def is_changed(path: Path, parts: Sequence[Part]) -> bool:
    """Return whether the files have changed since the start of reading."""
    try:
        return parts_of(path) != parts
    except InputError:
        return True


def _same_kinds(
    kinds: "list[pa.DataType]", file: "arrow_parquet.ParquetFile", first: Part, part: Part, names: Sequence[str]
) -> "list[pa.DataType]":
    """Return the types of the columns in a file. Errors: InputError if they differ from those of the first file."""
    schema = file.schema_arrow
    here = [plain_column(schema, name).type for name in names]
    for name, kind, other in zip(names, kinds, here, strict=False):
        if kind != other:
            raise InputError(
                f"Column {brief(name)} has {kind_text(kind)} in {brief(first.path.name)} and {kind_text(other)} in "
                f"{brief(part.path.name)}. The files of a folder must have the same columns."
            )
    return here


def kind_text(kind: "pa.DataType") -> str:
    """Return the type of a column's values as text, also for dictionary-encoded columns."""
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _rows(file: "arrow_parquet.ParquetFile", names: Sequence[str]) -> int:
    """Return the number of records of a batch, from the widths of values and the file's sizes of text columns."""
    schema = file.schema_arrow
    kinds = {name: plain_column(schema, name).type for name in names}
    texts = {name for name, kind in kinds.items() if pa.types.is_dictionary(kind) or not pa.types.is_primitive(kind)}
    widths = sum(4 if name in texts else kind.bit_width / 8 for name, kind in kinds.items())
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    places = [k for k in range(len(file.schema)) if file.schema.column(k).path in texts]
    sizes = [sum(g.column(k).total_uncompressed_size for k in places) / max(1, g.num_rows) for g in groups]
    return int(min(MOST_ROWS, max(LEAST_ROWS, BATCH_BYTES / max(1, widths + max(sizes, default=0)))))


def ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield items while a thread computes up to AHEAD next items."""
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="parquet") as pool:
        coming = deque(pool.submit(next, items, None) for _ in range(AHEAD))
        try:
            while (item := coming.popleft().result()) is not None:
                coming.append(pool.submit(next, items, None))
                yield item
        finally:
            for item_to_be in coming:
                item_to_be.cancel()
