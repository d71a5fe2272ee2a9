"""The prior law of a row's share of records against many drawn networks, and by hand."""

import numpy as np
import pytest

from dpbayes import Dirichlets, Network
from dpbayes.model.query import query
from dpbayes.posteriors.row_priors import MOST_SIZE, row_shares
from tests.strategies import ASIA, V_STRUCTURE, chain

TREE = Network.from_edges("abcd", ["ab", "bc", "bd"], {"a": "xyz", "b": "0123", "c": "01", "d": ("only",)})


def moments(prior: Dirichlets) -> tuple[np.ndarray, np.ndarray]:
    first, second = row_shares(prior)
    mean = first / (first + second)
    return mean, mean * (first + 1) / (first + second + 1)


def uneven(network: Network) -> Dirichlets:
    return Dirichlets(network, np.random.default_rng(3).uniform(0.3, 4, network.cell_count))


def test_a_chain_by_hand():
    """Uniform rows: E P(b) = 1/2, E P(b)^2 = E a^2 / 3 * 2 + 2 E a (1 - a) / 4 = 4/9/2 + 1/12."""
    mean, square = moments(Dirichlets.symmetric(chain(3)))
    assert mean[1:5] == pytest.approx([0.5] * 4)
    assert square[1:3] == pytest.approx([1 / 3] * 2)  # a root's probability is uniform
    assert square[3:5] == pytest.approx([2 / 3 * 1 / 3 + 2 * 1 / 6 * 1 / 4] * 2)


@pytest.mark.parametrize("network", [chain(4), TREE, V_STRUCTURE], ids=["chain", "tree", "independent parents"])
def test_moments_are_those_of_drawn_networks_where_parents_are_independent(network):
    """20,000 networks, 6 standard errors: one in 1e9 falls beyond."""
    prior, draws = uneven(network), 20_000
    theta = prior.sample(np.random.default_rng(5), (draws,))
    mean, square = moments(prior)
    for node, parents in enumerate(network.parents):
        rows = slice(network.row_offsets[node], network.row_offsets[node + 1])
        share = np.ones((draws, 1))
        for parent in parents:
            share = (share[..., None] * query(network, theta, parent, {})[:, None, :]).reshape(draws, -1)
        for power, expected in ((1, mean), (2, square)):
            error = (share**power).std(axis=0) / draws**0.5
            assert (np.abs((share**power).mean(axis=0) - expected[rows]) <= 6 * error + 1e-8).all()


@pytest.mark.parametrize("alpha", [1e-300, 1e-3, 1.0, 1e6, 1e9])
def test_extreme_priors_have_finite_positive_laws(alpha):
    prior = Dirichlets(ASIA, np.full(ASIA.cell_count, alpha))
    shares = row_shares(prior)
    assert np.isfinite(shares).all()
    assert (shares > 0).all()
    assert (shares.sum(axis=0) <= MOST_SIZE * (1 + 1e-9)).all()
    mean, _ = moments(prior)
    counts = 1 / ASIA.rows_per_node[ASIA.node_of_row]
    assert mean[~np.isin(ASIA.node_of_row, [0, 2])] == pytest.approx(counts[~np.isin(ASIA.node_of_row, [0, 2])])


def test_a_roots_row_has_all_records():
    mean, _ = moments(Dirichlets.symmetric(ASIA))
    assert mean[[0, ASIA.row_offsets[2]]] == pytest.approx([1, 1])
