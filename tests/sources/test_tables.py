"""Files become text, text becomes codes over declared domains, and whatever is wrong gets one sentence."""

import contextlib
import io
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources import proposals
from dpbayes.sources.columns import (
    Categories,
    CountAs,
    Cuts,
    Groups,
    Missing,
    OwnState,
    encode,
    states_of_missing,
)
from dpbayes.sources.proposals import MOST_VALUES, Proposal, counted_proposal, proposal
from dpbayes.sources.tables import read_csv, read_parquet

VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)


def frame_of(**columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype="str")


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


# CSV


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5))
def test_csv_keeps_every_text(rows: list[tuple[str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["<b>a</b>", 'say "b", c'], dtype="str")
    again = read_csv(frame.to_csv(index=False, quoting=1).encode())
    assert list(again.columns) == list(frame.columns)
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


def test_csv_encodings_separators_and_line_ends() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"):
        read = read_csv("é,b\r\n1,ü\r\n".encode(encoding), encoding=encoding.removesuffix("-sig"))
        assert (list(read.columns), read.to_numpy().tolist()) == (["é", "b"], [["1", "ü"]])
    for separator in ";\t|":
        assert read_csv(f"a{separator}b\n1{separator}\n\n".encode(), separator=separator).to_numpy().tolist() == [
            ["1", ""]
        ]
    assert read_csv(b'a,b\n"1\n2",NA').to_numpy().tolist() == [["1\n2", "NA"]]
    assert read_csv(b"a\n1\n").shape == (1, 1)
    assert read_csv(b'\n\n"a\nb"\r\r \n\n""\n x\r\n\r\n').to_dict("list") == {"a\nb": [" ", "", " x"]}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b" \n\n", "The file is empty."),
        (b"a,b", "has a header but no records"),
        (b"a,b\n", "has a header but no records"),
        (b"a,b\n1,2\n\n3\n", "The header has 2 columns, but line 4 has 1."),
        (b"a,b\n1,2\n1,2,3\n", "The header has 2 columns, but line 3 has 3."),
        (b"a;b\n1;2\n", "the separator seems to be a semicolon"),
        (b"a\tb\n1\t2\n", "the separator seems to be a tab"),
        (b"a|b\n1|2\n", "the separator seems to be a vertical bar"),
        (b"a,a\n1,2\n", 'Two columns are named "a"'),
        (b"a,\n1,2\n", "Column 2 has no name"),
        (b"\x89PNG\r\n\x1a\n", "looks like an image"),
        (b"PK\x03\x04", "zip archive or a spreadsheet"),
        (b"\x1f\x8b\x08", "unpack it first"),
        (b"PAR1....PAR1", "read it as Parquet"),
        (b"a\x00b,c\n1,2\n", "contains bytes that are not text"),
        ("a,b\n1,2".encode("utf-16"), "its encoding may be UTF-16"),
        ("a,b\n1,é\n".encode("latin-1"), "not text in the encoding utf-8; try Latin-1"),
        ("é,b\n1,2\n".encode("latin-1"), "not text in the encoding utf-8; try Latin-1"),
        (b'a,b\n1,"2\n3,4\n5,6\n', "is not closed"),
        (b'a,b\n1,2\n3,"4', "is not closed"),
        (b'a,b\n"\n"1,2"', "is not closed"),
        (b"a,b\n1," + b"2" * 200_000, "A value near line 2 has more than 131,072 letters"),
        (b"a" * 200_000, "too long to be a header"),
        (",".join(map(str, range(501))).encode() + b"\n", "501 columns; the limit is 500"),
    ],
)
def test_csv_refusals(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_csv(data)


def test_csv_refuses_bad_options_and_large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="The separator must be one of"):
        read_csv(b"a\n1\n", separator="->")
    for encoding in ("klingon", "zip", "", "a\x00"):
        with pytest.raises(InputError, match="is not the name of a text encoding"):
            read_csv(b"a\n1\n", encoding=encoding)
    monkeypatch.setattr("dpbayes.sources.tables.MAX_UPLOAD", 3)
    with pytest.raises(InputError, match="has 4 bytes; the limit is 3"):
        read_csv(b"a\n1\n")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_csv, read_parquet):
        with contextlib.suppress(InputError):
            assert len(read(data)) > 0


