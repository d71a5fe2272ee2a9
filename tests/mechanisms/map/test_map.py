import math
from dataclasses import dataclass
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dpbayes.audit.loss.finite import WorstLoss, exact_pure_epsilon
from dpbayes.audit.loss.neighbours import all_tables
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.map import exponential as map_exponential
from dpbayes.mechanisms.map.exponential import MapEstimate, MapExponential, PrintedMap, choose
from dpbayes.mechanisms.map.scores import (
    MOST_CELLS,
    added_bound,
    cell_masses,
    node_sensitivities,
    replaced_bound,
)
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_mass
from tests.mechanisms.map.grid_sensitivity import exact_sensitivity
from tests.strategies import (
    ASIA,
    NAIVE_BAYES,
    V_STRUCTURE,
    chain,
    empty,
    random_networks,
    random_table,
    star,
)

ALARM = 1e-9
THREE = Network.from_edges("a", [], {"a": "xyz"})
FIVE = Network.from_edges("a", [], {"a": "vwxyz"})
MIXED = Network.from_edges("abc", ["ab"], {"a": "xy", "b": "uvw", "c": ["s"]})
TINY = {"one": empty(1), "chain": chain(2), "v": V_STRUCTURE, "three": THREE, "five": FIVE, "mixed": MIXED}


def rng() -> np.random.Generator:
    return np.random.default_rng(20160212)


def mechanism(network=ASIA, epsilon=1.0, cells=20, prior=1.0) -> MapExponential:
    return MapExponential(prior=Dirichlets.symmetric(network, prior), epsilon=epsilon, cells=cells)


def counts_of(network: Network, n: int) -> Counts:
    return count(network, random_table(network, rng(), n))


# Masses of cells


@pytest.mark.parametrize(
    ("a", "b", "cells"),
    [(1, 1, 20), (3.5, 0.2, 7), (1e-3, 1e-3, 5), (1000.5, 3, 10), (3, 1000.5, 10), (40, 60, 1000), (300, 450, 20)],
)
def test_masses_are_those_of_mpmath_however_small(a, b, cells):
    masses = cell_masses(a, b, cells=cells)
    places = sorted({0, 1, cells // 3, cells // 2, cells - 2, cells - 1})
    with mpmath.workdps(300):

        def below(k: int) -> mpmath.mpf:
            return mpmath.betainc(a, b, 0, mpmath.mpf(k) / cells, regularized=True)

        known = [float(below(k + 1) - below(k)) for k in places]
    assert masses[places] == pytest.approx(known, rel=1e-10, abs=1e-300)


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9), st.integers(2, 200))
def test_masses_are_a_distribution_and_mirror_when_the_states_are_exchanged(a, b, cells):
    masses = cell_masses(a, b, cells=cells)
    assert masses.shape == (cells,)
    assert masses.min() >= 0
    assert masses.sum() == pytest.approx(1, abs=1e-14)
    assert cell_masses(b, a, cells=cells)[::-1] == pytest.approx(masses, rel=1e-6, abs=1e-9)


def test_masses_broadcast():
    a, b = np.array([1.0, 2.0, 30.0]), np.array([[1.0], [5.0]])
    masses = cell_masses(a, b, cells=4)
    assert masses.shape == (2, 3, 4)
    assert np.array_equal(masses[1, 2], cell_masses(30.0, 5.0, cells=4))


# Bounds for every n


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 2.0, 9.99, 10.0, 10.01, 137.0, 1e5, 1e9])
def test_what_one_more_count_moves_has_its_closed_form(a):
    with mpmath.workdps(40):
        known = mpmath.exp(a * mpmath.log(a) - a - mpmath.loggamma(mpmath.mpf(a) + 1))
    assert float(added_bound(a)) == pytest.approx(float(known), rel=1e-13)


def test_known_bounds_of_a_uniform_prior():
    assert float(added_bound(1.0)) == pytest.approx(math.exp(-1), rel=1e-15)
    assert float(replaced_bound(1.0, 1.0)) == pytest.approx(0.5, rel=1e-15)


