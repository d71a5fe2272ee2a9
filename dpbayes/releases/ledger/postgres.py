"""A ledger that a team shares: the same rows in a database of a PostgreSQL server.

A program that writes first takes a lock, so that writers wait for each other, and then works in one serialisable
transaction. PostgreSQL refuses a transaction that a concurrent one has overtaken; it is then repeated. If the
connection ends during the commit, the program connects again and looks whether the row is there.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dpbayes.releases.ledger.books import Books, books_of
from dpbayes.releases.ledger.events import BrokenLedgerError, Event, LedgerError, UnknownWriteError
from dpbayes.releases.ledger.rows import ADDED, COLUMNS, READABLE, LedgerRows, Value, events_in

if TYPE_CHECKING:
    from dpbayes.sources.engines.postgresql import PostgresServer

RETRY_SECONDS = 20.0
"""How long to wait for a server that restarts, and how long to repeat a transaction that others overtake."""

LOCK_SECONDS = 30
"""How long to wait for another program that writes."""

LOCK = 0x64706C67
"""The advisory lock of PostgreSQL that a program takes to write ("dplg")."""

Result = TypeVar("Result")

_TYPES = dict.fromkeys(ADDED, "text") | {
    "row": "bigint",
    "n": "bigint",
    "reservation": "bigint",
    "content": "bytea",
}
_NULLABLE = ("amount", "delta", "n", "reservation", "content_hash", "content")

# Exactly as PostgreSQL stores them, so that they can be compared.
_NEVER_CHANGED = "begin raise exception 'rows are never changed or deleted'; end"
_ONLY_ADDED = """begin
  if new."row" is distinct from (select coalesce(max(e."row"), 0) + 1 from dpbayes.event e) then
    raise exception 'rows are only added at the end';
  end if;
  return new;
end"""

_MARK = "dpbayes ledger, version "
_SCHEMA = (
    "create schema if not exists dpbayes",
    "create table dpbayes.event ("
    + ", ".join(
        f'"{name}" {kind}{"" if name in _NULLABLE else " not null"}{" primary key" if name == "row" else ""}'
        for name, kind in _TYPES.items()
    )
    + ")",
    f"create function dpbayes.never_changed() returns trigger language plpgsql as $${_NEVER_CHANGED}$$",
    f"create function dpbayes.only_added() returns trigger language plpgsql as $${_ONLY_ADDED}$$",
    "create trigger never_changed before update or delete or truncate on dpbayes.event"
    " for each statement execute function dpbayes.never_changed()",
    "create trigger only_added before insert on dpbayes.event for each row execute function dpbayes.only_added()",
    "create table dpbayes.access (number bigint generated always as identity primary key,"
    ' "time" text not null, person text not null, act text not null, dataset text not null)',
    "create trigger never_changed before update or delete or truncate on dpbayes.access"
    " for each statement execute function dpbayes.never_changed()",
    f"comment on table dpbayes.event is '{_MARK}{READABLE[-1]}'",
)

_GUARDS = {
    ("event", "never_changed", "O", 58, _NEVER_CHANGED),
    ("event", "only_added", "O", 7, _ONLY_ADDED),
    ("access", "never_changed", "O", 58, _NEVER_CHANGED),
}
"""Table, name, state, type and function of the triggers: before update, delete or truncate, and before each insert."""

_FIND = """
select coalesce(obj_description(c.oid, 'pg_class'), ''),
  c.relkind = 'r' and not c.relrowsecurity and not c.relhasrules and not c.relhassubclass and not c.relispartition
from pg_catalog.pg_class c where c.oid = to_regclass('dpbayes.event')
"""
_TRIGGERS = """
select c.relname, t.tgname, t.tgenabled::text, t.tgtype, p.prosrc from pg_catalog.pg_trigger t
join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_class c on c.oid = t.tgrelid
where t.tgrelid in (to_regclass('dpbayes.event'), to_regclass('dpbayes.access')) and not t.tgisinternal
"""
_COLUMNS_NOW = """
select a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull from pg_catalog.pg_attribute a
where a.attrelid = to_regclass('dpbayes.event') and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
_DURABLE = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = any(%s)"


@dataclass(eq=False)
class PostgresRows:
    """The rows in a database, within one transaction of a connection; `head` is the hash of the last added one."""

    connection: Any
    head: str = field(default="", init=False)

    def append(self, values: Mapping[str, Value], version: int) -> None:
        marks = ", ".join(f"%({name})s" for name in ADDED)
        names = ", ".join(f'"{name}"' for name in ADDED)
        self.connection.execute(f"insert into dpbayes.event ({names}) values ({marks})", values)
        self.head = str(values["hash"])

    def events(self) -> tuple[Event, ...]:
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        rows = self.connection.execute(f'select {names} from dpbayes.event order by "row"').fetchall()
        return tuple(events_in(rows))

    def content(self, row: int) -> object:
        kept = self.connection.execute('select content from dpbayes.event where "row" = %s', (row,)).fetchone()
        return None if kept is None or kept[0] is None else bytes(kept[0])

    def log(self, texts: Sequence[str]) -> None:
        statement = 'insert into dpbayes.access ("time", person, act, dataset) values (%s, %s, %s, %s)'
        self.connection.execute(statement, list(texts))

    def logged(self) -> list[Sequence[object]]:
        statement = 'select "time", person, act, dataset from dpbayes.access order by number'
        return list(self.connection.execute(statement).fetchall())

    def damage(self) -> str:
        return ""  # PostgreSQL checks its own pages, if its owner enables this


