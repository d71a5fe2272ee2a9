"""Files of tables as people have them: what is recognised is right, said, and can be overruled."""

import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.columns import numbers_in
from dpbayes.sources.files import Dialect, comma_evidence, read_table, with_points

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
            'not text in UTF-8. Numbers are read with a decimal comma, since column "Betrag" holds "1.234,56".',
        ),
    ],
)
def test_what_is_recognised_is_said_with_its_reason(data: bytes, said: str) -> None:
    assert said in read_table("x.csv", data).said


def test_what_is_chosen_is_done() -> None:
    data = GERMAN.encode("latin-1")
    file = read_table("x.csv", data, Dialect(";", "latin-1", "."))
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
    quoted = read_table("x.csv", b'a,b\n"1,5",x\n"2.000,5",y\n', Dialect(decimal=","))
    assert quoted.frame["a"].tolist() == ["1.5", "2000.5"]
    assert quoted.said.endswith("Numbers are read with a decimal comma, as chosen.")


def test_parquet_goes_by_its_name_and_takes_a_decimal_comma_too() -> None:
    out = io.BytesIO()
    pd.DataFrame({"a": ["1,5", "2"]}).to_parquet(out)
    for name in ("x.parquet", "X.PQ"):
        file = read_table(name, out.getvalue())
        assert (file.frame["a"].tolist(), file.said) == (["1,5", "2"], "Read as Parquet.")
    assert read_table("x.pq", out.getvalue(), Dialect(decimal=",")).frame["a"].tolist() == ["1.5", "2"]


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


# Decimal sign


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1,5", "-2,25", "+3"], [1.5, -2.25, 3]),
        (["1.234,56", "1.234.567,8", "12"], [1234.56, 1_234_567.8, 12]),
        (["1 234,56", "1\u00a0234", "1\u202f234,5"], [1234.56, 1234, 1234.5]),
        ([" 1,5 ", "", "NA", "2,5e3"], [1.5, None, None, 2500]),
        (["0,125", "70,125"], [0.125, 70.125]),
    ],
)
def test_comma_numbers_become_numbers(values: list[str], numbers: list[float | None]) -> None:
    frame = pd.DataFrame({"a": values}, dtype="str")
    assert comma_evidence(frame).startswith('column "a" holds')
    read = numbers_in(with_points(frame)["a"]).tolist()
    assert [None if number != number else number for number in read] == numbers


@pytest.mark.parametrize(
    "values",
    [
        ["1.5", "2"],
        ["1", "2"],
        ["1,234", "5,678"],  # thousands, perhaps
        ["1,5", "two"],
        ["1,5,6", "2"],
        ["01.02.2020", "03.04.2021"],
        ["1.23,4", "5"],
        [",5", "1,5"],
        ["", "NA"],
    ],
)  # fmt: skip
def test_other_columns_tell_nothing_of_a_decimal_comma(values: list[str]) -> None:
    assert comma_evidence(pd.DataFrame({"a": values}, dtype="str")) == ""


def test_a_column_with_decimal_points_forbids_the_guess() -> None:
    frame = pd.DataFrame({"a": ["1,5", "2,5"], "b": ["1.5", "2"]}, dtype="str")
    assert comma_evidence(frame) == ""
    assert comma_evidence(frame[["a"]]) != ""


def test_columns_of_other_things_stay_as_they_are() -> None:
    frame = pd.DataFrame({"a": ["1,5", "x"], "b": ["01.02.2020", "1"], "c": ["NA", ""]}, dtype="str")
    pd.testing.assert_frame_equal(with_points(frame), frame)


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=20))
def test_numbers_written_the_german_way_are_read_back(numbers: list[float]) -> None:
    german = [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in numbers]
    frame = pd.DataFrame({"a": german}, dtype="str")
    assert numbers_in(with_points(frame)["a"]).tolist() == numbers
