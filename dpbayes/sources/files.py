"""A file of a table, whatever its kind, as a frame of text, and how it was read: CSV, Parquet, or a workbook of Excel.

A guess that nobody sees would be a silent error, so the format that is recognised is stated with its reason. The reader
of workbooks is openpyxl, which reads a sheet row by row. Faster readers fill a grid from the first to the last cell.
For two cells in opposite corners, this takes 400 GB and ends the process.
"""

import csv
import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from dpbayes.base.libraries import arrow_compute, arrow_parquet, extra, pa, pd
from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief, distinct_names

MAX_UPLOAD = 200_000_000
"""Most bytes of a file."""

HEAD = 65_536
"""Bytes at the beginning of a file from which its separator is recognised."""

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
_BYTE_ORDER = (b"\xff\xfe", b"\xfe\xff")

MAX_UNPACKED = 2_000_000_000
"""Most bytes that a Parquet file may unpack to: a small file can hold a very large table."""

MAX_WORKBOOK = 50_000_000
"""Most bytes of a workbook."""

MAX_PARTS = 100_000_000
"""The largest decompressed size of the parts of a workbook in bytes; such a sheet takes half a minute.

Parts that are neither sheets nor their texts count ten times: styles and names are read slowly.
"""

MAX_CELLS = 10_000_000
"""Most cells of a sheet and its rows, empty ones before the last included: a file may number a row as it likes."""

MAX_TEXT = 500_000_000
"""Most letters: a text that many cells share stands in the file once."""

MAX_COLUMNS = 500
MAX_RECORDS = 10_000_000

BLOCK = 1 << 20
"""Values that are texts of Python at a time, which take much more memory than a frame."""


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table as text, and in a sentence how its file was read."""

    frame: "pd.DataFrame"
    said: str


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the content of a file. Errors: InputError if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"The file {brief(path, 200)} cannot be read: {error.strerror}. Check its name and folder."
        ) from None


def read_table(name: str, data: bytes | None = None) -> TableFile:
    r"""Return the table of a file: Parquet, an Excel workbook (.xlsx), or CSV with any usual separator.

    Args:
        name: The file's name.
        data: The file's content, if it is not on this computer under this name.

    Returns:
        The records as text, and a sentence that states how the file was read.

    Raises:
        InputError: The file is not a table of these kinds, or is too large.

    Example:
        >>> dp.read_table("garden.csv", b"rain,grass\nno,dry\n").frame.shape
        (1, 2)
    """
    data = read_file(name) if data is None else data
    if not data.strip():
        raise InputError("The file is empty.")
    is_book = data.startswith(b"PK\x03\x04") and re.search(rb"xl/workbook\w*\.xml", data) is not None
    if len(data) > (limit := MAX_WORKBOOK if is_book else MAX_UPLOAD):
        raise InputError(f"The file has {len(data):,} bytes; the limit is {limit:,}.")
    if name.lower().endswith((".parquet", ".pq")) or data.startswith(b"PAR1"):
        return TableFile(read_parquet(data), "Read as Parquet.")
    if is_book:
        frame, sheet = read_workbook(data)
        return TableFile(frame, f"Read from the sheet {brief(sheet)} of a workbook.")
    return _read_text(data)


# All files


def frame_of_rows(rows: Iterator[list[str]]) -> "pd.DataFrame":
    """Return rows of text, the first of which names the columns. Errors: InputError for bad names, no or many rows."""
    names = _checked_names(next(rows, []))
    parts: list[pd.DataFrame] = []
    while block := list(islice(rows, max(BLOCK // len(names), 1))):
        parts.append(pd.DataFrame(block, columns=pd.Index(names, dtype=object), dtype="str"))
        _refuse_records(sum(map(len, parts)))
    _refuse_records(len(parts))
    return pd.concat(parts, ignore_index=True)


def _refuse_records(n: int) -> None:
    if not n:
        raise InputError("The file has a header but no records.")
    if n > MAX_RECORDS:
        raise InputError(f"The file has {n:,} records; the limit is {MAX_RECORDS:,}.")


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns. Errors: InputError for none or many, for one that is empty, and one used twice."""
    if not names:
        raise InputError("The file has no columns.")
    if len(names) > MAX_COLUMNS:
        raise InputError(f"The file has {len(names):,} columns; the limit is {MAX_COLUMNS}.")
    return distinct_names("column", names)


