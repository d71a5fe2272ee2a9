"""Readable names stand beside published ones, for all nodes of a network or for none."""

import tomllib

import pytest

from dpbayes.sources.data_files import DATA
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.names import ReadableName, readable_names
from dpbayes.sources.shipped_tables import default_network

KEYS = tuple(tomllib.loads((DATA / "names.toml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("key", KEYS)
def test_all_nodes_of_a_network_have_one_and_nothing_else_has(key: str) -> None:
    network = load_named(key)[0] if key in NAMED else default_network(key)
    names = readable_names(key)
    assert set(names) == set(network.names)
    assert len({each.name for each in names.values()}) == len(names)
    for each in names.values():
        assert each.told.endswith(".")
        assert len(each.told) < 120


def test_asia_is_called_as_the_stories_call_it() -> None:
    assert readable_names("asia")["dysp"] == ReadableName(
        "shortness of breath", "Whether the patient is short of breath (dyspnoea)."
    )


@pytest.mark.parametrize("key", ["alarm", "adult", "upload", "g:abc", ""])
def test_others_have_none(key: str) -> None:
    assert not readable_names(key)
