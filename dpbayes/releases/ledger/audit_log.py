"""The audit log of a ledger: a second table, to which rows are only added.

Its rows name persons, acts and datasets, and never contain data. It is not part of the hash chain of the events: an
event states what was charged, and a row of the log states who requested it on the dashboard.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dpbayes.releases.ledger.store import reading, writing

MOST_CHARACTERS = 200
"""Characters of a person's or a dataset's name that are kept."""


@dataclass(frozen=True)
class Access:
    """One row: the time (UTC), the person, the act, and the dataset; "" if the act concerns no dataset."""

    time: str
    person: str
    act: str
    dataset: str


def record_access(path: Path, person: str, act: str, dataset: str = "") -> None:
    """Add a row to the audit log of a ledger.

    Args:
        path: The ledger. If there is none yet, nothing is written.
        person: The person, as the dashboard identifies them.
        act: The act, in a few words of the program, never of a visitor.
        dataset: The name of a dataset or of a connection.

    Raises:
        LedgerError: The file cannot be written.
        BrokenLedgerError: The file is not a ledger that this program can read.
    """
    if not path.exists():
        return
    time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    row = [time, *(_short(text) for text in (person, act, dataset))]
    with writing(path) as (rows, _):
        rows.log(row)


def _short(text: str) -> str:
    """Return a name in one line that SQLite can keep."""
    line = " ".join(text.split()).encode(errors="backslashreplace").decode()
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def accesses(path: Path) -> tuple[Access, ...]:
    """Return the audit log of a ledger, the oldest row first.

    Args:
        path: The ledger.

    Returns:
        All rows; none of a ledger that no dashboard has used.

    Raises:
        LedgerError: There is no ledger, or it cannot be read.
        BrokenLedgerError: The file is not a ledger that this program can read.
    """
    with reading(path) as (rows, _):
        return tuple(Access(*map(str, row)) for row in rows.logged())
