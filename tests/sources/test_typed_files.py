"""Parquet and workbooks: what a person sees is what is read, and nothing in a file takes the program down."""

import contextlib
import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.files import read_parquet, read_table, read_workbook

# Parquet


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


def test_parquet_values_become_faithful_text() -> None:
    frame = read_parquet(parquet(i=[1, 2], f=[0.1, 3.0], m=[1.0, None], s=["<b>", None], b=[True, False]))
    assert frame.to_numpy().tolist() == [["1", "0.1", "1", "<b>", "true"], ["2", "3", "", "", "false"]]


def arrow(**columns: pa.Array) -> bytes:
    file = io.BytesIO()
    arrow_parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def broken_text() -> pa.Array:
    """Three texts of which the second is not UTF-8; neither is what Arrow writes of them."""
    offsets = np.array([0, 1, 3, 4], dtype=np.int32)
    return pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"a\xff\xfeb"))


MANY = 3_000_000


def long_text_said_often() -> bytes:
    return arrow(a=pa.DictionaryArray.from_arrays(np.zeros(MANY, dtype=np.int32), pa.array(["x" * 1000])))


ODD_PARQUET: dict[str, tuple[Callable[[], bytes], str]] = {
    "another kind": (lambda: b"a,b\n1,2\n", "not a readable Parquet file"),
    "lists": (lambda: parquet(a=[[1], [2]]), 'Column "a" has lists or records'),
    "text that is not UTF-8": (
        lambda: arrow(a=broken_text()),
        "text in UTF-8",
    ),
    "large text": (lambda: arrow(a=broken_text().cast(pa.large_binary()).view(pa.large_string())), "text in UTF-8"),
    "bytes": (lambda: arrow(a=pa.array([b"x", b"\xff"])), "text in UTF-8"),
    "no such time zone": (lambda: arrow(a=pa.array([0], pa.timestamp("us", "Mars/Base"))), "text in UTF-8"),
    "no columns": (lambda: arrow(), "The file has no columns."),
    "no records": (lambda: arrow(a=pa.array([], pa.int64())), "no records"),
    "no name": (lambda: arrow(**{" ": pa.array([1])}), "Every column needs a name"),
    "a long text said often": (long_text_said_often, "unpacks to more than 2,000,000,000 bytes"),
}


