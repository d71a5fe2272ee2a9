"""A ledger in a file: one SQLite table of events, to which rows are only added."""

import os
import re
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpbayes.base.libraries import extra
from dpbayes.base.validation import brief
from dpbayes.releases.ledger.books import (
    NO_HASH,
    Books,
    BrokenLedgerError,
    Event,
    EventKind,
    LedgerError,
    books_of,
    broken,
    content_hash,
    event_of,
    seal,
    values_of,
)

COLUMNS = tuple(field.name for field in fields(Event))

VERSION = 1
"""The version of the tables, which the file states."""

TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
"""The form of a time in UTC: in fixed width, so that texts are ordered like times."""

BUSY_SECONDS = 30.0
"""How long to wait for another program that writes."""

APPLICATION = 0x64706C67
"""The mark of a SQLite file as a ledger ("dplg")."""

# Exactly as SQLite stores them, so that they can be compared. The last one also prevents INSERT OR REPLACE, which
# deletes a row without the trigger on deletes.
_SCHEMA = {
    "event": "CREATE TABLE event (row INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, amount TEXT,"
    " reason TEXT NOT NULL, reservation INTEGER, content_hash TEXT, time TEXT NOT NULL,"
    " previous TEXT NOT NULL, hash TEXT NOT NULL, content BLOB)",
    "never_changed": "CREATE TRIGGER never_changed BEFORE UPDATE ON event"
    " BEGIN SELECT RAISE(ABORT, 'rows are never changed'); END",
    "never_deleted": "CREATE TRIGGER never_deleted BEFORE DELETE ON event"
    " BEGIN SELECT RAISE(ABORT, 'rows are never deleted'); END",
    "only_added": "CREATE TRIGGER only_added BEFORE INSERT ON event"
    " WHEN NEW.row IS NOT (SELECT coalesce(max(row), 0) + 1 FROM event)"
    " BEGIN SELECT RAISE(ABORT, 'rows are only added at the end'); END",
}


@dataclass(frozen=True)
class LedgerRows:
    """The rows of a ledger within one transaction."""

    connection: sqlite3.Connection

    def add(self, books: Books, kind: EventKind, *, content: bytes | None = None, **fields: Any) -> Event:
        """Write one event as the next row, and return it. Errors: BrokenLedgerError if the books do not allow it."""
        digest = None if content is None else content_hash(content)
        previous = books.events[-1].hash if books.events else NO_HASH
        row, time = len(books.events) + 1, datetime.now(UTC).strftime(TIME)
        event = Event(row=row, kind=kind, content_hash=digest, time=time, previous=previous, **fields)
        event = replace(event, hash=seal(values_of(event)))
        books_of((*books.events, event))  # an invalid row is not written
        values = {**values_of(event), "content": content}
        marks = ", ".join(f":{name}" for name in values)
        self.connection.execute(f"INSERT INTO event ({', '.join(values)}) VALUES ({marks})", values)
        return event

    def content(self, event: Event) -> bytes:
        """Return the bytes of a row's content. Errors: BrokenLedgerError if their hash is not that in the row."""
        content = self.connection.execute("SELECT content FROM event WHERE row = ?", (event.row,)).fetchone()[0]
        if (content_hash(content) if isinstance(content, bytes) else content) != event.content_hash:
            raise broken(event.row, "its content was edited after it was written")
        assert isinstance(content, bytes), "a row whose content is read has one"
        return content

    def damage(self) -> str:
        """Return a damage of the file, as a sentence; empty if there is none."""
        pages = [str(text) for (text,) in self.connection.execute("PRAGMA quick_check(1)")]
        return "" if pages == ["ok"] else f"SQLite finds {brief(pages[0], 100)}"