# Parquet


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
    "nothing": (lambda: b"", "The file is empty."),
    "another kind": (lambda: b"a,b\n1,2\n", "not a readable Parquet file"),
    "lists": (lambda: parquet(a=[[1], [2]]), 'Column "a" has lists or records'),
    "text that is not UTF-8": (lambda: arrow(a=broken_text()), 'Column "a" has text that is not UTF-8'),
    "large text": (lambda: arrow(a=broken_text().cast(pa.large_binary()).view(pa.large_string())), "not UTF-8"),
    "bytes": (lambda: arrow(a=pa.array([b"x", b"\xff"])), "cannot be shown as text"),
    "records": (lambda: arrow(a=pa.array([{"x": 1}])), "has lists or records"),
    "maps": (lambda: arrow(a=pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))), "has lists or records"),
    "no such time zone": (lambda: arrow(a=pa.array([0], pa.timestamp("us", "Mars/Base"))), "cannot be shown as text"),
    "no columns": (lambda: arrow(), "The file has no columns."),
    "no records": (lambda: arrow(a=pa.array([], pa.int64())), "no records"),
    "no name": (lambda: arrow(**{" ": pa.array([1])}), "Column 1 has no name"),
    "a long text said often": (long_text_said_often, "unpacks to more than 2,000,000,000 bytes"),
}


@pytest.mark.parametrize(("file", "sentence"), ODD_PARQUET.values(), ids=list(ODD_PARQUET))
def test_odd_parquet_is_one_sentence(file: Callable[[], bytes], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_parquet(file())


def test_parquet_of_too_many_values_is_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = arrow(a=pa.array([1] * 6), b=pa.array([1] * 6))
    monkeypatch.setattr("dpbayes.sources.tables.MAX_VALUES", 12)
    assert len(read_parquet(data)) == 6
    monkeypatch.setattr("dpbayes.sources.tables.MAX_VALUES", 11)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", None)
    with pytest.raises(InputError, match="6 records of 2 columns; the limit is 11 values"):
        read_parquet(data)


def test_two_columns_of_one_name_are_one_sentence() -> None:
    file = io.BytesIO()
    arrow_parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), file)
    with pytest.raises(InputError, match='Two columns are named "a"'):
        read_parquet(file.getvalue())


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


# Columns


def test_encode_every_kind_of_column() -> None:
    frame = frame_of(c=["b", " a ", "b"], n=["24.9", "25", "40"], g=["x", "y", "z"])
    data = encode(
        frame,
        [
            Cuts("n", (25, 40), public=True),
            Categories("c", ("a", "b"), public=True),
            Groups("g", (("early", ("x", "y")), ("late", ("z",)))),
        ],
    )
    assert data.names == ("n", "c", "g")
    assert data.states == (("< 25", "25 to < 40", ">= 40"), ("a", "b"), ("early", "late"))
    assert data.codes.tolist() == [[0, 1, 0], [1, 0, 0], [2, 1, 1]]


def test_missing_policies() -> None:
    frame = frame_of(a=["x", "", "y", "?", " NA "], b=["1", "2", "3", "4", "5"])
    b = Cuts("b", (3,))
    own = encode(frame, [Categories("a", ("x", "y"), missing=OwnState("unknown")), b])
    assert own.states[0] == ("x", "y", "unknown")
    assert own.column("a").tolist() == [0, 2, 1, 2, 2]
    filled = encode(frame, [Categories("a", ("x", "y"), missing=CountAs("y")), b])
    assert filled.column("a").tolist() == [0, 1, 1, 1, 1]
    complete = encode(frame, [Categories("a", ("x", "y")), b])
    assert complete.states[0] == ("x", "y"), "no state is added to a column without missing values"
    assert complete.column("a").tolist() == [0, 0, 1, 0, 0]
    declared = encode(frame_of(a=["None", "x", ""]), [Categories("a", ("None", "x"))])
    assert declared.column("a").tolist() == [0, 1, 0]


