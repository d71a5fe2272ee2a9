"""Files of tables as people have them: what is recognised is right, said, and can be overruled."""

import io

import pandas as pd
import pytest

from dpbayes.base.validation import InputError
from dpbayes.sources.files import Dialect, read_table

GERMAN = "Größe;Betrag;Ort\n1;1.234,56;Köln\n2;99,5;Bonn\n3;;Köln\n"


ONE = "splits its first line into"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n1,2\n", "Read with a comma between values and in UTF-8."),
        (b"a\n1\n", "Read with a comma between values and in UTF-8."),
        (b"a;b\n1;2\n", f"with a semicolon between values and in UTF-8, since a semicolon {ONE} 2 columns."),
        (b"a\tb\tc\n1\t2\t3\n", f"Read with a tab between values and in UTF-8, since a tab {ONE} 3 columns."),
        (b"a|b\n1|2\n", f"with a vertical bar between values and in UTF-8, since a vertical bar {ONE} 2 columns."),
        ("ä,b\n1,2\n".encode("latin-1"), "and in Latin-1, since the file is not text in UTF-8."),
        ("a,b\n5 €,2\n".encode("windows-1252"), "and in Windows-1252, since the file is not text in UTF-8."),
        (b"a,b\n\x81\xe4,2\n", "and in Latin-1, since the file is not text in UTF-8."),
        ("a,b\n1,2\n".encode("utf-16"), "and in UTF-16, since the file begins with the byte order mark of UTF-16."),
        (
            "a;b\n1;2\n".encode("utf-16"),
            f"since a semicolon {ONE} 2 columns and the file begins with the byte order mark",
        ),
        (
            GERMAN.encode("latin-1"),
            f"Read with a semicolon between values and in Latin-1, since a semicolon {ONE} 3 columns and the file is "
            "not text in UTF-8.",
        ),
    ],
)
def test_what_is_recognised_is_said_with_its_reason(data: bytes, said: str) -> None:
    assert said in read_table("x.csv", data).said


def test_what_is_chosen_is_done() -> None:
    data = GERMAN.encode("latin-1")
    file = read_table("x.csv", data, Dialect(";", "latin-1"))
    assert file.frame["Betrag"].tolist() == ["1.234,56", "99,5", ""]
    assert file.said == "Read with a semicolon between values and in Latin-1."
    with pytest.raises(InputError, match="not text in the encoding utf-8"):
        read_table("x.csv", data, Dialect(encoding="utf-8"))
    with pytest.raises(InputError, match="seems to be a semicolon"):
        read_table("x.csv", b"a;b\n1;2\n", Dialect(separator=","))
    with pytest.raises(InputError, match="Column 2 has no name in the header"):
        read_table("x.csv", b"sep=;\na;b\n1;2\n")
    with pytest.raises(InputError, match="is not the name of a text encoding"):
        read_table("x.csv", b"a;b\n1;2\n", Dialect(encoding="klingon"))


def test_parquet_goes_by_its_name() -> None:
    out = io.BytesIO()
    pd.DataFrame({"a": ["1,5", "2"]}).to_parquet(out)
    for name in ("x.parquet", "X.PQ"):
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


def test_the_separator_is_seen_in_a_file_longer_than_its_head() -> None:
    lines = "".join(f"{i};{i / 7:.3f};{'x' * (i % 90)}\n" for i in range(5000))
    assert read_table("x.csv", f"a;b;c\n{lines}".encode()).frame.shape == (5000, 3)
