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
from dpbayes.sources.columns import is_missing
from dpbayes.sources.spreadsheets import is_workbook, read_workbook
from dpbayes.sources.tables import SEPARATORS, read_csv, read_parquet

ENCODINGS = {"utf-8": "UTF-8", "latin-1": "Latin-1", "windows-1252": "Windows-1252", "utf-16": "UTF-16"}
DECIMALS = {".": "point", ",": "comma"}

HEAD = 65_536
"""Bytes at the beginning of a file from which its separator is recognised."""

LINES = 50
"""Lines of them that are looked at."""

SAMPLE = 100
"""Values of a column that are looked at before all are."""


@dataclass(frozen=True)
class Dialect:
    """How a file of text is written; None is what is to be recognised."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table as text, and in a sentence or two how its file was read."""

    frame: "pd.DataFrame"
    said: str


def read_table(name: str, data: bytes | None = None, dialect: Dialect | None = None) -> TableFile:
    r"""Return the table of a file. The name identifies Parquet, the content a workbook; other files are CSV.

    In columns with a decimal comma, numbers such as 1.234,56 are returned with a decimal point.

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
        return _as_chosen(TableFile(read_parquet(data), "Read as Parquet."), dialect)
    if is_workbook(data):
        frame, sheet = read_workbook(data)
        return _as_chosen(TableFile(frame, f"Read from the sheet {brief(sheet)} of a workbook."), dialect)
    encoding, why_encoding = _encoding(data, dialect.encoding)
    separator, why_separator = _separator(data, encoding, dialect.separator)
    frame = read_csv(data, separator=separator, encoding=encoding)
    reasons = " and ".join(filter(None, (why_separator, why_encoding)))
    said = f"Read with {SEPARATORS[separator]} between values and in {ENCODINGS.get(encoding, encoding)}"
    said += f", since {reasons}." if reasons else "."
    evidence = comma_evidence(frame) if dialect.decimal is None and separator != "," else ""
    if evidence:
        return TableFile(with_points(frame), f"{said} {_SAID_COMMA}, since {evidence}.")
    return _as_chosen(TableFile(frame, said), dialect)


_SAID_COMMA = "Numbers are read with a decimal comma"


def _as_chosen(file: TableFile, dialect: Dialect) -> TableFile:
    if dialect.decimal != ",":
        return file
    return TableFile(with_points(file.frame), f"{file.said} {_SAID_COMMA}, as chosen.")


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


# Decimal sign

_GROUPED = "[+-]?(?:[0-9]{1,3}(?:[. \u00a0\u202f][0-9]{3})+|[0-9]+)"
COMMA_NUMBER = rf"\s*{_GROUPED}(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?\s*"
"""A number with a decimal comma, its thousands perhaps parted by points or spaces."""

SURE_COMMA = rf"\s*(?:{_GROUPED},(?:[0-9]{{1,2}}|[0-9]{{4,}})|[+-]?0,[0-9]+)\s*"
"""One that is nothing else: three digits after a comma might be thousands."""

POINT_NUMBER = r"\s*[+-]?[0-9]*(?:\.[0-9]*)?\s*"
SURE_POINT = r"\s*(?:[+-]?[0-9]*\.(?:[0-9]{1,2}|[0-9]{4,})|[+-]?0\.[0-9]+)\s*"


def comma_evidence(frame: "pd.DataFrame") -> str:
    """Return which value tells that numbers have a decimal comma; "" if none does, or some tell of a decimal point."""
    if any(_one_of(frame[name], POINT_NUMBER, SURE_POINT) for name in frame.columns):
        return ""
    for name in frame.columns:
        value = _one_of(frame[name], COMMA_NUMBER, SURE_COMMA)
        if value:
            return f"column {brief(name)} holds {brief(value.strip())}"
    return ""


def _one_of(column: "pd.Series", kind: str, sure: str) -> str:
    """Return a value that is surely of a kind of number, if all values of the column are of that kind; else ""."""
    if not _all_are(column, kind):
        return ""
    values = column[column.str.fullmatch(sure)]
    return str(values.iloc[0]) if len(values) else ""


def _all_are(column: "pd.Series", kind: str) -> bool:
    for values in (column.head(SAMPLE), column):
        others = values[~values.str.fullmatch(kind)]
        if not is_missing(others.drop_duplicates()).all():
            return False
    return True


def with_points(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with its columns of comma numbers, such as 1.234,56, written with a point: 1234.56."""
    commas = [name for name in frame.columns if _all_are(frame[name], COMMA_NUMBER)]
    return frame.assign(**{name: _with_point(frame[name]) for name in commas})


def _with_point(column: "pd.Series") -> "pd.Series":
    plain = column.str.replace("[. \u00a0\u202f]", "", regex=True).str.replace(",", ".", regex=False)
    return plain.where(column.str.fullmatch(COMMA_NUMBER), column)