@pytest.mark.parametrize("a", [0.02, 1.0, 4.5])
@pytest.mark.parametrize("b", [0.05, 1.0, 30.0, 1e5])
def test_the_bounds_are_total_variation_distances_found_by_quadrature(a, b):
    def distance(a1, b1, a2, b2):  # in log-odds, where the integrand decays at both ends
        z, step = np.linspace(-2000, 2000, 600_001, retstep=True)
        low, high = special.log_expit(z), special.log_expit(-z)
        density = [np.exp(p * low + q * high - special.betaln(p, q)) for p, q in ((a1, b1), (a2, b2))]
        return np.abs(density[0] - density[1]).sum() * step / 2

    assert distance(a + 1, b, a, b + 1) == pytest.approx(float(replaced_bound(a, b)), rel=1e-5)
    shorter = float(replaced_bound(a, b)) * b / (a + b)
    assert distance(a, b, a + 1, b) == pytest.approx(shorter, rel=1e-5)
    assert shorter <= float(added_bound(a)) * (1 + 1e-12)


def test_the_bound_for_one_more_count_is_reached_as_the_other_count_grows():
    rising = replaced_bound(1.0, 10.0 ** np.arange(9)) * 10.0 ** np.arange(9) / (1 + 10.0 ** np.arange(9))
    assert np.all(np.diff(rising) > 0)
    assert rising[-1] == pytest.approx(math.exp(-1), rel=1e-8)
    assert rising[-1] < math.exp(-1)


def test_the_bounds_fall_in_every_parameter():
    grid = np.geomspace(1e-3, 1e6, 181)
    assert np.all(np.diff(added_bound(grid)) < 0)
    table = replaced_bound(grid[:, None], grid)
    assert np.all(np.diff(table, axis=0) < 0)
    assert np.all(np.diff(table, axis=1) < 0)


@given(
    st.tuples(st.floats(0.01, 20), st.floats(0.01, 20)),
    st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)),
    st.integers(2, 300),
)
def test_no_cell_moves_further_than_the_bounds_whatever_the_counts(prior, held, cells):
    a, b = np.add(prior, held)
    before, one, other = (cell_masses(p, q, cells=cells) for p, q in ((a, b), (a + 1, b), (a, b + 1)))
    assert np.abs(one - before).max() <= added_bound(prior[0]) + 1e-11
    assert np.abs(other - before).max() <= added_bound(prior[1]) + 1e-11
    assert np.abs(one - other).max() <= replaced_bound(*prior) + 1e-11


# Sensitivities for one n


@pytest.mark.parametrize(
    ("cells", "n", "root", "worst"),
    [
        (2, 1, 0.500, 0.500),
        (2, 10, 0.226, 0.500),
        (2, 100, 0.0788, 0.500),
        (10, 1, 0.180, 0.180),
        (10, 10, 0.384, 0.387),
        (10, 100, 0.132, 0.387),
        (100, 10, 0.0995, 0.0995),
        (100, 50, 0.309, 0.309),
        (100, 100, 0.370, 0.370),
    ],
)
def test_exact_sensitivities_have_their_known_values(cells, n, root, worst):
    sensitivity = exact_sensitivity(1, 1, n=n, cells=cells)
    assert sensitivity.root == pytest.approx(root, abs=5e-4)
    assert max(sensitivity.replaced, sensitivity.added) == pytest.approx(worst, abs=5e-4)
    assert sensitivity.root <= sensitivity.replaced <= replaced_bound(1, 1)
    assert sensitivity.added <= added_bound(1) < 0.387, "the worst of a row is a replacement among few records"


@pytest.mark.parametrize("cells", [2, 3, 10, 37])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 2.0), (5.0, 0.05)])
def test_exact_sensitivities_are_those_of_all_posteriors(a, b, cells):
    n = 13
    totals = [cell_masses(a + np.arange(m + 1.0), b + np.arange(m, -1.0, -1.0), cells=cells) for m in range(n + 1)]
    replaced = [np.abs(np.diff(masses, axis=0)).max(initial=0) for masses in totals]
    sensitivity = exact_sensitivity(a, b, n=n, cells=cells)
    added = 0.0
    for m in range(n):
        added = max(added, np.abs(totals[m + 1][1:] - totals[m]).max(), np.abs(totals[m + 1][:-1] - totals[m]).max())
    assert (sensitivity.root, sensitivity.replaced, sensitivity.added) == pytest.approx(
        (replaced[-1], max(replaced), added), abs=1e-12
    )


