"""What stands beside epsilon for releases that are tried again and again, against simulation and the exact ratio."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpbayes.experiments.accuracy.methods import (
    ATTEMPTS,
    largest_degenerate_epsilon,
    log10_delta_of_kept,
    max_decisions_per_node,
    printed_bound,
)
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.stealth import needed_increments
from dpbayes.sources.named_networks import chain, empty, naive_bayes
from dpbayes.sources.shipped_tables import default_network
from dpbayes.theory.zhang16.stealth import printed_increment
from tests.conftest import FAR


def plan_of(network, **more) -> AccuracyPlan:
    return AccuracyPlan(network=network, target=network.names[0], epsilons=(1.0,), **more)


@pytest.mark.parametrize("network", [chain(2), empty(2), naive_bayes(3)])
def test_a_try_fails_no_more_often_than_delta_says(network):
    plan, draws = plan_of(network, stealth=0.5), 100_000
    t = float(printed_increment(plan.stealth))
    needed = needed_increments(network, Calibration.AS_PRINTED, np.random.default_rng(1), draws=draws)
    failed = np.mean(needed > t)
    bound = 10 ** (log10_delta_of_kept(plan) / (ATTEMPTS + 1))
    assert 0 < failed < bound + FAR * math.sqrt(bound / draws)
    assert bound < 0.25, "so that delta is below 1e-60 at every setting of the page"


@example(0.3108133603775857, 0.0, 6)
@given(st.floats(1e-6, 0.999), st.floats(0, 3), st.integers(1, 101))
def test_what_succeeds_in_so_many_tries_costs_no_more_than_epsilon_again(failing, epsilon, tries):
    """The sum 1 + p + ... + p^(a - 1) against the neighbour's, whose 1 - p' is at most e^epsilon (1 - p)."""
    # Rounding alone must not make the neighbour fail more often.
    other = min(failing, 1 - min(math.exp(epsilon) * (1 - failing), 1.0))
    sums = [math.fsum(p**k for k in range(tries)) for p in (failing, other)]
    assert sums[0] <= math.exp(epsilon) * sums[1] * (1 + 1e-12)
    assert sums[1] <= sums[0], "and the other way round it falls"


def test_more_stealth_is_less_delta():
    deltas = [log10_delta_of_kept(plan_of(naive_bayes(2), stealth=stealth)) for stealth in (0.5, 0.9, 0.99)]
    assert deltas == sorted(deltas, reverse=True)
    assert math.isfinite(log10_delta_of_kept(plan_of(naive_bayes(200), stealth=0.999, repeats=2)))


@pytest.mark.parametrize(("network", "depth"), [(naive_bayes(2), 1), (default_network("adult"), 4)])
def test_the_coin_is_tossed_as_far_as_it_is_said(network, depth):
    end = largest_degenerate_epsilon(network)
    assert (max_decisions_per_node(network), end) == (depth, pytest.approx(2 * depth * math.log(2)))
    assert printed_bound(network, end * 0.999) == 0
    assert printed_bound(network, end * 1.001) > 0