@pytest.mark.parametrize(("file", "sentence"), ODD_PARQUET.values(), ids=list(ODD_PARQUET))
def test_odd_parquet_is_one_sentence(file: Callable[[], bytes], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_parquet(file())


def test_parquet_of_too_many_values_is_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = arrow(a=pa.array([1] * 6), b=pa.array([1] * 6))
    monkeypatch.setattr("dpbayes.sources.files.MAX_UNPACKED", 192)
    assert len(read_parquet(data)) == 6
    monkeypatch.setattr("dpbayes.sources.files.MAX_UNPACKED", 119)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", None)
    with pytest.raises(InputError, match="bytes; the limit is 119"):
        read_parquet(data)


VIEW = pa.string_view() if int(pa.__version__.partition(".")[0]) >= 21 else pa.string()
"""Text in views, which older versions of pyarrow read, but do not write to Parquet."""


def test_parquet_of_every_type_becomes_text() -> None:
    columns = {
        "a": pa.array(["x", None, "x"]).dictionary_encode(),
        "a.b": pa.array([7, 8, None]).dictionary_encode(),
        "decimal": pa.array([Decimal("1.50"), None, Decimal("-2")], pa.decimal128(5, 2)),
        "big": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "day": pa.array([0, 1, None], pa.date32()),
        "moment": pa.array([0, None, 10**9], pa.timestamp("ns")),
        "price": pa.array([Decimal("1.50"), None, Decimal("1.50")]).dictionary_encode(),
        "nothing": pa.nulls(3),
        "view": pa.array(["p", "q", None], VIEW),
    }
    assert read_parquet(arrow(**columns)).to_dict("list") == {
        "a": ["x", "", "x"],
        "a.b": ["7", "8", ""],
        "decimal": ["1.50", "", "-2.00"],
        "big": ["0", "18446744073709551615", ""],
        "day": ["1970-01-01", "1970-01-02", ""],
        "moment": ["1970-01-01 00:00:00.000000000", "", "1970-01-01 00:00:01.000000000"],
        "price": ["1.50", "", "1.50"],
        "nothing": ["", "", ""],
        "view": ["p", "q", ""],
    }


def test_a_parquet_column_whose_name_is_not_utf_8_is_refused() -> None:
    data = parquet(named=["x"]).replace(b"named", b"na\xffed")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_parquet(data)


# Workbooks


Rows = list[list[Any]]
SHEET = "xl/worksheets/sheet1.xml"


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def workbook(rows: Rows, *more: Rows, hidden: tuple[int, ...] = ()) -> bytes:
    book = openpyxl.Workbook()
    for number, rows_of_sheet in enumerate((rows, *more)):
        sheet = book.create_sheet(f"S{number}")
        for row in rows_of_sheet:
            sheet.append(row)
        sheet.sheet_state = "hidden" if number in hidden else "visible"
    book.remove(book.worksheets[0])
    return saved(book)


def cells(**values: Any) -> bytes:
    book = openpyxl.Workbook()
    for place, value in values.items():
        book.worksheets[0][place] = value
    return saved(book)


def with_part(data: bytes, name: str, change: Callable[[bytes], bytes] = bytes, *, spaces: int = 0) -> bytes:
    """Return the workbook with one of its parts written otherwise, and with this many spaces after it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        assert name in old.namelist()
        for part in old.namelist():
            with new.open(part, "w") as file:
                file.write(change(old.read(part)) if part == name else old.read(part))
                for start in range(0, spaces if part == name else 0, 1 << 20):
                    file.write(b" " * min(1 << 20, spaces - start))
    return out.getvalue()


GOOD: Rows = [["weather", "wet"], ["sun", "no"], ["rain", "yes"]]


def test_a_sheet_becomes_text_as_a_person_reads_it() -> None:
    when, moment = dt.datetime(2020, 1, 31), dt.datetime(2020, 1, 31, 8, 30)
    rows: Rows = [
        ["text", "whole", "part", "day", "moment", "truth", 2019, "none"],
        ["<b> 1,5", 3.0, 0.1, when, moment, True, "=", None],
        [None, -12, 1e300, None, when, False, "x", None],
        [None] * 8,
        [" a ", 10**14],
    ]
    frame, sheet = read_workbook(workbook(rows))
    assert sheet == "S0"
    assert list(frame.columns) == ["text", "whole", "part", "day", "moment", "truth", "2019", "none"]
    assert frame.to_numpy().tolist() == [
        ["<b> 1,5", "3", "0.1", "2020-01-31", "2020-01-31 08:30:00", "true", "=", ""],
        ["", "-12", "1e+300", "", "2020-01-31", "false", "x", ""],
        [" a ", "100000000000000", "", "", "", "", "", ""],
    ]


def test_a_workbook_is_known_by_its_content_and_read_like_any_file() -> None:
    data = workbook([["Betrag", "b"], ["1.234,56", "x"], [99, "y"]])
    with pytest.raises(InputError, match="Unpack an archive"):
        read_table("t.xlsx", b"PK\x03\x04" + bytes(100))
    for name in ("t.xlsx", "t.csv", "t"):
        file = read_table(name, data)
        assert file.frame["Betrag"].tolist() == ["1.234,56", "99"]
        assert file.said == 'Read from the sheet "S0" of a workbook.'


def test_the_first_visible_sheet_is_read() -> None:
    frame, sheet = read_workbook(workbook([["list"], ["a"]], GOOD, [], hidden=(0,)))
    assert (sheet, frame.to_numpy().tolist()) == ("S1", GOOD[1:])


def test_a_sheet_that_lies_about_its_size_is_read_whole() -> None:
    for ref in (b'ref="A1:A2"', b'ref="A1:XFD1048576"'):
        data = with_part(workbook(GOOD), SHEET, lambda xml, ref=ref: xml.replace(b'ref="A1:B3"', ref))
        assert read_workbook(data)[0].to_numpy().tolist() == GOOD[1:]


FORMULA = [["a", "b"], [1, "=A2+1"]]


def test_formulas_count_as_their_values() -> None:
    data = with_part(workbook(FORMULA), SHEET, lambda xml: re.sub(rb"</f><v\s*/?>(</v>)?", b"</f><v>7</v>", xml))
    assert read_workbook(data)[0].to_numpy().tolist() == [["1", "7"]]
    empty = re.compile(rb'<c r="B2"[^>]*>.*?</c>')
    data = with_part(workbook(FORMULA), SHEET, lambda xml: empty.sub(b'<c r="B2" t="str"><f>A2</f><v></v></c>', xml))
    assert read_workbook(data)[0].to_numpy().tolist() == [["1", ""]]


def merged() -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(workbook(GOOD)))
    book.worksheets[0].merge_cells("A2:A3")
    return saved(book)


def without_values() -> bytes:
    empty = re.compile(rb"</f><v\s*/?>(</v>)?")
    return with_part(workbook(FORMULA), SHEET, lambda xml: empty.sub(b"</f>", xml))


def bomb() -> bytes:
    return with_part(workbook(GOOD), SHEET, spaces=100_000_001)


def styles() -> bytes:
    return with_part(workbook(GOOD), "xl/styles.xml", spaces=10_000_001)


def entities() -> bytes:
    declared = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'
    return with_part(workbook(GOOD), SHEET, lambda xml: declared + xml[xml.index(b"<worksheet") :])


def row_number(number: bytes) -> bytes:
    far = re.compile(rb'<row r="3".*?</row>')
    row = b'<row r="%s"><c r="A%s"><v>1</v></c></row>' % (number, number)
    return with_part(workbook(GOOD), SHEET, lambda xml: far.sub(row, xml))


def wide_rows() -> bytes:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["a"])
    for row in range(2, 700):
        book.worksheets[0].cell(row, 16_384).number_format = "0.00"
    return saved(book)


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "no archive": (lambda: b"PK\x03\x04" + bytes(100), "cannot be read"),
    "broken off": (lambda: workbook(GOOD)[:-50], "cannot be read"),
    "no values": (lambda: workbook([], GOOD), "no columns"),
    "merged cells": (merged, "has merged cells. Unmerge them"),
    "formulas without values": (without_values, "formulas without stored values"),
    "a header alone": (lambda: workbook(GOOD[:1]), "has a header but no records"),
    "a title above": (lambda: workbook([["Survey"], *GOOD]), 'Row 2 has the value "wet" to the right of the last'),
    "a value beside": (lambda: workbook([["a"], [1], [2, None, "note"]]), 'Row 3 has the value "note"'),
    "no name": (lambda: workbook([["a", None, "c"], [1, 2, 3]]), "Every column needs a name"),
    "a name twice": (lambda: workbook([["a", "a"], [1, 2]]), '"a" is used twice for a column'),
    "too many columns": (lambda: workbook([[f"c{i}" for i in range(501)], [1]]), "501 columns; the limit is 500"),
    "opposite corners": (lambda: cells(A1="a", XFD1048576=2), "to the right of the last"),
    "a row far below": (lambda: row_number(b"99999999999"), "more than 10,000,000 rows and cells"),
    "a row of no number": (lambda: row_number(b"x"), "cannot be read"),
    "wide rows": (wide_rows, "more than 10,000,000 rows and cells"),
    "a bomb": (bomb, "unpacks to 100,"),
    "a bomb of styles": (styles, "counted ten times"),
    "entities": (entities, "declares XML entities"),
    "no XML": (lambda: with_part(workbook(GOOD), SHEET, lambda _: b"<worksheet"), "cannot be read"),
}


@pytest.mark.parametrize(("workbook", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_no_plain_table_is_one_sentence(workbook: Callable[[], bytes], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)) as refused:
        read_workbook(workbook())
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(("limit", "sentence"), [("MAX_WORKBOOK", "the limit is 20"), ("MAX_TEXT", "or 20 letters")])
def test_limits(limit: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"dpbayes.sources.files.{limit}", 20)
    with pytest.raises(InputError, match=sentence):
        read_table("t.xlsx", workbook([*GOOD, ["x" * 30]]))


@given(st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_workbook_with_wrong_bytes_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(workbook(GOOD))
    for place, byte in changes:
        data[place % len(data)] = byte
    with contextlib.suppress(InputError):
        assert len(read_workbook(bytes(data))[0])
