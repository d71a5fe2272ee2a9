import numpy as np
import pytest
from hypothesis import given

from dpbayes.base.validation import InputError
from dpbayes.model.dataset import count
from dpbayes.model.fourier import cells_per_family, coefficients, marginals, require_binary
from dpbayes.model.network import Network
from tests.strategies import networks_with_data


def full_transform(codes: np.ndarray) -> np.ndarray:
    """All 2^k coefficients of the whole contingency table, by the definition: bit i of gamma and x is node i."""
    k = codes.shape[1]
    table = np.bincount(codes.astype(int) @ (1 << np.arange(k)), minlength=2**k)
    gammas = np.arange(2**k)
    signs = 1 - 2 * (np.bitwise_count(gammas[:, None] & gammas) % 2).astype(int)
    return signs @ table


@given(networks_with_data(most_nodes=6, most_records=20))
def test_coefficients_are_those_of_the_whole_table(network_and_data):
    network, data = network_and_data
    wanted = full_transform(data.codes)[list(network.closure.members)]
    assert np.array_equal(coefficients(network, count(network, data).values), wanted)


@given(networks_with_data(most_nodes=6, most_records=20))
def test_marginals_of_the_coefficients_are_the_counts_without_any_rounding(network_and_data):
    """[Zhang16] Theorem 2: every family's table from the coefficients of its subsets."""
    network, data = network_and_data
    values = count(network, data).values
    assert np.array_equal(marginals(network, coefficients(network, values)), values)


def test_every_cell_knows_how_many_cells_its_family_has():
    assert cells_per_family(Network.from_edges("abc", ["ac", "bc"])).tolist() == [2] * 4 + [8] * 8


@pytest.mark.parametrize("states", ["x", "xyz"])
@pytest.mark.parametrize("transform", [coefficients, marginals, lambda network, _: require_binary(network)])
def test_a_node_without_exactly_two_states_is_named(transform, states):
    network = Network.from_edges(["smoke", "sky"], [], {"sky": states})
    with pytest.raises(InputError, match=f'"sky" has {len(states)} states'):
        transform(network, np.zeros(network.cell_count))
