"""Moving a ledger elsewhere, such as from a file to the database of a team, with all rows and the audit log."""

from pathlib import Path

from dpbayes.releases.ledger.books import Books
from dpbayes.releases.ledger.events import Entry, Event, EventKind, LedgerError
from dpbayes.releases.ledger.place import place_text
from dpbayes.releases.ledger.rows import LedgerRows
from dpbayes.releases.ledger.store import add, begin_as, content_of, copy_row, reading, written


def move_ledger(source: Path, target: Path) -> Event:
    """Copy all rows to a new ledger and close the old one. At no time do both accept charges.

    The old ledger is closed after all rows were copied, and before the transaction of the new ledger ends. If the
    program is interrupted in between, the old ledger is closed and there is no new one; the same call then makes it.
    The rows of the new ledger have the same hashes. The old ledger can still be read.

    Returns:
        The last row of the new ledger.

    Errors: LedgerError if there is a ledger at the target, if the source was moved elsewhere, and if the copy differs.
    """
    if place_text(source) == place_text(target) or (target.exists() and source.exists() and target.samefile(source)):
        raise LedgerError(f"The ledger is already at {place_text(target)}. Name another place.")
    with reading(source) as (_, books):  # nothing is made at the target for a source that cannot be moved
        _require_open(books, target)
    if not begin_as(target, lambda new: _copy_and_close(source, target, new)):
        if books.moved is not None:
            raise LedgerError(f"This ledger was already moved. {books.moved.reason}")
        raise LedgerError(f"{place_text(target)} has a ledger already. Nothing was moved. Name another place.")
    with reading(target) as (_, copied):
        return copied.events[-1]


def _reason(target: Path) -> str:
    return f"It is now {place_text(target)}."


def _require_open(books: Books, target: Path) -> None:
    """Refuse a ledger that was moved elsewhere; a move to this target may have been interrupted."""
    if books.moved is not None and books.moved.reason != _reason(target):
        raise LedgerError(f"This ledger was already moved. {books.moved.reason}")


def _copy_and_close(source: Path, target: Path, new: LedgerRows) -> None:
    rows_copied = logs_copied = 0

    def act(rows: LedgerRows, books: Books) -> None:  # a server may repeat it
        nonlocal rows_copied, logs_copied
        _require_open(books, target)
        events = books.events if books.moved is None else books.events[:-1]
        for event in events[rows_copied:]:
            copy_row(new, event, content_of(rows, event) if event.content_hash else None)
            rows_copied += 1
        for texts in rows.logged()[logs_copied:]:
            new.log([str(text) for text in texts])
            logs_copied += 1
        for event in events:
            if event.content_hash:
                content_of(new, event)
        if new.events() != events or [*map(tuple, new.logged())] != [*map(tuple, rows.logged())]:
            raise LedgerError(f"The copy in {place_text(target)} differs from the ledger. Nothing was moved.")
        if books.moved is None:
            add(rows, books, Entry(kind=EventKind.MOVED, reason=_reason(target)))

    written(source, act)
