import numpy as np
import pytest
from hypothesis import given

from dpbayes.base.validation import InputError
from dpbayes.model import dataset as counting
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from tests.strategies import ASIA, naive_counts, networks_with_data, random_networks, random_table, table_of

PATHS = {"bit planes": 10**9, "index": 0, "both": 8}
SIZES = [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000]
CATEGORICAL = random_networks(12, most_nodes=5, states=(1, 5))


@given(networks_with_data(states=(1, 4), most_records=70))
def test_counting_is_what_a_loop_over_records_counts(network_and_data):
    network, data = network_and_data
    counted = count(network, data)
    assert counted.n == data.n
    assert np.array_equal(counted.values, naive_counts(network, data.codes))


@pytest.mark.parametrize("most_planes", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("n", SIZES)
def test_both_ways_of_counting_agree_with_the_loop_at_every_word_boundary(n, most_planes, monkeypatch):
    monkeypatch.setattr(counting, "MOST_PLANES", most_planes)
    rng = np.random.default_rng(n)
    for network in CATEGORICAL:
        data = random_table(network, rng, n)
        assert np.array_equal(count(network, data).values, naive_counts(network, data.codes))


@pytest.mark.parametrize("block", [1, 7, 64, 65])
@pytest.mark.parametrize("n", [63, 64, 65, 128, 130])
def test_blocks_add_up_to_the_whole_table(n, block, monkeypatch):
    data = random_table(ASIA, np.random.default_rng(n), n)
    whole = count(ASIA, data).values
    monkeypatch.setattr(counting, "BLOCK", block)
    assert np.array_equal(count(ASIA, data).values, whole)


def test_columns_are_matched_by_name_and_others_are_ignored():
    network = Network.from_edges("ab", ["ab"])
    data = table_of(Network.from_edges("xba", []), [(0, 1, 0), (1, 1, 1), (0, 0, 1)])
    assert np.array_equal(count(network, data).values, naive_counts(network, [(0, 1), (1, 1), (1, 0)]))


def test_a_node_that_is_no_column_is_named():
    with pytest.raises(InputError, match='no column "b"'):
        count(Network.from_edges("ab", []), table_of(Network.from_edges("a", []), [(0,)]))


@pytest.mark.parametrize("states", [("yes", "no"), ("no", "yes", "maybe"), ("no",)])
def test_a_column_with_other_states_is_named(states):
    data = Dataset(("a",), (states,), [[0]])
    with pytest.raises(InputError, match='The node "a" has other states'):
        count(Network.from_edges("a", []), data)


def test_counts_of_the_wrong_length_are_refused():
    with pytest.raises(InputError, match="36 cells"):
        Counts(ASIA, np.zeros(35, dtype=np.int64), 0)


@pytest.mark.parametrize("value", [-1, 0.5])
def test_counts_are_whole_numbers_from_0_on(value):
    with pytest.raises(InputError, match="from 0 on"):
        Counts(ASIA, np.full(36, value), 0)
