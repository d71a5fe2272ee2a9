"""Addresses: one text names a table wherever it lies, and opens it. docs/tables.md lists their kinds.

No address holds a password: texts of addresses stand in links, ledgers and the history of a shell.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from dpbayes.base.steps import Work
from dpbayes.base.validation import InputError, is_writable
from dpbayes.sources.engines.engine import Engine
from dpbayes.sources.engines.session import Database, table_names
from dpbayes.sources.engines.sql import SqlTable

if TYPE_CHECKING:
    from dpbayes.sources.engines.postgresql import PostgresServer

KINDS = ("parquet", "duckdb", "postgresql", "spark")
"""What stands before the colon of an address."""

POSTGRES_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "connect_timeout", "service")
"""What an address of PostgreSQL may say beside the table; none of them is a secret."""

PASSWORD = (
    "An address must not contain a password or a token. Use PGPASSWORD, ~/.pgpass, or the file that PGPASSFILE names."
)
TOKEN = "An address must not contain a password or a token. Use SPARK_CONNECT_AUTHENTICATE_TOKEN."

MOST_PARTS = 3
"""A table's name has at most a catalogue and a schema before its own."""

Name = tuple[str, ...]
"""A table's name: the schemas that it lies in, then its own; empty where an address names none."""


@dataclass(frozen=True)
class Address:
    """Where a table lies, in parts: the kind of engine, the place in that engine's own words, and the table."""

    kind: str
    place: str
    table: Name = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders on this machine that the table lies in; none where a server keeps it."""
        if self.kind in ("parquet", "duckdb"):
            return (Path(self.place),)
        return tuple(Path(part) for part in self.table if part.startswith("/"))  # Spark names files as tables

    def __str__(self) -> str:
        query = [f"{key}={quote(value, safe='/')}" for key, value in self.options]
        if self.table:
            name = written_name(self.table)
            query.append("table=" + (quote(name, safe='/"') if self.kind == "postgresql" else name))
        return f"{self.kind}:{self.place}" + ("?" + "&".join(query) if query else "")


def parsed(text: str) -> Address:
    """Return an address in parts.

    Errors: InputError for a kind that is not known, for a password, and for what the kind does not have; no message
    repeats more of a faulty address than its kind.
    """
    kind = _kind(text)
    if kind is None:
        raise InputError(f"An address begins with one of {', '.join(f'{kind}:' for kind in KINDS)}; this one does not.")
    rest = text.strip().partition(":")[2]
    if not is_writable(rest) or "\0" in rest:
        raise InputError("The address contains invalid characters.")
    if re.search(r"//[^/?#@]*:[^/?#]*@", unquote(rest)):
        raise InputError(PASSWORD)
    return _PARSERS[kind](rest)


def open_table(text: str, within: Path | None = None) -> Engine:
    """Return the table that an address names. The table is opened at its first use.

    Args:
        text: The address, such as "duckdb:/data/clinic.duckdb?table=visits".
        within: The folder that must contain all files that the views of a DuckDB file read. With None, the views may
            read every file that this program can read.

    Returns:
        The table, to be used in a `DeclaredTable`.

    Raises:
        InputError: The text is not an address, contains a password, or names no table.

    Example:
        >>> dp.open_table("duckdb:/data/clinic.duckdb")
        Traceback (most recent call last):
        ...
        dpbayes.base.validation.InputError: ...
    """
    address = parsed(text)
    if address.kind == "parquet":
        from dpbayes.sources.engines.parquet import ParquetFiles

        return ParquetFiles(Path(address.place))
    if not address.table:
        raise InputError("The address has no table. Add ?table=NAME at its end.")
    return SqlTable(database_of(address, within))


def tables_of(text: str, within: Path | None = None) -> Work[tuple[str, ...]]:
    """Look up the addresses of all tables beside the one that an address names, or of all where it names none.

    It takes steps, as counting does; `within` is that of `open_table`. Errors: InputError as of `parsed`, and where the
    place cannot be reached.
    """
    address = parsed(text)
    if address.kind == "parquet":
        return (str(address),)
    names = yield from table_names(database_of(address, within))
    return tuple(str(replace(address, table=name)) for name in names)


def database_of(address: Address, within: Path | None = None) -> Database:
    """Return what reaches the table of an address, of any kind but Parquet; `within` is that of `open_table`."""
    if address.kind == "duckdb":
        from dpbayes.sources.engines.duckdb_file import DuckDbFile

        return DuckDbFile(str(address), address.place, address.table, within)
    if address.kind == "postgresql":
        return server_at(address)
    from dpbayes.sources.engines.spark import SparkCluster

    return SparkCluster(str(address), address.place, address.table)


def server_at(address: Address) -> "PostgresServer":
    """Return the server of an address of PostgreSQL."""
    from dpbayes.sources.engines.postgresql import PostgresServer

    return PostgresServer(str(address), _connection(address), address.table)


# Names


def name_parts(text: str) -> Name:
    """Return the parts of a name: they are divided by dots, and a part in double quotes may hold any letters.

    Errors: InputError for an empty part and for a quote that does not end.
    """
    parts: list[str] = []
    rest = text
    while True:
        quoted = re.match(r'"((?:[^"]|"")+)"(?=\.|\Z)', rest)
        plain = quoted or re.match(r'([^."]+)(?=\.|\Z)', rest)
        if plain is None or len(parts) == MOST_PARTS:
            raise InputError('A table is written NAME or SCHEMA.NAME; put a part with a dot or a quote in "quotes".')
        parts.append(plain[1].replace('""', '"') if quoted else plain[1])
        rest = rest[plain.end() :]
        if not rest:
            return tuple(parts)
        rest = rest[1:]


def written_name(name: Sequence[str]) -> str:
    """Write a name as `name_parts` reads it."""
    return ".".join('"' + part.replace('"', '""') + '"' if re.search(r'[."?]|^\s|\s$', part) else part for part in name)


# Kinds


def _kind(text: str) -> str | None:
    kind = text.strip().partition(":")[0] if ":" in text else ""
    return {"postgres": "postgresql"}.get(kind, kind) if kind in (*KINDS, "postgres") else None


def _parquet(rest: str) -> Address:
    if not rest:
        raise InputError("An address of Parquet files names a file or a folder, as in parquet:/data/folder.")
    return Address("parquet", rest)


def _duckdb(rest: str) -> Address:
    place, table = _divided(rest)
    if not place or place.startswith("md:") or "://" in place:
        raise InputError("An address of DuckDB names a file on this machine, as in duckdb:/data/file.duckdb.")
    return Address("duckdb", place, table)


def _spark(rest: str) -> Address:
    place, table = _divided(rest)
    if place.startswith("sc://"):
        given = {part.partition("=")[0].strip() for part in place.partition(";")[2].split(";") if part.strip()}
        if given - {"use_ssl", "user_id"}:
            raise InputError(f"{TOKEN} Only use_ssl and user_id may follow a semicolon.")
    elif "@" in place:
        raise InputError(TOKEN)
    elif not re.fullmatch(r"local(\[(\d+|\*)(,\s*\d+)?\])?|yarn|(spark|k8s)://\S+", place):
        raise InputError(
            "After spark:, an address needs local[2], yarn, spark://HOST:PORT, k8s://URL, or "
            "sc://HOST:PORT for Spark Connect."
        )
    return Address("spark", place, table)


def _divided(rest: str) -> tuple[str, Name]:
    """Divide what follows the colon at its question mark, which only a table may follow."""
    place, mark, query = rest.partition("?")
    if mark and not query.startswith("table="):
        raise InputError("In this address only table=NAME may follow the question mark.")
    return place, name_parts(query.removeprefix("table=")) if mark else ()


def _postgresql(rest: str) -> Address:
    shape = "An address of PostgreSQL is postgresql://USER@HOST:PORT/DATABASE?table=SCHEMA.NAME."
    try:
        url = urlsplit("postgresql:" + rest)
        port = url.port
    except ValueError:  # its message may repeat the address
        raise InputError(shape) from None
    if url.password is not None:
        raise InputError(PASSWORD)
    if not rest.startswith("//") or url.fragment or "/" in url.path[1:]:
        raise InputError(shape)
    options = dict(parse_qsl(url.query.replace("+", "%2B"), keep_blank_values=True))
    table = options.pop("table", "")
    if {"password", "sslpassword"} & set(options):
        raise InputError(PASSWORD)
    if set(options) - set(POSTGRES_OPTIONS):
        raise InputError(f"An address of PostgreSQL may have these options: table, {', '.join(POSTGRES_OPTIONS)}.")
    user = f"{quote(unquote(url.username))}@" if url.username else ""
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
    place = f"//{user}{host}{f':{port}' if port else ''}/{quote(unquote(url.path[1:]))}"
    return Address("postgresql", place, name_parts(table) if table else (), tuple(options.items()))


def _connection(address: Address) -> dict[str, str]:
    """Return what the driver is told, in its own words; what an address leaves out, the environment may say."""
    url = urlsplit("postgresql:" + address.place)
    parts = {
        "user": unquote(url.username or ""),
        "host": unquote(url.hostname or ""),
        "port": str(url.port or ""),
        "dbname": unquote(url.path[1:]),
    }
    return {key: value for key, value in parts.items() if value} | dict(address.options)


_PARSERS: dict[str, Callable[[str], Address]] = {
    "parquet": _parquet,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "spark": _spark,
}
