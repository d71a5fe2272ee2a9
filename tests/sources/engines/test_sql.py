"""A table has the same counts in a database as in memory."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.steps import Work, finished
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, DropRecord, Groups, OwnState, encode
from dpbayes.sources.engines import sql
from dpbayes.sources.engines.duckdb_file import NO_VARIABLES, DuckDbSession
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.sources.engines.parquet import ParquetFiles
from dpbayes.sources.engines.session import table_names
from dpbayes.sources.engines.sql import SqlTable
from tests.sources.engines.tables import InMemory, as_text


def drawn(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", " f", "m  "], n),
            "smokes": rng.choice([True, False], n),
            "age": rng.integers(0, 100, n),
            "grade": rng.integers(3, 6, n),
            "odd": rng.choice([1, 5, 70], n),
            "dose": rng.choice([0.5, 1.0, 2.25, float("nan")], n),
            "weight": rng.choice([40.0, 70.5, float("nan"), 120.0], n),
            "note": rng.choice(["a", "?", "NA", "", None, "über", "'; drop table t; --"], n),
        }
    )


COLUMNS: tuple[Column, ...] = (
    Groups("sex", (("woman", ("f",)), ("man", ("m",)))),
    Categories("smokes", ("false", "true")),
    Cuts("age", (18, 65)),
    Categories("grade", ("3", "4", "5")),
    Categories("odd", ("70", "5", "1")),
    Categories("dose", ("0.5", "1", "2.25"), missing=OwnState()),
    Cuts("weight", (50, 70.5), missing=CountAs(">= 70.5")),
    Categories("note", ("a", "über", "'; drop table t; --"), missing=OwnState("nothing said")),
)
EDGES = [("sex", "age"), ("age", "note"), ("smokes", "note"), ("dose", "weight"), ("odd", "grade"), ("note", "dose")]


def network_over(columns: tuple[Column, ...]) -> dp.Network:
    names = [column.name for column in columns]
    edges = [(a, b) for a, b in EDGES if a in names and b in names]
    return dp.Network.from_edges(names, edges, {column.name: column.domain for column in columns})


@pytest.mark.parametrize("most_codes", [1, 64, 4096])
@pytest.mark.parametrize("missing", [OwnState("none"), DropRecord()])
def test_a_table_has_the_same_counts_in_a_database_as_in_memory(missing: Any, most_codes: int) -> None:
    columns = tuple(with_rule(column, missing) for column in COLUMNS)
    network, frame = network_over(columns), drawn()
    memory = dp.count(network, encode(as_text(frame), columns))
    counted = dp.count(network, DeclaredTable(SqlTable(InMemory(frame), most_codes), columns))
    assert counted.n == memory.n
    assert (counted.values == memory.values).all()
    assert (memory.n < 400) == isinstance(missing, DropRecord)


def with_rule(column: Column, missing: Any) -> Column:
    return replace(column, missing=missing) if column.name in ("note", "dose", "weight") else column


def test_a_column_that_is_no_node_leaves_records_out_too() -> None:
    columns = tuple(with_rule(column, DropRecord()) for column in COLUMNS)
    frame = drawn()
    network = network_over(columns[:3])
    memory = dp.count(network, encode(as_text(frame), columns))
    counted = dp.count(network, DeclaredTable(SqlTable(InMemory(frame)), columns))
    assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())


def test_a_value_that_is_not_declared_is_refused_by_its_column() -> None:
    columns = (Categories("sex", ("f",)), Categories("odd", ("1", "5")))
    frame = pd.DataFrame({"sex": ["f", "f", "x"], "odd": [1, 2, 70]})
    with pytest.raises(InputError, match='"odd" in 2 records') as refused:
        dp.count(network_over(columns), DeclaredTable(SqlTable(InMemory(frame)), columns))
    assert '"sex" in 1 record' in str(refused.value)


def test_singles_are_compared_as_their_texts() -> None:
    # As a double, the single nearest 0.7 is below 0.7; its text, which a file has, is not.
    singles = np.array([0.1, 0.7, 0.3, 1e30, 16777216, 0.69999], dtype=np.float32)
    texts = pd.DataFrame({"x": [str(v) for v in ["0.1", "0.7", "0.3", "1e+30", "16777216", "0.69999"]]}, dtype="str")
    for column in (
        Cuts("x", (0.1, 0.7, 16777217)),
        Cuts("x", (0.3, 1e300)),
        Categories("x", ("0.7", "0.1", "0.3", "1e+30", "16777216", "0.69999")),
    ):
        network = network_over((column,))
        counted = dp.count(network, DeclaredTable(SqlTable(InMemory(pd.DataFrame({"x": singles}))), (column,)))
        assert counted.values.tolist() == dp.count(network, encode(texts, (column,))).values.tolist()


def test_states_that_a_type_cannot_hold_are_never_met() -> None:
    small = pa.table({"x": pa.array([-128, 5, 127], pa.int8())})
    column = Categories("x", ("-128", "127", "300", "5", "99999999999999999999"))
    counted = dp.count(network_over((column,)), DeclaredTable(SqlTable(InMemory(small)), (column,)))
    assert counted.values.tolist() == [1, 1, 0, 1, 0]


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.binary(), pa.list_(pa.int64()), pa.time64("us")])
def test_a_type_that_has_no_states_is_refused(kind: Any) -> None:
    frame = pa.table({"x": pa.array([None], kind)})
    for column in (Categories("x", ("1", "0x")), Cuts("x", (1,))):
        with pytest.raises(InputError, match="Create a view that casts it"):
            dp.count(network_over((column,)), DeclaredTable(SqlTable(InMemory(frame)), (column,)))


def test_what_is_no_number_and_no_text_is_shown_too() -> None:
    frame = pa.table({"x": pa.array([[1, 2], None]), "d": pa.array([1, None], pa.decimal128(5, 2))})
    table = SqlTable(InMemory(frame))
    assert finished(table.head(5))["x"].tolist() == ["[1, 2]", ""]
    assert finished(table.values("d", 5)).to_dict() == {"": 1, "1.00": 1}
    assert [field.name for field in table.fields()] == ["x", "d"]


def require_counts(
    network: Network, columns: Sequence[Column], rows: pa.Table, path: Path, *, n: int | None, refused: str
) -> None:
    """Require n records from memory, from SQL and from a file; with n None, require a refusal that names a column."""
    pq.write_table(rows, path)
    frame = pd.DataFrame({name: rows[name].cast(pa.string()).fill_null("").to_pandas() for name in rows.column_names})
    for table in (
        lambda: encode(frame, columns),
        lambda: DeclaredTable(SqlTable(InMemory(rows)), tuple(columns)),
        lambda: DeclaredTable(ParquetFiles(path), tuple(columns)),
    ):
        if n is None:
            with pytest.raises(InputError, match=refused):
                dp.count(network, table())
        else:
            counts = dp.count(network, table())
            assert (counts.n, network.table(counts.values, 0).sum()) == (n, n)


LEFT_OUT_TOO = pd.DataFrame({"sex": ["f", "x", "m", "y"], "note": ["a", "", "b", "NA"]})


@pytest.mark.parametrize("names", [("sex", "note"), ("sex",)])
def test_of_a_record_that_is_left_out_no_other_value_is_looked_at(tmp_path: Path, names: tuple[str, ...]) -> None:
    columns = (Categories("sex", ("f", "m")), Categories("note", ("a", "b"), missing=DropRecord()))
    network = network_over(tuple(column for column in columns if column.name in names))
    for frame, n in ((LEFT_OUT_TOO, 2), (LEFT_OUT_TOO.assign(note=["a", "", "b", "b"]), None)):
        rows = pa.Table.from_pandas(frame)
        require_counts(network, columns, rows, tmp_path / "t.parquet", n=n, refused='"sex"')


UNUSED: dict[str, tuple[Column, list[Any], list[Any], int]] = {
    "text": (Categories("other", ("a", "b")), ["a", " b", "NA", None], ["a", " b", "NA", "z"], 2),
    "own": (Categories("other", ("a",), missing=OwnState()), ["a", "?", None, "a "], ["a", "?", None, "A"], 4),
    "whole": (Categories("other", ("0", "1")), [0, 1, None, 1], [0, 1, None, 2], 3),
    "cut": (Cuts("other", (1.5,), missing=CountAs("< 1.5")), [0.0, None, 2.0, 1e9], [0.0, None, 2.0, np.inf], 4),
}


@pytest.mark.parametrize(("column", "declared", "undeclared", "n"), UNUSED.values(), ids=list(UNUSED))
def test_a_column_in_use_that_is_no_node_must_keep_to_its_domain(
    tmp_path: Path, column: Column, declared: list[Any], undeclared: list[Any], n: int
) -> None:
    columns = (Categories("sex", ("f", "m")), column)
    for values, records in ((declared, n), (undeclared, None)):
        rows = pa.table({"sex": ["f", "m", "f", "f"], "other": pa.array(values)})
        path = tmp_path / "t.parquet"
        require_counts(network_over(columns[:1]), columns, rows, path, n=records, refused='"other"')


def test_many_columns_that_are_no_nodes_are_looked_at_in_several_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MOST_CHECKED", 4)
    most = 2 * sql.MOST_CHECKED + 2
    frame = pd.DataFrame({f"x{k}": ["a", "b"] for k in range(most)})
    columns = tuple(Categories(name, ("a", "b")) for name in frame)
    network = network_over(columns[:1])
    assert dp.count(network, DeclaredTable(SqlTable(InMemory(frame)), columns)).values.tolist() == [1, 1]
    last = f"x{most - 1}"
    with pytest.raises(InputError, match=f'"{last}" in 1 record'):
        dp.count(network, DeclaredTable(SqlTable(InMemory(frame.assign(**{last: ["a", "c"]}))), columns))


def test_a_number_that_is_not_declared_is_not_looked_at_where_a_text_leaves_the_record_out() -> None:
    columns = (Categories("note", ("a", "b")), Categories("grade", ("1", "2")))
    network = network_over(columns)
    frame = pd.DataFrame({"note": ["a", "NA", "b"], "grade": [1, 9, 2]})
    counted = dp.count(network, DeclaredTable(SqlTable(InMemory(frame)), columns))
    assert counted.values.tolist() == dp.count(network, encode(as_text(frame), columns)).values.tolist()


ENDED_EARLY: dict[str, Callable[[SqlTable, Column], Work[Any]]] = {
    "counts": lambda table, column: DeclaredTable(table, (column,)).counting(network_over((column,))),
    "values": lambda table, column: table.values(column.name, 5),
}


@pytest.mark.parametrize("begin", ENDED_EARLY.values(), ids=list(ENDED_EARLY))
def test_a_query_ends_in_the_engine_when_no_further_step_is_taken(
    begin: Callable[[SqlTable, Column], Work[Any]],
) -> None:
    numbers = "create or replace view \"a table\" as select 'a' as sex from range(3000000) a, range(3000000) b"
    events: list[str] = []

    class Endless(InMemory):
        @contextmanager
        def session(self) -> Iterator[DuckDbSession]:
            with duckdb.connect(config=NO_VARIABLES) as connection:
                connection.execute(numbers)
                events.append("open")
                try:
                    yield DuckDbSession(connection, ("a table",))
                finally:
                    events.append("closed")

    steps = begin(SqlTable(Endless(None)), Categories("sex", ("a",)))
    while not events:
        assert next(steps) < 1
    assert next(steps) < 1
    steps.close()  # would not return for days, were all nine million million records counted
    assert events == ["open", "closed"]


@pytest.mark.parametrize("begin", [*ENDED_EARLY.values(), lambda table, _: table_names(table.database)])
def test_a_connection_that_is_given_up_before_it_is_there_is_closed_when_it_comes(
    begin: Callable[[SqlTable, Column], Work[Any]],
) -> None:
    may_open, closed = threading.Event(), threading.Event()

    class FarAway(InMemory):
        @contextmanager
        def session(self) -> Iterator[DuckDbSession]:
            assert may_open.wait(), "nobody waits for ever"
            with super().session() as session:
                yield session
            closed.set()

    steps = begin(SqlTable(FarAway(pd.DataFrame({"sex": ["a"]}))), Categories("sex", ("a",)))
    assert next(steps) == 0, "the page goes on meanwhile"
    steps.close()  # would never return, were it to wait for the connection
    assert not closed.is_set()
    may_open.set()
    assert closed.wait()
