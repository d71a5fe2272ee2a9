"""Sessions of databases and clusters, and queries in steps that the caller can cancel."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from dpbayes.base.libraries import pa

if TYPE_CHECKING:
    import ibis.expr.types as ir

Result = TypeVar("Result")
Waiting = Generator[float, None, Result]
"""Yields the finished share of the work, and returns the result."""

LOOK = 0.1
"""Seconds between two checks for an answer."""

MOST_CANCELS = 50
"""The largest number of requests to cancel a query, LOOK apart."""


class Session(Protocol):
    """A connection to an engine: its table, its answers to queries, and the cancellation of a query.

    If the engine has snapshots, all answers of a session refer to one state of the table.
    """

    def table(self) -> "ir.Table":
        """Return the table as an expression. Errors: InputError if it does not exist or cannot be reached."""

    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the tables in the same place, each in parts. Errors: those of `answer`."""

    def answer(self, expression: "ir.Table") -> "pa.Table":
        """Return the result of an expression. Errors: InputError, with one sentence on the engine's error."""

    def sampled(self, expression: "ir.Table", most: int, rng: np.random.Generator) -> "pa.Table":
        """Return `most` rows of an expression, sampled without replacement. Errors: those of `answer`."""

    def share(self) -> float:
        """Return the finished share of the current query; 0 if the engine does not report it."""

    def cancel(self) -> None:
        """Cancel the current query, if there is one; called from another thread."""


class Database(Protocol):
    """A table in a database or a cluster: its name and its connection."""

    @property
    def title(self) -> str:
        """The table's name on screen; without a password."""

    def session(self) -> AbstractContextManager[Session]:
        """Open a read-only connection. Errors: InputError, with one sentence on the cause."""


def table_names(database: Database) -> Waiting[tuple[tuple[str, ...], ...]]:
    """Return the names of the tables of a database, each in parts. Errors: those of `Database.session`."""
    return in_session(database, lambda session: waited(session, session.tables, 0.0, 1.0))


def in_session(database: Database, act: Callable[[Session], Waiting[Result]]) -> Waiting[Result]:
    """Connect and act, in steps, because connecting can be slow.

    If the caller takes no further step, the action is cancelled. A connection that opens later is closed immediately.
    """
    connection = ExitStack()
    with _begun(lambda: connection.enter_context(database.session())) as opening:
        try:
            while not wait([opening], timeout=LOOK).done:
                yield 0.0
            return (yield from act(opening.result()))
        finally:
            opening.add_done_callback(lambda _: connection.close())


def located_table(session: Session) -> Waiting["ir.Table"]:
    """Return the session's table, in steps. Errors: those of `Session.table`."""
    return (yield from waited(session, session.table, 0.0, 0.0))


def answered(session: Session, expression: "ir.Table", start: float, end: float) -> "Waiting[pa.Table]":
    """Return the result of an expression, in steps; the share of the work runs from `start` to `end`."""
    return (yield from waited(session, lambda: session.answer(expression), start, end))


def waited(session: Session, ask: Callable[[], Result], start: float, end: float) -> Waiting[Result]:
    """Wait for an answer in steps; the query is cancelled if the caller takes no further step."""
    with _begun(ask) as answer:
        try:
            while not wait([answer], timeout=LOOK).done:
                yield start + (end - start) * session.share()
            return answer.result()
        finally:
            for _ in range(MOST_CANCELS):  # a query that has not started ignores a request
                if answer.done():
                    break
                session.cancel()
                wait([answer], timeout=LOOK)


@contextmanager
def _begun(ask: Callable[[], Result]) -> "Iterator[Future[Result]]":
    """Run a function in a new thread, without waiting for its end."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="engine")
    try:
        yield pool.submit(ask)
    finally:
        pool.shutdown(wait=False)
