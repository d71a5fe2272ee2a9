"""What the ledger refuses, and what it says when the file or the disk does not do as it should."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpbayes.base.validation import InputError
from dpbayes.releases.ledger.drive import has_locks


class LedgerError(InputError):
    """A refusal of the ledger: nothing was written and nothing was drawn."""


class OverBudgetError(LedgerError):
    """What is asked for is more than what is left of the budget."""


class AskedBeforeError(LedgerError):
    """The same question has a reservation already; `row` is that of the newest, which `spend_again` asks for."""

    def __init__(self, sentence: str, row: int) -> None:
        super().__init__(sentence)
        self.row = row


class EpsilonLostError(LedgerError):
    """The reservation in `row` stays spent, and there is no outcome to show for it."""

    def __init__(self, sentence: str, row: int) -> None:
        super().__init__(sentence)
        self.row = row


class BrokenLedgerError(LedgerError):
    """The file was edited, damaged, or is no ledger that this program reads."""


_SENTENCES = {
    sqlite3.SQLITE_BUSY: "Another program is writing to the ledger {path}; try again when it is done.",
    sqlite3.SQLITE_LOCKED: "Another program is writing to the ledger {path}; try again when it is done.",
    sqlite3.SQLITE_READONLY: "The ledger {path} cannot be written; allow writing to the file and its folder.",
    sqlite3.SQLITE_PERM: "The ledger {path} cannot be opened; allow reading and writing the file and its folder.",
    sqlite3.SQLITE_CANTOPEN: "The ledger {path} cannot be opened; allow reading and writing the file and its folder.",
    sqlite3.SQLITE_FULL: "The disk that holds the ledger {path} is full; make room and try again.",
    sqlite3.SQLITE_IOERR: "The disk that holds the ledger {path} does not answer as it should; check it and try again.",
    sqlite3.SQLITE_TOOBIG: "What is to be written is larger than the ledger {path} can hold; ask for less at a time.",
}
_BROKEN = {
    sqlite3.SQLITE_NOTADB: "The file {path} is no ledger, since it is not a SQLite file; name another one.",
    sqlite3.SQLITE_CORRUPT: "The ledger {path} is damaged, and SQLite cannot read it; bring back a copy.",
}


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say of the file into one sentence. Errors: LedgerError."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        code = (
            getattr(error, "sqlite_errorcode", sqlite3.SQLITE_TOOBIG if isinstance(error, OverflowError) else 0) & 255
        )
        if code in _BROKEN:
            raise BrokenLedgerError(_BROKEN[code].format(path=path)) from error
        if code == sqlite3.SQLITE_BUSY and not has_locks(path.parent):
            raise LedgerError(
                f"The drive that holds {path} has no file locks; keep the ledger on another disk."
            ) from error
        sentence = _SENTENCES.get(code, "SQLite refuses the ledger {path}: {error}.")
        raise LedgerError(sentence.format(path=path, error=str(error).rstrip("."))) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot read
        raise BrokenLedgerError(_BROKEN[sqlite3.SQLITE_CORRUPT].format(path=path)) from error
    except OSError as error:
        raise LedgerError(f"The ledger {path} cannot be opened: {error.strerror}.") from error
