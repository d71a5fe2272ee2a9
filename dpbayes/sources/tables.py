"""Uploaded files become frames of text: CSV and Parquet, with a sentence for each way a file can be wrong."""

import codecs
import csv
import io
import re
from collections.abc import Sequence

from dpbayes.base.libraries import arrow_compute, arrow_parquet, extra, pa, pd
from dpbayes.base.validation import InputError, brief

MAX_UPLOAD = 200_000_000
"""Most bytes of a file."""

MAX_UNPACKED = 2_000_000_000
"""Most bytes that a Parquet file may unpack to: a small file can hold a very large table."""

MAX_VALUES = 200_000_000
"""Most values of a Parquet file, records times columns: a number said often takes no room in the file."""

MAX_COLUMNS = 500
MAX_RECORDS = 10_000_000

NO_RECORDS = "The file has a header but no records."
_OPEN_QUOTE = "A quotation mark in the file is not closed. Close or remove it."

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
_MAGIC = (
    (b"PAR1", "a Parquet file; read it as Parquet"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet in a format other than .xlsx; save the table as .xlsx or CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls), or one with a password; save it as .xlsx without a password"),
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"%PDF", "a PDF document"),
)


def read_csv(data: bytes, *, separator: str = ",", encoding: str = "utf-8") -> "pd.DataFrame":
    """Return a table of text with a header line as a frame of strings, values exactly as they stand in the file.

    Empty lines are passed over. A byte order mark is accepted. Errors: InputError for empty files, other kinds of
    files, wrong separators or encodings, rows of the wrong length, bad column names, and too large files.
    """
    refuse_size(data, MAX_UPLOAD)
    encoding = _checked_encoding(encoding)
    _refuse_binary(data, encoding)
    if separator not in SEPARATORS:
        allowed = ", ".join(SEPARATORS.values())
        raise InputError(f"The separator must be one of {allowed}; {brief(separator)} is not.")
    try:
        header = _header(data, separator, encoding)
        passed, last = _checked_rows(data, separator, encoding, len(header))
        columns = list(range(len(header)))
        rows = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            encoding=encoding,
            header=None,
            names=columns,
            index_col=False,
            dtype="str",
            na_filter=False,
            skip_blank_lines=False,
        )
    except UnicodeError:
        other = "Latin-1" if encoding.startswith("utf-8") else "UTF-8"
        raise InputError(f"The file is not text in the encoding {encoding}; try {other}.") from None
    except pd.errors.ParserError:
        raise InputError(_OPEN_QUOTE) from None
    # Such a quote may also end at the next one, and swallow lines into the last record, silently.
    if data.count(b'"') % 2 and any("\n" in value or "\r" in value for value in last):
        raise InputError(_OPEN_QUOTE)
    if rows.iloc[-1].tolist() != last:
        raise InputError(f"The last record of the file, {brief(last)}, cannot be read as CSV.")
    frame = rows.drop(index=passed).reset_index(drop=True)
    frame.columns = pd.Index(header, dtype=object)
    return frame


def read_parquet(data: bytes) -> "pd.DataFrame":
    """Return a Parquet table as a frame of strings; whole numbers without ".0", other numbers in full.

    Missing values become "". Errors: InputError for other kinds of files, columns that hold lists or records, text that
    is not UTF-8, bad column names, and too large files; and pyarrow is not installed.
    """
    refuse_size(data, MAX_UPLOAD)
    with extra("parquet", "Reading Parquet"):
        import pyarrow.parquet  # noqa: F401
    try:
        schema = arrow_parquet.read_schema(io.BytesIO(data))
        names = checked_names([str(name) for name in schema.names])
        _refuse_nested(schema)
        # A text that is said often stays one text: plain columns of a small file can fill any memory.
        file = arrow_parquet.ParquetFile(io.BytesIO(data), read_dictionary=list(names))
        _refuse_unpacked(file.metadata, len(names))
        columns: dict[str, pd.Series] = {}
        size = 0
        for name in names:
            column = file.read(columns=[name]).column(name)
            size += _text_size(column)
            if size > MAX_UNPACKED:
                raise InputError(f"The file unpacks to more than {MAX_UNPACKED:,} bytes of text.")
            columns[name] = _texts(name, column)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # also for a name that is not UTF-8
        raise InputError(f"This is not a readable Parquet file ({brief(error, 80)}).") from None
    return pd.DataFrame(columns)


# What both readers refuse


def refuse_size(data: bytes, limit: int) -> None:
    """Errors: InputError for a file that is empty, or has more bytes than the limit."""
    if not data.strip():
        raise InputError("The file is empty.")
    if len(data) > limit:
        raise InputError(f"The file has {len(data):,} bytes; the limit is {limit:,}.")


