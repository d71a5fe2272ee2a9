"""Tables in files and in DuckDB: their columns, values and records, their faults, and samples of them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Column
from dpbayes.sources.engines import connect
from dpbayes.sources.engines.table import DeclaredTable, Engine, open_table, tables_of
from tests.sources.engines.tables import in_duckdb

FALSE_ALARM = 1e-9
"""The probability that a simple random sample fails the test of samples."""


def counted(address: str, *columns: Column) -> tuple[int, list[int]]:
    """Return the number of records and the counts of a chain over columns."""
    names = [column.name for column in columns]
    network = dp.Network.from_edges(names, list(pairwise(names)), {c.name: c.domain for c in columns})
    counts = dp.count(network, DeclaredTable(open_table(address), columns))
    return counts.n, counts.values.tolist()


# DuckDB


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create type mood as enum ('fine', 'bad')")
        connection.execute("create table patients (sex varchar, mood mood, folded varchar collate nocase)")
        connection.execute("insert into patients values ('f', 'bad', 'A'), ('m', 'fine', 'a'), ('f', NULL, 'A')")
        connection.execute('create schema "a.b"; create view "a.b"."say ""hi""" as select * from patients')
    return path


def test_a_file_of_duckdb_is_counted_and_left_unchanged(file: Path) -> None:
    before = file.read_bytes()
    columns = (Categories("sex", ("f", "m")), Categories("mood", ("bad", "fine", "never declared by the type")))
    tables = tables_of(f"duckdb:{file}")
    assert tables == (f'duckdb:{file}?table="a.b"."say ""hi"""', f"duckdb:{file}?table=main.patients")
    for address in (*tables, f"duckdb:{file}?table=patients"):
        assert counted(address, *columns) == (3, [2, 1, 2, 0, 0, 0, 1, 0])
        assert open_table(address).title == address
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("collation", ["nocase", "noaccent"])
def test_text_whose_collation_treats_letters_as_equal_is_refused(tmp_path: Path, collation: str) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table t (x varchar collate {collation}); insert into t values ('A'), ('á')")
    with pytest.raises(InputError, match=r'"x".*text whose collation'):
        counted(f"duckdb:{path}?table=t", Categories("x", ("A", "a", "á")))


def test_every_fault_of_a_file_is_one_sentence(file: Path) -> None:
    bad = file.with_name("bad.duckdb")
    bad.write_text("hello" * 1000)
    rows_of_a_frame = pd.DataFrame({"x": [1]})  # DuckDB would use a variable of a program as a table
    assert len(rows_of_a_frame) == 1
    faults = {
        f"duckdb:{file}?table=nobody": 'DuckDB has no table "nobody"',
        f"duckdb:{file}?table=nowhere.patients": 'DuckDB has no table "nowhere.patients"',
        f"duckdb:{file}?table=rows_of_a_frame": "has no table",
        f"duckdb:{file}x?table=t": '"clinic.duckdbx" does not exist',
        f"duckdb:{file.parent}?table=t": "does not exist",
        f"duckdb:{bad}?table=t": "cannot open the file as a database",
    }
    for address, sentence in faults.items():
        with pytest.raises(InputError, match=sentence) as refused:
            open_table(address).types()
        assert str(file.parent) not in str(refused.value)
    with duckdb.connect(str(file)), pytest.raises(InputError, match="open for writing"):
        open_table(f"duckdb:{file}?table=patients").types()


# Files


