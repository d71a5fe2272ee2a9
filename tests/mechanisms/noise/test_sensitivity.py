import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.noise.sensitivity import printed_walsh_sensitivity, walsh_sensitivity
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from tests.strategies import NAIVE_BAYES, counts_per_record, random_networks

BINARY = random_networks(40, most_nodes=6)
CATEGORICAL = random_networks(40, most_nodes=4, states=(1, 3))


def largest_distance(values: np.ndarray) -> float:
    """The largest L1 distance between two rows: what replacing one record can do to a sum over records."""
    return max(np.abs(values - row).sum(axis=1).max() for row in values)


@pytest.mark.parametrize("network", BINARY + CATEGORICAL, ids=range(80))
def test_count_sensitivity_is_reached_and_never_exceeded_over_all_pairs_of_records(network):
    assert largest_distance(counts_per_record(network)) == network.count_sensitivity


@pytest.mark.parametrize("network", BINARY, ids=range(40))
def test_walsh_sensitivity_is_reached_and_never_exceeded_over_all_pairs_of_records(network):
    values = coefficients(network, counts_per_record(network))
    assert largest_distance(values) == walsh_sensitivity(network)
    assert network.odd_overlap.exact


def test_the_printed_sensitivity_of_naive_bayes_is_two_records_coefficients_too_large():
    assert printed_walsh_sensitivity(NAIVE_BAYES) == 68
    assert walsh_sensitivity(NAIVE_BAYES) == 64


def test_a_network_that_cannot_vary_has_sensitivity_zero():
    assert Network.from_edges("ab", ["ab"], {"a": "x", "b": "x"}).count_sensitivity == 0


@pytest.mark.parametrize("sensitivity", [printed_walsh_sensitivity, walsh_sensitivity])
def test_fourier_sensitivities_refuse_nodes_that_are_not_binary(sensitivity):
    with pytest.raises(InputError, match="binary nodes"):
        sensitivity(Network.from_edges("a", [], {"a": "xyz"}))
