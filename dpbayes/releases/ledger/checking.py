"""What a ledger holds, opened one by one, and whether all of it is as it was written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dpbayes.base.amounts import measure_of
from dpbayes.base.validation import brief
from dpbayes.releases.ledger.books import Books, Spending, clock_notes
from dpbayes.releases.ledger.errors import BrokenLedgerError, LedgerError
from dpbayes.releases.ledger.events import Event
from dpbayes.releases.ledger.store import content_of, reading


@dataclass(frozen=True)
class CheckedLedger:
    """A ledger in which all is as it was written: its number of rows, the hash of the last one, and what to know."""

    rows: int
    head: str
    notes: tuple[str, ...]


def check(path: Path, *, seen: Iterable[str] = ()) -> CheckedLedger:
    """Return what a ledger holds if version, guards, chain, sums and all contents are as they were written.

    The chain shows what was edited or left out; rows cut off the end, or a chain that somebody computed anew, are shown
    only by the hashes of rows `seen` elsewhere, such as in a certificate. Errors: LedgerError, one sentence that names
    the first row that is broken.
    """
    with reading(path) as (connection, books):
        for event in books.events:
            if event.content_hash is not None:
                content_of(connection, event)
        pages = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
    if pages != ["ok"]:
        raise BrokenLedgerError(f"The ledger {path} is damaged below its rows: {brief(pages[0], 100)}.")
    hashes = {event.hash for event in books.events}
    for hash_seen in seen:
        if hash_seen not in hashes:
            raise BrokenLedgerError(
                f"The ledger {path} has no row with the hash {brief(hash_seen)}: it is another, or rows were cut off."
            )
    return CheckedLedger(len(books.events), books.events[-1].hash, (*clock_notes(books.events), *_never_shown(books)))


def events(path: Path) -> tuple[Event, ...]:
    """Return all events in the order of the rows, without the bytes of their contents."""
    with reading(path) as (_, books):
        return books.events


def question(path: Path, row: int) -> bytes:
    """Return the bytes of the request for which `row` reserved. Errors: LedgerError if it did not."""
    with reading(path) as (connection, books):
        return content_of(connection, _spending(books, row).reservation)


def outcome(path: Path, row: int) -> bytes:
    """Return the bytes that were released for the reservation in `row`. Errors: LedgerError if none were."""
    with reading(path) as (connection, books):
        release = _spending(books, row).release
        if release is None:
            raise LedgerError(f"The reservation in row {row} was never shown: it stays spent, and there is no outcome.")
        return content_of(connection, release)


def _spending(books: Books, row: int) -> Spending:
    if row not in books.spendings:
        raise LedgerError(f"Row {row} of the ledger is no reservation; name the row of one.")
    return books.spendings[row]


def _never_shown(books: Books) -> tuple[str, ...]:
    return tuple(
        f"The reservation in row {spending.row} was never shown: its {measure_of(spending.amount).symbol} is spent."
        for spending in books.spendings.values()
        if not spending.release
    )
