from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.model.closure import Closure, walsh
from dpbayes.model.network import Network
from tests.strategies import (
    ASIA,
    DIAMOND,
    NAIVE_BAYES,
    V_STRUCTURE,
    chain,
    complete,
    empty,
    naive_closure,
    random_networks,
)

TWINS = Network.from_edges("abcdefg", ["ad", "bd", "cd", "be", "ce", "df", "eg"])
RANDOM = [TWINS, *random_networks(60, most_nodes=6)]
PUBLISHED = [
    (NAIVE_BAYES, 34, 32),
    (chain(10), 20, 14),
    (chain(40), 80, 59),
    (complete(5), 32, 16),
    (empty(6), 7, 6),
    (V_STRUCTURE, 8, 4),
    (DIAMOND, 11, 7),
    (ASIA, 21, 14),
]
NAMES = ["naive Bayes 16", "chain 10", "chain 40", "complete 5", "empty 6", "v-structure", "diamond", "asia"]


def largest_odd_count(network) -> int:
    """O by trying every d: the exclusive or of every pair of records."""
    members = naive_closure(network)
    return max(sum((gamma & d).bit_count() % 2 for gamma in members) for d in range(2 ** len(network.names)))


@pytest.mark.parametrize("network", RANDOM, ids=range(len(RANDOM)))
def test_members_are_all_subsets_of_all_families(network):
    closure = network.closure
    assert set(closure.members) == naive_closure(network)
    assert len(closure) == len(set(closure.members))
    assert closure.members[0] == 0


@pytest.mark.parametrize("network", RANDOM, ids=range(len(RANDOM)))
def test_odd_overlap_is_the_maximum_over_all_pairs_of_records(network):
    overlap = network.odd_overlap
    assert overlap.exact
    assert overlap.value == largest_odd_count(network)


@pytest.mark.parametrize("network", RANDOM, ids=range(len(RANDOM)))
def test_without_the_exact_search_the_bound_is_never_below_the_maximum(network, monkeypatch):
    monkeypatch.setattr("dpbayes.model.elimination.MAX_TABLE_BITS", 0)
    overlap = replace(network).odd_overlap
    assert not overlap.exact
    assert largest_odd_count(network) <= overlap.value <= len(network.closure) - 1


@pytest.mark.parametrize(("network", "size", "odd"), PUBLISHED, ids=NAMES)
def test_known_networks_have_their_known_size_and_odd_overlap(network, size, odd):
    assert len(network.closure) == size
    assert network.odd_overlap.value == odd
    assert network.odd_overlap.exact


@pytest.mark.parametrize("network", RANDOM, ids=range(len(RANDOM)))
def test_the_slot_of_a_cell_with_ones_on_a_subset_holds_that_subset(network):
    slots = iter(network.closure.slots)
    for family in network.families:
        for j in range(2 ** len(family)):
            bits = format(j, f"0{len(family)}b")
            subset = sum(1 << node for node, bit in zip(family, bits, strict=True) if bit == "1")
            assert network.closure.members[next(slots)] == subset
    assert next(slots, None) is None


def axis_by_axis(values: np.ndarray, bits: int) -> np.ndarray:
    for axis in range(values.ndim - bits, values.ndim):
        zero, one = np.take(values, 0, axis), np.take(values, 1, axis)
        values = np.stack((zero + one, zero - one), axis)
    return values


@pytest.mark.parametrize("bits", [0, 1, 2, 5, 6, 7, 9, 12])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,)])
def test_walsh_gives_to_the_last_digit_what_it_gives_axis_by_axis_and_leaves_its_argument_alone(bits, batch):
    values = np.random.default_rng(bits).normal(size=(*batch, *(2,) * bits))
    before = values.copy()
    assert np.array_equal(walsh(values, bits), axis_by_axis(values, bits))
    assert np.array_equal(values, before)
    turned = values.astype(np.int64).T.copy().T
    assert np.array_equal(walsh(turned, bits), axis_by_axis(turned, bits))


def test_a_family_that_is_too_wide_is_refused_with_the_limit():
    with pytest.raises(InputError, match="the limit is 18 parents"):
        Closure((tuple(range(21)),))
