"""What a ledger's rows are kept in, whatever it is: rows are added and read, and never changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dpbayes.releases.ledger.books import broken
from dpbayes.releases.ledger.events import IN_RHO, Event, EventKind, event_of

VERSION, VERSION_OF_RHO, VERSION_OF_KEYS, VERSION_OF_ACCESS = 1, 2, 3, 4
"""The versions of a ledger: the second has a rho in it, the third a signing key, or a row that says where it moved.

The fourth also has the table of who did what (`audit_log.py`). The layout of the rows is the same in all. The first row
of a later version raises the version of the ledger, so that an older program, which would not understand that row, says
that it cannot read the ledger.
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
        """Write a row, whose version is that of the ledger from then on if it is higher."""

    def content(self, row: int) -> object:
        """Return the content of a row as it is kept."""

    def log(self, texts: Sequence[str]) -> None:
        """Add a row to the table of who did what: time, person, act and dataset."""

    def logged(self) -> list[Sequence[object]]:
        """Return the rows of that table, the oldest first."""

    def damage(self) -> str:
        """Return what is wrong with the place that keeps the rows; empty if nothing is."""


def least_version(kind: EventKind) -> int:
    """Return the first version of a ledger that has rows of this kind."""
    if kind in (EventKind.KEY, EventKind.MOVED):
        return VERSION_OF_KEYS
    return VERSION_OF_RHO if kind in IN_RHO else VERSION


def events_in(rows: Iterable[Sequence[object]]) -> Iterator[Event]:
    """Read rows of COLUMNS. Errors: BrokenLedgerError that names a row with a value that none has."""
    for place, row in enumerate(rows, start=1):
        try:
            yield event_of(dict(zip(COLUMNS, row, strict=True)))  # type: ignore[arg-type]  # it looks at each type
        except (ValueError, TypeError, ZeroDivisionError):
            raise broken(place, "it contains an invalid value") from None