def refuse_records(n: int) -> None:
    """Errors: InputError for more than MAX_RECORDS records."""
    if n > MAX_RECORDS:
        raise InputError(f"The file has {n:,} records; the limit is {MAX_RECORDS:,}.")


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns. Errors: InputError for too many, for one that is empty, and for one used twice."""
    if len(names) > MAX_COLUMNS:
        raise InputError(f"The file has {len(names):,} columns; the limit is {MAX_COLUMNS}.")
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError(f"Column {number} has no name in the header; give every column a name.")
        if name in seen:
            raise InputError(f"Two columns are named {brief(name)}; give each column its own name.")
        seen.add(name)
    return tuple(names)


# CSV


def _checked_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except (LookupError, ValueError):
        raise InputError(f"{brief(encoding)} is not the name of a text encoding; try utf-8 or latin-1.") from None
    return name


def _refuse_binary(data: bytes, encoding: str) -> None:
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise InputError(f"This is not a CSV file: it looks like {what}.")
    is_wide = encoding.startswith(("utf-16", "utf-32"))
    if b"\x00" in data and (not is_wide or "\x00" in data.decode(encoding, errors="ignore")):
        hint = "; its encoding may be UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise InputError(
            f"This is not a CSV file in the encoding {encoding}: it contains bytes that are not text{hint}."
        )


def _header(data: bytes, separator: str, encoding: str) -> tuple[str, ...]:
    """Return the checked names in the first line that is not empty."""
    with _lines(data, encoding) as lines:
        try:
            header = next((row for row in csv.reader(lines, delimiter=separator) if row), [])
        except csv.Error:
            raise InputError("The first line of the file is too long to be a header.") from None
        lines.seek(0)
        raw = re.sub(r'"[^"]*"', "", next((line for line in lines if line.strip()), ""))
    if len(header) == 1:
        other, times = max(((s, raw.count(s)) for s in SEPARATORS if s != separator), key=lambda pair: pair[1])
        if times:
            raise InputError(
                f"The header is one single column, {brief(header[0])}; the separator seems to be {SEPARATORS[other]}."
            )
    names = [name.removeprefix("\ufeff") if i == 0 else name for i, name in enumerate(header)]
    return checked_names(names)


def _lines(data: bytes, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="")


def _checked_rows(data: bytes, separator: str, encoding: str, width: int) -> tuple[list[int], list[str]]:
    """Return which rows are no records, counted with empty lines, and the last row.

    Pandas fills short rows and names no line. Errors: InputError for a row that is not of this width, for no records
    and too many, and for a very long value.
    """
    passed: list[int] = []
    row: list[str] = []
    place, is_header = -1, True
    with _lines(data, encoding) as lines:
        rows = csv.reader(lines, delimiter=separator)
        try:
            for place, row in enumerate(rows):
                if len(row) != width and row:
                    raise InputError(f"The header has {width} columns, but line {rows.line_num} has {len(row)}.")
                if is_header or not row:
                    passed.append(place)
                    is_header = is_header and not row
        except csv.Error:
            raise InputError(
                f"A value near line {rows.line_num} has more than {csv.field_size_limit():,} letters. Perhaps a "
                "quotation mark before it is not closed."
            ) from None
    refuse_records(place + 1 - len(passed))
    if place + 1 == len(passed):
        raise InputError(NO_RECORDS)
    return passed, row or [""] * width


# Parquet


def _refuse_nested(schema: "pa.Schema") -> None:
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InputError(
                f"Column {brief(field.name)} has lists or records; a column must have one value per record."
            )


def _refuse_unpacked(meta: "arrow_parquet.FileMetaData", width: int) -> None:
    if not width:
        raise InputError("The file has no columns.")
    if meta.num_rows == 0:
        raise InputError(NO_RECORDS)
    refuse_records(meta.num_rows)
    if meta.num_rows * width > MAX_VALUES:
        shape = f"{meta.num_rows:,} records of {width} columns"
        raise InputError(f"The file has {shape}; the limit is {MAX_VALUES:,} values.")
    unpacked = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    if unpacked > MAX_UNPACKED:
        raise InputError(f"The file unpacks to {unpacked:,} bytes; the limit is {MAX_UNPACKED:,}.")


def _text_size(column: "pa.ChunkedArray") -> int:
    """Return the bytes of a column of text that is kept as a dictionary, once every value stands for itself; else 0."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not _is_text(kind.value_type):
        return 0
    sizes = (arrow_compute.binary_length(chunk.dictionary.cast(pa.binary())) for chunk in column.chunks)
    parts = (arrow_compute.sum(s.take(chunk.indices)).as_py() for s, chunk in zip(sizes, column.chunks, strict=True))
    return sum(part or 0 for part in parts)


def _is_text(kind: "pa.DataType") -> bool:
    types = pa.types
    return any(
        is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _texts(name: str, column: "pa.Array | pa.ChunkedArray") -> "pd.Series":
    """Return values as text, "" where there is none. Errors: InputError where they are no text, or not in UTF-8."""
    try:
        text = column.cast(pa.string()).fill_null("")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"Column {brief(name)} has {column.type} values, which cannot be shown as text.") from None
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError(f"Column {brief(name)} has text that is not UTF-8. Save the file with UTF-8 text.") from None
    series: pd.Series = text.to_pandas()
    return series