def ledger_path(named: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of the ledger: as named, else that of DPBAYES_LEDGER, else in the person's data folder."""
    if named and not Path(named).resolve().parent.is_dir():
        raise LedgerError(f"The ledger {named} is in no folder that exists. Make the folder first.")
    given = named or os.environ.get("DPBAYES_LEDGER")
    if given:
        return Path(given)
    with extra("release", "The default path of the ledger"):
        from platformdirs import user_data_path  # late: starting the program costs nothing

    return user_data_path("dpbayes", appauthor=False) / "ledger.sqlite"


@contextmanager
def reading(path: Path) -> Iterator[tuple[LedgerRows, Books]]:
    """Yield the present ledger, checked, without its contents. Errors: LedgerError, BrokenLedgerError."""
    with refusing(path), closing(_connection(path, "ro")) as connection:
        connection.execute("BEGIN")
        yield LedgerRows(connection), _checked(connection, path)


@contextmanager
def writing(path: Path) -> Iterator[tuple[LedgerRows, Books]]:
    """Yield a checked ledger to one program at a time; the rows are kept if the block ends without an error.

    Errors: LedgerError, BrokenLedgerError; then nothing was added.
    """
    with refusing(path), closing(_connection(path, "rw")) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        yield LedgerRows(connection), _checked(connection, path)


# A new ledger


def begin(path: Path) -> None:
    """Make a ledger, as a file that does not exist yet; any other file stays unchanged.

    Errors: LedgerError if it cannot be made.
    """
    with refusing(path):
        place = path.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() or not place.stat().st_size:  # another program may be making it
            with _only_maker(place.parent) as folder:
                _make(place, folder)


@contextmanager
def _only_maker(folder: Path) -> Iterator[int]:
    """Yield the number of an opened folder in which no other program makes a ledger meanwhile; -1 where it has none."""
    try:
        import fcntl
    except ImportError:  # a system without such locks, whose folders cannot be opened
        yield -1
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield number
    finally:
        os.close(number)


def _make(path: Path, folder: int) -> None:
    """Make a ledger in a folder of its own and move it to its place, unless a file is there.

    The place is taken by an empty file first, so that no file of another program is ever replaced.
    """
    if path.exists():
        return
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name[:40]}-") as folder_name:
        new = Path(folder_name) / "ledger"
        with closing(_connection(new, "rwc")) as connection:
            new.chmod(0o600)  # for its owner only: it contains a key, and it will contain the samples
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                _make_tables(connection)
                LedgerRows(connection).add(Books(), EventKind.BEGUN, content=secrets.token_bytes(32))
            connection.execute("PRAGMA journal_mode=WAL")  # so that writing does not block readers
        with suppress(FileExistsError):  # another program was faster
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.replace(new, path)
    if folder >= 0:
        os.fsync(folder)  # its name is on the disk too


