"""A file of a table, whatever its kind, and how it was read: as the person says, or as it is recognised to be written.

A guess that nobody sees would be a silent error, so what is recognised comes with its reason, and can be overruled.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief, require_type
from dpbayes.sources.spreadsheets import is_workbook, read_workbook
from dpbayes.sources.tables import SEPARATORS, read_csv, read_parquet

ENCODINGS = {"utf-8": "UTF-8", "latin-1": "Latin-1", "windows-1252": "Windows-1252", "utf-16": "UTF-16"}

HEAD = 65_536
"""Bytes at the beginning of a file from which its separator is recognised."""

LINES = 50
"""Lines of them that are looked at."""


@dataclass(frozen=True)
class Dialect:
    """How a file of text is written; None is what is to be recognised."""

    separator: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table as text, and in a sentence or two how its file was read."""

    frame: "pd.DataFrame"
    said: str


def read_table(name: str, data: bytes | None = None, dialect: Dialect | None = None) -> TableFile:
    r"""Return the table of a file. The name identifies Parquet, the content a workbook; other files are CSV.

    Args:
        name: The file's name.
        data: The file's content, if it is not on this computer under this name.
        dialect: The format of a CSV file, instead of the detected one.

    Returns:
        The records as text, and one or two sentences that state how the file was read.

    Raises:
        InputError: The file is not a table of these kinds, or is too large.

    Example:
        >>> dp.read_table("garden.csv", b"rain,grass\nno,dry\n").frame.shape
        (1, 2)
    """
    dialect = dialect or Dialect()
    if data is None:
        try:
            data = Path(name).read_bytes()
        except OSError as error:
            raise InputError(f"The file {brief(name)} cannot be read: {error.strerror}.") from None
    require_type("data", data, bytes, "Pass the bytes of a file, or its name alone.")
    if name.lower().endswith((".parquet", ".pq")):
        return TableFile(read_parquet(data), "Read as Parquet.")
    if is_workbook(data):
        frame, sheet = read_workbook(data)
        return TableFile(frame, f"Read from the sheet {brief(sheet)} of a workbook.")
    encoding, why_encoding = _encoding(data, dialect.encoding)
    separator, why_separator = _separator(data, encoding, dialect.separator)
    frame = read_csv(data, separator=separator, encoding=encoding)
    reasons = " and ".join(filter(None, (why_separator, why_encoding)))
    said = f"Read with {SEPARATORS[separator]} between values and in {ENCODINGS.get(encoding, encoding)}"
    said += f", since {reasons}." if reasons else "."
    return TableFile(frame, said)


# Separator and encoding


def _encoding(data: bytes, chosen: str | None) -> tuple[str, str]:
    """Return the encoding, and why it is recognised where it is not the usual one."""
    if chosen is not None:
        return chosen, ""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", "the file begins with the byte order mark of UTF-16"
    if _decodes(data, "utf-8"):
        return "utf-8", ""
    # Latin-1 has control characters where Windows has quotation marks, dashes and the euro sign.
    windows = re.search(rb"[\x80-\x9f]", data) and _decodes(data, "windows-1252")
    return "windows-1252" if windows else "latin-1", "the file is not text in UTF-8"


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        with io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="") as text:
            while text.read(1 << 20):
                pass
    except UnicodeError:
        return False
    return True


def _separator(data: bytes, encoding: str, chosen: str | None) -> tuple[str, str]:
    """Return the separator that parts most lines as it parts the first, and why where it is not the usual one."""
    if chosen is not None:
        return chosen, ""
    try:
        head = data[:HEAD].decode(encoding, errors="ignore")
    except LookupError:
        return ",", ""
    lines = head if len(data) <= HEAD else head[: head.rfind("\n") + 1]
    widths = {separator: _widths(lines, separator) for separator in SEPARATORS}
    parting = {s: (w.count(w[0]) / len(w), w[0]) for s, w in widths.items() if w and w[0] > 1}
    separator = max(parting, key=parting.__getitem__, default=",")
    if separator == ",":
        return ",", ""
    return separator, f"{SEPARATORS[separator]} splits its first line into {parting[separator][1]} columns"


def _widths(text: str, separator: str) -> Sequence[int]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    widths: list[int] = []
    try:
        for row in rows:
            widths += [len(row)] if row else []
            if len(widths) == LINES:
                break
    except csv.Error:  # a cell that is longer than any header
        pass
    return widths
