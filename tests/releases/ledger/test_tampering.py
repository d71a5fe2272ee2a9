"""A ledger that was edited by hand: what is broken is named."""

import itertools
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.amounts import Rho
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Dataset
from dpbayes.releases import ledger
from dpbayes.releases.ledger import store
from dpbayes.releases.ledger.books import NO_HASH, Event, content_hash, seal, values_of
from dpbayes.releases.ledger.store import COLUMNS
from dpbayes.releases.signing import PublicKey, Signer, name_key
from tests.conftest import thorough
from tests.releases.ledger.drawing import Drawing, raising

TENTH = Fraction(1, 10)
FIELDS = (*COLUMNS, "content")
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with every kind of event, all of it in one file."""
    path = tmp_path_factory.mktemp("full") / "ledger"
    ledger.open_dataset(path, "votes", Fraction(1), reason="A budget.")
    ledger.spend(path, "votes", TENTH, b"question", Drawing())
    ledger.raise_budget(path, "votes", Fraction(3, 2), reason="More.")
    with suppress(ledger.EpsilonLostError):
        ledger.spend(path, "votes", Fraction(1, 3), b"another", raising(ValueError()))
    ledger.raise_budget(path, "votes", Fraction(8, 5), reason="Still more.")
    ledger.table_doubts(path, "votes", Dataset(("a",), (("x", "y"),), np.array([[0], [1]])), remember=True)
    with suppress(KeyboardInterrupt):
        ledger.spend(path, "votes", TENTH, b"third", raising(KeyboardInterrupt()))
    ledger.spend(path, "votes", TENTH, b"fourth", Drawing(b"fourth outcome"))
    ledger.open_dataset(path, "clinic", Rho(TENTH), reason="A budget in rho.")
    ledger.spend(path, "clinic", Rho(TENTH), b"fifth", Drawing(b"fifth outcome"))
    name_key(path, Signer("An office", PublicKey("00" * 32)), reason="The first key.")
    name_key(path, Signer("Another", PublicKey("11" * 32)), reason="A new key.")
    assert ledger.check(path).rows == 16
    assert len({event.kind for event in ledger.read_books(path).events}) == len(ledger.EventKind)
    assert not Path(f"{path}-wal").exists() or Path(f"{path}-wal").stat().st_size == 0
    return path


def edited(full: Path, edit: Callable[[sqlite3.Connection], object]) -> Path:
    """Return a copy in which somebody took the guards away, edited, and put them back."""
    copy = full.parent / f"copy {next(NUMBERS)}"
    shutil.copy(full, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        guards = [sql for name, sql in store._SCHEMA.items() if "TRIGGER" in sql]
        for name in store._SCHEMA:
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        edit(connection)
        for guard in guards:
            connection.execute(guard)
    return copy


def broken_row(path: Path) -> int:
    """Return the row that every way to look at a ledger calls broken, and check that nothing is drawn from it."""
    with pytest.raises(ledger.BrokenLedgerError) as refusal:
        ledger.check(path)
    named = re.match(r"Row (\d+) of the ledger is invalid: [^.]*\. Restore a copy of the file\.$", str(refusal.value))
    assert named, str(refusal.value)
    return int(named[1])


def cells(path: Path) -> list[tuple[int, str, bytes]]:
    """Return row, column and bytes of every field that has any."""
    with closing(sqlite3.connect(path)) as connection:
        fields = ", ".join(f"CAST({column} AS BLOB)" for column in FIELDS)
        rows = connection.execute(f"SELECT {fields} FROM event ORDER BY row").fetchall()
    return [(k, name, value) for k, row in enumerate(rows, 1) for name, value in zip(FIELDS, row, strict=True) if value]


def flip(full: Path, cell: tuple[int, str, bytes], place: int, bit: int) -> Path:
    row, column, value = cell
    flipped = bytearray(value)
    flipped[place % len(value)] ^= 1 << bit
    kind = "BLOB" if column == "content" else "TEXT"
    statement = f"UPDATE event SET {column} = CAST(? AS {kind}) WHERE row = {row}"
    return edited(full, lambda connection: connection.execute(statement, (bytes(flipped),)))


@given(st.data(), st.integers(0, 99), st.integers(0, 7))
def test_a_flipped_bit_in_any_field_names_its_row(full: Path, data: st.DataObject, place: int, bit: int) -> None:
    cell = data.draw(st.sampled_from([cell for cell in cells(full) if cell[1] != "row"]))
    assert broken_row(flip(full, cell, place, bit)) == cell[0]


def test_nothing_is_spent_in_a_broken_ledger(full: Path) -> None:
    copy = edited(full, lambda c: c.execute("UPDATE event SET amount = 'epsilon 9' WHERE row = 2"))
    draw = Drawing()
    with pytest.raises(ledger.BrokenLedgerError, match="Row 2 of the ledger is invalid"):
        ledger.spend(copy, "votes", TENTH, b"new", draw)
    assert draw.calls == []
    with pytest.raises(ledger.BrokenLedgerError, match="Row 2 of the ledger is invalid"):
        ledger.read_books(copy)


def test_an_edited_outcome_is_not_shown(full: Path) -> None:
    copy = edited(full, lambda c: c.execute("UPDATE event SET content = x'00' WHERE row = 4"))
    with pytest.raises(ledger.BrokenLedgerError, match=r"^Row 4 of the ledger is invalid: its content was edited"):
        ledger.outcome(copy, 3)


@pytest.mark.parametrize("row", thorough(range(1, 16), sample=[1, 2, 7, 15]))
def test_a_row_that_is_missing_or_exchanged_is_named(full: Path, row: int) -> None:
    without = edited(full, lambda c: c.execute(f"DELETE FROM event WHERE row = {row}"))
    assert broken_row(without) == row
    with pytest.raises(ledger.BrokenLedgerError, match=r"is invalid: it is missing\. Restore"):
        ledger.read_books(without).accounts.values()

    def exchange(connection: sqlite3.Connection) -> None:
        for old, new in ((row, -1), (row + 1, row), (-1, row + 1)):
            connection.execute(f"UPDATE event SET row = {new} WHERE row = {old}")

    assert broken_row(edited(full, exchange)) == row


def test_rows_cut_off_the_end_are_noticed_by_who_has_seen_them(full: Path) -> None:
    head = ledger.check(full).head
    assert ledger.check(full, seen=[head, ledger.read_books(full).events[3].hash]).rows == 16
    copy = edited(full, lambda c: c.execute("DELETE FROM event WHERE row > 9"))
    assert ledger.check(copy).rows == 9
    with pytest.raises(
        ledger.BrokenLedgerError, match=f'has no row with the hash "{head[:39]}…". It is another ledger'
    ):
        ledger.check(copy, seen=[head])


@pytest.mark.parametrize(
    ("row", "change", "why"),
    [
        (
            2,
            {"amount": Fraction(1, 20)},
            "Row 3 of the ledger is invalid: it reserves nothing, or more than the remaining",
        ),
        (3, {"amount": Fraction(2)}, "Row 3 of the ledger is invalid: it reserves nothing, or more than the remaining"),
        (3, {"dataset": "other"}, "Row 3 of the ledger is invalid: its dataset was not opened"),
        (4, {"reservation": 2}, "Row 4 of the ledger is invalid: it closes a reservation that is not open"),
        (5, {"amount": Fraction(1, 2)}, "Row 5 of the ledger is invalid: it does not raise the budget"),
        (11, {"dataset": "other"}, "Row 11 of the ledger is invalid: it closes a reservation that is not open"),
        (12, {"amount": TENTH}, "Row 13 of the ledger is invalid: it reserves nothing, or more than the remaining"),
        (5, {"amount": Rho(Fraction(9))}, "Row 5 of the ledger is invalid: it does not raise the budget"),
        (13, {"amount": Rho(Fraction(1, 9))}, "Row 13 of the ledger is invalid: it reserves nothing, or more than"),
        (
            5,
            {"kind": ledger.EventKind.OPENED},
            "Row 5 of the ledger is invalid: it opens a dataset that is already open",
        ),
        (5, {"kind": ledger.EventKind.BEGUN}, "Row 5 of the ledger is invalid: the first row, and only the first"),
        (1, {"previous": "1" * 64}, "Row 1 of the ledger is invalid: it does not contain the hash of the previous row"),
    ],
)
def test_a_chain_computed_anew_must_still_add_up(full: Path, row: int, change: dict, why: str) -> None:
    previous, rows = ledger.read_books(full).events[0].previous, []
    for event in ledger.read_books(full).events:
        event = replace(event, **{"previous": previous} | (change if event.row == row else {}))
        values = values_of(event)
        previous = seal(values)
        rows.append(values | {"hash": previous})

    def forge(connection: sqlite3.Connection) -> None:
        for values in rows:
            fields = ", ".join(f"{name} = :{name}" for name in values)
            connection.execute(f"UPDATE event SET {fields} WHERE row = :row", values)

    with pytest.raises(ledger.BrokenLedgerError, match=f"^{why}"):
        ledger.check(edited(full, forge))


OTHER = ", ".join(FIELDS[1:]).replace("amount", "'epsilon 9'") + " FROM event WHERE row = 2"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET amount = 'epsilon 9' WHERE row = 2",
        "DELETE FROM event",
        f"INSERT OR REPLACE INTO event SELECT row, {OTHER}",
        f"INSERT INTO event SELECT 99, {OTHER}",
        f"INSERT INTO event SELECT NULL, {OTHER}",
    ],
)
def test_the_file_itself_refuses_changes(path: Path, statement: str) -> None:
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match=r"rows are (never (changed|deleted)|only added)"),
    ):
        connection.execute(statement)
    assert ledger.check(path).rows == 2


@pytest.mark.parametrize(
    "statement", ["DROP TRIGGER never_changed", "CREATE TABLE notes (text)", "ALTER TABLE event ADD COLUMN more"]
)
def test_guards_that_were_taken_away_are_noticed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(ledger.BrokenLedgerError, match="tables or triggers of the ledger"):
        ledger.check(path)


def read_all(path: Path) -> object:
    """Return all that a ledger holds, or the sentence that refuses it."""
    try:
        rows = [spending.row for spending in ledger.read_books(path).of("votes") if spending.release]
        return ledger.check(path), ledger.read_books(path).events, [ledger.outcome(path, row) for row in rows]
    except InputError as refusal:
        return str(refusal)


@given(st.data())
def test_a_flipped_bit_of_the_file_is_harmless_or_reported(full: Path, data: st.DataObject) -> None:
    content = bytearray(full.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    spoiled = full.parent / f"spoiled {next(NUMBERS)}"
    spoiled.write_bytes(bytes(content))
    seen = read_all(spoiled)
    assert seen == read_all(full) or (isinstance(seen, str) and "\n" not in seen)


def test_a_row_is_sealed_as_in_version_1(path: Path) -> None:
    """The hash of a row in a certificate must be found again by later programs."""
    event = Event(
        row=1,
        kind=ledger.EventKind.RESERVED,
        dataset="vötes",
        amount=TENTH,
        content_hash=content_hash(b"q"),
        time="2026-01-01T00:00:00.000000Z",
        previous=NO_HASH,
    )
    assert seal(values_of(event)) == "91d65fd01d1deb8bc4417b887918a49d283adededd0bb270451482df5fce4451"
