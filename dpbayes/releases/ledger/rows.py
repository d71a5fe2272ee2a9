"""The interface of a ledger's storage: rows are added and read, and never changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dpbayes.releases.ledger.books import broken
from dpbayes.releases.ledger.events import IN_RHO, Event, EventKind, event_of

VERSION, VERSION_OF_RHO, VERSION_OF_KEYS, VERSION_OF_ACCESS = 1, 2, 3, 4
"""The versions of a ledger: the second contains a rho, the third a signing key or the row of a move.

The fourth version also has the audit log (`audit_log.py`). All versions have the same layout of rows. The first row of
a later version raises the version of the ledger, so that an older program, which cannot interpret this row, refuses the
ledger.
"""

READABLE = (VERSION, VERSION_OF_RHO, VERSION_OF_KEYS, VERSION_OF_ACCESS)

COLUMNS = (
    "row",
    "kind",
    "dataset",
    "amount",
    "delta",
    "n",
    "reason",
    "reservation",
    "content_hash",
    "time",
    "previous",
    "hash",
)
ADDED = (*COLUMNS, "content")

Value = str | int | bytes | None


class LedgerRows(Protocol):
    """The rows of a ledger within one transaction."""

    def append(self, values: Mapping[str, Value], version: int) -> None:
        """Write a row, and raise the version of the ledger to that of the row if it is higher."""

    def events(self) -> tuple[Event, ...]:
        """Return the rows without their contents. Errors: BrokenLedgerError that names a row with an invalid value."""

    def content(self, row: int) -> object:
        """Return the stored content of a row."""

    def log(self, texts: Sequence[str]) -> None:
        """Add a row to the audit log: time, person, act and dataset."""

    def logged(self) -> list[Sequence[object]]:
        """Return the rows of the audit log, the oldest first."""

    def damage(self) -> str:
        """Return a damage of the storage, as a sentence; empty if there is none."""


def least_version(kind: EventKind) -> int:
    """Return the first version of a ledger that has rows of this kind."""
    if kind in (EventKind.KEY, EventKind.MOVED):
        return VERSION_OF_KEYS
    return VERSION_OF_RHO if kind in IN_RHO else VERSION


def events_in(rows: Iterable[Sequence[object]]) -> Iterator[Event]:
    """Read rows of COLUMNS. Errors: BrokenLedgerError that names a row with an invalid value."""
    for place, row in enumerate(rows, start=1):
        try:
            yield event_of(dict(zip(COLUMNS, row, strict=True)))  # type: ignore[arg-type]  # it looks at each type
        except (ValueError, TypeError, ZeroDivisionError):
            raise broken(place, "it contains an invalid value") from None
