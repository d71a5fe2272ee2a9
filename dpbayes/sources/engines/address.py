"""Addresses: one text names a table in a file, a database or a cluster. docs/tables.md lists their kinds.

An address never contains a password, because addresses are kept in ledgers, in the environment and in shell histories.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from dpbayes.base.validation import InputError, is_writable

KINDS = {
    "parquet": "parquet:/data/folder",
    "duckdb": "duckdb:/data/file.duckdb?table=NAME",
    "postgresql": "postgresql://USER@HOST:PORT/DATABASE?table=SCHEMA.NAME",
    "spark": "spark:local[2]?table=NAME, with yarn, spark://HOST:PORT, k8s://URL or sc://HOST:PORT instead of local[2]",
}
"""The form of an address of each kind."""

PASSWORD = (
    "An address must not contain a password or a token. Use PGPASSWORD, ~/.pgpass or PGPASSFILE for PostgreSQL, and "
    "SPARK_CONNECT_AUTHENTICATE_TOKEN for Spark Connect."
)
_SECRET = re.compile(r"//[^/?#@]*:[^/?#]*@|[?&;](\w*password|token)\s*=", re.IGNORECASE)
_SPARK = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?|yarn|(spark|k8s)://[^\s@]+|sc://[^\s@]+")

_TABLE = re.compile(r"(.*?)[?&]table=(.*)", re.DOTALL)

Name = tuple[str, ...]
"""A table's name in parts, such as schema and table; empty if an address has no table."""


@dataclass(frozen=True)
class Address:
    """The place of a table: the kind of engine, the place in the form of that engine, and the table's name there."""

    kind: str
    place: str
    table: Name = ()

    @property
    def names_table(self) -> bool:
        """Whether there is a table's name, or files of one table."""
        return self.kind == "parquet" or bool(self.table)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders of the table on this machine; none if a server keeps it."""
        if self.kind in ("parquet", "duckdb"):
            return (Path(self.place),)
        return tuple(Path(part) for part in self.table if part.startswith("/"))  # Spark names files as tables

    def __str__(self) -> str:
        query = f"{'&' if '?' in self.place else '?'}table={written_name(self.table)}" if self.table else ""
        return f"{self.kind}:{self.place}{query}"


def parsed(text: str) -> Address:
    """Return an address in parts.

    Errors: InputError for an unknown kind, a password, and another form. No message repeats the address.
    """
    kind, colon, rest = text.lstrip().rstrip("\r\n").partition(":")
    kind = "postgresql" if kind == "postgres" else kind
    if not colon or kind not in KINDS:
        raise InputError(f"An address begins with one of {', '.join(f'{kind}:' for kind in KINDS)}.")
    if not is_writable(rest) or "\0" in rest:
        raise InputError("The address contains invalid characters.")
    if _SECRET.search(unquote(rest)):
        raise InputError(PASSWORD)
    named = None if kind == "parquet" else _TABLE.fullmatch(rest)
    place, table = (named[1], name_parts(named[2])) if named else (rest, ())
    if not place or not _has_form(kind, place):
        raise InputError(f"An address of this kind is {KINDS[kind]}.")
    return Address(kind, place, table)


def _has_form(kind: str, place: str) -> bool:
    if kind == "spark":
        return _SPARK.fullmatch(place) is not None
    if kind != "postgresql":
        return "://" not in place and not place.startswith("md:") and (kind == "parquet" or "?" not in place)
    try:
        url = urlsplit(f"postgresql:{place}")
        return place.startswith("//") and not url.fragment and "/" not in url.path[1:] and url.port != 0
    except ValueError:  # its message may repeat the address
        return False


def connection_of(address: Address) -> dict[str, str | int]:
    """Return the parameters of a connection to PostgreSQL; the environment states the others."""
    url = urlsplit(f"postgresql:{address.place}")
    parts: dict[str, str | int | None] = {
        "user": unquote(url.username or ""),
        "host": unquote(url.hostname or ""),
        "port": url.port,
        "database": unquote(url.path[1:]),
    }
    return dict(parse_qsl(url.query)) | {key: value for key, value in parts.items() if value}


def name_parts(text: str) -> Name:
    """Return the parts of a name. Dots divide them; a part in double quotes may contain dots.

    Errors: InputError for an empty part, and for more than three parts.
    """
    try:
        (parts,) = csv.reader([text], delimiter=".", strict=True)
    except (csv.Error, ValueError):
        parts = []
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise InputError('A table is written NAME or SCHEMA.NAME; put a part with a dot or a quote in "quotes".')
    return tuple(parts)


def written_name(name: Name) -> str:
    """Write a name as `name_parts` reads it."""
    text = io.StringIO()
    csv.writer(text, delimiter=".", lineterminator="\n").writerow(name)
    return text.getvalue()[:-1]