RULES = (None, OwnState("unknown"), CountAs("s1"))
RECORDS = list(product(["a", "b", "", "NA"], ["1", "5", "?"]))


@pytest.mark.parametrize(("first", "second"), list(product(RULES, (None, OwnState("unknown"), CountAs(">= 3")))))
def test_the_codes_of_a_record_depend_on_this_record_alone(first: Missing, second: Missing) -> None:
    """All tables of two records, and with them all pairs of tables that differ in one record."""
    columns = [Groups("g", (("s0", ("a",)), ("s1", ("b",))), missing=first), Cuts("c", (3,), missing=second)]

    def codes(*records: tuple[str, str]) -> list[list[int]]:
        groups, cuts = zip(*records, strict=True)
        rows: list[list[int]] = encode(frame_of(g=list(groups), c=list(cuts)), columns).codes.tolist()
        return rows

    alone = {record: codes(record)[0] for record in RECORDS}
    for pair in product(RECORDS, repeat=2):
        assert codes(*pair) == [alone[record] for record in pair]
    assert states_of_missing(columns) == {
        name: column.domain[alone[record][place]]
        for place, (name, column, record) in enumerate(zip("gc", columns, [("", "1"), ("a", "?")], strict=True))
    }


def test_encode_refusals() -> None:
    frame = frame_of(a=["x", "y", "z", "z"], n=["1", "inf", "two", ""])
    with pytest.raises(InputError, match='Column "a" has "z" in record 3, which is not a declared state'):
        encode(frame, [Categories("a", ("x", "y"))])
    with pytest.raises(InputError, match='Column "n" has "inf" in record 2, which is not a number'):
        encode(frame, [Cuts("n", (1.5,))])
    with pytest.raises(InputError, match='no column "q"'):
        encode(frame, [Categories("q", ("x",))])
    with pytest.raises(InputError, match="at least one column"):
        encode(frame, [])
    with pytest.raises(InputError, match="used twice"):
        encode(frame, [Categories("a", ("x",))] * 2)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ((), "needs at least one cut point"),
        ((1, 1), "must increase; 1 follows 1"),
        ((2, 1.5), "must increase; 1.5 follows 2"),
        ((float("nan"),), "must be finite"),
        ((float("inf"),), "must be finite"),
        (("x",), '"x" of "a" is not a number'),
        (tuple(range(256)), "257 states; it needs 1 to 256"),
    ],
)
def test_wrong_cut_points(points: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        Cuts("a", points)


def test_a_state_is_no_novel() -> None:
    assert Categories("a", ("x" * 500,)).domain == ("x" * 500,)
    for column in (lambda: Categories("a", ("b", "x" * 501)), lambda: Groups("a", (("x" * 501, ("b",)),))):
        with pytest.raises(InputError, match=r'Column "a" has the state "x+…" of 501 letters; the limit is 500'):
            column()


def test_wrong_policies() -> None:
    with pytest.raises(InputError, match="needs a different name"):
        Categories("a", ("missing", "x"), missing=OwnState())
    with pytest.raises(InputError, match='cannot count as "z"'):
        Categories("a", ("x",), missing=CountAs("z"))
    with pytest.raises(InputError, match="used twice"):
        Groups("a", (("l", ("x",)), ("r", ("x",))))


# Proposals


def test_proposals() -> None:
    assert proposal("a", ["x10", "x9", "X1", "x9"]).domain == Categories("a", ("X1", "x9", "x10"))
    assert proposal("a", ["10", "9", ""]).domain == Categories("a", ("9", "10"), missing=OwnState())
    cuts = proposal("a", [str(i) for i in range(1, 1001)]).domain
    assert cuts == Cuts("a", (250, 500, 750))
    assert not cuts.public
    assert proposal("a", ["0"] * 90 + [str(i) for i in range(114, 130)]).domain == Cuts("a", (110,))


@pytest.mark.parametrize(
    ("values", "identifies"),
    [
        ([str(k) for k in range(13)], True),
        ([str(k) for k in range(12)], False),
        ([f"P{k}" for k in range(13)], True),
        ([f" {k}.0" for k in range(13)], True),
        ([*(str(k) for k in range(13)), "", "NA"], True),
        ([*(str(k) for k in range(13)), "5"], False),
        ([str(k / 2) for k in range(13)], False),
    ],
)
def test_identifiers_are_proposed_not_to_be_used(values: list[str], identifies: bool) -> None:
    column = proposal("a", values)
    assert column.domain is not None
    assert column.reason.startswith('Column "a" has a different value in each record') == identifies
    assert bool(column.reason) == identifies


def test_missing_values_get_a_state_that_is_no_value_of_the_column() -> None:
    column = proposal("a", ["missing", "", "missing value", "x"]).domain
    assert column.domain == ("missing", "missing value", "x", "missing value value")


def test_what_cannot_be_proposed_has_its_reason() -> None:
    assert proposal("a", ["", "NA"]) == Proposal("a", reason='Column "a" has no values. Leave it out.')


def quantile_cuts(name: str, values: list[str], bins: int) -> Cuts:
    return Cuts(name, proposals._quantiles(name, np.array(values, dtype=float), np.ones(len(values), dtype=int), bins))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40), st.integers(2, 9))
