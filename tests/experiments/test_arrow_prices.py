"""What an arrow costs is what its network's releases are off by less without it, as releases then are."""

import numpy as np
import pytest

from dpbayes.base.steps import Partial, finished
from dpbayes.experiments.arrow_prices import ArrowPrices, Payer, arrow_errors, without_arrow
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.planned_errors import Plan, planned_errors
from dpbayes.model.counts import Counts, count
from dpbayes.model.cpts import random_cpts
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import full
from dpbayes.sources.synthetic import sample_dataset
from tests.conftest import IS_THOROUGH, thorough
from tests.experiments.shifts import mean_shift
from tests.experiments.test_planned_errors import (
    FRESH,
    NETWORKS,
    RELEASES,
    fresh_tables,
    mechanisms_of,
    question_of,
    quick_mechanisms_of,
    random_network,
)
from tests.strategies import V_STRUCTURE

MOST_COMPARED = 20
"""Cells of a network without each of whose arrows every mechanism is simulated, unless thorough."""

WITH_ARROWS = [name for name, (network, _) in NETWORKS.items() if network.edges]


@pytest.mark.parametrize("network", [V_STRUCTURE, full(4), random_network(5)])
def test_counts_without_an_arrow_are_those_of_the_same_records(network):
    rng = np.random.default_rng(4)
    data = sample_dataset(network, random_cpts(network, rng), 200, rng)
    for parent, child in network.edges:
        shorter = without_arrow(count(network, data), parent, child)
        assert shorter.network == network.without_edge(parent, child)
        np.testing.assert_array_equal(shorter.values, count(shorter.network, data).values)


def test_errors_are_those_of_each_network_on_the_same_tables():
    (network, cpts), question = NETWORKS["sprinkler"], ("wet", {"cloudy": "yes"})
    plan = Plan(planned_tables(network, cpts, 100, 7, np.random.default_rng(1)), Reading.AS_REAL, question)
    priced = finished(arrow_errors(plan, on(1.0), network.edges, np.random.default_rng, at_once=3))
    answer = priced.of_answer
    assert answer is not None
    assert list(priced.without) == list(answer.without) == list(network.edges)
    expected = finished(planned_errors(plan, mechanisms_of(network, 1.0), np.random.default_rng, at_once=3))
    np.testing.assert_array_equal(priced.drawn.cells, expected.cells)
    np.testing.assert_array_equal(answer.drawn.cells, expected.answers)
    for place, arrow in enumerate(network.edges):
        shorter = Plan(without_arrow(plan.tables, *arrow), plan.reading, question)
        mechanisms = mechanisms_of(shorter.network, 1.0)
        left = finished(planned_errors(shorter, mechanisms, np.random.default_rng, at_once=3))
        np.testing.assert_array_equal(priced.without[arrow].cells, left.cells)
        np.testing.assert_array_equal(priced.prices.prices[place], expected.cells - left.cells)
        np.testing.assert_array_equal(answer.prices.without[place], left.answers)


def test_every_step_is_of_one_network_and_what_is_in_is_shown():
    network, cpts = NETWORKS["short"]
    plan = Plan(planned_tables(network, cpts, 100, 4, np.random.default_rng(1)), Reading.AS_REAL)
    steps = list(arrow_errors(plan, on(1.0), network.edges, np.random.default_rng, at_once=2))
    shares = [step.share if isinstance(step, Partial) else step for step in steps]
    np.testing.assert_allclose(shares, np.arange(1, 6) / 6)
    assert [len(step.result.without) for step in steps if isinstance(step, Partial)] == [0, 1]
    priced = finished(arrow_errors(plan, on(1.0), network.edges, np.random.default_rng, at_once=2))
    assert priced.of_answer is None


