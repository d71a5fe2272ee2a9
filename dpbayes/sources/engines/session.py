"""Sessions of databases and clusters, and waiting for their answers in steps that can be given up."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import ibis.expr.types as ir

Result = TypeVar("Result")
Waiting = Generator[float, None, Result]
"""Yields the share that is done, and returns the result."""

LOOK = 0.1
"""Seconds between two looks at whether an answer is there."""

MOST_CANCELS = 50
"""Times that an engine is asked to give an answer up, LOOK apart, before it is left alone with it."""


class Session(Protocol):
    """A connection to an engine, as far as counting needs it: a table, an answer, and a way to give it up.

    All answers of a session are of one state of the table, where the engine has snapshots.
    """

    def table(self) -> "ir.Table":
        """Return the table as an expression. Errors: InputError where it is gone or cannot be reached."""

    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the tables beside this one, in parts. Errors: as of `answer`."""

    def answer(self, expression: "ir.Table") -> pa.Table:
        """Return what an expression says. Errors: InputError in one sentence for whatever the engine objects to."""

    def sampled(self, expression: "ir.Table", most: int, rng: np.random.Generator) -> pa.Table:
        """Return `most` rows of an expression, at random without replacement. Errors: as of `answer`."""

    def share(self) -> float:
        """Return how much of the answer on its way is worked out, 0 where the engine does not tell."""

    def cancel(self) -> None:
        """Give up the answer on its way, from another thread; nothing happens where there is none."""


class Database(Protocol):
    """A table in a database or a cluster: what it is called, and how it is reached."""

    @property
    def title(self) -> str:
        """The table's name on screen; without a password."""

    def session(self) -> AbstractContextManager[Session]:
        """Open a connection that can only read. Errors: InputError in one sentence for whatever stands in the way."""


def table_names(database: Database) -> Waiting[tuple[tuple[str, ...], ...]]:
    """Look up the names of the tables of a database, in parts. Errors: InputError, as of `Database.session`."""
    return in_session(database, lambda session: waited(session, session.tables, 0.0, 1.0))


def in_session(database: Database, act: Callable[[Session], Waiting[Result]]) -> Waiting[Result]:
    """Connect, which may take its time, and act.

    Whoever takes no further step gives it up; a connection that is not there yet is closed as soon as it is.
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
    """Look the session's table up, in steps. Errors: InputError, as of `Session.table`."""
    return (yield from waited(session, session.table, 0.0, 0.0))


def answered(session: Session, expression: "ir.Table", start: float, end: float) -> Waiting[pa.Table]:
    """Wait in steps for what an expression says; its share runs from `start` to `end` of the whole."""
    return (yield from waited(session, lambda: session.answer(expression), start, end))


def waited(session: Session, ask: Callable[[], Result], start: float, end: float) -> Waiting[Result]:
    """Wait for an answer in steps; whoever takes no further step gives it up."""
    with _begun(ask) as answer:
        try:
            while not wait([answer], timeout=LOOK).done:
                yield start + (end - start) * session.share()
            return answer.result()
        finally:
            for _ in range(MOST_CANCELS):  # a query that has not begun yet does not hear the first
                if answer.done():
                    break
                session.cancel()
                wait([answer], timeout=LOOK)


@contextmanager
def _begun(ask: Callable[[], Result]) -> "Iterator[Future[Result]]":
    """Let a thread of its own begin; nobody waits for its end."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="engine")
    try:
        yield pool.submit(ask)
    finally:
        pool.shutdown(wait=False)
