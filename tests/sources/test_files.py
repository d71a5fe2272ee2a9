"""Files of tables as people have them: what is recognised is right and stated, and every fault is one sentence."""

import contextlib
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.files import read_table

VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
ONE = "splits its first line into"
OTHER = "since the file is not text in UTF-8."


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5))
def test_csv_keeps_every_text(rows: list[tuple[str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["<b>a</b>", 'say "b", c'], dtype="str")
    again = read_table("x.csv", frame.to_csv(index=False, quoting=1).encode()).frame
    assert list(again.columns) == list(frame.columns)
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


def test_csv_has_empty_lines_and_any_line_ends() -> None:
    def read(data: bytes) -> dict[str, list[str]]:
        return read_table("x.csv", data).frame.to_dict("list")

    assert read(b'a,b\n"1\n2",NA') == {"a": ["1\n2"], "b": ["NA"]}
    assert read(b'\n\n"a\nb"\r\r \n\n""\n x\r\n\r\n') == {"a\nb": [" ", "", " x"]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n1,2\n", "Read with a comma between values and in UTF-8."),
        (b"a\n1\n", "Read with a comma between values and in UTF-8."),
        ("\ufeffa,b\n1,2\n".encode(), "Read with a comma between values and in UTF-8."),
        (b"a;b\n1;2\n", f"with a semicolon between values and in UTF-8, since a semicolon {ONE} 2 columns."),
        (b"a\tb\tc\n1\t2\t3\n", f"Read with a tab between values and in UTF-8, since a tab {ONE} 3 columns."),
        (b"a|b\n1|2\n", f"with a vertical bar between values and in UTF-8, since a vertical bar {ONE} 2 columns."),
        ("a,b\n5 €,2\n".encode("windows-1252"), f"and in Windows-1252, {OTHER}"),
        ("a,b\n1,2\n".encode("utf-16"), "and in UTF-16, since the file begins with the byte order mark of UTF-16."),
        ("Größe;b\n1;Köln\n".encode("latin-1"), f"a semicolon {ONE} 2 columns and the file is not text in UTF-8."),
    ],
)
def test_what_is_recognised_is_said_with_its_reason(data: bytes, said: str) -> None:
    file = read_table("x.csv", data)
    assert said in file.said
    assert file.frame.columns[0] in ("a", "Größe")
    assert len(file.frame) == 1


def test_parquet_goes_by_its_name_or_its_content() -> None:
    out = io.BytesIO()
    pd.DataFrame({"a": ["1,5", "2"]}).to_parquet(out)
    for name in ("x.parquet", "X.PQ", "x.csv"):
        file = read_table(name, out.getvalue())
        assert (file.frame["a"].tolist(), file.said) == (["1,5", "2"], "Read as Parquet.")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n1,2,3\n", ","),  # ragged: its own refusal is about line 3
        ("name,tags\nx,a;b\ny,c;d;e\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a;b,c\n1;2,3\n", ","),
        ('"a,x";b\n1;2\n', ";"),
        ("\n\na;b\n1;2\n", ";"),
        ("a b\n1;2\n", ","),
    ],
)
def test_the_separator_is_the_one_that_parts_the_lines_alike(text: str, separator: str) -> None:
    try:
        said = read_table("x.csv", text.encode()).said
    except InputError as error:
        said = str(error) + (" a comma" if "header has" in str(error) else "")
    assert {",": "a comma", ";": "a semicolon"}[separator] in said


def test_a_file_longer_than_its_head_and_a_block_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.sources.files.BLOCK", 10_000)
    lines = [[str(i), f"{i / 7:.3f}", "x" * (i % 90)] for i in range(7_000)]
    frame = read_table("x.csv", "".join(map("{}\n".format, ["a;b;c", *map(";".join, lines)])).encode()).frame
    assert frame.to_numpy().tolist() == lines
    assert frame.index.tolist() == list(range(7_000))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b" \n\n", "The file is empty."),
        (b"a,b", "has a header but no records"),
        (b"a,b\n", "has a header but no records"),
        (b"a,b\n1,2\n\n3\n", "The header has 2 columns, but line 4 has 1."),
        (b"a,b\n1,2\n1,2,3\n", "The header has 2 columns, but line 3 has 3."),
        (b"a,a\n1,2\n", '"a" is used twice for a column'),
        (b"a,\n1,2\n", "Every column needs a name"),
        (b"sep=;\na;b\n1;2\n", "Every column needs a name"),
        (b"PK\x03\x04\x00", "Unpack an archive"),
        (b"PAR1....PAR1", "not a readable Parquet file"),
        (b"a\x00b,c\n1,2\n", "This file is not text"),
        (b"a,b\n\x81,2\n", "not text in UTF-8, UTF-16 or Windows-1252"),
        (b'a,b\n1,"2\n3,4\n5,6\n', "line 4 (unexpected end of data)"),
        (b'a,b\n1,2\n3,"4', "Perhaps a quotation mark is not closed"),
        (b'a,b\n"\n"1,2"', "Perhaps a quotation mark is not closed"),
        (b"a,b\n1," + b"2" * 200_000, "near line 2 (field larger than field limit"),
        (",".join(map(str, range(501))).encode() + b"\n", "501 columns; the limit is 500"),
    ],
)
def test_csv_refusals(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_table("x.csv", data)


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [("files.MAX_UPLOAD", "has 6 bytes; the limit is 1"), ("files.MAX_RECORDS", "2 records; the limit is 1")],
)
def test_large_files_are_refused(limit: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"dpbayes.sources.{limit}", 1)
    with pytest.raises(InputError, match=sentence):
        read_table("x.csv", b"a\n1\n2\n")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for name in ("x.csv", "x.parquet"):
        with contextlib.suppress(InputError):
            assert len(read_table(name, data).frame) > 0
