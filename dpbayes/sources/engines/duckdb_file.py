"""Tables in a DuckDB file, which is opened read-only.

A view in such a file can refer to any file or web address, and is evaluated with the rights of this program. This is
allowed for the owner's own files. A file that visitors choose is opened with a folder, and DuckDB then reads nothing
outside of this folder.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.libraries import pa
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.engines.statements import CHANGED, driver, named_table, quoted, statement

if TYPE_CHECKING:
    import ibis.expr.types as ir

OTHER_TEXT = "text with a collation"
"""The type of text whose collation treats different letters as equal. Its comparison differs from a domain's."""

NO_VARIABLES = {"python_enable_replacements": "false"}
"""Names in statements never refer to variables of this program."""

NO_EXTENSIONS = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
}
"""A visitor's file cannot load code."""

OWN_CATALOGS = ("memory", "system", "temp")
"""Names of DuckDB's own catalogues; a file with such a name gets an alias."""


@dataclass(frozen=True)
class DuckDbFile:
    """A table of a DuckDB file: its schema, if it is not "main", and its name.

    The file's views can read only files `within` this folder, after resolving links. With None, they can read all files
    that this program can.
    """

    title: str
    path: str
    name: tuple[str, ...] = ()
    within: Path | None = None

    @contextmanager
    def session(self) -> Iterator["DuckDbSession"]:
        """Open the file. No other program can change it while it is open, but files of its views may change.

        Errors: InputError if the file does not exist, or if another program writes to it.
        """
        duckdb = driver("duckdb", "DuckDB", "engines")
        try:
            is_there = Path(self.path).is_file()
        except (OSError, ValueError):  # a folder without permission, a null character
            is_there = False
        if not is_there:
            raise InputError(f"The file {brief(self.path)} does not exist or cannot be read.")
        with nullcontext("") if self.within is None else TemporaryDirectory(prefix="dpbayes-") as room:
            try:
                if self.within is None:
                    connection = duckdb.connect(self.path, read_only=True, config=NO_VARIABLES)
                else:
                    connection = _fenced(duckdb, self.path, self.within, room)
            except (duckdb.Error, OSError) as error:
                raise InputError(_why_closed(error, self.path)) from None
            with closing(connection):
                yield DuckDbSession(connection, self.name)


@dataclass(frozen=True, eq=False)
class DuckDbSession:
    """A connection to DuckDB; the last part of `name` is the table's."""

    connection: Any
    name: tuple[str, ...]

    def table(self) -> "ir.Table":
        import ibis.expr.datatypes as dt
        from ibis.backends.sql.datatypes import DuckDBType

        name = self.name if len(self.name) > 1 else ("main", *self.name)
        described = self.ask(f"describe {quoted(name)}")
        kinds = dict(zip(described["column_name"].to_pylist(), described["column_type"].to_pylist(), strict=True))
        schema = {column: DuckDBType.from_string(kind) for column, kind in kinds.items()}
        texts = [column for column, kind in schema.items() if kind.is_string()]
        for column, is_plain in zip(texts, self._compared_plainly(name, texts), strict=True):
            if not is_plain:
                schema[column] = dt.Unknown(raw_type=OTHER_TEXT)
        table = named_table(name, schema)
        labels = {column: table[column].cast("string") for column, kind in kinds.items() if kind.startswith("ENUM")}
        return table.mutate(**labels) if labels else table

    def _compared_plainly(self, name: tuple[str, ...], columns: list[str]) -> list[bool]:
        """Return for each text column whether only identical letters are equal; a collation can change this."""
        queries = [f"(select {quoted((column,))}::varchar from {quoted(name)} where false)" for column in columns]
        plain = [f"coalesce({text}, 'Z') < 'a' and coalesce({text}, 'á') <> 'a'" for text in queries]
        return [column[0].as_py() for column in self.ask("select " + ", ".join(plain))] if plain else []

    def tables(self) -> tuple[tuple[str, ...], ...]:
        rows = self.ask(
            "select table_schema, table_name from information_schema.tables "
            "where table_catalog = current_database() order by all"
        )
        return tuple(zip(rows["table_schema"].to_pylist(), rows["table_name"].to_pylist(), strict=True))

    def answer(self, expression: "ir.Table") -> "pa.Table":
        return self.ask(statement(expression, "duckdb"))

    def sampled(self, expression: "ir.Table", most: int, rng: np.random.Generator) -> "pa.Table":
        """Return `most` random rows of an expression, from a reservoir. Errors: those of `answer`."""
        rows, seed = statement(expression, "duckdb"), int(rng.integers(1 << 31))
        return self.ask(f"select * from ({rows}) using sample reservoir({int(most)} rows) repeatable ({seed})")

    def ask(self, text: str) -> "pa.Table":
        import duckdb

        try:
            return self.connection.sql(text).to_arrow_table()
        except duckdb.Error as error:
            raise InputError(_why_not(error, self.name)) from None

    def share(self) -> float:
        return min(1.0, max(0.0, self.connection.query_progress() / 100))

    def cancel(self) -> None:
        with suppress(Exception):  # a closed connection has no query
            self.connection.interrupt()


def _fenced(duckdb: Any, path: str, within: Path, room: str) -> Any:
    """Open a visitor's file in a separate instance, whose settings no view and no other connection can change.

    `room` is the folder for data that does not fit into memory. The file's own folder could contain a prepared link.
    """
    stem = next(
        (candidate for candidate in (Path(path).stem, Path(path).name.split(".")[0]) if candidate in OWN_CATALOGS), ""
    )
    alias = f" as {quoted((f'{stem}_file',))}" if stem else ""
    connection = duckdb.connect(config=NO_VARIABLES | NO_EXTENSIONS | {"temp_directory": room})
    try:
        connection.execute(f"attach {_text(path)}{alias} (type duckdb, read_only)")
        (name,) = connection.execute("select database_name from duckdb_databases() where path is not null").fetchone()
        for setting in (
            f"use {quoted((name,))}",
            f"set allowed_directories = [{_text(str(within))}]",
            "set enable_external_access = false",
            "set lock_configuration = true",
        ):
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _why_closed(error: Exception, path: str) -> str:
    text, name = str(error), brief(Path(path).name)
    if "lock" in text:
        return f"Another program has {name} open for writing. Close it there, or count a copy of the file."
    if "different configuration" in text or "already attached" in text:
        return f"This program has {name} open for writing. Close that connection first."
    if "not a valid DuckDB" in text:
        return f"The file {name} is not a DuckDB database."
    if isinstance(error, PermissionError) or "ermission denied" in text:
        return f"This program has no permission to read the file {name}. Ask its owner for access."
    return f"DuckDB cannot open {name}. The file may be damaged or from another version."


def _why_not(error: Exception, name: tuple[str, ...]) -> str:
    kind = type(error).__name__
    sentences = {
        "InterruptException": "The count was stopped. Start it again.",
        "CatalogException": f"The file has no table {brief('.'.join(name))}.",
        "BinderException": CHANGED,
        "PermissionException": (
            f"The table {brief('.'.join(name))} is a view of files or addresses that may not be read here. "
            "On this server a view may only use files in the data root, with absolute paths."
        ),
        "OutOfMemoryException": "DuckDB ran out of memory. Count fewer columns, or use a larger machine.",
    }
    return sentences.get(kind, f"The DuckDB query failed ({kind}). Check the table, or the files behind the view.")