def test_an_arrow_is_named_where_tables_and_a_margin_tell_it_from_the_others():
    tables = np.random.default_rng(1).normal(scale=0.1, size=50)
    drawn = np.stack([2 + tables, 3 + tables])
    left = [[1.5, 2.9], [1.2, 2.9]]  # of two arrows, for two mechanisms
    prices = ArrowPrices(drawn, np.array(left)[..., None] + tables)
    assert (prices.dearest, prices.near, prices.is_clear) == (Payer(1, 0), (), True)
    assert (round(prices.drawn_error - prices.least, 9), round(float(prices.prices[0, 1].mean()), 9)) == (0.8, 0.1)
    by_a_hair = ArrowPrices(drawn, np.array([[1.22, 2.9], [1.2, 2.21]])[..., None] + tables)
    assert by_a_hair.near == (Payer(1, 1), Payer(0, 0)), "the dearest of them first"
    noisy = ArrowPrices(drawn, np.array(left)[..., None] + tables * [[[1], [1]], [[-20], [1]]])
    assert noisy.near[0] == Payer(0, 0), "their tables differ too much"
    nothing = ArrowPrices(drawn, np.stack([drawn - 0.02, drawn + 1]))
    assert not nothing.is_clear
    assert not ArrowPrices(drawn[:, :1], np.zeros((1, 2, 1))).is_clear, "one table tells nothing"


def on(epsilon, mechanisms=mechanisms_of):
    return lambda network: mechanisms(network, epsilon)


def _simulated(mechanisms: list, tables: list[Counts], rng: np.random.Generator) -> np.ndarray:
    """Mean error of releases as Release simulates and measures them: (mechanisms,)."""
    releases = RELEASES // FRESH
    return np.array(
        [np.mean([mean_shift(mechanism, table, rng, releases) for table in tables]) for mechanism in mechanisms]
    )


@pytest.mark.parametrize(("epsilon", "n"), thorough([(1.0, 1000), (0.3, 200)], sample=[(1.0, 1000)]))
@pytest.mark.parametrize("name", thorough(WITH_ARROWS, sample=["asia", "survey", "tree", "short", "random 2"]))
def test_the_arrow_that_is_named_is_the_dearest_one_in_releases(name, epsilon, n):
    (network, cpts), rng = NETWORKS[name], np.random.default_rng(7)
    tables = planned_tables(network, cpts, n, max(8, min(100, 4000 // network.cell_count)), rng)
    plan = Plan(tables, Reading.AS_REAL, question_of(network))
    is_quick = IS_THOROUGH or network.cell_count <= MOST_COMPARED
    mechanisms = on(epsilon, mechanisms_of if is_quick else quick_mechanisms_of)
    priced = finished(arrow_errors(plan, mechanisms, network.edges, np.random.default_rng, at_once=50)).prices
    fresh = fresh_tables(name, n, rng)
    drawn = _simulated(mechanisms(network), fresh, rng)
    prices = np.empty((len(network.edges), len(drawn)))
    for place, arrow in enumerate(network.edges):
        shorter = [without_arrow(table, *arrow) for table in fresh]
        prices[place] = drawn - _simulated(mechanisms(shorter[0].network), shorter, rng)
    simulated = Payer(*map(int, np.unravel_index(np.argmax(prices), prices.shape)))
    named = (priced.dearest, *priced.near) if priced.is_clear else ()
    arrows = {payer.arrow for payer in named}
    assert simulated in named or len(arrows) != 1, "one arrow is named, with who pays it"
    assert simulated.arrow in arrows or not arrows, "or those it is too near to call between"


@pytest.mark.parametrize(("name", "arrow"), [("sprinkler", ("sprinkler", "wet")), ("survey", ("O", "T"))])
def test_it_is_not_always_too_near_to_call(name, arrow):
    network, cpts = NETWORKS[name]
    plan = Plan(planned_tables(network, cpts, 1000, 60, np.random.default_rng(3)), Reading.AS_REAL)
    work = arrow_errors(plan, on(1.0, quick_mechanisms_of), network.edges, np.random.default_rng, at_once=60)
    prices = finished(work).prices
    assert prices.is_clear
    assert {network.edges[payer.arrow] for payer in (prices.dearest, *prices.near)} == {arrow}
