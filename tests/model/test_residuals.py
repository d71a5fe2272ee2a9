"""Residuals against their definition, record by record, and against dense least squares."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes import Network, count
from dpbayes.model.fourier import coefficients
from dpbayes.model.residuals import contrasts
from tests.strategies import ASIA, all_records, chain, counts_per_record, networks, networks_with_data, random_table

SEVERAL = {"states": (1, 4), "most_nodes": 4}


def sets_of(network: Network) -> list[list[int]]:
    return [[i for i in range(len(network.names)) if mask >> i & 1] for mask in network.closure.members]


def part_of_record(network: Network, nodes: list[int], record: tuple[int, ...]) -> np.ndarray:
    """kron_{i in A} H_i[:, x_i], nodes in the network's order."""
    part = np.ones(1)
    for node in nodes:
        part = np.kron(part, contrasts(int(network.cards[node]))[:, record[node]])
    return part


def of_record(network: Network, record: tuple[int, ...]) -> np.ndarray:
    """All residuals of a table of one record (R,)."""
    return np.concatenate([part_of_record(network, nodes, record) for nodes in sets_of(network)])


@pytest.mark.parametrize("states", [2, 3, 7])
def test_contrasts_are_orthonormal_and_leave_out_the_mean(states):
    rows = contrasts(states)
    np.testing.assert_allclose(rows @ rows.T, np.eye(states - 1), atol=1e-14)
    np.testing.assert_allclose(rows.sum(axis=1), 0, atol=1e-14)


@given(networks(**SEVERAL))
def test_residuals_of_a_table_are_those_of_its_records(network):
    """Every number of every residual, and the squared length p_A of one record's part."""
    records = all_records(network)
    expected = np.array([of_record(network, record) for record in records])
    residuals = network.residuals
    numbers = residuals.of_tables(counts_per_record(network).astype(float))
    np.testing.assert_allclose(numbers, expected, atol=1e-12)
    lengths = np.add.reduceat(expected**2, np.flatnonzero(np.diff([-1, *residuals.set_of_number])), axis=-1)
    np.testing.assert_allclose(lengths, np.broadcast_to(residuals.shares[residuals.sizes > 0], lengths.shape))


@given(networks_with_data(**SEVERAL))
def test_tables_are_rebuilt_and_consistent_ones_left_as_they_are(network_and_data):
    network, data = network_and_data
    counts = count(network, data)
    residuals = network.residuals
    np.testing.assert_allclose(residuals.tables(residuals.of_tables(counts.values)), counts.values, atol=1e-10)
    np.testing.assert_allclose(residuals.consistent(counts.values, counts.n), counts.values, atol=1e-10)


@given(networks(**SEVERAL), st.integers(0, 2**32 - 1))
def test_consistent_tables_are_the_nearest(network, seed):
    """Dense least squares over the tables of all records whose number is n; and what it does twice it does once."""
    rng = np.random.default_rng(seed)
    noisy, n = rng.normal(size=(2, network.cell_count)) * 5, 7.0
    design = counts_per_record(network).astype(float).T
    # Tables of n records: n times the first record, and any differences from it.
    offset, span = n * design[:, 0], design[:, 1:] - design[:, :1]
    weights = np.linalg.lstsq(span, (noisy - offset).T, rcond=None)[0] if span.size else np.zeros((0, 2))
    fit = network.residuals.consistent(noisy, n)
    np.testing.assert_allclose(fit, offset + (span @ weights).T, atol=1e-8)
    np.testing.assert_allclose(network.residuals.consistent(fit, n), fit, atol=1e-10)


@given(networks(**SEVERAL))
def test_variances_of_cells_and_rows_are_those_of_the_projection(network):
    """P = the projection's matrix, cell by cell: its blocks are a J/r^2 + c (I - J/r)."""
    residuals, k = network.residuals, network.cell_count
    projection = residuals.consistent(np.eye(k), 0.0)
    variances = residuals.of_unit_cells
    of_cells = residuals.cell_variances(variances)
    of_totals, of_contrasts = residuals.row_variances(variances)
    for row in range(network.row_count):
        cells, node = network.cells_of_row(row), int(network.node_of_row[row])
        r = int(network.cards[node])
        block = of_totals[node] / r**2 + of_contrasts[node] * (np.eye(r) - 1 / r)
        np.testing.assert_allclose(projection[cells, cells], block, atol=1e-12)
        np.testing.assert_allclose(np.diag(block), of_cells[node], atol=1e-12)


@pytest.mark.parametrize("network", [ASIA, chain(5)], ids=["asia", "chain"])
def test_residuals_of_binary_nodes_are_walsh_coefficients(network):
    table = count(network, random_table(network, np.random.default_rng(1), 40))
    size = np.array([mask.bit_count() for mask in network.closure.members])
    walsh = coefficients(network, table.values) / 2 ** (size / 2)
    np.testing.assert_allclose(network.residuals.of_tables(table.values.astype(float)), walsh, atol=1e-12)


def test_families_that_list_shared_nodes_in_other_orders_agree():
    """The node of one family is a parent that comes first in another."""
    states = {"a": "xyz", "b": "pqrs"}
    network = Network.from_edges(["b", "a", "c"], [("a", "b"), ("b", "c"), ("a", "c")], states)
    assert network.families[0] == (1, 0)
    assert network.families[2] == (0, 1, 2)
    for record in product(range(4), range(3), range(2)):
        table = counts_per_record(network)[all_records(network).index(record)].astype(float)
        np.testing.assert_allclose(network.residuals.consistent(table, 1.0), table, atol=1e-12)
