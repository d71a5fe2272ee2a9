"""Named networks have their published sizes and numbers; templates have the shape of their name."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.data_files import DATA, readable_names
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.sources.named_networks import (
    MAX_NODES,
    NAMED,
    chain,
    empty,
    empty_over,
    full,
    load_named,
    naive_bayes,
    naive_bayes_over,
    tree,
)
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped

SIZES = {
    "asia": (8, 8),
    "cancer": (5, 4),
    "earthquake": (5, 4),
    "sprinkler": (4, 4),
    "survey": (6, 6),
    "sachs": (11, 17),
    "child": (20, 25),
    "insurance": (27, 52),
    "alarm": (37, 46),
    "win95pts": (76, 112),
    "andes": (223, 338),
}


def test_every_shipped_file_is_named() -> None:
    assert {path.name.removesuffix(".bif.gz") for path in (DATA / "networks").glob("*.gz")} == set(NAMED) == set(SIZES)


@pytest.mark.parametrize("key", NAMED)
def test_named_networks_round_trip(key: str) -> None:
    network, p = load_named(key)
    assert (len(network.names), len(network.edges)) == SIZES[key]
    np.testing.assert_allclose(network.row_sums(p), 1.0, atol=1e-12)
    again, q = read_bif(write_bif(network, p))
    assert again == network
    assert q.tobytes() == p.tobytes()
    assert read_edges(write_edges(network)) == (network.names, network.edges)


def test_published_numbers() -> None:
    network, p = load_named("asia")
    assert network.table(p, network.index("dysp"))[0, 0, 0] == 0.9  # bronc = yes, either = yes
    network, p = load_named("sprinkler")
    wet = network.table(p, network.index("wet"))[..., 1]
    np.testing.assert_array_equal(wet, [[0.0, 0.9], [0.9, 0.99]])
    with pytest.raises(ValueError, match="read-only"):
        p[0] = 0.0


def test_unknown_network() -> None:
    with pytest.raises(InputError, match='There is no network "nope"'):
        load_named("nope")


def test_a_missing_network_is_named_and_the_others_load(copied_data: Path) -> None:
    file = copied_data / "networks" / "asia.bif.gz"
    text = file.read_bytes()
    file.unlink()
    with pytest.raises(InputError, match=r"^data/networks/asia.bif.gz is missing or damaged"):
        load_named("asia")
    assert load_named("cancer")[0].names
    file.write_bytes(text)
    assert load_named("asia")[0].names  # restored, it is read without a new start


def test_templates() -> None:
    assert naive_bayes(2).edges == (("class", "x1"), ("class", "x2"))
    assert chain(3).edges == (("x1", "x2"), ("x2", "x3"))
    assert chain(1).edges == ()
    assert tree(7).parents[3:] == (("x2",), ("x2",), ("x3",), ("x3",))
    assert full(4).cell_count == 2 * (1 + 2 + 4 + 8)
    assert empty(5).edges == ()
    assert full(12).cell_count == 2**13 - 2


@pytest.mark.parametrize("build", [naive_bayes, chain, tree, full, empty])
@pytest.mark.parametrize("size", [0, MAX_NODES + 1, 2.5, "many", float("nan")])
def test_sizes_are_bounded(build, size) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=r"^The number of (nodes|features)"):
        build(size)


DECLARED = {"age": ("young", "old"), "party": ("red", "green", "blue"), "vote": ("no", "yes")}


def test_starts_over_declared_columns_keep_their_order_and_states() -> None:
    edges = {
        naive_bayes_over(DECLARED, "party"): {("party", "age"), ("party", "vote")},
        empty_over(DECLARED): set(),
    }
    for network, expected in edges.items():
        assert network.names == tuple(DECLARED)
        assert dict(zip(network.names, network.states, strict=True)) == DECLARED
        assert set(network.edges) == expected


def test_starts_from_no_columns_or_an_unknown_one_are_refused() -> None:
    with pytest.raises(InputError, match='"income" that is not in the network'):
        naive_bayes_over(DECLARED, "income")
    with pytest.raises(InputError, match="no nodes"):
        empty_over({})


# Readable names


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