def test_quantile_cuts_always_cut(numbers: list[float], bins: int) -> None:
    values = [repr(x) for x in numbers]
    if min(numbers) == max(numbers):
        with pytest.raises(InputError, match="cannot be cut"):
            quantile_cuts("a", values, bins)
        return
    cuts = quantile_cuts("a", values, bins)
    codes = encode(frame_of(a=values), [cuts]).column("a")
    assert 2 <= len(cuts.domain) <= bins
    assert codes.min() == 0
    assert codes.max() == len(cuts.domain) - 1
    assert (np.diff(codes[np.argsort(numbers)].astype(int)) >= 0).all()


def test_proposals_refuse() -> None:
    many = proposal("id", [f"p{i}" for i in range(300)])
    assert many.domain is None
    assert many.reason.startswith('Column "id" has 300 distinct texts; the limit is 256')


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "a", "?", ""],
        [str(k % 7) for k in range(50)],
        [str(k) for k in range(200)],
        [str(k / 8) for k in range(300)],
        ["", "NA"],
        [f"p{k}" for k in range(300)],
    ],
)
def test_an_engines_counted_values_are_proposed_like_the_records(values: list[str]) -> None:
    assert counted_proposal("a", pd.Series(values).value_counts()) == proposal("a", values)


def test_many_records_of_an_engine_are_proposed_like_few_and_too_many_texts_are_said_to_be() -> None:
    counted = pd.Series([3_000_000, 1_000_000, 1], index=["f", "m", ""])
    assert counted_proposal("a", counted) == proposal("a", ["f", "m", ""])
    ages = pd.Series([10**9] * 100, index=[str(age) for age in range(100)])
    assert counted_proposal("a", ages) == proposal("a", [str(age) for age in range(100)] * 2)
    texts = pd.Series(1, index=[f"p{k}" for k in range(MOST_VALUES)])
    assert "5,000 distinct texts or more" in counted_proposal("a", texts).reason
    numbers = pd.Series(1, index=[str(k) for k in range(MOST_VALUES)])
    assert "a different value in each record, like" in counted_proposal("a", numbers).reason
