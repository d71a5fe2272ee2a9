"""Clusters hold every family once, and their joint counts tell the counts of every cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.model.counts import count
from dpbayes.sources.engines.clusters import Cluster, add_marginals, clusters, strides
from dpbayes.sources.named_networks import NAMED, load_named


@st.composite
def networks(draw: st.DrawFn) -> dp.Network:
    size = draw(st.integers(1, 6))
    names = [f"x{i}" for i in range(size)]
    states = {name: tuple(map(str, range(draw(st.integers(1, 4))))) for name in names}
    order = draw(st.permutations(names))
    edges = [(a, b) for i, b in enumerate(order) for a in order[:i] if draw(st.booleans())]
    return dp.Network.from_edges(names, edges, states)


@given(networks(), st.sampled_from([1, 8, 64, 4096]), st.integers(0, 30), st.integers(0, 2**32))
def test_joint_counts_of_clusters_are_the_counts_of_all_cells(network, most, n, seed):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, card, n) for card in network.cards], axis=1)
    data = dp.Dataset(network.names, network.states, codes.astype(np.uint8))
    values = np.zeros(network.cell_count, dtype=np.int64)
    packed = clusters(network, most)
    for cluster in packed:
        joint = codes[:, list(cluster.nodes)] @ strides(network, cluster)
        add_marginals(values, network, cluster, np.bincount(joint, minlength=_size(network, cluster)))
    assert (values == count(network, data).values).all()
    assert sorted(child for cluster in packed for child in cluster.children) == list(range(len(network.names)))


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_cluster_is_small_unless_one_family_alone_is_not(name):
    network, _ = load_named(name)
    packed = clusters(network)
    for cluster in packed:
        assert set(cluster.nodes) == {node for child in cluster.children for node in network.families[child]}
        widest = max(math.prod(network.cards[list(network.families[child])].tolist()) for child in cluster.children)
        assert _size(network, cluster) <= max(4096, widest)
    assert len(packed) <= math.ceil(len(network.names) / 2)


def _size(network: dp.Network, cluster: Cluster) -> int:
    return math.prod(network.cards[list(cluster.nodes)].tolist())
