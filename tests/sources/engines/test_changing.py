"""A table of DuckDB that changes while it is counted: a table has one state, views of files are compared or refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.model.regression import NumericColumn
from dpbayes.sources.columns import Categories, Cuts
from dpbayes.sources.engines import gram, sql
from dpbayes.sources.engines.address import open_table
from dpbayes.sources.engines.engine import DeclaredTable

ROWS = pa.table({"x": ["a", "b", "b"] * 10, "y": list(range(30)), "z": [0, 1] * 15})
MORE = pa.concat_tables([ROWS, ROWS])
OTHERS = ROWS.set_column(0, "x", pa.array(["b", "b", "b"] * 10))
COLUMNS = (Categories("x", ("a", "b")), Cuts("y", (10,)), Categories("z", ("0", "1")))
NETWORK = dp.Network.from_edges(["x", "y", "z"], [("x", "y"), ("x", "z")], {c.name: c.domain for c in COLUMNS})
COUNTS = [10, 20, 4, 6, 6, 14, 5, 5, 10, 10]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file of Parquet; `view` of file.duckdb is of it, `t` is a table with the same records."""
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path)
    with duckdb.connect(str(tmp_path / "file.duckdb")) as database:
        database.execute(f"create view view as from read_parquet('{path}')")
        database.execute("create table t as from view")
    return path


def table_of(rows: Path, name: str) -> sql.SqlTable:
    """Return a table that is counted by one statement for each family."""
    return sql.SqlTable(open_table(f"duckdb:{rows.parent}/file.duckdb?table={name}").database, 1)  # type: ignore[attr-defined]


def between(monkeypatch: pytest.MonkeyPatch, change: Callable[[], Any]) -> list[int]:
    """Have something done before the second statement of a scan; return a list that grows by each statement."""
    monkeypatch.setattr(sql, "MOST_ARMS", 1)
    statements, answered = list[int](), sql.answered

    def watched(*words: Any) -> Any:
        statements.append(len(statements))
        if len(statements) == 2:
            change()
        return answered(*words)

    monkeypatch.setattr(sql, "answered", watched)
    return statements


@pytest.mark.parametrize("later", [MORE, ROWS.slice(1), OTHERS], ids=["grown", "shrunk", "replaced"])
def test_a_view_of_a_file_that_is_written_anew_between_two_statements_is_refused(
    rows: Path, later: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = between(monkeypatch, lambda: pq.write_table(later, rows))
    with pytest.raises(InputError, match="The table changed during the count"):
        dp.count(NETWORK, DeclaredTable(table_of(rows, "view"), COLUMNS))
    assert len(statements) == 3


@pytest.mark.parametrize("name", ["t", "view"])
def test_a_table_that_stays_as_it_is_is_counted_in_several_statements(
    rows: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = between(monkeypatch, lambda: None)
    assert dp.count(NETWORK, DeclaredTable(table_of(rows, name), COLUMNS)).values.tolist() == COUNTS
    assert len(statements) == 3


def test_a_table_in_the_file_cannot_change_between_two_statements(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = list[str]()

    def write() -> None:
        with pytest.raises(duckdb.Error) as refused:
            duckdb.connect(str(rows.parent / "file.duckdb"))
        refusals.append(str(refused.value))

    between(monkeypatch, write)
    assert dp.count(NETWORK, DeclaredTable(table_of(rows, "t"), COLUMNS)).values.tolist() == COUNTS
    assert len(refusals) == 1


def test_a_view_of_a_file_that_grows_while_it_is_summed_up_is_refused(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram, "MOST_SUMS", 1)
    numbers = pa.table({"u": [0.0, 1.0, 2.0], "v": [1.0, 0.0, 2.0]})
    pq.write_table(numbers, rows)
    with duckdb.connect(str(rows.parent / "file.duckdb")) as database:
        database.execute(f"create or replace view view as from read_parquet('{rows}')")
    columns = [NumericColumn("u", 0, 2), NumericColumn("v", 0, 2)]
    statements = between(monkeypatch, lambda: pq.write_table(pa.concat_tables([numbers, numbers]), rows))
    with pytest.raises(InputError, match="The table changed during the computation"):
        finished(table_of(rows, "view").gram(columns))
    assert len(statements) >= 2


@pytest.mark.parametrize(
    "later", [ROWS.select(["x", "z"]), ROWS.rename_columns(["x", "u", "z"])], ids=["gone", "renamed"]
)
def test_a_column_of_a_view_that_is_gone_between_two_statements_is_reported(
    rows: Path, later: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    between(monkeypatch, lambda: pq.write_table(later, rows))
    with pytest.raises(InputError, match="A column of the table was removed after the columns were read"):
        dp.count(NETWORK, DeclaredTable(table_of(rows, "view"), COLUMNS))


def test_a_file_of_a_view_that_is_gone_is_reported(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, rows.unlink)
    with pytest.raises(InputError, match="Check the table, or the files behind the view"):
        dp.count(NETWORK, DeclaredTable(table_of(rows, "view"), COLUMNS))


def test_what_is_not_declared_is_not_taken_for_a_change(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: None)
    wrong = (Categories("x", ("a",)), *COLUMNS[1:])
    network = dp.Network.from_edges(NETWORK.names, NETWORK.edges, {c.name: c.domain for c in wrong})
    with pytest.raises(InputError, match='"x" in 20 records'):
        dp.count(network, DeclaredTable(table_of(rows, "view"), wrong))
