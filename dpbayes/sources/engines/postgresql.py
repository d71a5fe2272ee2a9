"""Tables of a PostgreSQL server, counted in one read-only transaction, which sees one state of the table."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.libraries import pa
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.engines.statements import CHANGED, driver, named_table, quoted, statement

if TYPE_CHECKING:
    import ibis.expr.types as ir

PATIENCE: Mapping[str, str] = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "application_name": "dpbayes",
}
"""Timeouts in seconds for a server that does not respond; an address may state others."""

MOST_TABLES = 1000
"""The largest number of tables in the list."""

SETTINGS = (
    "set default_transaction_read_only = on",
    "set default_transaction_isolation = 'repeatable read'",
    "set datestyle = 'ISO'",  # dates are compared as text
    "set lock_timeout = '10s'",
)

RELATION = """
select c.oid, c.relkind::text, n.nspname, c.relname from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.oid = to_regclass(%(name)s) and c.relkind = any('{r,p,v,m,f}')
"""

COLUMNS = """
select a.attname, pg_catalog.format_type(b.oid, case when b.oid = t.oid then a.atttypmod else t.typtypmod end),
  b.typtype = 'e' or b.typname in ('bpchar', 'citext', 'name', 'char'), coalesce(l.collisdeterministic, true)
from pg_catalog.pg_attribute a
join pg_catalog.pg_type t on t.oid = a.atttypid
join pg_catalog.pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
left join pg_catalog.pg_collation l on l.oid = a.attcollation
where a.attrelid = %(table)s and a.attnum > 0 and not a.attisdropped order by a.attnum
"""

TABLES = """
select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind = any('{r,p,v,m,f}') and not c.relispartition
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_%%'
  and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