def exists(server: "PostgresServer") -> bool:
    """Whether a server has a ledger. Errors: LedgerError where it cannot be reached."""
    with _reporting(server), _connected(server, _deadline()) as connection:
        return connection.execute(_FIND).fetchone() is not None


@contextmanager
def reading(server: "PostgresServer") -> Iterator[tuple[LedgerRows, Books]]:
    """Yield the present ledger, checked, without its contents. Errors: LedgerError, BrokenLedgerError."""
    with _reporting(server), _connected(server, _deadline()) as connection:
        connection.execute("begin isolation level repeatable read read only")
        yield PostgresRows(connection), _checked(connection, server)


def written(server: "PostgresServer", act: Callable[[LedgerRows, Books], Result]) -> Result:
    """Run an act that adds to the ledger, in a transaction that is repeated if necessary, and return its result.

    Errors: LedgerError, BrokenLedgerError; then nothing was added. UnknownWriteError if the connection ended while the
    row was being committed and the server did not respond again.
    """
    return _repeated(server, lambda connection, rows: act(rows, _checked(connection, server)))


def begin(server: "PostgresServer", fill: Callable[[LedgerRows], None]) -> None:
    """Make the ledger's table, with the row that `fill` adds, unless it exists.

    Errors: LedgerError if it cannot be made, BrokenLedgerError for another program's table.
    """

    def filled(connection: Any, rows: LedgerRows) -> None:
        row = connection.execute(_FIND).fetchone()
        if row is not None:
            _require_mark(row[0], server)
            return
        (encoding,) = connection.execute("show server_encoding").fetchone()
        if encoding != "UTF8":
            raise LedgerError(f"The database {server.title} has the encoding {encoding}. A ledger needs UTF8.")
        for statement in _SCHEMA:
            connection.execute(statement)
        fill(rows)

    _repeated(server, filled)


# One transaction


def _deadline() -> float:
    return time.monotonic() + RETRY_SECONDS


def _repeated(server: "PostgresServer", act: Callable[[Any, LedgerRows], Result]) -> Result:
    """Run an act in a serialisable transaction, and repeat it after a conflict or a lost connection."""
    deadline, doubtful = _deadline(), ""
    results: list[Result] = []
    while True:
        is_committing = False
        try:
            with _connected(server, deadline) as connection, _noticing(connection):
                _wait_for_others(connection)
                if doubtful and _has(connection, doubtful):
                    return results[-1]  # it was committed, although the answer was lost
                doubtful, rows = "", PostgresRows(connection)
                connection.execute("begin isolation level serializable")
                results.append(act(connection, rows))
                doubtful, is_committing = rows.head, True
                connection.execute("commit")
                return results[-1]
        except _FailedError as failure:
            if is_committing and not failure.is_lost:
                doubtful = ""  # the server answered that it did not commit
            if time.monotonic() > deadline or not (failure.is_lost or _is_overtaken(failure.error)):
                _refuse(failure.error, server, doubtful)
        except LedgerError as error:
            if doubtful:
                raise UnknownWriteError(_unknown(server)) from error
            raise
        time.sleep(random.uniform(0.02, 0.1))


class _FailedError(Exception):
    """An error of the driver, and whether it ended the connection."""

    def __init__(self, error: Any, *, is_lost: bool) -> None:
        super().__init__()
        self.error, self.is_lost = error, is_lost