# CSV


def _read_text(data: bytes) -> TableFile:
    if data.startswith(_BYTE_ORDER):
        encodings = {"utf-16": ("UTF-16", "the file begins with the byte order mark of UTF-16")}
    elif b"\x00" in data:
        raise InputError(
            "This file is not text, Parquet or an Excel workbook without a password (.xlsx). Unpack an archive, and "
            "save a spreadsheet as .xlsx or CSV."
        )
    else:
        encodings = {"utf-8-sig": ("UTF-8", ""), "windows-1252": ("Windows-1252", "the file is not text in UTF-8")}
    for encoding, (title, why) in encodings.items():
        separator, reason = _separator(data[:HEAD].decode(encoding, errors="ignore"))
        try:
            frame = _read_csv(data, encoding, separator)
        except UnicodeError:
            continue
        reasons = " and ".join(filter(None, (reason, why)))
        said = f"Read with {SEPARATORS[separator]} between values and in {title}"
        return TableFile(frame, f"{said}, since {reasons}." if reasons else f"{said}.")
    raise InputError("The file is not text in UTF-8, UTF-16 or Windows-1252. Save it as UTF-8.")


def _separator(head: str) -> tuple[str, str]:
    """Return the separator that parts most lines as it parts the first, and why where it is not the usual one."""
    best, chosen = (0.0, 0), ","
    for separator in SEPARATORS:
        rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        widths = [len(row) for row in rows if row]
        if widths and widths[0] > 1 and (score := (widths.count(widths[0]) / len(widths), widths[0])) > best:
            best, chosen = score, separator
    return chosen, "" if chosen == "," else f"{SEPARATORS[chosen]} splits its first line into {best[1]} columns"


def _read_csv(data: bytes, encoding: str, separator: str) -> "pd.DataFrame":
    """Return the values exactly as they stand in the file. Errors: InputError; UnicodeError for another encoding."""
    with io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="") as lines:
        rows = csv.reader(lines, delimiter=separator, strict=True)

        def of_one_width() -> Iterator[list[str]]:
            width = 0
            for row in filter(None, rows):
                width = width or len(row)
                if len(row) != width:
                    raise InputError(f"The header has {width} columns, but line {rows.line_num} has {len(row)}.")
                yield row

        try:
            return frame_of_rows(of_one_width())
        except csv.Error as error:
            raise InputError(
                f"The file is not CSV near line {rows.line_num} ({error}). Perhaps a quotation mark is not closed."
            ) from None


# Parquet


def read_parquet(data: bytes) -> "pd.DataFrame":
    """Return a Parquet table as a frame of strings; whole numbers without ".0", other numbers in full.

    Missing values become "". Errors: InputError for other kinds of files, columns that hold lists or records, text that
    is not UTF-8, bad column names, and too large files; and pyarrow is not installed.
    """
    with extra("parquet", "Reading Parquet"):
        import pyarrow.parquet  # noqa: F401
    try:
        schema = arrow_parquet.read_schema(io.BytesIO(data))
        names = _checked_names([str(name) for name in schema.names])
        for field in schema:
            if pa.types.is_nested(field.type):
                raise InputError(f"Column {brief(field.name)} has lists or records instead of one value per record.")
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


def _refuse_unpacked(meta: "arrow_parquet.FileMetaData", width: int) -> None:
    _refuse_records(meta.num_rows)
    # A number that is said often takes no room in the file, but ten bytes for every record here.
    values = 10 * meta.num_rows * width
    unpacked = max(values, sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)))
    if unpacked > MAX_UNPACKED:
        raise InputError(f"The file unpacks to {unpacked:,} bytes; the limit is {MAX_UNPACKED:,}.")


