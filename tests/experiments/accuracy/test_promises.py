"""What stands beside epsilon for releases that are tried again and again, against simulation and the exact ratio."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpbayes.experiments.accuracy.methods import (
    largest_degenerate_epsilon,
    max_decisions_per_node,
    printed_bound,
)
from dpbayes.sources.named_networks import naive_bayes
from dpbayes.sources.shipped_tables import default_network


@example(0.3108133603775857, 0.0, 6)
@given(st.floats(1e-6, 0.999), st.floats(0, 3), st.integers(1, 101))
def test_what_succeeds_in_so_many_tries_costs_no_more_than_epsilon_again(failing, epsilon, tries):
    """The sum 1 + p + ... + p^(a - 1) against the neighbour's, whose 1 - p' is at most e^epsilon (1 - p)."""
    # Rounding alone must not make the neighbour fail more often.
    other = min(failing, 1 - min(math.exp(epsilon) * (1 - failing), 1.0))
    sums = [math.fsum(p**k for k in range(tries)) for p in (failing, other)]
    assert sums[0] <= math.exp(epsilon) * sums[1] * (1 + 1e-12)
    assert sums[1] <= sums[0], "and the other way round it falls"


@pytest.mark.parametrize(("network", "depth"), [(naive_bayes(2), 1), (default_network("adult"), 4)])
def test_the_coin_is_tossed_as_far_as_it_is_said(network, depth):
    end = largest_degenerate_epsilon(network)
    assert (max_decisions_per_node(network), end) == (depth, pytest.approx(2 * depth * math.log(2)))
    assert printed_bound(network, end * 0.999) == 0
    assert printed_bound(network, end * 1.001) > 0
