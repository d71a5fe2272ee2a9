"""Read-only connections to DuckDB, PostgreSQL and Spark by ibis, and their errors as sentences.

A DuckDB view can refer to any file or web address, and is evaluated with the rights of this program. This is allowed
for files that the owner names. A file that visitors choose is opened with a folder, and DuckDB reads nothing outside.
"""

import atexit
import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any

from dpbayes.base.validation import InputError, brief
from dpbayes.sources.engines.address import Address, connection_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

Backend = Any
"""A connection of ibis, whose backends have no common public type."""

ATTACHED = "source"
"""The name of a DuckDB file in the connection."""

CLOSED = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
"""A file loads no code, and a name in a view never refers to a variable of this program."""

READ_ONLY = (
    r"-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\ read -c datestyle=ISO "
    "-c lock_timeout=10s -c application_name=dpbayes"
)
"""Options of a PostgreSQL session: it cannot write, and all its statements see one state of the tables."""

QUIET = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
"""The pages show errors themselves. Spark's own pages would be open to all machines."""

LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Spark on this machine accepts connections from this machine only."""

DRIVERS = {"postgresql": ("PostgreSQL", "postgres"), "spark": ("Spark", "spark")}
"""The name of an engine, and the extra that installs its driver; DuckDB's for the others."""


@contextmanager
def opened(address: Address, within: Path | None = None) -> Iterator[Backend]:
    """Open a read-only connection. Errors, also during its use: InputError that contains no address and no password.

    With a folder `within`, DuckDB reads no file outside of it.
    """
    try:
        with _connection(address, within) as connection:
            yield connection
    except InputError:
        raise
    except Exception as error:
        raise InputError(reason(error, address)) from None


def table_of(connection: Backend, address: Address) -> "ir.Table":
    """Return the table of an address as an expression."""
    *schema, name = address.table or ("",)
    if address.kind == "parquet":
        table: ir.Table = connection.read_parquet(_files(address.place), union_by_name=True, hive_partitioning=False)
        return table
    if address.kind == "duckdb":
        return connection.table(name, database=(ATTACHED, *(schema or ["main"])))
    if address.kind == "spark" and schema == ["parquet"]:
        return connection.read_parquet(name)
    table = connection.table(name, database=tuple(schema) if len(schema) > 1 else schema[0] if schema else None)
    return _with_texts(table) if address.kind == "postgresql" else table


def table_names(connection: Backend, address: Address) -> list[tuple[str, ...]]:
    """Return the names of the tables at an address."""
    if address.kind == "spark":
        return [(connection.current_database, name) for name in connection.list_tables()]
    catalog = ("system", "information_schema") if address.kind == "duckdb" else "information_schema"
    tables = connection.table("tables", database=catalog)
    if address.kind == "duckdb":
        tables = tables.filter(tables.table_catalog == ATTACHED)
    own = tables.filter(tables.table_schema.notin(["pg_catalog", "information_schema"]))
    rows = connection.to_pyarrow(own.select("table_schema", "table_name").order_by(["table_schema", "table_name"]))
    return [(row["table_schema"], row["table_name"]) for row in rows.to_pylist()]


def _files(place: str) -> list[str]:
    """Return a Parquet file, or those of a folder without hidden ones. Errors: InputError."""
    path = Path(place)
    places = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [
        file
        for file in places
        if file == path
        or (file.suffix.lower() in (".parquet", ".pq") and not re.search(r"(^|/)[._]", str(file.relative_to(path))))
    ]
    if not files:
        raise InputError(f"The folder {brief(path.name)} has no Parquet file in it.")
    return [str(file) for file in files]


def _with_texts(table: "ir.Table") -> "ir.Table":
    """Return a PostgreSQL table with text of type `text` in place of enumerations, domains and the like."""
    kinds = table.schema().items()
    texts = {name: table[name].concat("") for name, kind in kinds if kind.is_string()}
    return table.mutate(**texts, **{name: table[name].cast("string") for name, kind in kinds if kind.is_unknown()})


# Connections


def _connection(address: Address, within: Path | None) -> AbstractContextManager[Backend]:
    if address.kind in ("postgresql", "spark"):
        return _postgresql(address) if address.kind == "postgresql" else _spark(address)
    return _duckdb(address, within)


@contextmanager
def _duckdb(address: Address, within: Path | None) -> Iterator[Backend]:
    """Open an instance of DuckDB of its own, whose settings no view and no other connection can change."""
    import ibis

    _require_file(address)
    with TemporaryDirectory(prefix="dpbayes-") as room:
        connection = ibis.duckdb.connect(temp_directory=room, **CLOSED)
        try:
            if address.kind == "duckdb":
                connection.raw_sql(f"attach {_quoted(address.place)} as {ATTACHED} (type duckdb, read_only)")
                connection.raw_sql(f"use {ATTACHED}")
            if within is not None:
                connection.raw_sql(f"set allowed_directories = [{_quoted(str(within))}]")
                connection.raw_sql("set enable_external_access = false")
            connection.raw_sql("set lock_configuration = true")
            yield connection
        finally:
            connection.disconnect()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _require_file(address: Address) -> None:
    path = Path(address.place)
    try:
        exists = path.is_file() or (address.kind == "parquet" and path.is_dir())
    except (OSError, ValueError):  # a folder without permission
        exists = False
    if not exists:
        raise InputError(f"The file or folder {brief(path.name)} does not exist or cannot be read.")