def _text_size(column: "pa.ChunkedArray") -> int:
    """Return the bytes of a column of text that is kept as a dictionary, once every value stands for itself; else 0."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or kind.value_type not in (pa.string(), pa.large_string()):
        return 0
    distinct, records = column.value_counts().flatten()
    lengths = arrow_compute.binary_length(distinct.dictionary_decode())
    return int(arrow_compute.sum(arrow_compute.multiply(lengths, records)).as_py() or 0)


def _texts(name: str, column: "pa.ChunkedArray") -> "pd.Series":
    """Return values as text, "" where there is none. Errors: InputError where they are no text, or not in UTF-8."""
    try:
        text = column.cast(pa.string()).fill_null("")
        text.validate(full=True)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"Column {brief(name)} has values that cannot be shown as text in UTF-8.") from None
    series: pd.Series = text.to_pandas()
    return series


# Workbooks


def read_workbook(data: bytes) -> "tuple[pd.DataFrame, str]":
    """Return the table of the first visible sheet as strings, and the sheet's name.

    Empty cells become "", dates "2020-01-31", whole numbers have no ".0". Errors: InputError for other files, merged
    cells, formulas without values, values outside the columns that the first row names, bad names, and too large files.
    """
    import openpyxl  # late: its import takes as long as a page

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ignored content: pictures, validation, styles
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                _refuse_large(archive)
                book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
                sheet = next(sheet for sheet in book.worksheets if sheet.sheet_state == "visible")
                _refuse_oddities(archive.read(sheet._worksheet_path))
            return frame_of_rows(_sheet_rows(sheet)), str(sheet.title)
    except InputError:
        raise
    except Exception as error:  # openpyxl has no common exception for invalid files
        kind = type(error).__name__
        raise InputError(f"This workbook cannot be read ({kind}); open it, and save it again as .xlsx.") from None


def _refuse_large(archive: zipfile.ZipFile) -> None:
    values = ("xl/worksheets/", "xl/sharedStrings")
    parts = [part for part in archive.infolist() if part.filename.lower().endswith((".xml", ".rels"))]
    size = sum(part.file_size * (1 if part.filename.startswith(values) else 10) for part in parts)
    if size > MAX_PARTS:
        raise InputError(
            f"The workbook unpacks to {size:,} bytes, styles and names counted ten times; the limit is {MAX_PARTS:,}. "
            "Save the table as CSV or Parquet."
        )


def _refuse_oddities(xml: bytes) -> None:
    if re.search(rb"<!(?:DOCTYPE|ENTITY)", xml):
        raise InputError("The workbook declares XML entities, which spreadsheet programs do not write.")
    if re.search(rb"<(?:\w+:)?mergeCell\b", xml):
        raise InputError(
            "The sheet has merged cells. Unmerge them, so that the first row names the columns and every other row is "
            "one record."
        )
    # A computed formula has a value, which may be empty.
    if re.search(rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^<>]*/>)\s*</(?:\w+:)?c>", xml):
        raise InputError(
            "The sheet has formulas without stored values. Open it in a spreadsheet program, save it there, "
            "and load it again."
        )


def _sheet_rows(sheet: Any) -> Iterator[list[str]]:
    """Yield the rows with values, as wide as the first. Errors: InputError for a wider one, and for a large sheet."""
    sheet.reset_dimensions()  # the stated size can be too small
    cells = letters = width = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        texts = _trimmed(row)
        cells, letters = cells + 1 + len(row), letters + sum(map(len, texts))
        if cells > MAX_CELLS or letters > MAX_TEXT:
            limits = f"{MAX_CELLS:,} rows and cells, or {MAX_TEXT:,} letters"
            raise InputError(f"The sheet has more than {limits}; save the table as CSV or Parquet.")
        width = width or len(texts)
        if len(texts) > width:
            raise InputError(
                f"Row {number} has the value {brief(texts[-1])} to the right of the last of the {width} columns that "
                "the first row names."
            )
        if texts:
            yield texts + [""] * (width - len(texts))


def _trimmed(row: tuple[Any, ...]) -> list[str]:
    """Return the texts of a row without the empty cells at its end."""
    texts = [_text(value) for value in row]
    while texts and not texts[-1].strip():
        texts.pop()
    return texts


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return shortest(value)
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(sep=" ")
        case _:
            return str(value)
