"""Readable names stand beside published ones, for all nodes of a network or for none."""

import tomllib

import pytest

from dpbayes.sources.data_files import DATA, readable_names
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped

KEYS = tuple(tomllib.loads((DATA / "names.toml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("key", KEYS)
def test_all_nodes_of_a_network_have_one_and_nothing_else_has(key: str) -> None:
    network = load_named(key)[0] if key in NAMED else default_network(key)
    names = readable_names(key)
    assert set(names) == set(network.names)
    assert len({readable.name for readable in names.values()}) == len(names)
    for readable in names.values():
        assert readable.meaning.endswith(".")
        assert len(readable.meaning) < 120


@pytest.mark.parametrize("key", SHIPPED)
def test_a_shipped_table_has_one_for_every_column(key: str) -> None:
    assert set(load_shipped(key).names) <= set(readable_names(key))


@pytest.mark.parametrize("key", ["andes", "upload", "g:abc", ""])
def test_others_have_none(key: str) -> None:
    assert not readable_names(key)
