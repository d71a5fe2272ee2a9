import math

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions, log_mass_trimmed, sample_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_odds_bound
from tests.conftest import thorough
from tests.strategies import random_networks, rng

ALARM = 1e-9
DRAWS = 50_000


def row_by_row(network: Network) -> np.ndarray:
    """The spans of all decisions, halving one row after another."""
    splits = []

    def halve(start: int, end: int) -> None:
        if end - start > 1:
            middle = (start + end + 1) // 2
            splits.append((start, middle, end))
            halve(start, middle)
            halve(middle, end)

    for row in range(network.row_count):
        cells = network.cells_of_row(row)
        halve(cells.start, cells.stop)
    return np.array(splits, dtype=np.int64).reshape(-1, 3)


@pytest.mark.parametrize("network", random_networks(20, most_nodes=4, states=(1, 9)), ids=range(20))
def test_decisions_of_all_rows_are_those_of_one_row_after_another(network):
    spans, log_odds = row_by_row(network), rng().normal(size=(3, network.cell_count - network.row_count))
    decisions = Decisions(network)
    assert np.array_equal(decisions.spans, spans)
    theta = np.ones((3, network.cell_count))
    for k, (start, middle, end) in enumerate(spans):
        theta[:, start:middle] *= special.expit(log_odds[:, k, None])
        theta[:, middle:end] *= special.expit(-log_odds[:, k, None])
    assert np.array_equal(decisions.probabilities(log_odds), theta)


@pytest.mark.parametrize("states", range(1, 18))
def test_depths_are_the_most_decisions_before_a_state(states):
    network = Network.from_edges(["x"], [], {"x": [f"s{k}" for k in range(states)]})
    decisions = Decisions(network)
    assert decisions.depths[0] == math.ceil(math.log2(states))
    assert len(decisions.spans) == states - 1
    halves = decisions.probabilities(np.zeros(states - 1))
    assert halves.sum() == pytest.approx(1)
    assert halves.min() == 2.0 ** -decisions.depths[0]


NETWORKS = random_networks(6, most_nodes=3, states=(1, 5))


@pytest.mark.parametrize("place", thorough(range(6), sample=[0, 3, 5]))  # of one to five states, a node and three
def test_untrimmed_decisions_give_back_the_dirichlet_posterior(place):
    network = NETWORKS[place]
    alpha = rng().uniform(0.3, 8, network.cell_count)
    posterior = Dirichlets(network, alpha)
    draws = sample_trimmed(posterior, 300.0, rng(), (DRAWS,))
    assert (np.abs(network.row_sums(draws) - 1) <= 1e-6).all()
    for cell in range(min(network.cell_count, 15)):
        if posterior.rest[cell] > 0:
            assert stats.kstest(draws[:, cell], stats.beta(alpha[cell], posterior.rest[cell]).cdf).pvalue > ALARM
    assert log_mass_trimmed(posterior, 300.0) == pytest.approx(
        special.gammaln(alpha).sum() - special.gammaln(network.row_sums(alpha)).sum(), rel=1e-9, abs=1e-9
    )


def test_draws_of_four_states_follow_the_dirichlet_law_on_the_trimmed_region():
    network = Network.from_edges(["x"], [], {"x": "abcd"})
    alpha, w = np.array([2.0, 1.0, 0.7, 3.0]), 0.2
    draws = sample_trimmed(Dirichlets(network, alpha), log_odds_bound(w), rng(), (DRAWS,))
    free = rng().dirichlet(alpha, 400_000)
    first = free[:, 0] + free[:, 1]
    decisions = np.stack([first, free[:, 0] / first, free[:, 2] / (1 - first)])
    kept = free[np.all((decisions >= w) & (decisions <= 1 - w), axis=0)]
    assert len(kept) > DRAWS / 2
    for cell in range(4):
        assert stats.ks_2samp(draws[:, cell], kept[:, cell]).pvalue > ALARM
        assert stats.ks_2samp(draws[:, cell], free[:, cell]).pvalue < ALARM
    assert draws.min() >= w**2
    assert float(log_mass_trimmed(Dirichlets(network, alpha), log_odds_bound(w))) == pytest.approx(
        math.log(len(kept) / 400_000) + special.gammaln(alpha).sum() - special.gammaln(alpha.sum()), abs=0.03
    )


@pytest.mark.parametrize("size", [(), (3,), (2, 3)])
@pytest.mark.parametrize("batch", [(), (4,)])
def test_draws_put_the_size_before_the_batch(size, batch):
    network = random_networks(1, most_nodes=4, states=(1, 4))[0]
    posterior = Dirichlets(network, np.ones((*batch, network.cell_count)))
    assert sample_trimmed(posterior, 1.0, rng(), size).shape == (*size, *batch, network.cell_count)


def test_a_node_of_one_state_has_probability_one():
    network = Network.from_edges("x", [], {"x": ["only"]})
    assert np.array_equal(sample_trimmed(Dirichlets.symmetric(network), 1.0, rng(), (2,)), np.ones((2, 1)))
