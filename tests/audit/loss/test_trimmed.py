import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.audit.loss import trimmed
from dpbayes.audit.loss.tables import cells_of, rows_alone, suspicious_tables
from dpbayes.audit.loss.trimmed import MOST_ROW, network_loss, row_curve
from dpbayes.audit.report import range_only_curve
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import MapExponential
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_mass, log_odds_bound
from tests.audit.loss.exact_row import row_loss
from tests.strategies import ASIA, NAIVE_BAYES, V_STRUCTURE, chain, empty, random_networks

# omega, n, exact pure epsilon, epsilon at 1e-6, epsilon at 1e-3
TABLE = [
    (0.3, 20, 1.5404, 1.3464, 0.9235),
    (0.1, 20, 3.9890, 2.0277, 1.2508),
    (0.1, 100, 4.2991, 1.0261, 0.5992),
    (0.01, 20, 7.3985, 3.0681, 2.1913),
    (0.01, 100, 8.4971, 2.0164, 1.3366),
]


NETWORKS = [chain(2), V_STRUCTURE, chain(4), NAIVE_BAYES, ASIA, *random_networks(4, most_nodes=4, states=(2, 4))]


# One row


@pytest.mark.parametrize(("omega", "n", "pure", "at_millionth", "at_thousandth"), TABLE)
def test_one_row_has_its_known_epsilons(omega, n, pure, at_millionth, at_thousandth):
    bound = log_odds_bound(omega)
    assert row_loss(1.0, 1.0, n=n, bound=bound).epsilon == pytest.approx(pure, abs=5e-5)
    for epsilon, delta in [(at_millionth, 1e-6), (at_thousandth, 1e-3)]:
        around = row_curve(1.0, 1.0, n=n, bound=bound, epsilons=[epsilon - 1e-4, epsilon + 1e-4])
        assert around[0] > delta > around[1]


@given(st.floats(0.01, 50), st.floats(0.01, 50), st.integers(1, 60), st.floats(0.01, 0.49))
def test_the_worst_tables_of_a_row_are_at_its_ends(a, b, n, omega):
    bound, k = log_odds_bound(omega), np.arange(n + 1)
    masses = log_mass(a + k, b + n - k, omega)
    loss = row_loss(a, b, n=n, bound=bound)
    assert loss.epsilon == pytest.approx(bound + np.abs(np.diff(masses)).max(), rel=1e-9)
    assert loss.epsilon <= 2 * bound * (1 + 1e-12)
    assert abs(loss.first - loss.second) == 1
    log_ratio = (loss.first - loss.second) * loss.log_odds - (masses[loss.first] - masses[loss.second])
    assert log_ratio == pytest.approx(loss.epsilon, rel=1e-9)


