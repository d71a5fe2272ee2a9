"""A file of a table, whatever its kind, as a frame of text, and how it was read.

A guess that nobody sees would be a silent error, so the format that is recognised is stated with its reason.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief, require_type
from dpbayes.sources.typed_files import frame_of_rows, is_workbook, read_parquet, read_workbook, refuse_size

MAX_UPLOAD = 200_000_000
"""Most bytes of a file."""

HEAD = 65_536
"""Bytes at the beginning of a file from which its separator is recognised."""

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
_BYTE_ORDER = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table as text, and in a sentence how its file was read."""

    frame: "pd.DataFrame"
    said: str


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
    if data is None:
        try:
            data = Path(name).read_bytes()
        except OSError as error:
            raise InputError(f"The file {brief(name)} cannot be read: {error.strerror}.") from None
    require_type("data", data, bytes, "Pass the bytes of a file, or its name alone.")
    refuse_size(data, MAX_UPLOAD)
    if name.lower().endswith((".parquet", ".pq")) or data.startswith(b"PAR1"):
        return TableFile(read_parquet(data), "Read as Parquet.")
    if is_workbook(data):
        frame, sheet = read_workbook(data)
        return TableFile(frame, f"Read from the sheet {brief(sheet)} of a workbook.")
    return _read_text(data)


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