@contextmanager
def _noticing(connection: Any) -> Iterator[None]:
    """Record whether an error of the driver ended the connection."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        is_lost = bool(connection.closed or connection.broken or (error.sqlstate or "")[:3] in ("080", "57P"))
        raise _FailedError(error, is_lost=is_lost) from None


def _wait_for_others(connection: Any) -> None:
    """Take the lock for writing. An ended session has no lock, so its transaction has ended too.

    If a proxy removes the lock, the transactions are still serialisable, and one of two is repeated.
    """
    connection.execute("select pg_advisory_lock(%s)", (LOCK,))


def _has(connection: Any, head: str) -> bool:
    if connection.execute(_FIND).fetchone() is None:
        return False
    return connection.execute("select 1 from dpbayes.event where hash = %s", (head,)).fetchone() is not None


def _is_overtaken(error: Any) -> bool:
    """Whether another transaction was faster: one of the two can be repeated."""
    return error.sqlstate in ("40001", "40P01", "23505")


@contextmanager
def _connected(server: "PostgresServer", deadline: float) -> Iterator[Any]:
    """Connect to a server, and wait if it restarts. Errors: LedgerError after the deadline."""
    connection = _connection(server, deadline)
    try:
        yield connection
    finally:
        with suppress(Exception):  # a connection that is lost cannot be ended in order
            connection.close()


def _connection(server: "PostgresServer", deadline: float) -> Any:
    from dpbayes.sources.engines.postgresql import PATIENCE, why_closed
    from dpbayes.sources.engines.statements import driver

    psycopg = driver("psycopg", "PostgreSQL", "postgres")
    while True:
        connection: Any = None
        try:
            connection = psycopg.connect(
                **{**PATIENCE, "tcp_user_timeout": "30000", "client_encoding": "UTF8", **server.connection},
                autocommit=True,
                prepare_threshold=None,
            )
            connection.execute(_DURABLE, (["off", "local"],))
            connection.execute(f"set lock_timeout = '{LOCK_SECONDS}s'")
            return connection
        except (psycopg.Error, OSError, ValueError) as error:
            if connection is not None:
                connection.close()
            sentence = why_closed(error, server)
            may_come_back = any(text in sentence for text in ("cannot be reached", "starting or ending", "too many"))
            if not may_come_back or time.monotonic() > deadline:
                raise LedgerError(sentence[:1].upper() + sentence[1:]) from None
        time.sleep(0.1)


# The content of the database


def _checked(connection: Any, server: "PostgresServer") -> Books:
    """Return the books. Errors: BrokenLedgerError for another table or version, and for invalid rows."""
    marked = connection.execute(_FIND).fetchone()
    if marked is None:
        raise LedgerError(f"There is no ledger in {server.title} yet; open a dataset in it first.")
    mark, is_plain = marked
    _require_mark(mark, server)
    columns = [tuple(row) for row in connection.execute(_COLUMNS_NOW)]
    triggers = {tuple(row) for row in connection.execute(_TRIGGERS)}
    expected = [(name, kind, name not in _NULLABLE) for name, kind in _TYPES.items()]
    if not is_plain or columns != expected or triggers != _GUARDS:
        raise BrokenLedgerError(
            f"The table or triggers of the ledger {server.title} were changed. Restore a copy of the database."
        )
    return books_of(PostgresRows(connection).events())


def _require_mark(mark: str, server: "PostgresServer") -> None:
    if not mark.startswith(_MARK):
        raise BrokenLedgerError(
            f"The table dpbayes.event in {server.title} belongs to another program. Name another database."
        )
    version = mark.removeprefix(_MARK)
    if version != str(READABLE[-1]):
        raise BrokenLedgerError(
            f"The ledger {server.title} has version {version}, and this program reads version {READABLE[-1]} in "
            "PostgreSQL; use the program that wrote it."
        )


# Errors of PostgreSQL: their texts may quote values, and are not shown


@contextmanager
def _reporting(server: "PostgresServer") -> Iterator[None]:
    """Turn an error of the driver into one sentence. Errors: LedgerError."""
    from dpbayes.sources.engines.statements import driver

    psycopg = driver("psycopg", "PostgreSQL", "postgres")
    try:
        yield
    except psycopg.Error as error:
        _refuse(error, server, "")


def _refuse(error: Any, server: "PostgresServer", doubtful: str) -> NoReturn:
    if doubtful:
        raise UnknownWriteError(_unknown(server)) from None
    raise LedgerError(_sentence(error, server)) from None


def _unknown(server: "PostgresServer") -> str:
    return (
        f"The connection to {server.title} ended while a row was being written, and the server did not respond again. "
        "The row may be in the ledger; list the ledger when the server responds."
    )


def _sentence(error: Any, server: "PostgresServer") -> str:
    code = error.sqlstate or ""
    sentences = {
        "55P03": f"Another program is writing to the ledger {server.title}; try again when it is done.",
        "42501": f"The user of the ledger {server.title} needs these privileges: USAGE on the schema dpbayes, SELECT "
        "and INSERT on its tables.",
        "25006": f"The server of the ledger {server.title} is read-only. Name the primary server.",
        "54000": f"The data are too large for the ledger {server.title}. Make a smaller release.",
    }
    if code in sentences:
        return sentences[code]
    if _is_overtaken(error):
        return f"Other programs wrote to the ledger {server.title} at each attempt; try again later."
    if code[:2] == "53":
        return f"The server of the ledger {server.title} has no disk space or memory left. Free some and try again."
    if not code or code[:2] in ("08", "57"):
        return f"The connection to the ledger {server.title} ended; try again when the server responds."
    return f"PostgreSQL refuses the ledger {server.title} (code {code})."