def delta_by_mpmath(a: float, b: float, n: int, bound: float, epsilon: float) -> float:
    """The largest over k of the integral of (p - e^epsilon q)_+ in both orders."""
    best = mpmath.mpf(0)
    with mpmath.workdps(25):
        ends = [1 / (1 + mpmath.exp(bound)), 1 / (1 + mpmath.exp(-bound))]

        def mass(k: int, low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
            whole = mpmath.betainc(a + k, b + (n - k), *ends)
            return mpmath.betainc(a + k, b + (n - k), low, high) / whole

        for k in range(n):
            more = mpmath.betainc(a + (k + 1), b + (n - k - 1), *ends)
            rise = mpmath.log(more / mpmath.betainc(a + k, b + (n - k), *ends))
            up = min(max(1 / (1 + mpmath.exp(-(epsilon + rise))), ends[0]), ends[1])
            down = min(max(1 / (1 + mpmath.exp(-(rise - epsilon))), ends[0]), ends[1])
            factor = mpmath.exp(epsilon)
            best = max(best, mass(k + 1, up, ends[1]) - factor * mass(k, up, ends[1]))
            best = max(best, mass(k, ends[0], down) - factor * mass(k + 1, ends[0], down))
    return float(best)


@pytest.mark.parametrize(
    ("a", "b", "n", "omega"),
    [(1, 1, 5, 0.1), (0.3, 4, 8, 0.02), (2, 0.5, 3, 0.4), (1, 1, 1, 0.2), (1e-300, 1e-300, 3, 0.1), (1e-17, 2, 3, 0.3)],
)
def test_the_curve_of_a_row_is_that_of_mpmath(a, b, n, omega):
    bound = log_odds_bound(omega)
    top = row_loss(a, b, n=n, bound=bound).epsilon
    grid = np.array([0.0, 0.2, 0.7, 0.99]) * top
    curve = row_curve(a, b, n=n, bound=bound, epsilons=[*grid, top * (1 + 1e-9)])
    assert curve[-1] == 0
    for epsilon, delta in zip(grid, curve, strict=False):
        assert delta == pytest.approx(delta_by_mpmath(a, b, n, bound, epsilon), rel=1e-8, abs=1e-16)


@given(st.floats(0.01, 8), st.floats(0, 1), st.floats(0, 1))
def test_the_range_curve_is_the_worst_two_point_law(width, share, most_share):
    epsilon, most = share * width, max(most_share, 0.01) * width
    t = np.linspace(0, most, 20_001)[1:]
    mass = -np.expm1(t - width) / (np.exp(t) - np.exp(t - width))  # of y where the loss is t
    deltas = mass * np.maximum(np.exp(t) - math.exp(epsilon), 0)
    value = float(range_only_curve(np.array([epsilon]), width=width, most=most).deltas[0])
    assert deltas.max() - 1e-12 <= value <= deltas.max() + 1e-3 * width


def test_without_records_or_range_nothing_is_lost():
    assert row_loss(1.0, 1.0, n=0, bound=1.0).epsilon == 0
    assert row_curve(1.0, 1.0, n=0, bound=1.0, epsilons=[0.0]).tolist() == [0]
    assert range_only_curve(np.array([0.0, 1.0]), width=0.0, most=0.0).deltas.tolist() == [0, 0]
    assert network_loss(Dirichlets.symmetric(chain(2)), n=0, bound=1.0).most == 0


@pytest.mark.parametrize(
    ("n", "bound", "epsilons"), [(-1, 1.0, [0.0]), (3, -1.0, [0.0]), (3, 1.0, [-1.0]), (3, 1.0, 0.5)]
)
def test_bad_rows_are_refused(n, bound, epsilons):
    with pytest.raises(InputError):
        row_curve(1.0, 1.0, n=n, bound=bound, epsilons=epsilons)


def test_too_many_records_for_a_curve_are_refused():
    with pytest.raises(InputError, match=f"at most {MOST_ROW:,} records"):
        row_curve(1.0, 1.0, n=MOST_ROW + 1, bound=1.0, epsilons=[0.0])


# Networks


def witnessed_loss(prior: Dirichlets, worst: trimmed.NetworkLoss, bound: float) -> float:
    """ln p(theta | first) - ln p(theta | second) at the witness, every mass by mpmath."""
    low, high = 1 / (1 + mpmath.exp(bound)), 1 / (1 + mpmath.exp(-bound))

    def log_density(counts: np.ndarray) -> float:
        a, b = Decisions(prior.network).parameters(prior.alpha + counts)
        masses = sum(float(mpmath.log(mpmath.betainc(x, y, low, high))) for x, y in zip(a, b, strict=True))
        return float(counts @ np.log(worst.theta)) - masses

    return log_density(worst.first) - log_density(worst.second)


@pytest.mark.parametrize(("n", "loss"), [(1, 4.394), (2, 5.021), (4, 5.704), (8, 6.251), (14, 6.624)])
def test_the_chain_of_two_has_its_known_losses_and_breaks_the_printed_promise(n, loss):
    bound = log_odds_bound(0.1)
    audited = network_loss(Dirichlets.symmetric(chain(2)), n=n, bound=bound)
    assert audited.is_exact
    assert audited.least == pytest.approx(loss, abs=5e-4)
    assert (audited.least > 2 * math.log(10)) is (n >= 2)


@pytest.mark.parametrize("network", [empty(1), empty(2), chain(2), chain(3), V_STRUCTURE])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_two_values_enclose_the_one_found_by_listing_all_tables(monkeypatch, network, n):
    rng = np.random.default_rng(n)
    for prior in (Dirichlets.symmetric(network), Dirichlets(network, rng.uniform(0.2, 3, network.cell_count))):
        exact = network_loss(prior, n=n, bound=1.5)
        with monkeypatch.context() as patch:
            patch.setattr(trimmed, "tables_are_few", lambda network, n: False)
            loss = network_loss(prior, n=n, bound=1.5)
        assert exact.is_exact
        assert loss.least <= exact.least * (1 + 1e-12)
        assert exact.least <= loss.most * (1 + 1e-12)
        assert loss.least > 0.8 * exact.least


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("n", [2, 9])
def test_the_witnesses_are_neighbours_and_lose_what_is_said(network, n):
    prior, bound = Dirichlets.symmetric(network), 0.9
    loss = network_loss(prior, n=n, bound=bound)
    moved = loss.first - loss.second
    assert np.abs(moved).sum() <= network.count_sensitivity
    for counts in (loss.first, loss.second):
        assert np.all(counts >= 0)
        assert all(network.table(counts, node).sum() == n for node in range(len(network.names)))
    assert witnessed_loss(prior, loss, bound) == pytest.approx(loss.least, abs=1e-9)
    assert loss.least <= loss.most <= 2 * int(Decisions(network).depths.sum()) * bound * (1 + 1e-9)


def test_single_nodes_and_independent_ones_are_exact_for_every_n():
    bound = log_odds_bound(0.1)
    for n in (50, 10**6):
        one = network_loss(Dirichlets.symmetric(empty(1)), n=n, bound=bound)
        four = network_loss(Dirichlets.symmetric(empty(4)), n=n, bound=bound)
        assert one.is_exact
        assert one.most == pytest.approx(row_loss(1.0, 1.0, n=n, bound=bound).epsilon)
        assert four.least == pytest.approx(4 * one.most)
        assert four.is_exact


def test_many_records_bring_the_chain_to_the_certified_value():
    bound = log_odds_bound(0.1)
    loss = network_loss(Dirichlets.symmetric(chain(2)), n=10**6, bound=bound)
    assert 8.788 < loss.least <= loss.most <= 4 * bound


def test_a_node_of_one_state_adds_nothing():
    alone = Network.from_edges("ab", [], {"a": "xy", "b": "s"})
    both, single = (network_loss(Dirichlets.symmetric(net), n=5, bound=1.0) for net in (alone, empty(1)))
    assert both.least == pytest.approx(single.least)
    nothing = network_loss(Dirichlets.symmetric(Network.from_edges("a", [], {"a": "s"})), n=5, bound=1.0)
    assert nothing.least == nothing.most == 0


def wide(parents: int) -> Network:
    names = [f"p{i}" for i in range(parents)]
    return Network.from_edges([*names, "c"], [(name, "c") for name in names])


def test_the_tables_of_a_wide_network_are_kept_in_the_rows_that_records_are_in():
    network = wide(16)
    pairs = suspicious_tables(network, n=1000)
    assert pairs.counts.nbytes < 2**20 < 8 * network.cell_count * len(pairs.counts)
    first = pairs.whole(network, pairs.counts[0])
    assert [network.table(first, node).sum() for node in range(17)] == [1000] * 17
    loss = network_loss(Dirichlets.symmetric(network), n=1000, bound=1.0)
    assert 0 < loss.least <= loss.most <= 34


@pytest.mark.parametrize("network", NETWORKS)
def test_tables_of_some_rows_lose_what_whole_tables_lose(network):
    prior, bound = Dirichlets(network, np.random.default_rng(3).uniform(0.3, 2, network.cell_count)), 0.9
    pairs = suspicious_tables(network, n=6)
    few = rows_alone(prior, pairs.rows)
    whole = np.array([pairs.whole(network, counts) for counts in pairs.counts])
    of_rows, of_all = (
        trimmed.log_mass_trimmed(dirichlets.updated(counts), bound)
        for dirichlets, counts in ((few, pairs.counts), (prior, whole))
    )
    assert of_rows - of_rows[0] == pytest.approx(of_all - of_all[0], abs=1e-9)
    best = MapExponential(prior=prior, epsilon=1.0)
    cells = cells_of(network, pairs.rows)
    decisions = cells - network.row_of_cell[cells]  # a row of r states has r - 1 decisions
    decisions = decisions[np.diff(network.row_of_cell[cells], append=-1) == 0]
    laws = best.log_pmf(whole)
    assert np.allclose(best.log_pmf_of_rows(few, pairs.counts), laws[:, decisions], rtol=0, atol=1e-12)
    others = np.setdiff1d(np.arange(laws.shape[1]), decisions)
    assert np.ptp(laws[:, others], axis=0).max(initial=0.0) == 0