def test_many_records_on_many_cells_come_close_to_the_bound_for_one_more_count():
    assert exact_sensitivity(1, 1, n=1000, cells=100).added == pytest.approx(0.366, abs=5e-4)
    assert exact_sensitivity(1, 1, n=0, cells=100).replaced == 0


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
    found = mechanism(TINY[name], cells=cells)
    moved = 0.0
    for n in (1, 2, 4):
        tables = all_tables(TINY[name], n=n)
        masses = found.utilities(tables.counts)
        change = masses[tables.pairs[:, 0]] - masses[tables.pairs[:, 1]]
        moved = max(moved, float(change.max(axis=-1).sum(axis=-1).max()))
    assert moved <= found.sensitivity * (1 + 1e-12)
    if cells == 2:
        assert moved > 0.6 * found.sensitivity


# The promise, exactly: one row, then whole networks


def audit_row(found: MapExponential, n: int) -> WorstLoss:
    """The exact pure epsilon of one binary root over all counts of n records."""
    first = np.arange(n + 1)
    table = found.log_pmf(np.stack([first, n - first], axis=-1))[:, 0]
    return exact_pure_epsilon(table, pairs=neighbour_pairs(n, sides=2))


def audit_network(found: MapExponential, n: int) -> float:
    """The same over all tables of a network: its decisions are independent, so that their largest losses add up."""
    tables = all_tables(found.prior.network, n=n)
    law = found.log_pmf(tables.counts)
    assert special.logsumexp(law, axis=-1) == pytest.approx(np.zeros(law.shape[:-1]), abs=1e-12)
    losses = law[tables.pairs[:, 0]] - law[tables.pairs[:, 1]]
    return float(losses.max(axis=-1).sum(axis=-1).max())


@dataclass(frozen=True, kw_only=True)
class ForgetsTheNormaliser(MapExponential):
    """Broken on purpose: spends all of epsilon on the score."""

    @property
    def rate(self) -> float:
        return self.epsilon / self.sensitivity


@dataclass(frozen=True, kw_only=True)
class ForgetsToShare(MapExponential):
    """Broken on purpose: epsilon for every decision instead of for all together."""

    @property
    def rate(self) -> float:
        return self.epsilon / (2 * float(replaced_bound(1, 1)))


@dataclass(frozen=True, kw_only=True)
class TrustsFullRows(MapExponential):
    """Broken on purpose: its sensitivity is the one of a thousand records, in a row that may hold one."""

    @property
    def rate(self) -> float:
        return self.epsilon / (2 * exact_sensitivity(1, 1, n=1000, cells=self.cells).root)


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


@pytest.mark.parametrize(
    ("epsilon", "cells", "n", "share"), [(1, 2, 1, 0.500), (20, 2, 2, 0.715), (100, 2, 2, 0.743), (1, 10, 8, 0.375)]
)
def test_how_much_of_its_epsilon_one_row_loses(epsilon, cells, n, share):
    assert audit_row(mechanism(empty(1), epsilon, cells), n).epsilon / epsilon == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("cells", [2, 10])
def test_over_all_neighbouring_tables_the_joint_law_keeps_what_is_certified(name, epsilon, cells):
    found = mechanism(TINY[name], epsilon, cells)
    losses = [audit_network(found, n) for n in (1, 2, 4)]
    assert max(losses) <= epsilon * (1 + 1e-9)
    if cells == 2:
        assert max(losses) > 0.36 * epsilon


@pytest.mark.parametrize(
    ("network", "epsilon", "n", "share"),
    [
        (chain(2), 1, 1, 0.405),
        (chain(2), 100, 4, 0.586),
        (chain(2), 20, 14, 0.317),
        (THREE, 1, 1, 0.530),
        (THREE, 100, 1, 0.760),
    ],
)
def test_how_much_of_its_epsilon_a_network_loses(network, epsilon, n, share):
    assert audit_network(mechanism(network, epsilon, 2), n) / epsilon == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize("network", [empty(1), THREE, chain(2)])
def test_the_audit_catches_a_score_that_takes_all_of_epsilon(network):
    losses = [audit_network(build(ForgetsTheNormaliser, network, 100.0, 2), n) for n in (1, 2, 4)]
    assert max(losses) > 100.0


