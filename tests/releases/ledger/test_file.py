"""The file is elsewhere, locked, read-only, of another kind or version, or its disk is full."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.releases import ledger
from dpbayes.releases.ledger import store
from dpbayes.releases.ledger.store import refusing
from tests.releases.ledger.drawing import Drawing
from tests.test_docs import ROOT

TENTH = Fraction(1, 10)


def refused(path: Path, sentence: str) -> None:
    """Check that spending is refused with this sentence, and that nothing is drawn."""
    draw = Drawing()
    with pytest.raises(ledger.LedgerError) as refusal:
        ledger.spend(path, "votes", TENTH, b"q", draw)
    assert str(refusal.value) == sentence.replace("PATH", str(path))
    assert type(refusal.value) is not ledger.EpsilonLostError
    assert draw.calls == []


# Where it is


def test_the_ledger_is_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "by environment"))
    assert ledger.ledger_path("named") == Path("named")
    assert ledger.ledger_path() == tmp_path / "by environment"
    monkeypatch.setenv("DPBAYES_LEDGER", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ledger.ledger_path().name == "ledger.sqlite"
    assert "dpbayes" in ledger.ledger_path().parts
    assert not ledger.ledger_path().exists()


def test_without_a_ledger_nothing_is_made(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    refused(
        path,
        "There is no ledger at PATH; open a dataset: dpbayes ledger open NAME --budget NUMBER --reason TEXT.",
    )
    with pytest.raises(ledger.LedgerError, match="There is no ledger"):
        ledger.check(path)
    assert list(tmp_path.iterdir()) == []


def test_it_is_for_its_owner_and_survives_a_power_cut(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    with store.writing(path) as (rows, _):
        settings = [rows.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]


def test_a_folder_or_a_file_as_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(tmp_path, "PATH is a folder; name a file in it for the ledger.")
    for do in (ledger.check, lambda path: ledger.open_dataset(path, "votes", Fraction(1), reason="None.")):
        with pytest.raises(ledger.LedgerError, match="is a folder"):
            do(tmp_path)
    with pytest.raises(ledger.LedgerError, match=r"^The ledger .* cannot be opened"):
        ledger.open_dataset(tmp_path / "file" / "ledger", "votes", Fraction(1), reason="None.")


# What kind of file it is


@pytest.mark.parametrize("content", [b"a,b\n1,2\n" * 100, b"SQLite format 3\0" + bytes(200), b"xy"])
def test_a_file_that_is_not_sqlites_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    refused(path, "The file PATH is not a ledger, because it is not a SQLite file; name another file.")
    with pytest.raises(ledger.BrokenLedgerError, match="not a SQLite file"):
        ledger.open_dataset(path, "votes", Fraction(1), reason="None.")
    with pytest.raises(ledger.BrokenLedgerError, match="not a SQLite file"):
        ledger.check(path)
    assert path.read_bytes() == content


def test_an_empty_file_does_not_become_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.touch(mode=0o644)
    path.chmod(0o644)
    for do in (ledger.check, lambda path: ledger.open_dataset(path, "votes", Fraction(1), reason="None.")):
        with pytest.raises(ledger.BrokenLedgerError, match="is empty and is not a ledger"):
            do(path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"", 0o644)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_while_a_ledger_is_made_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, make_tables = tmp_path / "ledger", store._make_tables

    def slow(connection: sqlite3.Connection) -> None:
        make_tables(connection)
        path.write_bytes(b"of another program")

    monkeypatch.setattr(store, "_make_tables", slow)
    with pytest.raises(ledger.BrokenLedgerError, match="not a SQLite file"):
        ledger.open_dataset(path, "votes", Fraction(1), reason="None.")
    assert path.read_bytes() == b"of another program"
    assert list(tmp_path.iterdir()) == [path]


def test_another_programs_database_keeps_its_permissions_and_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "other"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE event (row INTEGER PRIMARY KEY)")
    path.chmod(0o644)
    before = path.read_bytes()
    refused(path, "The file PATH is a database of another program, not a ledger; name another file.")
    with pytest.raises(ledger.BrokenLedgerError, match="of another program"):
        ledger.open_dataset(path, "votes", Fraction(1), reason="None.")
    assert path.read_bytes() == before, "neither its journal mode is another"
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    sentence = "PATH is a pipe or a device. The ledger must be a regular file."
    ask = (
        "import sys; from fractions import Fraction; from pathlib import Path; from dpbayes.releases import ledger\n"
        "for do in (ledger.check, lambda path: ledger.open_dataset(path, 'votes', Fraction(1), reason='None.')):\n"
        "    try: do(Path(sys.argv[1]))\n"
        "    except ledger.LedgerError as error: print(error)"
    )
    output = subprocess.check_output([sys.executable, "-c", ask, str(path)], cwd=ROOT, text=True, timeout=30)
    assert output.splitlines() == 2 * [sentence.replace("PATH", str(path))]


def test_another_version_is_named(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version=5")
    other.close()
    refused(path, "The ledger PATH has version 5, and this program reads version 1; use the program that wrote it.")
    for read in (ledger.check, ledger.read_books):
        with pytest.raises(ledger.BrokenLedgerError, match="has version 5"):
            read(path)
    with pytest.raises(ledger.BrokenLedgerError, match="has version 5"):
        ledger.open_dataset(path, "more", Fraction(1), reason="None.")


# Locked


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_network_drive_is_refused(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    place = str(path.parent).replace(" ", "\\040")
    lines = ["1 0 8:1 / / rw - ext4 /dev/vda rw", f"2 1 0:40 / {place} rw,relatime shared:3 - {kind} server:/home rw"]
    mounts = tmp_path / "mountinfo"
    mounts.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(store, "MOUNTS", mounts)
    refused(
        path,
        f"PATH is on a network drive ({kind}), where several programs could damage the ledger. Keep the ledger on "
        "a disk of this computer.",
    )
    mounts.write_text(lines[1] + "\n" + f"3 2 8:2 / {place} rw - ext4 /dev/vdb rw\n")
    ledger.spend(path, "votes", TENTH, b"q", Drawing())  # a disk that is mounted over it


def test_a_ledger_that_is_mounted_as_a_single_file_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    escaped = str(path).replace(" ", "\\040")
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 8:1 /home/ledger {escaped} rw - ext4 /dev/vda rw\n")
    monkeypatch.setattr(store, "MOUNTS", mounts)
    refused(
        path,
        "The ledger PATH is mounted as a single file, so it has another name elsewhere, under which its budget could "
        "be spent twice. Mount its folder.",
    )


def test_a_locked_ledger_is_read_and_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused(path, "Another program is writing to the ledger PATH, or its drive has no file locks. Try again later.")
    assert ledger.check(path).rows == 2
    other.close()
    ledger.spend(path, "votes", TENTH, b"q", Drawing())


def test_a_lock_while_drawing_costs_epsilon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(path, isolation_level=None)

    def draw() -> bytes:
        other.execute("BEGIN IMMEDIATE")
        return b"outcome"

    with pytest.raises(ledger.EpsilonLostError) as lost:
        ledger.spend(path, "votes", TENTH, b"q", draw)
    other.close()
    assert str(lost.value) == (
        f"Another program is writing to the ledger {path}, or its drive has no file locks. Try again later. Nothing "
        "was released, and the ε = 0.1 reserved in row 3 stays charged."
    )
    assert ledger.read_books(path).account("votes").reserved == TENTH


# A full disk


def test_on_a_full_disk_nothing_is_drawn_unaccounted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, question, outcome = store._connection, b"q" * 20_000, b"o" * 40_000
    pages = sqlite3.connect(path).execute("PRAGMA page_count").fetchone()[0]
    refused, lost, released = "LedgerError", "EpsilonLostError", "EventKind.RELEASED"
    ends = []
    for room in range(20):
        copy = path.parent / f"copy {room}"
        shutil.copy(path, copy)

        def limited(path: Path, mode: str, most: int = pages + room) -> sqlite3.Connection:
            connection = connect(path, mode)
            connection.execute(f"PRAGMA max_page_count={most}")
            return connection

        draw = Drawing(outcome)
        with monkeypatch.context() as patch:
            patch.setattr(store, "_connection", limited)
            try:
                end = str(ledger.spend(copy, "votes", TENTH, question, draw).kind)
            except ledger.LedgerError as error:
                end = f"{type(error).__name__}: {error}"
        ends.append(end.partition(":")[0])
        assert ends[-1] == released or f": The disk with the ledger {copy} is full or reports an error. Free" in end
        account = ledger.read_books(copy).account("votes")
        expected = {refused: (0, 0, 0), lost: (1, TENTH, 0), released: (1, 0, TENTH)}[ends[-1]]
        assert (len(draw.calls), account.reserved, account.released) == expected
        ledger.check(copy)
    assert list(dict.fromkeys(ends)) == [refused, lost, released]


# What SQLite says otherwise


@pytest.mark.parametrize("error", [sqlite3.OperationalError("something new"), OverflowError("something new")])
def test_any_error_is_one_sentence(path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object) -> Callable[[], None]:
        raise error

    monkeypatch.setattr(store, "_checked", fail)
    refused(path, "SQLite refuses the ledger PATH: something new.")


def test_what_sqlite_quotes_and_is_no_text_is_a_damaged_ledger(tmp_path: Path) -> None:
    with pytest.raises(ledger.BrokenLedgerError, match="is damaged"), refusing(tmp_path):
        b"\xff".decode()
