import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.audit.loss.tables import all_tables
from dpbayes.mechanisms import map as map_module
from dpbayes.mechanisms.finite import WorstLoss, exact_pure_epsilon
from dpbayes.mechanisms.map import MapEstimate, MapExponential, choose_by_law
from dpbayes.mechanisms.map_scores import MOST_CELLS, added_bound, cell_masses, node_sensitivities, replaced_bound
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.model.dataset import Counts, count
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import (
    ASIA,
    NAIVE_BAYES,
    V_STRUCTURE,
    chain,
    counts_of,
    empty,
    random_networks,
    random_table,
    rng,
    star,
)

ALARM = 1e-9
THREE = Network.from_edges("a", [], {"a": "xyz"})
FIVE = Network.from_edges("a", [], {"a": "vwxyz"})
MIXED = Network.from_edges("abc", ["ab"], {"a": "xy", "b": "uvw", "c": ["s"]})
TINY = {"one": empty(1), "chain": chain(2), "v": V_STRUCTURE, "three": THREE, "five": FIVE, "mixed": MIXED}


def masses_of(mechanism, counts):
    """The posterior mass of every cell of every decision (..., K - m, G)."""
    a, b = Decisions(mechanism.prior.network).parameters(mechanism.prior.updated(counts).alpha)
    return cell_masses(a, b, cells=mechanism.cells)


def mechanism(network=ASIA, epsilon=1.0, cells=20, prior=1.0) -> MapExponential:
    return MapExponential(prior=Dirichlets.symmetric(network, prior), epsilon=epsilon, cells=cells)


# Sensitivities of networks


def test_known_sensitivities_of_nodes():
    assert node_sensitivities(Dirichlets.symmetric(chain(2))) == pytest.approx([0.5, 2 / math.e])
    assert mechanism(NAIVE_BAYES).sensitivity == pytest.approx(0.5 + 32 / math.e)
    # Three states: the pair that parts first, then one of the two decides again; or two ways of two rows.
    parted = float(replaced_bound(2, 1) + added_bound(1))
    assert node_sensitivities(Dirichlets.symmetric(THREE)) == pytest.approx([parted])
    way = float(added_bound(2) + added_bound(1))
    assert node_sensitivities(Dirichlets.symmetric(MIXED)) == pytest.approx([0.5, 2 * way, 0])


def slow_sensitivities(prior: Dirichlets) -> np.ndarray:
    """Bounds added up over the decisions whose counts two one-record tables show to change, for all pairs of cells."""
    network, decisions = prior.network, Decisions(prior.network)
    first, second = decisions.parameters(prior.alpha)
    given_a, given_b = decisions.parameters(np.eye(network.cell_count))
    worst = np.zeros(len(network.names))
    for i in range(len(network.names)):
        for x, y in combinations(range(network.cell_offsets[i], network.cell_offsets[i + 1]), 2):
            moved_a, moved_b = given_a[x] != given_a[y], given_b[x] != given_b[y]
            both = moved_a & moved_b
            cost = np.where(moved_a, added_bound(first), 0.0) + np.where(moved_b, added_bound(second), 0.0)
            cost = np.where(both, replaced_bound(first, second), cost)
            worst[i] = max(worst[i], cost.sum())
    return worst


@pytest.mark.parametrize("network", [*TINY.values(), *random_networks(12, most_nodes=3, states=(1, 6))])
def test_node_sensitivities_are_the_largest_over_all_pairs_of_states(network):
    for alpha in (np.ones(network.cell_count), rng().uniform(0.01, 5, network.cell_count)):
        prior = Dirichlets(network, alpha)
        assert node_sensitivities(prior) == pytest.approx(slow_sensitivities(prior), rel=1e-12)


def test_a_batch_of_priors_has_a_sensitivity_that_serves_all_of_them():
    alpha = rng().uniform(0.1, 3, (5, MIXED.cell_count))
    together = node_sensitivities(Dirichlets(MIXED, alpha))
    assert np.all(together >= [node_sensitivities(Dirichlets(MIXED, row)) for row in alpha])


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("cells", [2, 5, 10])
def test_no_neighbour_moves_any_score_further_than_the_sensitivity(name, cells):
    estimator = mechanism(TINY[name], cells=cells)
    moved = 0.0
    for n in (1, 2, 4):
        tables = all_tables(TINY[name], n=n)
        masses = masses_of(estimator, tables.counts)
        change = masses[tables.pairs[:, 0]] - masses[tables.pairs[:, 1]]
        moved = max(moved, float(change.max(axis=-1).sum(axis=-1).max()))
    assert moved <= estimator.sensitivity * (1 + 1e-12)
    if cells == 2:
        assert moved > 0.6 * estimator.sensitivity


# The promise, exactly: one row, then whole networks


