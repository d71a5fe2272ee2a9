"""An address names a table, and never holds a password."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines import statements
from dpbayes.sources.engines.address import KINDS, name_parts, open_table, parsed, tables_of, written_name
from dpbayes.sources.engines.engine import DeclaredTable

ADDRESSES = {
    "duckdb:/data/a folder/file.duckdb?table=main.patients": ("/data/a folder/file.duckdb", ("main", "patients")),
    'duckdb:file.duckdb?table="a.b"."say ""hi"""': ("file.duckdb", ("a.b", 'say "hi"')),
    "postgresql://ann@db.example.org:5433/clinic?table=public.patients": (
        "//ann@db.example.org:5433/clinic",
        ("public", "patients"),
    ),
    "postgresql://ann%40x@[::1]/clinic?sslmode=require&table=%22a.b%22": ("//ann%40x@[::1]/clinic", ("a.b",)),
    "postgresql:///clinic": ("///clinic", ()),
    "spark:local[2]?table=db.t": ("local[2]", ("db", "t")),
    "spark:spark://host:7077?table=t": ("spark://host:7077", ("t",)),
    'spark:sc://host:15002/;use_ssl=true?table=parquet."/data/a.b"': (
        "sc://host:15002/;use_ssl=true",
        ("parquet", "/data/a.b"),
    ),
    "parquet:/data/folder": ("/data/folder", ()),
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_read_in_parts_and_written_again(text: str) -> None:
    address = parsed(text)
    assert (address.place, address.table) == ADDRESSES[text]
    assert parsed(str(address)) == address


@given(st.lists(st.text('a."? é/%&\n', min_size=1, max_size=5), min_size=1, max_size=3))
def test_every_name_can_be_written(parts: list[str]) -> None:
    name = tuple(parts)
    assert name_parts(written_name(name)) == name
    for place in ("duckdb:f", "postgresql://h/d", "spark:yarn"):
        address = replace(parsed(place), table=name)
        assert parsed(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:hunter2@host/db?table=t",
        "postgresql://ann@host/db?password=hunter2&table=t",
        "postgresql://ann@host/db?sslpassword=hunter2",
        "postgresql://ann@host/db?hunter2",
        "postgresql://ann@host:hunter2/db",
        "postgresql:ann:hunter2@host/db",
        "mysql://ann:hunter2@host/db",
        "spark:sc://host/;token=hunter2?table=t",
        "spark:spark://ann:hunter2@host:1?table=t",
        "spark:hunter2@host",
        "duckdb:md:db?motherduck_token=hunter2",
        "duckdb:https://ann:hunter2@host/x.duckdb?table=t",
        "parquet:s3://key:hunter2@bucket/x",
        "hunter2",
        "duckdb:hunter2\ud800",
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_repeating_it(text: str) -> None:
    for ask in (parsed, open_table, lambda given: finished(tables_of(given))):
        with pytest.raises(InputError) as refused:
            ask(text)
        assert "hunter2" not in str(refused.value)
        assert str(refused.value).endswith(".")


@pytest.mark.parametrize("name", ["", "a.", ".a", 'a"b', '"a', '"a"b', "a.b.c.d"])
def test_a_name_in_bad_order_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="SCHEMA"):
        name_parts(name)


def test_a_driver_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements.importlib, "import_module", _missing)
    for kind, extra in (("postgresql://h/d", "postgres"), ("spark:yarn", "spark"), ("duckdb:f", "engines")):
        with pytest.raises(InputError, match=rf'pip install "dpbayes\[{extra}\]"'):
            open_table(f"{kind}?table=t").fields()


def _missing(name: str) -> Any:
    raise ModuleNotFoundError(name)


# DuckDB


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create type mood as enum ('fine', 'bad')")
        connection.execute("create table patients (sex varchar, mood mood, folded varchar collate nocase)")
        connection.execute("insert into patients values ('f', 'bad', 'A'), ('m', 'fine', 'a'), ('f', NULL, 'A')")
        connection.execute('create schema "a.b"; create view "a.b"."say ""hi""" as select * from patients')
    return path


def test_a_file_of_duckdb_is_counted_and_left_alone(file: Path) -> None:
    before = file.read_bytes()
    columns = (Categories("sex", ("f", "m")), Categories("mood", ("bad", "fine", "never declared by the type")))
    network = dp.Network.from_edges(["sex", "mood"], [("sex", "mood")], {c.name: c.domain for c in columns})
    tables = finished(tables_of(f"duckdb:{file}"))
    assert tables == (f'duckdb:{file}?table="a.b"."say ""hi"""', f"duckdb:{file}?table=main.patients")
    for address in (*tables, f"duckdb:{file}?table=patients"):
        counts = dp.count(network, DeclaredTable(open_table(address), columns))
        assert counts.values.tolist() == [1, 1, 1, 0, 0, 0, 1, 0]
        assert open_table(address).title == address
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_text_whose_letters_are_equal_to_others_is_refused(file: Path) -> None:
    column = Categories("folded", ("A", "a"))
    network = dp.Network.from_edges(["folded"], [], {"folded": column.domain})
    for table in finished(tables_of(f"duckdb:{file}")):
        with pytest.raises(InputError, match="text with a collation"):
            dp.count(network, DeclaredTable(open_table(table), (column,)))


def test_every_fault_of_a_file_is_one_sentence(file: Path) -> None:
    bad = file.with_name("bad.duckdb")
    bad.write_text("hello" * 1000)
    rows_of_a_frame = pd.DataFrame({"x": [1]})  # DuckDB would take a variable of a program for a table
    assert len(rows_of_a_frame) == 1
    faults = {
        f"duckdb:{file}?table=nobody": 'has no table "nobody"',
        f"duckdb:{file}?table=nowhere.patients": 'has no table "nowhere.patients"',
        f"duckdb:{file}?table=rows_of_a_frame": "has no table",
        f"duckdb:{file}x?table=t": "does not exist or cannot be read",
        f"duckdb:{file.parent}?table=t": "does not exist or cannot be read",
        f"duckdb:{bad}?table=t": "is not a DuckDB database",
        f"duckdb:{file}": "has no table",
    }
    for address, sentence in faults.items():
        with pytest.raises(InputError, match=sentence):
            open_table(address).fields()
    with duckdb.connect(str(file)), pytest.raises(InputError, match="open for writing"):
        open_table(f"duckdb:{file}?table=patients").fields()


def test_a_count_of_duckdb_can_be_given_up(file: Path) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create view many as select (a.range + b.range) % 2 as x from range(1000000) a, range(1000000) b"
        )
    column = Categories("x", ("0", "1"))
    network = dp.Network.from_edges(["x"], [], {"x": column.domain})
    work = DeclaredTable(open_table(f"duckdb:{file}?table=many"), (column,)).counting(network)
    assert 0 <= next(work) <= 1
    work.close()
    with duckdb.connect(str(file)):  # nothing holds the file any more
        pass


def test_kinds_are_the_words_before_the_colon() -> None:
    assert {parsed(text).kind for text in ADDRESSES} == set(KINDS)
    for text in ("C:/data", "data.csv", "https://host/a.csv", "duckdb"):
        with pytest.raises(InputError, match="An address begins with one of"):
            parsed(text)