def test_a_folder_is_one_table_without_its_hidden_files(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", "a"], "y": [1, 2, 2]})
    (tmp_path / "k=1").mkdir()
    pq.write_table(table, tmp_path / "part-0.parquet")
    pq.write_table(table.select(["y", "x"]), tmp_path / "k=1" / "part-1.PQ")
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_old.parquet", ".x.parquet", "readme.txt"):
        (tmp_path / name).write_text("no table")
    columns = (Categories("x", ("a", "b")), Categories("y", ("1", "2")))
    assert counted(f"parquet:{tmp_path}", *columns) == (6, [4, 2, 2, 2, 0, 2])
    assert set(open_table(f"parquet:{tmp_path}").types()) == {"x", "y"}
    assert tables_of(f"parquet:{tmp_path}") == (f"parquet:{tmp_path}",)


def test_faults_of_parquet_files_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("hello" * 10)
    (tmp_path / "empty").mkdir()
    faults = {"bad.parquet": "not a readable Parquet", "gone.parquet": "does not exist", "empty": "no Parquet file"}
    for name, sentence in faults.items():
        with pytest.raises(InputError, match=sentence) as refused:
            open_table(f"parquet:{tmp_path / name}").types()
        assert str(tmp_path) not in str(refused.value)


def test_an_empty_table_has_no_records(tmp_path: Path) -> None:
    engine = in_duckdb(pa.table({"x": pa.array([], type=pa.string())}), tmp_path)
    column = Categories("x", ("a", "b"))
    counts = dp.count(dp.network("x", {"x": column.domain}), DeclaredTable(engine, (column,)))
    assert (counts.n, counts.values.tolist()) == (0, [0, 0])
    assert len(engine.head(5)) == len(engine.values("x", 5)) == len(engine.sample(5)) == 0


# Values and records


def test_values_and_records_of_every_type_are_text(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([[1, 2], None]), "d": pa.array([1, None], pa.decimal128(5, 2)), "f": [1.0, 0.5]})
    engine = in_duckdb(table, tmp_path)
    assert engine.head(5).to_dict("list") == {"x": ["[1, 2]", ""], "d": ["1.00", ""], "f": ["1", "0.5"]}
    assert engine.values("d", 5).to_dict() == {"": 1, "1.00": 1}
    assert engine.types()["f"] == "float64"
    with pytest.raises(InputError, match='no column "z"'):
        engine.values("z", 1)


def test_the_most_frequent_values_come_first(tmp_path: Path) -> None:
    engine = in_duckdb(pd.DataFrame({"x": ["a", "b", "b", None, "?", "b", "a"]}), tmp_path)
    values = engine.values("x", 2)
    assert values.to_dict() == {"b": 3, "a": 2}
    assert values.index.tolist() == ["b", "a"]


def test_a_sample_has_distinct_records_from_everywhere(tmp_path: Path) -> None:
    numbers = np.arange(1000)
    engine: Engine = in_duckdb(pa.table({"number": numbers, "word": pa.array((numbers % 7).astype(str))}), tmp_path)
    sample = engine.sample(200)
    places = sample["number"].astype(np.int64).to_numpy()
    assert len(set(places.tolist())) == 200
    assert (sample["word"].astype(np.int64) == places % 7).all()
    assert stats.chisquare(np.bincount(places // 250, minlength=4)).pvalue > FALSE_ALARM
    assert len(engine.sample(2000)) == 1000


# Errors of engines

SECRET = "hunter2 at db.example.org"


@pytest.mark.parametrize(
    ("place", "error", "sentence"),
    [
        ("postgresql://h/d", ModuleNotFoundError("psycopg"), 'PostgreSQL needs a driver .*"dpbayes\\[postgres\\]"'),
        ("spark:yarn", ModuleNotFoundError("pyspark"), 'Spark needs a driver .*"dpbayes\\[spark\\]"'),
        ("duckdb:f", ModuleNotFoundError("ibis"), 'DuckDB needs a driver .*"dpbayes\\[engines\\]"'),
        ("postgresql://h/d", RuntimeError(f"permission denied for {SECRET}"), 'may not read the table "t"'),
        ("postgresql://h/d", RuntimeError(f"connection failed: {SECRET}"), "PostgreSQL cannot be reached"),
        ("spark:yarn", RuntimeError(f"[TABLE_OR_VIEW_NOT_FOUND] {SECRET}"), 'Spark has no table "t"'),
        ("spark:yarn", RuntimeError(SECRET), "Spark could not answer"),
    ],
)
def test_an_error_of_an_engine_is_a_sentence_without_its_own_message(
    place: str, error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> Any:
        raise error

    monkeypatch.setattr(connect, "_connection", failing)
    with pytest.raises(InputError, match=sentence) as refused:
        open_table(f"{place}?table=t").types()
    assert "hunter2" not in str(refused.value)
    assert "example" not in str(refused.value)