order by n.nspname, c.relname limit %(most)s
"""


@dataclass(frozen=True)
class PostgresServer:
    """A table of a server: its schema, if it is not on the search path, and its name.

    `connection` has the driver's parameters without the password, which is in the environment or in a file.
    """

    title: str
    connection: Mapping[str, str]
    name: tuple[str, ...] = ()

    @contextmanager
    def session(self) -> Iterator["PostgresSession"]:
        """Connect. Errors: InputError if the server cannot be reached or refuses access."""
        psycopg = driver("psycopg", "PostgreSQL", "postgres")
        try:
            connection = psycopg.connect(**{**PATIENCE, **self.connection}, autocommit=True)
        except (psycopg.Error, OSError, ValueError) as error:
            raise InputError(why_closed(error, self)) from None
        session = PostgresSession(connection, self)
        try:
            for setting in SETTINGS:
                session.ask(setting)
            yield session
        finally:
            with suppress(Exception):  # a lost connection cannot be closed properly
                connection.close()

    @property
    def place(self) -> str:
        host, port = self.connection.get("host", "this machine"), self.connection.get("port", "5432")
        return f"PostgreSQL at {brief(host)}, port {port},"


@dataclass(frozen=True, eq=False)
class PostgresSession:
    """A connection to PostgreSQL. The transaction begins with `table` and ends with the connection."""

    connection: Any
    server: PostgresServer
    _cache: dict[str, "ir.Table"] = field(default_factory=dict)

    def table(self) -> "ir.Table":
        """Return the table, and begin the transaction.

        The lock against changes of the columns precedes the snapshot, because a table that is rewritten in between
        would appear empty. Errors: InputError if the table does not exist or the user may not read it.
        """
        if "table" not in self._cache:
            relation = self.ask(RELATION, {"name": quoted(self.server.name)})
            if not relation:
                raise InputError(f"The database has no table {brief('.'.join(self.server.name))}.")
            oid, kind, *name = relation[0]
            self.ask("begin isolation level repeatable read read only")
            if kind in "rpv":  # other kinds cannot be locked
                self.ask(f"lock table {quoted(tuple(name))} in access share mode")
            self._cache["table"] = _table(tuple(name), self.ask(COLUMNS, {"table": oid}))
        return self._cache["table"]

    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return schema and name of up to MOST_TABLES readable tables and views. Errors: those of `answer`."""
        return tuple((schema, name) for schema, name in self.ask(TABLES, {"most": MOST_TABLES}))

    def answer(self, expression: "ir.Table") -> "pa.Table":
        return self._rows(expression, _statement(expression))

    def sampled(self, expression: "ir.Table", most: int, rng: np.random.Generator) -> "pa.Table":
        """Return `most` random rows of an expression. Errors: those of `answer`.

        TABLESAMPLE supports neither views nor a number of rows. One scan in random order keeps the first rows.
        """
        self.ask(f"select setseed({float(rng.random())!r})")
        return self._rows(
            expression, f"select * from ({_statement(expression)}) as shown order by random() limit {int(most)}"
        )

    def _rows(self, expression: "ir.Table", text: str) -> "pa.Table":
        rows = self.ask(text)
        columns = zip(*rows, strict=True) if rows else [()] * len(expression.columns)
        kinds = expression.schema().values()
        return pa.table(
            {name: _arrow(values, kind) for name, values, kind in zip(expression.columns, columns, kinds, strict=True)}
        )

    def ask(self, text: str, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            cursor = self.connection.execute(text, values)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
            return rows
        except psycopg.Error as error:
            raise InputError(_why_not(error, self)) from None

    def share(self) -> float:
        """Return 0: PostgreSQL does not report progress."""
        return 0.0

    def cancel(self) -> None:
        with suppress(Exception):  # a lost connection has ended the statement
            self.connection.cancel_safe(timeout=2)


def _statement(expression: "ir.Table") -> str:
    text = statement(expression, "postgres")
    if "\0" in text:
        raise InputError("PostgreSQL text cannot contain a null character. Declare the states without it.")
    return text


def _table(name: tuple[str, ...], columns: list[tuple[Any, ...]]) -> "ir.Table":
    """Return a table from its columns: name, type, whether it is a text type, and whether only equal letters match."""
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import PostgresType

    schema, as_text = {}, []
    for column, kind, is_own, is_plain in columns:
        own = is_own and is_plain
        schema[column] = dt.string if own else PostgresType.from_string(kind)
        if not is_plain or kind == "money":  # distinct letters may be equal; the text of money depends on the locale
            schema[column] = dt.Unknown(raw_type=kind)
        if own:
            as_text.append(column)
    raw = named_table(name, schema | {column: dt.uuid for column in as_text})
    return raw.mutate(**{column: raw[column].cast("string") for column in as_text}) if as_text else raw


def _arrow(values: tuple[Any, ...], kind: Any) -> "pa.Array":
    """Return a column of an answer; values other than numbers and truth values become text."""
    if kind.is_boolean() or kind.is_integer() or kind.is_floating():
        return pa.array(values, kind.to_pyarrow() if not kind.is_floating() else pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def why_closed(error: Exception, server: PostgresServer) -> str:
    """Return the reason for a failed connection. libpq gives only text; a server's has FATAL in all languages."""
    text, user = str(error), server.connection.get("user")
    who = f"the user {brief(user)}" if user else "the user of this program"
    answer = getattr(error, "pgconn", None)
    if answer is not None and answer.needs_password and not answer.used_password:
        return f"{server.place} needs a password for {who}; give it in PGPASSWORD or in ~/.pgpass."
    if "no password supplied" in text:
        return f"{server.place} needs a password for {who}; give it in PGPASSWORD or in ~/.pgpass."
    if "FATAL" not in text:
        secure = " with SSL" if "SSL" in text else ""
        return f"{server.place} cannot be reached{secure}; check the address and the network."
    if "password authentication failed" in text:
        return f"{server.place} rejects the password of {who}."
    if "does not exist" in text:
        return f"{server.place} has no database {brief(server.connection.get('dbname', user))}, or no access for {who}."
    if "too many" in text or "remaining connection slots" in text:
        return f"{server.place} has too many connections; try again later."
    if any(state in text for state in ("starting up", "shutting down", "not yet accepting", "recovery mode")):
        return f"{server.place} is starting or ending; try again in a moment."
    return f"{server.place} refuses {who} access to the database; ask its owner."


def _why_not(error: Any, session: PostgresSession) -> str:
    code, name = error.sqlstate or "", brief(".".join(session.server.name))
    sentences = {
        "42P01": f"The table {name} does not exist any more.",
        "42703": CHANGED,
        "42501": f"{session.server.place} refuses to let this user read {name}. The user needs the SELECT "
        "privilege on the table.",
        "57014": "PostgreSQL cancelled the count: it was stopped or timed out. Start it again.",
        "55P03": f"Another program is changing the table {name}. Try again when it is done.",
        "40001": "PostgreSQL cancelled the count because the table changed. Start it again.",
    }
    if code in sentences:
        return sentences[code]
    if session.connection.broken or code[:2] in ("08", "57"):
        return f"{session.server.place} ended the connection; start the count again later."
    if code[:2] == "53":
        return f"{session.server.place} has no disk space or memory left (code {code})."
    return f"{session.server.place} could not answer (code {code or 'unknown'}); check the types of the columns."