@pytest.mark.parametrize("network", [chain(2), V_STRUCTURE, empty(3)])
def test_the_audit_catches_an_epsilon_that_is_not_shared(network):
    assert max(audit_network(build(ForgetsToShare, network, 50.0, 2), n) for n in (1, 2, 4)) > 50.0


def test_the_audit_catches_a_sensitivity_that_holds_for_full_rows_only():
    mechanism = build(TrustsFullRows, chain(2), 1.0, 2)
    assert audit_network(mechanism, 2) > 1.0


# As printed


@pytest.mark.parametrize(
    ("n", "epsilon", "density", "loss"),
    [
        (1, 1, 2.0, 0.675),
        (5, 1, 4.44, 1.34),
        (50, 1, 9.44, 3.22),
        (1000, 1, 11.0, 4.20),
        (5, 0.1, 4.44, 0.149),
        (50, 0.1, 9.44, 0.312),
        (1000, 0.1, 11.0, 0.402),
    ],
)
def test_an_exact_audit_refutes_the_printed_promise(n, epsilon, density, loss):
    printed = PrintedMap(prior=(1, 1), n=n, epsilon=epsilon, omega=0.1, points=4001)
    assert printed.sensitivity == pytest.approx(1.482, abs=5e-4)
    assert printed.claimed.epsilon == epsilon
    densities = np.exp(printed.log_density_table())
    assert np.abs(np.diff(densities, axis=0)).max() == pytest.approx(density, abs=0.02)
    worst = exact_pure_epsilon(printed.log_pmf_table(), pairs=neighbour_pairs(n, sides=2))
    assert worst.epsilon == pytest.approx(loss, rel=0.003)
    assert (worst.epsilon > printed.claimed.epsilon) is (n > 1)


@pytest.mark.parametrize(("n", "k"), [(5, 4), (50, 0), (1000, 0)])
def test_the_printed_law_is_that_of_the_density_between_the_points(n, k):
    # Its loss by quadrature on points that crowd geometrically at both ends, where the density is a spike.
    offset = np.concatenate([[0], np.geomspace(1e-12, 0.4, 200_001)])
    theta = np.concatenate([0.1 + offset, (0.9 - offset[:-1])[::-1]])
    scores = []
    for first in (k, k + 1):
        log_mass_here = float(log_mass(1 + first, 1 + n - first, 0.1))
        density = np.exp(special.xlogy(first, theta) + special.xlog1py(n - first, -theta) - log_mass_here)
        scores.append(density / (2 * math.sqrt(math.log(9))))
    weights = np.convolve(np.diff(theta), [0.5, 0.5])
    loss = np.abs(np.diff([s - special.logsumexp(s, b=weights) for s in scores], axis=0)).max()
    table = PrintedMap(prior=(1, 1), n=n, epsilon=1, omega=0.1, points=4001).log_pmf_table()
    assert np.abs(table[k] - table[k + 1]).max() == pytest.approx(loss, rel=5e-4)


def test_the_printed_law_of_one_row_sums_to_one_at_every_edge():
    for omega in (1e-300, 1e-9, 0.4999999):
        printed = PrintedMap(prior=(0.5, 2.0), n=3, epsilon=2, omega=omega, points=101)
        table = printed.log_pmf_table()
        assert table.shape == (4, 101)
        assert special.logsumexp(table, axis=1) == pytest.approx(np.zeros(4), abs=1e-9)


