"""Every shipped table loads with its published numbers of records and shares, over public domains."""

from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.model.dataset import count
from dpbayes.sources.columns import encode
from dpbayes.sources.domains import read_domains, write_domains
from dpbayes.sources.shipped_tables import (
    SHIPPED,
    default_network,
    load_shipped,
    shipped_domains,
    shipped_frame,
    shipped_regression,
)

RECORDS = {
    "house_votes_84": 435,
    "adult": 48_842,
    "adult_binary": 48_842,
    "fulton": 25_766,
    "fulton_binary": 25_766,
}


@pytest.mark.parametrize("key", SHIPPED)
def test_loads_with_public_domains_and_fits_its_network(key: str) -> None:
    data = load_shipped(key)
    columns = [column for column in shipped_domains(key) if column.use]
    assert data.n == RECORDS[key]
    assert {column.name for column in columns} == set(data.names)
    assert all(column.domain and column.domain.public for column in columns)
    network = default_network(key)
    assert network.names == data.names
    assert network.is_binary == (key not in ("adult", "fulton"))
    assert count(network, data).values.sum() == data.n * len(network.names)


@pytest.mark.parametrize("key", SHIPPED)
def test_its_description_encodes_the_raw_file_to_the_same_table(key: str) -> None:
    frame, data = shipped_frame(key), load_shipped(key)
    columns = read_domains(write_domains(shipped_domains(key)))
    again = encode(frame, [column.domain for column in columns if column.use and column.domain]).select(data.names)
    assert again.states == data.states
    assert (again.codes == data.codes).all()


def test_every_declared_state_occurs() -> None:
    for key in SHIPPED:
        data = load_shipped(key)
        for name in data.names:
            assert len(set(data.column(name).tolist())) == len(data.domain(name)), (key, name)


def share(key: str, column: str, state: str) -> float:
    data = load_shipped(key)
    return round(100 * float((data.column(column) == data.domain(column).index(state)).mean()), 2)


def test_published_shares() -> None:
    assert share("house_votes_84", "party", "democrat") == 61.38
    assert share("adult", "income", ">50K") == 23.93
    assert share("adult_binary", "income", ">50K") == 23.93


def test_blank_votes_count_as_no() -> None:
    votes = shipped_frame("house_votes_84").drop(columns="party")
    assert int((votes == "").to_numpy().sum()) == 392
    yes = int((votes == "y").to_numpy().sum())
    assert int(load_shipped("house_votes_84").codes[:, 1:].sum()) == yes


def test_unknown_table() -> None:
    with pytest.raises(InputError, match='There is no table "nope"'):
        load_shipped("nope")


def test_a_missing_table_is_named_and_the_others_load(copied_data: Path) -> None:
    (copied_data / "tables" / "fulton_pums2000.csv.gz").write_bytes(b"no gzip")
    for read, key in ((load_shipped, "fulton_binary"), (shipped_frame, "fulton"), (shipped_regression, "fulton")):
        with pytest.raises(InputError, match=r"^data/tables/fulton_pums2000.csv.gz is missing or damaged"):
            read(key)
    assert load_shipped("house_votes_84").n == 435


def test_only_a_table_with_public_bounds_is_read_as_numbers() -> None:
    with pytest.raises(InputError, match=r'^The table "adult" has no public bounds for a regression'):
        shipped_regression("adult")