def audit_row(estimator: MapExponential, n: int) -> WorstLoss:
    """The exact pure epsilon of one binary root over all counts of n records."""
    first = np.arange(n + 1)
    table = estimator.log_pmf(np.stack([first, n - first], axis=-1))[:, 0]
    return exact_pure_epsilon(table, pairs=neighbour_pairs(n, sides=2))


def audit_network(estimator: MapExponential, n: int) -> float:
    """The same over all tables of a network: its decisions are independent, so that their largest losses add up."""
    tables = all_tables(estimator.prior.network, n=n)
    law = estimator.log_pmf(tables.counts)
    assert special.logsumexp(law, axis=-1) == pytest.approx(np.zeros(law.shape[:-1]), abs=1e-12)
    losses = law[tables.pairs[:, 0]] - law[tables.pairs[:, 1]]
    return float(losses.max(axis=-1).sum(axis=-1).max())


@dataclass(frozen=True, kw_only=True)
class ForgetsTheNormaliser(MapExponential):
    """Broken on purpose: spends all of epsilon on the score."""

    @property
    def rate(self) -> float:
        return self.epsilon / self.sensitivity


def build(kind: type[MapExponential], network: Network, epsilon: float, cells: int) -> MapExponential:
    return kind(prior=Dirichlets.symmetric(network), epsilon=epsilon, cells=cells)


@pytest.mark.parametrize("cells", [2, 3, 10, 100])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0, 1000.0])
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.01, 0.01), (0.05, 3.0), (30.0, 1.0)])
def test_one_row_never_loses_more_than_certified(prior, epsilon, cells):
    mechanism = MapExponential(prior=Dirichlets(empty(1), np.array(prior)), epsilon=epsilon, cells=cells)
    losses = [audit_row(mechanism, n).epsilon for n in (1, 2, 5, 20, 200)]
    assert max(losses) <= mechanism.certified.epsilon * (1 + 1e-9)
    assert mechanism.certified.epsilon == epsilon


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("cells", [2, 10])
def test_over_all_neighbouring_tables_the_joint_law_keeps_what_is_certified(name, epsilon, cells):
    estimator = mechanism(TINY[name], epsilon, cells)
    losses = [audit_network(estimator, n) for n in (1, 2, 4)]
    assert max(losses) <= epsilon * (1 + 1e-9)
    if cells == 2:
        assert max(losses) > 0.36 * epsilon


@pytest.mark.parametrize("network", [empty(1), THREE, chain(2)])
def test_the_audit_catches_a_score_that_takes_all_of_epsilon(network):
    losses = [audit_network(build(ForgetsTheNormaliser, network, 100.0, 2), n) for n in (1, 2, 4)]
    assert max(losses) > 100.0


# Releases


def test_probabilities_are_the_midpoints_of_the_cells():
    estimate = MapEstimate(empty(1), np.arange(4)[:, None], 4)
    assert estimate.probabilities[:, 0] == pytest.approx([0.125, 0.375, 0.625, 0.875], rel=1e-15)
    three = MapEstimate(THREE, np.array([2, 0]), 4).probabilities  # {x, y} before z, then x before y
    assert three == pytest.approx([0.625 * 0.125, 0.625 * 0.875, 0.375], rel=1e-15)


def drawn_frequencies(estimator: MapExponential, exact: Counts, draws: int) -> np.ndarray:
    places = estimator.simulate(exact, rng(), (draws,)).outcome.places
    return (places[..., None] == np.arange(estimator.cells)).sum(axis=0)


def p_values(frequencies: np.ndarray, log_pmf: np.ndarray) -> np.ndarray:
    expected = np.exp(log_pmf) * frequencies.sum(axis=-1, keepdims=True)
    assert expected.min() > 20
    return stats.chi2.sf(((frequencies - expected) ** 2 / expected).sum(axis=-1), frequencies.shape[-1] - 1)


def test_every_decision_follows_its_own_law():
    exact = counts_of(MIXED, 12)
    mechanism = MapExponential(prior=Dirichlets(MIXED, rng().uniform(0.5, 2, MIXED.cell_count)), epsilon=30.0, cells=6)
    frequencies = drawn_frequencies(mechanism, exact, 100_000)
    assert p_values(frequencies, mechanism.log_pmf(exact.values)).min() > ALARM
    for other in (27.0, 33.0):  # a rate that is 10% off is seen
        wrong = MapExponential(prior=mechanism.prior, epsilon=other, cells=6)
        assert p_values(frequencies, wrong.log_pmf(exact.values)).min() < ALARM


def test_decisions_are_drawn_independently():
    exact = counts_of(ASIA, 30)
    places = mechanism(ASIA, epsilon=100.0).simulate(exact, rng(), (50_000,)).outcome.places
    correlation = np.corrcoef(places.T) - np.eye(places.shape[1])
    assert np.abs(correlation).max() < 6.5 / math.sqrt(50_000)