@contextmanager
def _postgresql(address: Address) -> Iterator[Backend]:
    import ibis

    parameters = {"connect_timeout": 10} | connection_of(address)
    connection = ibis.postgres.connect(**parameters, options=READ_ONLY, autocommit=False)
    try:
        connection.raw_sql("select 1")  # begins the transaction of all statements
        yield connection
    finally:
        with suppress(Exception):  # a lost connection cannot be closed properly
            connection.disconnect()


@contextmanager
def _spark(address: Address) -> Iterator[Backend]:
    """Open a session with temporary views of its own, in the one Spark that a process can have, or in Spark Connect."""
    import ibis
    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints statements
    if address.place.startswith("sc://"):
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        session = ConnectSession.builder.remote(address.place).create()
        try:
            yield ibis.pyspark.connect(session)
        finally:
            with suppress(Exception):  # a stopped server has ended the session
                session.stop()
        return
    builder = SparkSession.builder.appName("dpbayes").master(address.place)
    local = LOCAL | {"spark.sql.warehouse.dir": _warehouse()} if address.place.startswith("local") else {}
    for key, value in (QUIET | local).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if session.sparkContext.master != address.place:
        raise InputError("This program is connected to another Spark, and supports one only. Restart this program.")
    yield ibis.pyspark.connect(session.newSession(), **{"spark.sql.caseSensitive": "true"})


@cache
def _warehouse() -> str:
    """Return a folder that exists until the program ends; by default, Spark creates one in the working directory."""
    folder = mkdtemp(prefix="dpbayes-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# Errors

REASONS = (
    (r"(ModuleNotFound|Import)Error", '{engine} needs a driver that is not installed: pip install "dpbayes[{extra}]".'),
    (r"TableNotFound|TABLE_OR_VIEW_NOT_FOUND|SCHEMA_NOT_FOUND|PATH_NOT_FOUND", "{engine} has no table {table}."),
    (
        r"PermissionException|system operations are disabled",
        "The table {table} is a view of files or addresses that may not be read here. On this server a view may only "
        "use files in the data root, with absolute paths.",
    ),
    (r"no password supplied", "{engine} needs a password; give it in PGPASSWORD or in ~/.pgpass."),
    (r"password authentication failed", "{engine} rejects the password of this user."),
    (r"database .* does not exist", "{engine} has no such database, or this user has no access to it."),
    (
        r"InsufficientPrivilege|INSUFFICIENT_PERMISSIONS|AccessControl|[Pp]ermission denied",
        "This user may not read the table {table} of {engine}. Ask its owner for the right to read it.",
    ),
    (r"[Cc]onflicting lock|already attached", "Another program has the file open for writing. Close it there."),
    (r"not a valid DuckDB|newer version of DuckDB|Serialization", "DuckDB cannot open the file as a database."),
    (r"No magic bytes|FAILED_READ_FILE|Parquet", "A file of the table is missing, or is not a readable Parquet file."),
    (r"QueryCanceled|InvalidCursorName|CANCEL+ED", "The count was cancelled in {engine}. Start it again."),
    (r"LockNotAvailable", "Another program is changing the table {table}. Try again when it is done."),
    (r"OutOfMemory|DiskFull", "{engine} ran out of memory or disk space. Count fewer columns."),
    (
        r"JAVA_GATEWAY_EXITED|JAVA_HOME|FileNotFoundError",
        "Spark cannot start without Java 17 or 21. Install Java, or set JAVA_HOME.",
    ),
    (
        r"connection (failed|is (closed|lost))|AdminShutdown|OperationalError|Py4J(Network)?Error|"
        r"Connection(Refused|Reset)|UNAVAILABLE|RETRIES_EXCEEDED",
        "{engine} cannot be reached, or ended the connection. Check the address and the network, and try again.",
    ),
)
"""What the type and the message of an error contain, and the sentence about it, in order of precedence."""


def reason(error: Exception, address: Address) -> str:
    """Return the sentence about an error of an engine. Its own message may contain addresses, values and statements."""
    engine, extra = DRIVERS.get(address.kind, ("DuckDB", "engines"))
    kind = type(error).__name__
    general = "{engine} could not answer ({kind}). Check the table and the types of its columns."
    sentences = (sentence for pattern, sentence in REASONS if re.search(pattern, f"{kind}: {error}"))
    table = brief(".".join(address.table) or Path(address.place).name)
    return next(sentences, general).format(engine=engine, extra=extra, table=table, kind=kind)
