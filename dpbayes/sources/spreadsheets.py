"""Workbooks of Excel (.xlsx) as frames of text: one sheet with a header row and one record in every other row.

The reader is openpyxl, which reads a sheet row by row. Faster readers fill a grid from the first to the last cell. For
two cells in opposite corners, this takes 400 GB and ends the process.
"""

import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

from dpbayes.base.libraries import pd
from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.tables import NO_RECORDS, checked_names, refuse_records, refuse_size

MAX_WORKBOOK = 50_000_000
"""Most bytes of a file."""

MAX_UNPACKED = 100_000_000
"""The largest decompressed size of the parts in bytes; such a sheet takes half a minute."""

MAX_OTHER = 10_000_000
"""Most bytes of the parts that are neither sheets nor their texts: styles and names, which are read slowly."""

MAX_CELLS = 10_000_000
"""Most cells, empty ones before the last of a row included."""

MAX_ROWS = 1_048_576
"""Most rows of a sheet, as in Excel: a file may number a row as it likes, and all before it count."""

MAX_TEXT = 500_000_000
"""Most letters: a text that many cells share stands in the file once."""


def is_workbook(data: bytes) -> bool:
    """Whether this is a workbook of Excel: a zip archive that names its part."""
    return data.startswith(b"PK\x03\x04") and re.search(rb"xl/workbook\w*\.xml", data) is not None


def read_workbook(data: bytes) -> "tuple[pd.DataFrame, str]":
    """Return the table of the only sheet with values, as strings, and the sheet's name.

    Empty cells become "", dates "2020-01-31", whole numbers have no ".0". Errors: InputError for other files, several
    sheets, merged cells, formulas without values, values outside the columns that the first row names, bad names, and
    too large files.
    """
    import openpyxl  # late: its import takes as long as a page

    refuse_size(data, MAX_WORKBOOK)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ignored content: pictures, validation, styles
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                _refuse_large(archive)
                book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
                sheet = _the_sheet(book)
                _refuse_oddities(archive.read(sheet._worksheet_path))
            return _frame(sheet), str(sheet.title)
    except InputError:
        raise
    except Exception as error:  # openpyxl has no common exception for invalid files
        kind = type(error).__name__
        raise InputError(f"This workbook cannot be read ({kind}); open it, and save it again as .xlsx.") from None


def _refuse_large(archive: zipfile.ZipFile) -> None:
    parts = [part for part in archive.infolist() if part.filename.lower().endswith((".xml", ".rels"))]
    sheets = [part for part in parts if part.filename.startswith(("xl/worksheets/", "xl/sharedStrings"))]
    unpacked, other = (sum(part.file_size for part in group) for group in (parts, set(parts) - set(sheets)))
    if unpacked > MAX_UNPACKED or other > MAX_OTHER:
        raise InputError(
            f"The workbook unpacks to {unpacked:,} bytes, of which {other:,} are not values; the limits are "
            f"{MAX_UNPACKED:,} and {MAX_OTHER:,}. Save the table as CSV or Parquet."
        )


def _the_sheet(book: Any) -> Any:
    """Return the only visible sheet with values."""
    full = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible" and _has_values(sheet)]
    if not full:
        raise InputError("The workbook has no sheet with values in it.")
    if len(full) > 1:
        names = ", ".join(brief(sheet.title, 20) for sheet in full[:4])
        raise InputError(
            f"The workbook has {len(full)} sheets with values: {names}{', …' if len(full) > 4 else ''}. "
            "Save the sheet that you need in a separate workbook."
        )
    return full[0]


def _has_values(sheet: Any) -> bool:
    sheet.reset_dimensions()  # the stated size can be too small
    return any(value is not None for row in _bounded(sheet) for value in row)


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


def _bounded(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet, up to the limits."""
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells += len(row)
        if cells > MAX_CELLS or number > MAX_ROWS:
            limits = f"{MAX_ROWS:,} rows or {MAX_CELLS:,} cells"
            raise InputError(f"The sheet has more than {limits}; save the table as CSV or Parquet.")
        yield row


def _frame(sheet: Any) -> "pd.DataFrame":
    rows = ((number, _trimmed(row)) for number, row in enumerate(_bounded(sheet), start=1) if row)
    records = ((number, row) for number, row in rows if row)
    _, header = next(records)
    names = checked_names(header)
    columns: list[list[str]] = [[] for _ in names]
    letters = 0
    for number, row in records:
        if len(row) > len(names):
            raise InputError(
                f"Row {number} has the value {brief(row[-1])} to the right of the last of the {len(names)} columns "
                "that the first row names."
            )
        letters += sum(map(len, row))
        if letters > MAX_TEXT:
            raise InputError(f"The sheet has more than {MAX_TEXT:,} letters; save the table as CSV or Parquet.")
        for j, column in enumerate(columns):
            column.append(row[j] if j < len(row) else "")
    if not columns[0]:
        raise InputError(NO_RECORDS)
    refuse_records(len(columns[0]))
    return pd.DataFrame(dict(zip(names, columns, strict=True)), dtype="str")


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
