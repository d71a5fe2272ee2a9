"""An address names a table, and never contains a password."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.engines.address import KINDS, connection_of, name_parts, parsed, written_name
from dpbayes.sources.engines.table import open_table, tables_of

ADDRESSES = {
    "duckdb:/data/a folder/file.duckdb?table=main.patients": ("/data/a folder/file.duckdb", ("main", "patients")),
    'duckdb:file.duckdb?table="a.b"."say ""hi"""': ("file.duckdb", ("a.b", 'say "hi"')),
    "postgresql://ann@db.example.org:5433/clinic?table=public.patients": (
        "//ann@db.example.org:5433/clinic",
        ("public", "patients"),
    ),
    'postgresql://ann%40x@[::1]/clinic?sslmode=require&table="a.b"': (
        "//ann%40x@[::1]/clinic?sslmode=require",
        ("a.b",),
    ),
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
    assert str(address) == text


@given(st.lists(st.text('a."? é/%&\n', min_size=1, max_size=5), min_size=1, max_size=3))
def test_every_name_can_be_written(parts: list[str]) -> None:
    name = tuple(parts)
    assert name_parts(written_name(name)) == name
    for place in ("duckdb:f", "postgresql://h/d?sslmode=require", "spark:yarn"):
        address = replace(parsed(place), table=name)
        assert parsed(str(address)) == address


def test_the_parameters_of_a_connection_are_those_of_the_address() -> None:
    address = parsed("postgres://ann%40x@[::1]:5433/clinic?sslmode=require&passfile=/a b&table=t")
    expected = {"user": "ann@x", "host": "::1", "port": 5433, "database": "clinic"}
    assert connection_of(address) == expected | {"sslmode": "require", "passfile": "/a b"}
    assert connection_of(parsed("postgresql:///clinic?table=t")) == {"database": "clinic"}


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:hunter2@host/db?table=t",
        "postgresql://ann@host/db?password=hunter2&table=t",
        "postgresql://ann@host/db?sslpassword=hunter2",
        "postgresql://ann@host/db?PASSWORD%3Dhunter2",
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
        "duckdb:",
    ],
)
def test_what_is_wrong_with_an_address_is_stated_without_repeating_it(text: str) -> None:
    for ask in (parsed, open_table, tables_of):
        with pytest.raises(InputError) as refused:
            ask(text)
        assert "hunter2" not in str(refused.value)
        assert str(refused.value).endswith(".")


@pytest.mark.parametrize("name", ["", "a.", ".a", '"a', '"a"b', "a.b.c.d"])
def test_a_name_in_bad_order_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="SCHEMA"):
        name_parts(name)


def test_kinds_are_the_words_before_the_colon() -> None:
    assert {parsed(text).kind for text in ADDRESSES} == set(KINDS)
    for text in ("C:/data", "data.csv", "https://host/a.csv", "duckdb"):
        with pytest.raises(InputError, match="An address begins with one of"):
            parsed(text)


def test_an_address_without_a_table_opens_none() -> None:
    for text in ("duckdb:/f", "postgresql://h/d", "spark:yarn"):
        with pytest.raises(InputError, match="has no table"):
            open_table(text)