def test_printed_laws_refuse_what_makes_no_sense():
    good = {"prior": (1, 1), "n": 5, "epsilon": 1, "omega": 0.1}
    for bad, sentence in [
        ({"omega": 0.5}, "below 1/2"),
        ({"omega": 0}, "omega must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"n": 1.5}, "whole number"),
        ({"points": 1}, "points must be"),
        ({"prior": (0, 1)}, "The prior must be"),
        ({"prior": (1, 1, 1)}, "two numbers"),
        ({"prior": ((1, 1), (2, 2))}, "The prior must be"),
        ({"n": 10**5}, "too large"),
    ]:
        with pytest.raises(InputError, match=sentence):
            PrintedMap(**{**good, **bad})


# Releases


@pytest.mark.parametrize("size", [(), (5,), (2, 3)])
@pytest.mark.parametrize("batch", [(), (6,)])
def test_estimates_come_after_the_size_and_the_batch(size, batch):
    exact = counts_of(MIXED, 20)
    exact = Counts(MIXED, np.broadcast_to(exact.values, (*batch, MIXED.cell_count)), exact.n)
    outcome = mechanism(MIXED, cells=7).release(exact, rng(), size).outcome
    assert outcome.places.shape == (*size, *batch, 5)
    assert outcome.probabilities.shape == (*size, *batch, MIXED.cell_count)
    assert MIXED.row_sums(outcome.probabilities) == pytest.approx(1.0)


def test_probabilities_are_the_midpoints_of_the_cells():
    estimate = MapEstimate(empty(1), np.arange(4)[:, None], 4)
    assert estimate.probabilities[:, 0] == pytest.approx([0.125, 0.375, 0.625, 0.875], rel=1e-15)
    three = MapEstimate(THREE, np.array([2, 0]), 4).probabilities  # {x, y} before z, then x before y
    assert three == pytest.approx([0.625 * 0.125, 0.625 * 0.875, 0.375], rel=1e-15)


def drawn_frequencies(found: MapExponential, exact: Counts, draws: int) -> np.ndarray:
    places = found.release(exact, rng(), (draws,)).outcome.places
    return (places[..., None] == np.arange(found.cells)).sum(axis=0)


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
    places = mechanism(ASIA, epsilon=100.0).release(exact, rng(), (50_000,)).outcome.places
    correlation = np.corrcoef(places.T) - np.eye(places.shape[1])
    assert np.abs(correlation).max() < 6.5 / math.sqrt(50_000)


def test_the_law_is_the_prior_times_the_exponential_of_the_mass():
    exact = np.array([3, 9])
    mechanism = MapExponential(prior=Dirichlets(empty(1), np.array([2.0, 0.7])), epsilon=3.0, cells=5)
    edges = np.arange(6) / 5
    prior, posterior = np.diff(special.betainc(2.0, 0.7, edges)), np.diff(special.betainc(5.0, 9.7, edges))
    weights = prior * np.exp(3.0 * posterior / (2 * mechanism.sensitivity))
    assert np.exp(mechanism.log_pmf(exact)[0]) == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert mechanism.utilities(exact)[0] == pytest.approx(posterior, rel=1e-12)


def test_large_networks_are_drawn_in_blocks_with_the_same_result(monkeypatch):
    exact, found = counts_of(ASIA, 50), mechanism(ASIA, epsilon=50.0)
    whole = found.release(exact, rng(), (40,)).outcome.places
    monkeypatch.setattr(map_exponential, "_BLOCK", 60)
    assert np.array_equal(found.release(exact, rng(), (40,)).outcome.places, whole)


def test_draws_follow_the_prior_as_epsilon_vanishes_and_the_mode_as_it_grows():
    exact = Counts(empty(1), np.array([700, 300]), 1000)
    near = drawn_frequencies(mechanism(empty(1), epsilon=1e-3, cells=5), exact, 20_000)
    assert near[0] / 20_000 == pytest.approx(0.2, abs=0.02)
    far = mechanism(empty(1), epsilon=1e3, cells=10).release(exact, rng(), (1000,)).outcome
    assert np.all(far.places == np.argmax(cell_masses(701.0, 301.0, cells=10)))


@pytest.mark.parametrize("prior", [1e-3, 1.0, 1e9])
@pytest.mark.parametrize("epsilon", [1e-3, 1e3])
@pytest.mark.parametrize("cells", [2, MOST_CELLS])
def test_extreme_priors_counts_and_parameters_draw_something_sensible(prior, epsilon, cells):
    for values in ([0, 0], [10**9, 0], [5 * 10**8, 5 * 10**8]):
        exact = Counts(empty(1), np.array(values), sum(values))
        drawn = mechanism(empty(1), epsilon, cells, prior).release(exact, rng(), (50,)).outcome
        assert np.all((drawn.probabilities > 0) & (drawn.probabilities < 1))
        if prior == 1e9:  # the prior leaves nothing but the cells at one half
            assert np.abs(drawn.probabilities - 0.5).max() <= 0.5 / cells * (1 + 1e-9)


def test_what_the_recipient_sees_is_public():
    found = mechanism(ASIA)
    release = found.release(counts_of(ASIA, 9), rng())
    assert release.public == {"n": 9, "epsilon": 1.0, "cells": 20, "sensitivity": found.sensitivity}
    assert release.guarantee == found.certified
    assert release.mechanism == "Private MAP"
    assert found.certified.epsilon == found.claimed.epsilon == 1.0


def test_a_network_of_constants_has_nothing_to_hide():
    network = Network.from_edges("x", [], {"x": ["only"]})
    found = mechanism(network)
    assert found.certified.epsilon == 0
    for size in ((), (3,)):
        drawn = found.release(counts_of(network, 3), rng(), size).outcome.probabilities
        assert np.array_equal(drawn, np.ones((*size, 1)))


def test_levels_choose_the_cells_that_hold_them_and_never_one_of_weight_zero():
    weights = np.log(np.array([[0.25, 0.5, 0.25], [1.0, 1.0, 2.0]]))
    levels = np.array([[0.0, 0.0], [0.25, 0.24], [0.74, 0.5], [1 - 2**-53, 1 - 2**-53]])
    assert np.array_equal(choose(levels, log_weights=weights), [[0, 0], [1, 0], [1, 2], [2, 2]])
    impossible = np.array([[-np.inf, 3.0, -np.inf, 3.0, -np.inf]])
    cells = choose(np.array([[0.0], [0.49], [0.5], [1 - 2**-53]]), log_weights=impossible)
    assert np.array_equal(cells[:, 0], [1, 1, 3, 3])


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("network", [ASIA, star(6), *random_networks(4, most_nodes=4, states=(1, 4))], ids=range(6))
def test_a_release_by_distinct_laws_is_that_of_every_row_by_itself(network, block, monkeypatch):
    monkeypatch.setattr(map_exponential, "_BLOCK", block)
    prior = Dirichlets(network, 1.0 + rng().integers(0, 2, network.cell_count))
    values = rng().integers(0, 3, (2, network.cell_count))
    mechanism = MapExponential(prior=prior, epsilon=3.0, cells=7)
    release = mechanism.release(Counts(network, values, 9), rng(), (5,)).outcome.places
    assert np.array_equal(mechanism.simulate(Counts(network, values, 9), rng(), (5,)).outcome.places, release)
    masses, kinds = mechanism._log_base
    weights = mechanism.rate * mechanism.utilities(values) + masses[kinds]
    uniforms = rng().random((5, *weights.shape[:-1])).reshape(5, -1)
    naive = choose(uniforms, log_weights=weights.reshape(-1, 7)) if weights.size else np.empty((5, 0))
    assert np.array_equal(release.reshape(5, -1), naive)


def test_rows_of_equal_counts_take_one_table_of_masses(monkeypatch):
    tables = []
    monkeypatch.setattr(
        map_exponential, "cell_masses", lambda a, b, *, cells: tables.append(len(a)) or cell_masses(a, b, cells=cells)
    )
    network = star(12)
    mechanism = MapExponential(prior=Dirichlets.symmetric(network), epsilon=1.0)
    counts = count(network, random_table(network, rng(), 30))
    mechanism.simulate(counts, rng(), (2,))
    assert sum(tables) < 60, "of 4,108 rows, those with records, those without, and the prior's"
    tables.clear()
    mechanism.release(counts, rng(), (2,))
    assert sum(tables) == 4_108, "whatever the counts are"


# Refusals


def test_counts_of_another_network_are_refused():
    with pytest.raises(InputError, match="another network"):
        mechanism(empty(2)).release(counts_of(Network.from_edges("xy", []), 5), rng())


@pytest.mark.parametrize("cells", [0, 1, -1, 2.5, MOST_CELLS + 1, math.nan, math.inf, "many", None, True])
def test_a_bad_number_of_cells_is_refused(cells):
    with pytest.raises(InputError, match="cells must be"):
        mechanism(cells=cells)


def test_a_whole_number_of_cells_may_come_as_a_float():
    assert isinstance(mechanism(cells=20.0).cells, int)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "much", None])
def test_a_bad_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        mechanism(epsilon=epsilon)