def test_the_law_is_the_prior_times_the_exponential_of_the_mass():
    exact = np.array([3, 9])
    mechanism = MapExponential(prior=Dirichlets(empty(1), np.array([2.0, 0.7])), epsilon=3.0, cells=5)
    edges = np.arange(6) / 5
    prior, posterior = np.diff(special.betainc(2.0, 0.7, edges)), np.diff(special.betainc(5.0, 9.7, edges))
    weights = prior * np.exp(3.0 * posterior / (2 * mechanism.sensitivity))
    assert np.exp(mechanism.log_pmf(exact)[0]) == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert masses_of(mechanism, exact)[0] == pytest.approx(posterior, rel=1e-12)


@pytest.mark.parametrize("prior", [1e-3, 1.0, 1e9])
@pytest.mark.parametrize("epsilon", [1e-3, 1e3])
@pytest.mark.parametrize("cells", [2, MOST_CELLS])
def test_extreme_priors_counts_and_parameters_draw_something_sensible(prior, epsilon, cells):
    for values in ([0, 0], [10**9, 0], [5 * 10**8, 5 * 10**8]):
        exact = Counts(empty(1), np.array(values), sum(values))
        drawn = mechanism(empty(1), epsilon, cells, prior).simulate(exact, rng(), (50,)).outcome
        assert np.all((drawn.probabilities > 0) & (drawn.probabilities < 1))
        if prior == 1e9:  # the prior leaves nothing but the cells at one half
            assert np.abs(drawn.probabilities - 0.5).max() <= 0.5 / cells * (1 + 1e-9)


def test_a_network_of_constants_has_nothing_to_hide():
    network = Network.from_edges("x", [], {"x": ["only"]})
    estimator = mechanism(network)
    assert estimator.certified.epsilon == 0
    for size in ((), (3,)):
        drawn = estimator.simulate(counts_of(network, 3), rng(), size).outcome.probabilities
        assert np.array_equal(drawn, np.ones((*size, 1)))


def own_cells(levels, *, log_weights):
    """The cells of rows that each have a law of their own."""
    return choose_by_law(levels, log_weights=log_weights, laws=np.arange(len(log_weights)))


def test_levels_choose_the_cells_that_hold_them_and_never_one_of_weight_zero():
    weights = np.log(np.array([[0.25, 0.5, 0.25], [1.0, 1.0, 2.0]]))
    levels = np.array([[0.0, 0.0], [0.25, 0.24], [0.74, 0.5], [1 - 2**-53, 1 - 2**-53]])
    assert np.array_equal(own_cells(levels, log_weights=weights), [[0, 0], [1, 0], [1, 2], [2, 2]])
    impossible = np.array([[-np.inf, 3.0, -np.inf, 3.0, -np.inf]])
    cells = own_cells(np.array([[0.0], [0.49], [0.5], [1 - 2**-53]]), log_weights=impossible)
    assert np.array_equal(cells[:, 0], [1, 1, 3, 3])


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("network", [ASIA, star(6), *random_networks(4, most_nodes=4, states=(1, 4))], ids=range(6))
def test_a_release_by_distinct_laws_is_that_of_every_row_by_itself(network, block, monkeypatch):
    monkeypatch.setattr(map_module, "_BLOCK", block)
    prior = Dirichlets(network, 1.0 + rng().integers(0, 2, network.cell_count))
    values = rng().integers(0, 3, (2, network.cell_count))
    mechanism = MapExponential(prior=prior, epsilon=3.0, cells=7)
    release = mechanism.simulate(Counts(network, values, 9), rng(), (5,)).outcome.places
    masses, kinds = mechanism._log_base
    weights = mechanism.rate * masses_of(mechanism, values) + masses[kinds]
    uniforms = rng().random((5, *weights.shape[:-1])).reshape(5, -1)
    naive = own_cells(uniforms, log_weights=weights.reshape(-1, 7)) if weights.size else np.empty((5, 0))
    assert np.array_equal(release.reshape(5, -1), naive)


def test_rows_of_equal_counts_take_one_table_of_masses(monkeypatch):
    tables = []
    monkeypatch.setattr(
        map_module, "cell_masses", lambda a, b, *, cells: tables.append(len(a)) or cell_masses(a, b, cells=cells)
    )
    network = star(12)
    mechanism = MapExponential(prior=Dirichlets.symmetric(network), epsilon=1.0)
    counts = count(network, random_table(network, rng(), 30))
    mechanism.simulate(counts, rng(), (2,))
    assert sum(tables) < 60, "of 4,108 rows, those with records, those without, and the prior's"
