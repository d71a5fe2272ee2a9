"""What goes wrong on the way to an engine is one sentence, without a password, a statement or a value."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Cuts
from dpbayes.sources.engines import count as module
from dpbayes.sources.engines.address import parsed
from dpbayes.sources.engines.connect import opened
from dpbayes.sources.engines.table import DeclaredTable, open_table, tables_of
from tests.engines.conftest import MARKS
from tests.engines.servers import Postgres, write_table

pytestmark = MARKS

ROWS = pa.table({"x": ["a", "b", "b"] * 10, "y": list(range(30))})
X = Categories("x", ("a", "b"))
Y = Cuts("y", (10,))
NETWORK = dp.Network.from_edges(["x", "y"], [("x", "y")], {"x": X.domain, "y": Y.domain})
COUNTS = [10, 20, 4, 6, 6, 14]


def counted(address: str) -> dp.Counts:
    return dp.count(NETWORK, DeclaredTable(open_table(address), (X, Y)))


def refused(ask: Callable[[], Any], server: Postgres) -> str:
    with pytest.raises(InputError) as error:
        ask()
    sentence = str(error.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    for secret in (server.password, "SELECT", "hunter2", "127.0.0.1", str(server.port)):
        assert secret not in sentence
    return sentence


@pytest.fixture
def table(server: Postgres) -> Iterator[Any]:
    """A connection of another program, which has just written the table `patients`."""
    with server.connect() as connection:
        write_table(connection, "patients", ROWS)
        yield connection


# PostgreSQL: connecting


def test_a_table_is_counted_and_listed(server: Postgres, table: Any) -> None:
    address = server.address("public.patients")
    assert counted(address).values.tolist() == COUNTS
    assert counted(server.address("patients")).n == 30
    assert address in tables_of(server.address())
    assert open_table(address).title == address


def test_a_wrong_password_is_reported(server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    assert "rejects the password" in refused(open_table(server.address("patients")).types, server)
    monkeypatch.delenv("PGPASSWORD")
    assert "needs a password" in refused(open_table(server.address("patients")).types, server)


def test_what_does_not_exist_is_reported(server: Postgres, table: Any) -> None:
    refusals = {
        server.address("patients", database="nowhere"): "has no such database",
        server.address("nobody"): 'PostgreSQL has no table "nobody"',
        server.address("no.patients"): 'PostgreSQL has no table "no.patients"',
        "postgresql://postgres@127.0.0.1:1/postgres?table=t": "cannot be reached",
        "postgresql://postgres@host.invalid/postgres?table=t": "cannot be reached",
        server.address() + "?sslmode=require&table=patients": "cannot be reached",
    }
    for address, sentence in refusals.items():
        assert sentence in refused(open_table(address).types, server)


def test_a_table_without_the_right_to_read_it_is_reported_and_not_listed(server: Postgres, table: Any) -> None:
    table.execute("drop role if exists reader")
    table.execute(f"create role reader login password '{server.password}'")
    try:
        address = server.address("public.patients", user="reader")
        assert 'may not read the table "public.patients"' in refused(lambda: counted(address), server)
        assert address not in tables_of(server.address(user="reader"))
        table.execute("grant select on patients to reader")
        assert counted(address).n == 30
    finally:
        table.execute("revoke all on patients from reader")
        table.execute("drop role reader")


# PostgreSQL: counting


def test_a_connection_cannot_write(server: Postgres, table: Any) -> None:
    table.execute("create sequence if not exists s")
    address = parsed(server.address("patients"))
    for text in ("delete from patients", "create table other (x int)", "select nextval('s')"):
        with pytest.raises(InputError), opened(address) as connection:
            connection.raw_sql(text)
    assert counted(str(address)).n == 30


def test_a_growing_table_is_counted_in_one_state(server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_CELLS", "MOST_SETS"):
        monkeypatch.setattr(module, name, 1)
    apart = dp.Network.from_edges(["x", "y"], [], {"x": X.domain, "y": Y.domain})
    coded, statements = module._coded, []

    def growing(*given: Any) -> module.Group:
        table.execute("insert into patients values ('a', 1)")
        statements.append(given)
        return coded(*given)

    monkeypatch.setattr(module, "_coded", growing)
    counts = dp.count(apart, DeclaredTable(open_table(server.address("patients")), (X, Y)))
    assert len(statements) == 2
    assert counts.values.tolist() == [10, 20, 10, 20]
    monkeypatch.undo()
    assert counted(server.address("patients")).n == 32


def test_a_locked_table_is_reported(server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpbayes.sources.engines import connect

    monkeypatch.setattr(connect, "READ_ONLY", connect.READ_ONLY.replace("10s", "100ms"))
    with table.transaction():
        table.execute("lock table patients in access exclusive mode")
        assert "Another program is changing" in refused(lambda: counted(server.address("patients")), server)


def test_a_stopped_server_is_reported_and_can_come_back(server: Postgres, table: Any) -> None:
    server.stop()
    assert "cannot be reached" in refused(lambda: counted(server.address("patients")), server)
    server.start()
    assert counted(server.address("patients")).values.tolist() == COUNTS
    table.close()


# Spark


@pytest.fixture
def place(spark: Any, tmp_path: Any) -> str:
    """A table in Spark's catalogue."""
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    spark.sql("drop table if exists patients")
    spark.sql(f"create table patients using parquet location '{tmp_path}'")
    return "spark:local[2]?table=default.patients"


def test_a_table_of_spark_is_counted_and_listed(place: str) -> None:
    assert counted(place).values.tolist() == COUNTS
    assert place in tables_of("spark:local[2]")


def test_what_spark_does_not_have_is_reported(place: str, tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    faults = {
        "spark:local[2]?table=nobody": 'Spark has no table "nobody"',
        f'spark:local[2]?table=parquet."{tmp_path}/nowhere"': "Spark has no table",
        "spark:local[1]?table=patients": "is connected to another Spark",
    }
    for address, sentence in faults.items():
        with pytest.raises(InputError, match=sentence):
            open_table(address).types()
    assert "SELECT" not in capfd.readouterr().err


def test_a_column_of_spark_with_a_collation_is_refused(spark: Any, tmp_path: Any) -> None:
    spark.sql("drop table if exists folded")
    spark.sql(f"create table folded (x string collate UTF8_LCASE) using parquet location '{tmp_path}/folded'")
    spark.sql("insert into folded values ('A'), ('a')")
    network = dp.Network.from_edges(["x"], [], {"x": X.domain})
    with pytest.raises(InputError):
        dp.count(network, DeclaredTable(open_table("spark:local[2]?table=folded"), (X,)))
