"""The signing keys that a ledger names: their public halves, and which key replaced which."""

from dataclasses import dataclass
from pathlib import Path

from dpbayes.releases.ledger.events import Entry, Event, EventKind, LedgerError, checked_bytes, checked_reason
from dpbayes.releases.ledger.store import reading, writing


@dataclass(frozen=True)
class NamedKey:
    """A signing key in the ledger: its event, its signer as bytes, and the row of the key that replaced it."""

    event: Event
    content: bytes
    replaced_in: int | None = None


def name_key(path: Path, content: bytes, *, reason: str, replaces: int | None = None) -> Event:
    """Write a signing key into the ledger, in place of the key in row `replaces` if there is one.

    Errors: LedgerError, also for a key that is not in use and cannot be replaced.
    """
    entry = Entry(
        kind=EventKind.KEY,
        reason=checked_reason(reason),
        reservation=replaces,
        content=checked_bytes("A signer", content),
    )

    with writing(path) as (rows, books):
        if replaces is not None and books.keys.get(replaces, replaces) is not None:
            raise LedgerError(f"Row {replaces} of the ledger does not name a signing key that is in use.")
        return rows.add(books, entry)


def named_keys(path: Path) -> tuple[NamedKey, ...]:
    """Return all signing keys that the ledger names, in the order of their rows. Errors: LedgerError."""
    with reading(path) as (rows, books):
        return tuple(
            NamedKey(books.events[row - 1], rows.content(books.events[row - 1]), replaced_in)
            for row, replaced_in in books.keys.items()
        )
