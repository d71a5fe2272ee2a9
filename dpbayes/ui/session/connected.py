"""The connected table of this session: its columns, their declared domains, and its counts. The records stay outside.

The session contains no address, no path of the server and no password. Each computation opens the engine from the
connections that the owner of the server has named, and closes it.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Counts, count
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.engines.address import name_parts, parsed, written_name
from dpbayes.sources.engines.table import DeclaredTable, Engine, open_table, tables_of
from dpbayes.sources.proposals import MOST_VALUES, Proposal, counted_proposal
from dpbayes.ui.session.connections import FILES, connections
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import DescribedTable

HEAD = 10
"""Records of the preview."""

QUICK = 1.0
"""Seconds: after a faster scan, another network is counted without a button."""

KEPT = 16
"""The number of scans that a session keeps."""

NOT_COUNTED = "The table is not counted for this network yet; press “Count the table” to scan it once."

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Connected(DescribedTable):
    """A table that is counted in its engine.

    `connection` is the public name that the owner gave, `path` the typed path below the data root, and `table` the name
    of the table there. Only the curator sees `head`.
    """

    connection: str
    path: str
    table: str
    types: Mapping[str, str]
    head: "pd.DataFrame"

    @property
    def title(self) -> str:
        """The name of the table on screen: its connection or its path below the data root, and its own name."""
        place = self.path if self.connection == FILES else self.connection
        return f"{place}, {self.table}" if self.table else place

    @property
    def leaks(self) -> frozenset[str]:
        """The columns in use whose domains were read from the data, or are not declared public."""
        used = [self.domain(place) for place, column in enumerate(self.columns) if column.use]
        return frozenset(domain.name for domain in used if domain is not None and not domain.public)


def keep_connected(mine: Connected) -> None:
    """Make this the session's connected table."""
    st.session_state["connected"] = mine


def connected(connection: str) -> Connected | None:
    """Return this session's connected table if it has this connection and this person may open it."""
    mine = st.session_state.get("connected")
    is_meant = isinstance(mine, Connected) and mine.connection == connection
    return mine if is_meant and person().may(Act.CONNECT) else None


# The engine


@contextmanager
def _engine_errors(doing: str) -> Iterator[None]:
    """Raise an unexpected error as an InputError without its message, which may contain a password."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        _LOG.error("An engine failed while %s: %s.", doing, type(error).__name__)
        raise InputError(
            f"The connection failed while {doing}; try again, or ask the person who runs this server."
        ) from None


def tables_in(connection: str, path: str) -> tuple[str, ...]:
    """Return the names of the tables of a connection; only "" if the address names a table or a file.

    Errors: InputError.
    """
    server = connections()
    address, within = parsed(server.address(connection, path)), server.within(connection)
    if address.names_table:
        return ("",)
    with _engine_errors("the tables were listed"):
        offered = tables_of(str(address), within)
    if not offered:
        raise InputError("This connection has no readable table.")
    return tuple(written_name(parsed(table).table) for table in offered)


def connect(connection: str, path: str, table: str) -> Connected:
    """Read a table's columns and first records, and drop the scans of another one. No domain is declared yet.

    Errors: InputError, also for a table that does not exist.
    """
    if table not in tables_in(connection, path):
        raise InputError(f"This connection has no table {brief(table)}.")
    with _engine_errors("the columns of the table were read"):
        engine = _engine(connection, path, table)
        head, types = engine.head(HEAD), engine.types()
    before = st.session_state.get("connected")
    forget_scans()
    return Connected(
        connection,
        path,
        table,
        types,
        head,
        proposals=tuple(Proposal(name) for name in types),
        columns=tuple(DeclaredColumn(name) for name in types),
        number=before.number + 1 if isinstance(before, Connected) else 1,
    )


def _engine(connection: str, path: str, table: str) -> Engine:
    server = connections()
    address = parsed(server.address(connection, path))
    return open_table(str(replace(address, table=name_parts(table)) if table else address), server.within(connection))


def _engine_of(mine: Connected) -> Engine:
    """Open the engine of a table. Errors: InputError if the owner of the server does not name it any more."""
    return _engine(mine.connection, mine.path, mine.table)


def proposed(mine: Connected) -> tuple[Proposal, ...]:
    """Propose domains from the values of all columns in use without a domain. The proposals are not private.

    Errors: InputError.
    """
    proposals = list(mine.proposals)
    with _engine_errors("the values of the columns were read"):
        engine = _engine_of(mine)
        for place, column in enumerate(mine.columns):
            if column.use and mine.domain(place) is None:
                proposals[place] = counted_proposal(column.name, engine.values(column.name, MOST_VALUES))
    return tuple(proposals)


def random_sample(mine: Connected, most: int) -> "pd.DataFrame":
    """Return a random sample of the records as text. Only the curator may see it. Errors: InputError."""
    with _engine_errors("a sample was drawn"):
        return _engine_of(mine).sample(most)


# Counts


@dataclass(frozen=True, eq=False)
class Scan:
    """The counts from one scan, or the message of its error, and its duration in seconds."""

    result: Counts | None
    seconds: float
    refused: str = ""


def scan_key(mine: Connected, network: Network) -> tuple[tuple[Column, ...], Network]:
    """Return the key of a scan: all its inputs. Errors: InputError for columns in use without a domain."""
    return mine.in_use, network


def scan(mine: Connected, network: Network) -> Scan:
    """Count the table now, keep the scan, and drop the oldest ones. Errors: those of `scan_key`."""
    key, begun = scan_key(mine, network), time.perf_counter()
    try:
        with _engine_errors("the table was counted"):
            result, refused = count(network, DeclaredTable(_engine_of(mine), mine.in_use)), ""
    except InputError as error:
        result, refused = None, str(error)
    scans = _scans()
    scans.pop(key, None)
    scans[key] = Scan(result, time.perf_counter() - begun, refused)
    for old in list(scans)[:-KEPT]:
        del scans[old]
    return scans[key]


def forget_scans() -> None:
    """Drop all scans, because the table may have changed."""
    _scans().clear()


def _scans() -> dict[tuple[tuple[Column, ...], Network], Scan]:
    """Return the scans of the present table by their keys."""
    scans: dict[tuple[tuple[Column, ...], Network], Scan] = st.session_state.setdefault("connected.scans", {})
    return scans


def scanned_records(mine: Connected) -> int | None:
    """Return the number of records in the last scan of these columns, for any network; None before the first scan."""
    columns = mine.in_use
    sizes = [one.result.n for (used, _), one in _scans().items() if one.result is not None and used == columns]
    return sizes[-1] if sizes else None


def counts_of(mine: Connected, network: Network) -> Counts:
    """Return the counts of a network from an earlier scan, or from a new scan if the last one was quick.

    Errors: InputError of the scan, and if the person must start the scan.
    """
    one = _scans().get(scan_key(mine, network))
    if one is None:
        past = [one.seconds for one in _scans().values() if one.result is not None]
        if not past or past[-1] >= QUICK:
            raise InputError(NOT_COUNTED)
        one = scan(mine, network)
    if one.result is None:
        raise InputError(one.refused)
    return one.result
