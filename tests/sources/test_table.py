"""A data frame goes in and comes out: declarations, texts of values, types, and the numbers within their bins."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.sources.domains import value_text

FRAME = pd.DataFrame(
    {
        "age": pd.array([25, 61, 43, None], dtype="Int64"),
        "smoker": [True, False, False, True],
        "blood": ["A", "B", "0", None],
        "visits": [1, 2, 1, 2],
        "region": ["a", "b", "c", "a"],
    }
)
DECLARED = {
    "age": dp.cuts(0, 30, 50, 120, None),
    "smoker": [False, True],
    "blood": ["A", "B", "0", None],
    "visits": [1, 2],
    "region": {"north": ["a", "b"], "south": ["c"]},
}
CODES = [[0, 1, 0, 0, 0], [2, 0, 1, 1, 0], [1, 0, 2, 0, 1], [3, 1, 3, 1, 0]]


def test_a_frame_becomes_codes_over_the_declared_domains():
    table = dp.Table.from_frame(FRAME, DECLARED)
    assert table.codes.tolist() == CODES
    assert table.domain("age") == ("< 30", "30 to < 50", ">= 50", "missing")
    assert table.domain("region") == ("north", "south")
    assert all(column.public for column in table.columns)


def test_other_frames_have_the_codes_of_the_pandas_frame():
    assert dp.Table.from_frame(pa.Table.from_pandas(FRAME), DECLARED).codes.tolist() == CODES
    polars = pytest.importorskip("polars")
    table = dp.Table.from_frame(polars.from_arrow(pa.Table.from_pandas(FRAME)), DECLARED)
    assert table.codes.tolist() == CODES
    assert isinstance(table.to_frame(), polars.DataFrame)


def test_the_frame_comes_back_with_its_types_and_its_codes():
    table = dp.Table.from_frame(FRAME, DECLARED)
    back = table.to_frame(seed=3)
    assert back.dtypes.astype(str).tolist()[:4] == FRAME.dtypes.astype(str).tolist()[:4]
    assert back.loc[:, ["smoker", "blood", "visits"]].equals(FRAME.loc[:, ["smoker", "blood", "visits"]])
    assert back["region"].tolist() == ["north", "north", "south", "north"]
    again = dp.Table.from_frame(back, DECLARED | {"region": ["north", "south"]})
    assert again.codes.tolist() == CODES


@given(st.integers(0, 2**32), st.lists(st.integers(-50, 50), min_size=3, max_size=6, unique=True))
def test_numbers_are_drawn_within_their_bins(seed, points):
    points = sorted(points)
    ages = np.arange(points[0], points[-1])
    for kind in (np.int64, np.float64):
        table = dp.Table.from_frame(pd.DataFrame({"age": ages.astype(kind)}), {"age": dp.cuts(*points)})
        drawn = table.to_frame(seed=seed)["age"]
        assert drawn.between(points[0], points[-1], inclusive="left").all()
        again = dp.Table.from_frame(drawn.to_frame(), {"age": dp.cuts(*points)})
        assert np.array_equal(again.codes, table.codes)


def test_numbers_are_even_within_their_bin():
    """False alarms below 1e-9: the mean of 10,000 even numbers lies within 6.2 standard errors."""
    table = dp.Table.from_frame(pd.DataFrame({"age": np.full(10_000, 40)}), {"age": dp.cuts(0, 30, 50, 120)})
    drawn = table.to_frame(seed=1)["age"]
    assert sorted(drawn.unique()) == list(range(30, 50))
    assert abs(drawn.mean() - 39.5) < 6.2 * np.sqrt((20**2 - 1) / 12 / 10_000)


def test_a_part_of_a_table_keeps_its_declarations():
    table = dp.Table.from_frame(FRAME, DECLARED).take([1, 2]).select(["blood", "age"])
    assert table.codes.tolist() == [[1, 2], [2, 1]]
    assert [column.name for column in table.columns] == ["blood", "age"]
    assert table.to_frame()["blood"].tolist() == ["B", "0"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (np.False_, "False"), (1.0, "1"), (np.float64(2.5), "2.5"), (7, "7"), ("yes", "yes")],
)
def test_values_have_the_texts_that_declarations_have(value, text):
    assert value_text(value) == text


AGES = pd.DataFrame({"age": [20, -1, 99, 50]})


@pytest.mark.parametrize(
    ("missing", "state", "codes", "blank", "back"),
    [
        (">= 30", ">= 30", [0, 0, 1, 1], 1, None),
        (-1, "missing", [0, 2, 1, 1], 2, -1),
        ([99, -1], "missing", [0, 2, 2, 1], 2, 99),
    ],
)
def test_numbers_stand_for_missing_values(missing, state, codes, blank, back):
    declared = {"age": dp.cuts(0, 30, 120, missing=missing)}
    if -1 in np.atleast_1d(np.array(missing, dtype=object)):
        table = dp.Table.from_frame(AGES, declared)
    else:
        with pytest.warns(UserWarning, match='"age" has 1 number outside 0 to 120, .* declare missing=-1'):
            table = dp.Table.from_frame(AGES, declared)
    assert (table.columns[0].missing, table.codes.ravel().tolist()) == (state, codes)
    assert dp.Table.from_frame(pd.DataFrame({"age": [None, 20.0]}), declared).codes.ravel().tolist() == [blank, 0]
    (read,) = dp.read_domains(dp.write_domains(declared))
    assert read.domain == table.columns[0]
    if back is not None:
        frame = replace(table, codes=np.array([[2], [0]], dtype=np.uint8)).to_frame()
        assert (frame["age"][0], frame["age"].dtype) == (back, np.int64)


def test_declared_missing_values_come_back_in_types_that_have_them():
    table = dp.Table.from_frame(
        pd.DataFrame({"a": [1, 2], "b": [True, False]}), {"a": [1, 2, None], "b": [True, False, None]}
    )
    back = replace(table, codes=np.array([[2, 2], [0, 0]], dtype=np.uint8)).to_frame()
    assert back.dtypes.astype(str).tolist() == ["Int64", "boolean"]
    assert back.isna().to_numpy().tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize(
    ("frame", "declarations", "names"),
    [
        (FRAME, {"smoker": "no"}, ("smoker", "list of its values")),
        (FRAME, {"weight": [1]}, ("weight", "age, smoker")),
        (FRAME, {"visits": [dp.cuts(0, 1, 2), None]}, ("visits", "dp.cuts(", "None")),
        (FRAME, {"blood": {"A", "B", "0"}}, ("blood", "list of its values")),
        (FRAME, {"visits": [0, 1]}, ("visits", '"2" in record 2', '"0, 1"', "dp.cuts(")),
        (FRAME, {}, ("at least one column",)),
        (FRAME, ["smoker"], ('"smoker"', '["no", "yes"]')),
        (DECLARED, FRAME, ("declarations", "DataFrame", '["no", "yes"]')),
        (FRAME, {"visits": {"values": [1, 2], "cuts": [0, 1, 2]}}, ("visits", "one of the fields")),
        (FRAME, {"visits": {"meaning": "visits a year"}}, ("visits", '"use": False')),
        ("clinic.csv", DECLARED, ("data frame", "str", "read_csv")),
        ({"a": [1]}, {"a": [1]}, ("data frame", "dict")),
        (FRAME, {"age": dp.Categories("other", ("a",))}, ("age", "other")),
        (pd.DataFrame({"a": ["1", "x"]}), {"a": dp.cuts(0, 1, 2)}, ("x", "record 2", "number")),
    ],
)
def test_a_mistake_has_one_sentence(frame, declarations, names):
    with pytest.raises(dp.InputError) as refusal:
        dp.Table.from_frame(frame, declarations)
    assert all(name in str(refusal.value) for name in names)


def test_entries_of_a_file_and_files_are_declarations(tmp_path):
    """Only an entry has nothing but these fields: groups with one of their names among other labels stay groups."""
    entries = {
        "smoker": {"values": [False, True], "use": True},
        "age": {"cuts": [0, 30, 50, 120], "missing": True},
        "blood": {"use": False},
        "region": {"groups": {"values": ["a", "b"], "cuts": ["c"]}},
        "visits": {"values": [1], "other": [2]},
    }
    table = dp.Table.from_frame(FRAME, entries)
    assert table.states == (
        *(("False", "True"), ("< 30", "30 to < 50", ">= 50", "missing")),
        *(("values", "cuts"), ("values", "other")),
    )
    file = tmp_path / "entries.txt"
    file.write_text(dp.write_domains(entries))
    for same in (file, str(file), file.read_text(), dp.read_domains(file), dp.read_domains(str(file))):
        assert dp.Table.from_frame(FRAME, same).columns == table.columns
    file.write_text("a = [")
    with pytest.raises(dp.InputError, match=r'entries.txt" is not JSON or TOML'):
        dp.declare(file)


def test_a_blank_value_declares_missing_values():
    for blank in (None, np.nan, pd.NA, ""):
        (blood,) = dp.declare({"blood": ["A", blank]})
        assert (blood.states, blood.missing) == (("A",), "missing")


def test_missing_values_belong_to_the_group_that_has_none():
    (blood,) = dp.declare({"blood": {"A or B": ["A", "B"], "other": ["0", None]}})
    assert dp.Table.from_frame(FRAME, [blood]).column("blood").tolist() == [0, 0, 1, 1]
    assert blood.domain == ("A or B", "other")
    with pytest.raises(dp.InputError, match='"blood" are in 2 groups'):
        dp.declare({"blood": {"A or B": ["A", None], "other": [None]}})


def test_a_warning_states_what_undeclared_missing_values_count_as():
    with pytest.warns(UserWarning, match='"blood" has 1 missing value, counted as "A". .* None') as given:
        table = dp.Table.from_frame(FRAME, {"blood": ["A", "B", "0"], "region": ["a", "b", "c"]})
    assert [one.filename for one in given] == [__file__]
    assert table.column("blood").tolist() == [0, 1, 2, 0]
    with pytest.warns(UserWarning, match='"blood" has 1 number outside 10 to 60, .* last bin.$'):
        dp.Table.from_frame(pd.DataFrame({"blood": [9.4, 20]}), {"blood": dp.cuts(10, 30, 60)})


def test_a_polars_frame_comes_back_without_pyarrow(monkeypatch: pytest.MonkeyPatch):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"alive": [True, False], "site": ["a", None]})
    table = dp.Table.from_frame(frame, {"alive": [False, True], "site": ["a", None]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert table.to_frame().equals(frame)
