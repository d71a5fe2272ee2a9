"""A process is killed before each of its statements to SQLite, while it draws, and before it shows."""

import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.releases import ledger
from tests.releases.ledger.drawing import Drawing
from tests.test_docs import ROOT

TENTH = Fraction(1, 10)


def killed(folder: Path, kind: str) -> list[Path]:
    """Return the folders that the killed processes left; in the last one the process came to its end."""
    command = [sys.executable, "-m", "tests.releases.ledger.killed", str(folder), kind]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [folder / str(k) for k in range(int(done.stdout))]


def opened(folder: Path) -> None:
    ledger.open_dataset(folder / "start" / "ledger", "votes", Fraction(1), reason="A budget.")


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What the processes left that were killed while they spent: to be copied by who writes there."""
    folder = tmp_path_factory.mktemp("spent")
    opened(folder)
    return killed(folder, "spend")


def test_a_process_that_is_killed_while_it_spends_leaves_nothing_free_and_draws_once(
    spent: list[Path], tmp_path: Path
) -> None:
    ends = []
    for left in spent:
        folder = Path(shutil.copytree(left, tmp_path / left.name))
        path, drawn, shown = (folder / name for name in ("ledger", "drawn", "shown"))
        ledger.check(path)
        account = ledger.read_books(path).account("votes")
        assert not drawn.exists() or drawn.read_bytes() == b"outcome"  # once
        assert account.spent == TENTH or not drawn.exists()
        assert account.released == TENTH or not shown.exists()
        spendings = ledger.read_books(path).of("votes")
        ends.append((len(spendings), drawn.exists(), *(spending.state for spending in spendings), shown.exists()))
    before = (0, False, False)
    reserved = (1, False, "reserved, no release", False)
    drawn_in_vain = (1, True, "reserved, no release", False)
    released = (1, True, "released", False)
    assert list(dict.fromkeys(ends)) == [before, reserved, drawn_in_vain, released, (1, True, "released", True)]
    assert len(ends) > 20


def test_after_a_kill_the_ledger_goes_on_and_asking_again_is_a_choice(spent: list[Path], tmp_path: Path) -> None:
    for left in spent:
        folder = Path(shutil.copytree(left, tmp_path / left.name))
        path, draw = folder / "ledger", Drawing(b"second")
        before = ledger.read_books(path).of("votes")
        if not before:
            ledger.spend(path, "votes", TENTH, b"q", draw)
        else:
            with pytest.raises(ledger.RepeatedRequestError):
                ledger.spend(path, "votes", TENTH, b"q", draw)
            assert draw.calls == []
        if not before or not before[0].release:
            row = ledger.read_books(path).of("votes")[0].row
            ledger.spend(path, "votes", TENTH, b"q", draw, after=row)
        entry = ledger.read_books(path).newest("votes", b"q")
        assert entry is not None
        assert ledger.outcome(path, entry.row) == (b"outcome" if before and before[0].release else b"second")
        assert ledger.read_books(path).account("votes").spent == TENTH * len(ledger.read_books(path).of("votes"))
        ledger.check(path)


def test_a_ledger_that_was_only_begun_is_begun_again(tmp_path: Path) -> None:
    """A kill between taking the place and moving the ledger there leaves an empty file, which is never filled."""
    (tmp_path / "start").mkdir()
    folders = killed(tmp_path, "open")
    left = []
    for folder in folders:
        path = folder / "ledger"
        is_empty = path.exists() and not path.stat().st_size
        left.append("empty" if is_empty else "a ledger" if path.exists() else "none")
        if is_empty:
            with pytest.raises(ledger.BrokenLedgerError, match="is empty"):
                ledger.open_dataset(path, "votes", Fraction(1), reason="Once more.")
            path.unlink()
        if left[-1] != "a ledger" or not ledger.read_books(path).accounts.values():
            ledger.open_dataset(path, "votes", Fraction(1), reason="Once more.")
        ledger.spend(path, "votes", TENTH, b"q", Drawing())
        assert ledger.check(path).rows == 4
    assert list(dict.fromkeys(left)) == ["none", "empty", "a ledger"]
    assert left.count("empty") == 1
    assert len(folders) > 20
