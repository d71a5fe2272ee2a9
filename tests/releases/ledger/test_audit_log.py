"""The audit log: rows are added beside the events, by many programs at once, and nothing else happens to them."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.base.amounts import Rho
from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main
from dpbayes.releases.ledger import BrokenLedgerError, LedgerError, accesses, record_access
from tests.releases.made import opened


def acts(path: Path) -> list[tuple[str, str, str]]:
    return [(row.person, row.act, row.dataset) for row in accesses(path)]


def test_rows_are_added_in_order_and_leave_the_events_alone(tmp_path: Path) -> None:
    path = opened(tmp_path)
    before = ledger.check(path)
    assert accesses(path) == ()
    record_access(path, "ada", "read the ledger")
    record_access(path, "eva", "made a release", "garden")
    assert acts(path) == [("ada", "read the ledger", ""), ("eva", "made a release", "garden")]
    assert ledger.check(path) == before
    assert accesses(path)[0].time.endswith("Z")
    ledger.raise_budget(path, "garden", Fraction(4), reason="it goes on")
    ledger.open_dataset(path, "in-rho", Rho(Fraction(1)), reason="of the other measure")
    assert len(acts(path)) == 2
    assert len(ledger.accounts(path)) == 2


def test_where_there_is_no_ledger_nothing_is_written(tmp_path: Path) -> None:
    record_access(tmp_path / "none.sqlite", "ada", "read the ledger")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerError, match="There is no ledger"):
        accesses(tmp_path / "none.sqlite")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE access SET person = 'eve'",
        "DELETE FROM access",
        "INSERT INTO access VALUES (1, 't', 'eve', 'a', 'd')",
        "INSERT OR REPLACE INTO access VALUES (1, 't', 'eve', 'a', 'd')",
        "INSERT INTO access VALUES (9, 't', 'eve', 'a', 'd')",
    ],
)
def test_no_row_is_changed_deleted_or_put_between(tmp_path: Path, statement: str) -> None:
    path = opened(tmp_path)
    for person in ("ada", "eva"):
        record_access(path, person, "read the ledger")
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="rows are"):
        connection.execute(statement)
    assert [row.person for row in accesses(path)] == ["ada", "eva"]


@pytest.mark.parametrize("name", ["access_never_changed", "access_never_deleted", "access_only_added"])
def test_a_log_without_its_triggers_is_no_ledger_any_more(tmp_path: Path, name: str) -> None:
    path = opened(tmp_path)
    record_access(path, "ada", "read the ledger")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DROP TRIGGER {name}")
        connection.commit()
    with pytest.raises(BrokenLedgerError, match="were changed"):
        accesses(path)


def test_twenty_threads_lose_no_row(tmp_path: Path) -> None:
    path = opened(tmp_path)
    with ThreadPoolExecutor(20) as threads:
        list(threads.map(lambda number: record_access(path, f"person {number}", "read the ledger"), range(60)))
    assert sorted(row.person for row in accesses(path)) == sorted(f"person {number}" for number in range(60))


@pytest.mark.parametrize("name", ["a\nb\x00c", "é" * 300, "half \udcff", "'; DROP TABLE event; --", "<b>|*_"])
def test_names_stay_text_in_one_line(tmp_path: Path, name: str) -> None:
    path = opened(tmp_path)
    record_access(path, name, "read the ledger", name)
    (row,) = accesses(path)
    assert "\n" not in row.person
    assert len(row.person) <= 200
    assert row.person[:4] == " ".join(name.split())[:4].encode(errors="backslashreplace").decode()
    assert len(ledger.accounts(path)) == 1


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = opened(tmp_path)
    assert main(["ledger", "--ledger", str(path), "log"]) == 0
    assert capsys.readouterr().out.startswith("The audit log is empty: no dashboard has used")
    record_access(path, "ada@example.org", "made a release", "garden")
    assert main(["ledger", "--ledger", str(path), "log"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("  ada@example.org  made a release  garden\n")
    assert printed.count("\n") == 1
