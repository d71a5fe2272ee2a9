"""Moving a ledger elsewhere, such as from a file to the database of a team, with all rows and the audit log."""

from pathlib import Path

from dpbayes.releases.ledger.books import Books
from dpbayes.releases.ledger.events import Entry, Event, EventKind, LedgerError
from dpbayes.releases.ledger.place import place_text
from dpbayes.releases.ledger.rows import LedgerRows
from dpbayes.releases.ledger.store import add, begin_as, content_of, reading, written


def move_ledger(source: Path, target: Path) -> Event:
    """Copy all rows to a new ledger, compare them, and close the old one, so that no budget can be spent twice.

    The rows of the new ledger have the same hashes, and its audit log begins with that of the old one. The old ledger
    can still be read. After an interruption, the same call goes on where it was.

    Returns:
        The last row of the new ledger.

    Errors: LedgerError where the target has a ledger with other rows, and where the copy differs from the source.
    """
    if place_text(source) == place_text(target) or (target.exists() and source.exists() and target.samefile(source)):
        raise LedgerError(f"The ledger is already {place_text(target)}. Name another place.")

    def moved(rows: LedgerRows, books: Books) -> Event:
        if books.moved is not None:
            raise LedgerError(f"This ledger was already moved. {books.moved.reason}")
        _copy(rows, books, target)
        _compare(rows, books, target)
        _copy_log(rows, target)
        reason = f"It is now {place_text(target)}."
        add(rows, books, Entry(kind=EventKind.MOVED, reason=reason))
        return books.events[-1]

    return written(source, moved)


def _copy(rows: LedgerRows, books: Books, target: Path) -> None:
    begin_as(target, [(event, _content(rows, event)) for event in books.events])


def _content(rows: LedgerRows, event: Event) -> bytes | None:
    return None if event.content_hash is None else content_of(rows, event)


def _copy_log(rows: LedgerRows, target: Path) -> None:
    """Add the rows of the audit log that the new ledger lacks: the old one may have more since an interruption."""
    log = rows.logged()

    def add_rest(new: LedgerRows, books: Books) -> None:
        for row in log[len(new.logged()) :]:
            new.log([str(text) for text in row])

    written(target, add_rest)


def _compare(rows: LedgerRows, books: Books, target: Path) -> None:
    """Refuse to close the old ledger unless the new one has its rows and no others. Errors: LedgerError."""
    with reading(target) as (new, copied):
        log = new.logged()
        is_same = (
            copied.events == books.events
            and all(_content(new, event) == _content(rows, event) for event in books.events)
            and log == rows.logged()[: len(log)]
        )
    if not is_same:
        raise LedgerError(
            f"{place_text(target)} has a ledger with other rows. Nothing was moved. Name a place without a ledger."
        )
