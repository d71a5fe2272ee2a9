"""The connected table of this session: its columns and their declared domains. The records stay in the engine.

The session contains no address, no path of the server and no password. Each computation opens the engine from the
connections that the owner of the server has named, and closes it.
"""

import logging
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.steps import Work
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.engines.address import FILES as FILE_KINDS
from dpbayes.sources.engines.address import name_parts, parsed, written_name
from dpbayes.sources.engines.table import Engine, Field, open_table, tables_of
from dpbayes.sources.proposals import MOST_VALUES, Proposal, counted_proposal
from dpbayes.ui.session.connections import FILES, connections
from dpbayes.ui.session.graphs import MAX_NAME
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import DescribedTable

HEAD = 10
"""Records of the preview."""

LOOK = 0.1
"""Seconds between two checks for an answer of an engine."""

Result = TypeVar("Result")

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
    fields: tuple[Field, ...]
    head: "pd.DataFrame"

    @property
    def title(self) -> str:
        """The name of the table on screen: its connection or its path below the data root, and its own name."""
        place = self.path if self.connection == FILES else self.connection
        return f"{place}, {self.table}" if self.table else place

    @property
    def in_use(self) -> tuple[Column, ...]:
        """The domains of the columns in use. Errors: InputError if there is no such column, or one without a domain."""
        places = [place for place, column in enumerate(self.columns) if column.use]
        if not places:
            raise InputError("No column is in use; tick at least one.")
        return tuple(self._domain_in_use(place) for place in places)

    def _domain_in_use(self, place: int) -> Column:
        name, domain = self.columns[place].name, self.domain(place)
        if len(name) > MAX_NAME:
            raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; leave it out.")
        if domain is None:
            raise InputError(
                f"Column {brief(name)} has no domain; type its categories or cut points, load a domain description, "
                "or leave it out."
            )
        return domain

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


def answer(doing: str, ask: Callable[[], Result]) -> Generator[float, None, Result]:
    """Return the answer of an engine, in steps, so that the page works meanwhile.

    Closing the steps drops the answer; the engine completes the query. An unexpected error becomes an InputError
    without its message, which may contain a password.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="engine")
    future = pool.submit(ask)
    pool.shutdown(wait=False)
    try:
        while not wait([future], timeout=LOOK).done:
            yield 0.0
        return future.result()
    except InputError:
        raise
    except Exception as error:
        _LOG.error("An engine failed while %s: %s.", doing, type(error).__name__)
        raise InputError(
            f"The connection failed while {doing}; try again, or ask the person who runs this server."
        ) from None


def listing(connection: str, path: str) -> Generator[float, None, tuple[str, ...]]:
    """Return, in steps, the names of the tables of a connection; only "" if the address names a table or a file.

    Errors: InputError.
    """
    server = connections()
    address, within = parsed(server.address(connection, path)), server.within(connection)
    if address.kind in FILE_KINDS or address.table:
        return ("",)
    offered = yield from answer("the tables were listed", lambda: tables_of(str(address), within))
    if not offered:
        raise InputError("This connection has no readable table.")
    return tuple(written_name(parsed(table).table) for table in offered)


def connecting(connection: str, path: str, table: str) -> Work[Connected]:
    """Read a table's columns and first records, in steps. No domain is declared yet.

    Errors: InputError, also for a table that does not exist.
    """
    offered = yield from listing(connection, path)
    if table not in offered:
        raise InputError(f"This connection has no table {brief(table)}.")
    engine = _engine(connection, path, table)
    head, fields = yield from answer("the columns of the table were read", lambda: (engine.head(HEAD), engine.fields()))
    before = st.session_state.get("connected")
    names = [field.name for field in fields]
    return Connected(
        connection,
        path,
        table,
        fields,
        head,
        proposals=tuple(Proposal(name) for name in names),
        columns=tuple(DeclaredColumn(name) for name in names),
        number=before.number + 1 if isinstance(before, Connected) else 1,
    )


def _engine(connection: str, path: str, table: str) -> Engine:
    server = connections()
    address = parsed(server.address(connection, path))
    return open_table(str(replace(address, table=name_parts(table)) if table else address), server.within(connection))


def engine_of(mine: Connected) -> Engine:
    """Open the engine of a table. Errors: InputError if the owner of the server does not name it any more."""
    return _engine(mine.connection, mine.path, mine.table)


def proposing(mine: Connected) -> Work[tuple[Proposal, ...]]:
    """Propose domains from the values of all columns in use without a domain, in steps. The proposals are not private.

    Errors: InputError.
    """
    proposals = list(mine.proposals)
    places = [k for k, column in enumerate(mine.columns) if column.use and mine.domain(k) is None]
    engine = engine_of(mine)
    for done, place in enumerate(places):
        yield done / len(places)
        name = mine.columns[place].name
        values = yield from answer("the values of the columns were read", partial(engine.values, name, MOST_VALUES))
        proposals[place] = counted_proposal(name, values)
    return tuple(proposals)


def sampling(mine: Connected, most: int) -> "Work[pd.DataFrame]":
    """Return a random sample of the records as text, in steps. Only the curator may see it. Errors: InputError."""
    return (yield from answer("a sample was drawn", partial(engine_of(mine).sample, most)))