# Connections


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection that can read; SQLite's modes are ro (read only), rw and rwc (create if missing)."""
    if mode != "rwc" and not path.exists():
        raise LedgerError(
            f"There is no ledger at {path}; open a dataset: dpbayes ledger open NAME --budget NUMBER --reason TEXT."
        )
    _require_place(path)
    address = f"{path.resolve().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        # Edited values need not be text; they must be reported, and must not stop the reading.
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        for setting in ("synchronous=FULL", "fullfsync=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _require_place(path: Path) -> None:
    """Refuse a place where two programs could use one ledger without noticing each other, or that is no file.

    SQLite keeps the newest rows in a second file beside the ledger, with the ledger's name. Under two names, a ledger
    has two such files, and each program counts only the rows in its own. A symbolic link is followed to the one name.
    """
    if path.is_dir():
        raise LedgerError(f"{path} is a folder; name a file in it for the ledger.")
    if path.exists():
        if not path.is_file():  # SQLite waits for a pipe; a device is an empty file
            raise BrokenLedgerError(f"{path} is a pipe or a device. The ledger must be a regular file.")
        names = path.stat().st_nlink
        if names > 1:
            raise LedgerError(
                f"The ledger {path} has {names} names (hard links), under which its budget could be spent twice. "
                "Remove all names but one."
            )
    place, kind = _mount_of(path)
    if kind in NETWORK:
        raise LedgerError(
            f"{path} is on a network drive ({kind}), where several programs could damage the ledger. "
            "Keep the ledger on a disk of this computer."
        )
    if place == path.resolve():
        raise LedgerError(
            f"The ledger {path} is mounted as a single file, so it has another name elsewhere, under which its budget "
            "could be spent twice. Mount its folder."
        )


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={VERSION}")


def _checked(connection: sqlite3.Connection, path: Path) -> Books:
    """Return the books. Errors: BrokenLedgerError for another kind of file or version, and for invalid rows."""
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
    stated = connection.execute("SELECT application_id, user_version FROM pragma_application_id, pragma_user_version")
    mark, version = stated.fetchone()
    if not (mark or version or tables):
        raise BrokenLedgerError(
            f"The file {path} is empty and is not a ledger. A new ledger needs the name of a file that does not exist."
        )
    if mark != APPLICATION:
        raise BrokenLedgerError(f"The file {path} is a database of another program, not a ledger; name another file.")
    if version != VERSION:
        raise BrokenLedgerError(
            f"The ledger {path} has version {version}, and this program reads version {VERSION}; use the program that "
            "wrote it."
        )
    if tables != _SCHEMA:
        raise BrokenLedgerError(
            f"The tables or triggers of the ledger {path} were changed. Restore a copy of the file."
        )
    # All at once: an error in the middle would keep the file open as long as the error exists.
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM event ORDER BY row").fetchall()
    events = [event_of(place, dict(zip(COLUMNS, row, strict=True))) for place, row in enumerate(rows, start=1)]
    return replace(books_of(events), file=path)


# Errors of SQLite and of the system

_LOCKED = "Another program is writing to the ledger {path}, or its drive has no file locks. Try again later."
_CLOSED = "The ledger {path} cannot be opened; allow reading and writing the file and its folder."
_DISK = "The disk with the ledger {path} is full or reports an error. Free some space and try again."
_SENTENCES = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_FULL: _DISK,
    sqlite3.SQLITE_IOERR: _DISK,
}
_BROKEN = {
    sqlite3.SQLITE_NOTADB: "The file {path} is not a ledger, because it is not a SQLite file; name another file.",
    sqlite3.SQLITE_CORRUPT: "The ledger {path} is damaged, and SQLite cannot read it; restore a copy.",
}


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn an error of SQLite or of the system into one sentence. Errors: LedgerError."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 255
        if code in _BROKEN:
            raise BrokenLedgerError(_BROKEN[code].format(path=path)) from error
        sentence = _SENTENCES.get(code, "SQLite refuses the ledger {path}: {error}.")
        raise LedgerError(sentence.format(path=path, error=str(error).rstrip("."))) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot read
        raise BrokenLedgerError(_BROKEN[sqlite3.SQLITE_CORRUPT].format(path=path)) from error
    except OSError as error:
        raise LedgerError(f"The ledger {path} cannot be opened: {error.strerror}.") from error


# The drive: on a network drive, several programs cannot charge one ledger at the same time

MOUNTS = Path("/proc/self/mountinfo")
"""The list of mounted drives on Linux; on other systems, the drive is unknown."""

NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "fuse.glusterfs"}
    | {"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "davfs", "lustre", "gfs2", "ocfs2"}
)
"""Types of file systems on another computer, by their names on Linux."""

_OCTAL = re.compile(r"\\([0-7]{3})")


def _mount_of(path: Path) -> tuple[Path, str]:
    """Return where the drive of a path is mounted, and the type of its file system; "/" and "" if it is unknown."""
    place, kind = Path("/"), ""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return place, kind
    own = path.resolve()
    for line in lines:
        before, _, after = line.partition(" - ")
        mounted = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), before.split()[4]))
        if own.is_relative_to(mounted) and len(mounted.parts) >= len(place.parts):
            place, kind = mounted, after.split()[0]
    return place, kind
