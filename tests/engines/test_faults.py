"""What goes wrong on the way to an engine is one sentence, without a password, a statement or a value."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Cuts
from dpbayes.sources.engines import postgresql, sql
from dpbayes.sources.engines import spark as spark_module
from dpbayes.sources.engines.address import open_table, tables_of
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.sources.engines.spark import _is_gone
from dpbayes.sources.engines.statements import named_table
from tests.engines.servers import Postgres, write_table

# Spark leaves sockets of its own to the garbage collector.
pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

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
    assert server.password not in sentence
    assert "SELECT" not in sentence.replace("the SELECT privilege", ""), "no statement"
    assert "hunter2" not in sentence
    return sentence


@pytest.fixture
def table(server: Postgres) -> Iterator[Any]:
    """A connection of somebody else's, who has just written the table `patients`."""
    with server.connect() as connection:
        write_table(connection, "patients", ROWS)
        yield connection


# PostgreSQL: getting there


def test_a_table_is_counted_and_listed(server: Postgres, table: Any) -> None:
    address = server.address("public.patients")
    assert counted(address).values.tolist() == COUNTS
    assert counted(server.address("patients")).n == 30
    assert address in finished(tables_of(server.address()))
    assert open_table(address).title == address


def test_a_wrong_password_is_reported(server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    assert "rejects the password" in refused(open_table(server.address("patients")).fields, server)
    monkeypatch.delenv("PGPASSWORD")
    assert "needs a password" in refused(open_table(server.address("patients")).fields, server)


def test_what_is_not_there_is_reported(server: Postgres, table: Any) -> None:
    refusals = {
        server.address("patients", database="nowhere"): 'has no database "nowhere"',
        server.address("nobody"): 'has no table "nobody"',
        server.address("no.patients"): 'has no table "no.patients"',
        "postgresql://postgres@127.0.0.1:1/postgres?table=t": "cannot be reached",
        "postgresql://postgres@host.invalid/postgres?table=t": "cannot be reached",
        server.address("patients") + "&sslmode=require": "cannot be reached with SSL",
    }
    for address, sentence in refusals.items():
        assert sentence in refused(open_table(address).fields, server)


def test_a_table_that_may_not_be_read_is_reported_and_not_listed(server: Postgres, table: Any) -> None:
    table.execute("drop role if exists reader")
    table.execute(f"create role reader login password '{server.password}'")
    try:
        address = server.address("public.patients", user="reader")
        assert "needs the SELECT privilege on the table" in refused(lambda: counted(address), server)
        assert address not in finished(tables_of(server.address(user="reader")))
        table.execute("grant select on patients to reader")
        assert counted(address).n == 30
    finally:
        table.execute("revoke all on patients from reader")
        table.execute("drop role reader")


# PostgreSQL: while it counts


def test_nothing_can_be_written(server: Postgres, table: Any) -> None:
    engine = open_table(server.address("patients"))
    with engine.database.session() as session:  # type: ignore[attr-defined]
        for text in ("delete from patients", "create table other (x int)", "select nextval('s')"):
            refused(lambda text=text: session.ask(text), server)
    assert counted(server.address("patients")).n == 30


def test_a_growing_table_is_counted_as_it_was(server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MOST_ARMS", 1)
    engine = sql.SqlTable(open_table(server.address("patients")).database, 1)  # type: ignore[attr-defined]
    statements = []
    answer = sql.answered

    def watched(session: Any, expression: Any, start: float, end: float) -> Any:
        if statements:  # between two statements of one scan
            table.execute("insert into patients values ('a', 1)")
        statements.append(expression)
        return answer(session, expression, start, end)

    monkeypatch.setattr(sql, "answered", watched)
    counts = dp.count(NETWORK, DeclaredTable(engine, (X, Y)))
    assert len(statements) >= 2
    assert counts.values.tolist() == COUNTS
    monkeypatch.undo()
    assert counted(server.address("patients")).n == 30 + len(statements) - 1


def test_a_column_cannot_vanish_while_it_is_counted(server: Postgres, table: Any) -> None:
    with open_table(server.address("patients")).database.session() as session:  # type: ignore[attr-defined]
        expression = session.table()
        table.execute("set lock_timeout = '200ms'")
        with pytest.raises(Exception, match="lock timeout"):
            table.execute("alter table patients drop column y")
        assert session.answer(expression).num_rows == 30
    table.execute("alter table patients drop column y")
    assert 'no column "y"' in refused(lambda: counted(server.address("patients")), server)


def test_a_column_or_a_table_that_is_gone_is_reported(server: Postgres, table: Any) -> None:
    for name, sentence in (("patients", "A column of the table was removed"), ("nobody", "does not exist any more")):
        gone = named_table(("public", name), {"z": "int64", "y": "int64"}).select("z")
        with open_table(server.address("patients")).database.session() as session:  # type: ignore[attr-defined]
            assert sentence in refused(lambda session=session, gone=gone: session.answer(gone), server)


def test_a_table_that_is_being_changed_is_reported(
    server: Postgres, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = tuple(text.replace("10s", "100ms") for text in postgresql.SETTINGS)
    monkeypatch.setattr(postgresql, "SETTINGS", quick)
    with table.transaction():
        table.execute("lock table patients in access exclusive mode")
        assert "Another program is changing" in refused(lambda: counted(server.address("patients")), server)


@pytest.fixture
def slow(table: Any) -> Iterator[str]:
    """A view that takes hours to count."""
    table.execute(
        "create or replace view slow as select case when random() < 2 then 'a' end as x, (n + m) %% 20 as y "
        "from generate_series(1, 1000000) n, generate_series(1, 1000000) m".replace("%%", "%")
    )
    yield "slow"
    if not table.closed:
        table.execute("drop view if exists slow")


def waiting(server: Postgres, table: Any) -> list[int]:
    """Return the processes of the server that count for us."""
    rows = table.execute(
        "select pid from pg_stat_activity where application_name = 'dpbayes' and state = 'active'"
    ).fetchall()
    return [pid for (pid,) in rows]


def test_a_count_that_is_given_up_ends_at_the_server(server: Postgres, table: Any, slow: str) -> None:
    work = DeclaredTable(open_table(server.address(slow)), (X, Y)).counting(NETWORK)
    while not waiting(server, table):
        next(work)
    work.close()
    assert waiting(server, table) == []


def test_a_count_that_somebody_stops_is_reported(server: Postgres, table: Any, slow: str) -> None:
    work = DeclaredTable(open_table(server.address(slow)), (X, Y)).counting(NETWORK)
    while not (pids := waiting(server, table)):
        next(work)
    table.execute("select pg_cancel_backend(%s)", (pids[0],))
    assert "cancelled the count" in refused(lambda: finished(work), server)


def test_a_lost_connection_is_reported(server: Postgres, table: Any, slow: str) -> None:
    work = DeclaredTable(open_table(server.address(slow)), (X, Y)).counting(NETWORK)
    while not (pids := waiting(server, table)):
        next(work)
    table.execute("select pg_terminate_backend(%s)", (pids[0],))
    assert "ended the connection" in refused(lambda: finished(work), server)


def test_a_killed_server_is_reported_and_may_come_back(server: Postgres, table: Any, slow: str) -> None:
    work = DeclaredTable(open_table(server.address(slow)), (X, Y)).counting(NETWORK)
    while not waiting(server, table):
        next(work)
    server.stop()
    assert "ended the connection" in refused(lambda: finished(work), server)
    assert "cannot be reached" in refused(lambda: counted(server.address("patients")), server)
    server.start()
    assert counted(server.address("patients")).values.tolist() == COUNTS
    with server.connect() as again:
        again.execute("drop view slow")
    table.close()


def test_types_of_its_own_are_texts_or_refused(server: Postgres, table: Any) -> None:
    table.execute("drop table if exists odd; drop domain if exists word; drop type if exists mood")
    table.execute("create type mood as enum ('fine', 'bad'); create domain word as varchar(9)")
    table.execute(
        "create collation if not exists folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    table.execute(
        "create table odd (e mood, w word, c char(4), n numeric, folded text collate folded, m money, t timestamp)"
    )
    table.execute(
        "insert into odd values ('bad', 'a', 'b', 'NaN', 'A', 1, now()), ('fine', 'b', 'b', 7.50, 'a', 1, now())"
    )
    columns = (
        Categories("e", ("bad", "fine", "no label of the type")),
        Categories("w", ("a", "b")),
        Categories("c", ("b",)),
    )
    network = dp.Network.from_edges(["e", "w", "c"], [("e", "w")], {c.name: c.domain for c in columns})
    engine = open_table(server.address("odd"))
    assert dp.count(network, DeclaredTable(engine, columns)).values.tolist()[:9] == [1, 1, 0, 1, 0, 0, 1, 0, 0]
    for column, n in ((Cuts("n", (7,)), 1), (Categories("n", ("7.50",)), 1)):
        one = dp.Network.from_edges(["n"], [], {"n": column.domain})
        counts = dp.count(one, DeclaredTable(engine, (column,)))
        assert (counts.n, counts.values[-1]) == (n, 1)
    for name in ("folded", "m", "t"):
        column = Categories(name, ("a",))
        one = dp.Network.from_edges([name], [], {name: column.domain})
        sentence = refused(lambda one=one, column=column: dp.count(one, DeclaredTable(engine, (column,))), server)
        assert "Create a view that casts it" in sentence
    assert len(finished(engine.head(2))) == 2


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
    assert place in finished(tables_of("spark:local[2]"))


def test_what_spark_does_not_have_is_reported(place: str) -> None:
    faults = {
        "spark:local[2]?table=nobody": 'Spark has no table "nobody"',
        'spark:local[2]?table=parquet."/nowhere"': "Spark has no table",
        "spark:local[1]?table=patients": "is connected to Spark",
    }
    for address, sentence in faults.items():
        with pytest.raises(InputError, match=sentence):
            open_table(address).fields()


def test_a_changing_table_of_spark_is_refused(
    place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = sql.SqlTable(open_table(place).database, 1)  # type: ignore[attr-defined]
    apart = dp.Network.from_edges(["x", "y"], [], {"x": X.domain, "y": Y.domain})
    monkeypatch.setattr(sql, "MOST_ARMS", 1)
    statements: list[Any] = []
    answer = sql.answered

    def watched(session: Any, expression: Any, start: float, end: float) -> Any:
        if statements:
            pq.write_table(ROWS, tmp_path / f"more{len(statements)}.parquet")
            session.spark.sql("refresh table default.patients")
        statements.append(expression)
        return answer(session, expression, start, end)

    monkeypatch.setattr(sql, "answered", watched)
    with pytest.raises(InputError, match="changed during the count"):
        dp.count(apart, DeclaredTable(engine, (X, Y)))
    assert len(statements) >= 2
    assert capfd.readouterr().err == ""


def test_a_vanished_column_of_spark_is_reported_without_a_log(
    place: str, spark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_table(place).database.session() as session:  # type: ignore[attr-defined]
        for name, sentence in (("patients", "A column of the table was removed"), ("nobody", "has no table")):
            with pytest.raises(InputError, match=sentence):
                session.answer(named_table(("default", name), {"z": "int64", "y": "int64"}).select("z"))
    assert "SELECT" not in capfd.readouterr().err


def test_a_count_of_spark_that_is_given_up_ends(spark: Any) -> None:
    spark.sql("select 1").collect()
    spark.sql(
        "create or replace global temporary view slow as "
        "select if(sha2(cast(id as string), 512) like '%abcdef%', 'a', 'b') as x, id % 20 as y from range(100000000000)"
    )
    work = DeclaredTable(open_table("spark:local[2]?table=global_temp.slow"), (X, Y)).counting(NETWORK)
    tracker = spark.sparkContext.statusTracker()
    while not tracker.getActiveJobsIds():
        next(work)
    work.close()
    assert list(tracker.getActiveJobsIds()) == []


def test_a_master_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grpc", reason="Spark Connect is not installed")
    monkeypatch.setattr(spark_module, "MOST_TRIES", 2)
    with pytest.raises(InputError, match="cannot be reached"):
        open_table("spark:sc://127.0.0.1:1?table=t").fields()


KILLED = """
import os, signal, sys
import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.address import open_table
from dpbayes.sources.engines.engine import DeclaredTable

x = Categories("x", ("a", "b"))
engine = open_table("spark:local[1]?table=global_temp.slow")
with engine.database.session() as session:
    session.spark.sql(
        "create or replace global temporary view slow as "
        "select if(sha2(cast(id as string), 512) like '%abcdef%', 'a', 'b') as x from range(100000000000)"
    )
    context = session.spark.sparkContext
work = DeclaredTable(engine, (x,)).counting(dp.Network.from_edges(["x"], [], {"x": x.domain}))
while not context.statusTracker().getActiveJobsIds():
    next(work)
os.kill(context._gateway.proc.pid, signal.SIGKILL)
for ask in (lambda: finished(work), engine.fields):
    try:
        ask()
    except InputError as error:
        print(error)
"""


def test_what_py4j_says_of_a_driver_that_is_gone_is_known() -> None:
    protocol = pytest.importorskip("py4j.protocol", reason="Spark is not installed: run `make engines`")
    called = "An error occurred while calling o1.collect"
    gone = (protocol.Py4JError(called), protocol.Py4JNetworkError("Answer from Java side is empty"))
    alive = (
        protocol.Py4JError(f"{called}. Trace:\npy4j.Py4JException: Method collect([]) does not exist"),
        ValueError(),
    )
    assert [_is_gone(error) for error in (*gone, *alive)] == [True, True, False, False]


def test_a_killed_spark_is_reported(spark: Any) -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "Spark stopped during the count. Restart this program.",
        "Spark has stopped. Restart this program.",
    ]
    assert "SELECT" not in ran.stderr
