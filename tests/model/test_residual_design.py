"""The worst record and the best scales, beside every record and every direction."""

from itertools import product

import numpy as np
import pytest

from dpbayes.model import residual_design
from dpbayes.model.network import Network
from dpbayes.model.residual_design import Charges, best_gaussian, gaussian_at
from dpbayes.sources.named_networks import load_named, naive_bayes
from tests.conftest import thorough
from tests.strategies import ASIA, V_STRUCTURE, all_records, chain, table_of

TERNARY = Network.from_edges("abc", [("a", "b"), ("a", "c")], dict.fromkeys("abc", "xyz"))
MIXED = Network.from_edges("abcd", [("a", "c"), ("b", "c"), ("d", "c")], {"a": "xy", "b": "pqr", "c": "uvw", "d": "z"})
NETWORKS = {"chain": chain(3), "v-structure": V_STRUCTURE, "ternary": TERNARY, "mixed": MIXED}


def all_differences(network: Network) -> np.ndarray:
    """Every set of nodes, one row of marks for each."""
    return np.array([d for d in product(*([0, 1] if r > 1 else [0] for r in network.cards)) if any(d)])


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_the_charge_is_how_far_records_move_the_residuals(network):
    """From the residuals of tables of one record, whatever states the two records have where they differ."""
    residuals = network.residuals
    records = all_records(network)
    tables = np.array([_counted(network, record) for record in records])
    numbers = residuals.of_tables(tables)
    charges = Charges(residuals)
    for first, second in product(range(len(records)), repeat=2):
        moved = np.square(numbers[first] - numbers[second])
        by_set = np.bincount(residuals.set_of_number, moved, minlength=len(residuals.sizes))
        differs = np.array([[int(a != b) for a, b in zip(records[first], records[second], strict=True)]])
        np.testing.assert_allclose(charges.moved(differs)[0], by_set, atol=1e-12)


def _counted(network: Network, record: tuple) -> np.ndarray:
    from dpbayes.model.dataset import count

    return count(network, table_of(network, [record])).values.astype(float)


@pytest.mark.parametrize("network", [*NETWORKS.values(), ASIA], ids=[*NETWORKS, "asia"])
def test_the_worst_record_is_the_worst_of_all(network):
    charges = Charges(network.residuals)
    rng = np.random.default_rng(1)
    every = charges.moved(all_differences(network))
    for _ in range(5):
        prices = rng.exponential(size=len(network.closure))
        worst = charges.worst(prices)
        assert worst.exact
        assert worst.value == pytest.approx((every @ prices).max(), rel=1e-12)
        assert worst.charge @ prices == pytest.approx(worst.value, rel=1e-12)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_noise_at_stated_prices_loses_1_and_no_more(network):
    """By all differences of two records: the largest sum of c_A(d)/s_A."""
    residuals = network.residuals
    prices = np.random.default_rng(4).exponential(size=len(network.closure))
    scales = gaussian_at(residuals, prices).scales
    inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)
    loss = float((Charges(residuals).moved(all_differences(network)) @ inverse).max())
    assert 1 - 1e-9 < loss <= 1


def test_where_the_search_would_be_too_large_the_bound_is_never_below_and_said_to_be_one(monkeypatch):
    charges = Charges(ASIA.residuals)
    prices = np.random.default_rng(2).exponential(size=len(ASIA.closure))
    exact = charges.worst(prices)
    monkeypatch.setattr("dpbayes.model.residual_design.MAX_TABLE_BITS", 1)
    bound = charges.worst(prices)
    assert bound.value >= exact.value
    assert bound.at_least <= exact.value
    assert bound.charge @ prices == pytest.approx(bound.value)
    design = best_gaussian(ASIA.residuals)
    assert not design.exact
    every = charges.moved(all_differences(ASIA))[:, 1:]
    assert (every / design.scales[1:]).sum(axis=1).max() <= 1


@pytest.mark.parametrize("network", [*NETWORKS.values(), ASIA], ids=[*NETWORKS, "asia"])
def test_the_best_variances_lose_one_and_no_others_tried_are_better(network):
    residuals = network.residuals
    design = best_gaussian(residuals)
    noisy = design.scales > 0
    every = Charges(residuals).moved(all_differences(network))[:, noisy]
    assert (every / design.scales[noisy]).sum(axis=1).max() == pytest.approx(1, rel=1e-9)
    assert (every / design.scales[noisy]).sum(axis=1).max() <= 1
    assert 0 <= design.gap <= residual_design.GAP
    values = residuals.cell_values(np.ones(len(network.names)))
    assert values @ design.scales == pytest.approx(design.error)
    rng = np.random.default_rng(3)
    for size in (0.003, 0.03, 0.3, 3.0):
        tried = design.scales[noisy] * np.exp(size * rng.standard_normal((200, noisy.sum())))
        tried *= (every @ (1 / tried).T).max(axis=0)[:, None]
        assert (tried @ values[noisy]).min() >= design.error * (1 - design.gap) * (1 - 1e-12)


def test_a_network_of_one_state_has_no_noise():
    network = Network.from_edges("a", [], {"a": "x"})
    design = best_gaussian(network.residuals)
    assert not design.scales.any()
    assert (design.error, design.gap, design.exact) == (0.0, 0.0, True)


TABLE = {
    # Laplace, least squares; Gaussian cells, least squares, Gaussian residuals: per cell
    "asia": (512, 284, 16, 8.9, 7.39),
    "chain10": (800, 400, 20, 10.0, 9.7),
    "naive bayes 16": (2312, 1156, 34, 17.0, 16.1),
    "insurance": (5832, 4833, 54, 44.8, 32.7),
    "alarm": (10952, 8753, 74, 59.1, 35.7),
    "win95pts": (46208, 37594, 152, 123.7, 50.9),
}


def network_called(name: str) -> Network:
    built = {"chain10": lambda: chain(10), "naive bayes 16": lambda: naive_bayes(16)}
    return built[name]() if name in built else load_named(name)[0]


@pytest.mark.parametrize("name", thorough(TABLE, sample=["asia", "chain10", "naive bayes 16", "insurance"]))
def test_the_expected_squared_error_per_cell_of_every_noise_at_a_promise_of_one(name):
    """Pure epsilon = 1 for the first two, and noise of an L2 sensitivity of 1 for the last three."""
    network = network_called(name)
    residuals, cells = network.residuals, network.cell_count
    moved = 2 * len(network.names)
    fitted = float(residuals.cell_values(np.ones(len(network.names))) @ residuals.of_unit_cells) / cells
    gaussian = best_gaussian(residuals)
    laplace, least, own, both, best = TABLE[name]
    assert 2 * moved**2 == laplace
    assert 2 * moved**2 * fitted == pytest.approx(least, abs=0.5)
    assert moved == own
    assert moved * fitted == pytest.approx(both, abs=0.06)
    assert gaussian.error / cells == pytest.approx(best, abs=0.06, rel=2e-3)
