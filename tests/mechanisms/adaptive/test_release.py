"""Adaptive releases, simulated and real: what they release, their accuracy, and what they refuse."""

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpbayes as dp
from benchmarks.made_up import pair_error
from benchmarks.own import columns_alone
from dpbayes.base.amounts import Rho
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.experiments.answers import answers_of
from dpbayes.mechanisms.adaptive.choices import UNIT, GrowingGraph, PairChoice, chosen_forest
from dpbayes.mechanisms.adaptive.draws import OpenDPDraws, SimulatedDraws, choice_scale
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import (
    MOST_STATES,
    Measurement,
    Process,
    carried_out,
    require_course,
    require_feasible,
)
from dpbayes.mechanisms.adaptive.reading import column_distributions, column_prior, model_probabilities
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease, drawn_release, simulate_adaptive
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals
from dpbayes.model.question import Question
from dpbayes.posteriors.answers import assumed_independence
from tests.strategies import random_networks

CERTAINTY = 1e-9


def simulated(table: Dataset, epsilon: float, seed: int = 1) -> AdaptiveRelease:
    return dp.simulate_adaptive(table, epsilon=epsilon, delta=1e-5, rng=np.random.default_rng(seed))


# What is released


def joined(network: Network, *names: str) -> bool:
    return any({network.index(name) for name in names} <= set(family) for family in network.families)


def test_an_answer_has_an_interval_only_where_a_released_table_joins_its_columns(asia: Dataset) -> None:
    """For every pair of columns and every posterior; the graph of a given network adds no doubt."""
    release = simulated(asia, 1)
    names = release.network.names
    laws = [release.tables.noise_aware(points=8), release.tables.posterior, release.tables.joint_noise_aware()]
    pairs = [(one, other) for k, one in enumerate(names) for other in names[k + 1 :]]
    for law in laws:
        answers = {pair: law.query(pair[0], {pair[1]: "yes"}, interval=0.95) for pair in pairs}
        has_interval = [bool(np.isfinite([a.low, a.high, a.sd]).all()) for a in answers.values()]
        assert has_interval == [joined(release.network, *pair) for pair in pairs]
        assert [not answer.assumes for answer in answers.values()] == has_interval
        assert ["reason" not in answer.to_frame() for answer in answers.values()] == has_interval
        assert 0 < sum(has_interval) < len(pairs)
        np.testing.assert_allclose([a.mean.sum() for a in answers.values()], 1.0)
    batch = replace(release.tables, outcome=release.tables.outcome.part(None))
    for one, other in pairs[:6]:  # as Explore shows them
        read = answers_of(batch, Question(release.network, one, "yes", {other: "yes"}), is_noise_aware=True)
        assert (read.interval is not None) == joined(release.network, one, other)
    given = replace(release.tables.posterior, is_graph_chosen=False)
    assert all(np.isfinite(given.query(one, {other: "yes"}, interval=0.95).sd).all() for one, other in pairs)


def test_the_independence_of_an_answer_holds_in_its_model(asia: Dataset) -> None:
    """Every stated independence is one of the released model, by exact queries with all states of its condition."""
    release = simulated(asia, 1)
    network, cpts = release.network, release.probabilities
    for one, other in itertools.combinations(network.names, 2):
        sentence = assumed_independence(network, (one, other))
        if joined(network, one, other):
            assert sentence == ""
            continue
        stated = re.search(r"that (\w+) is independent of (\w+)(?: given ([\w, ]+))?\.$", sentence)
        assert stated is not None
        node, rest, given = stated[1], stated[2], stated[3].split(", ") if stated[3] else []
        assert {node, rest} == {one, other}
        for states in itertools.product(("yes", "no"), repeat=len(given)):
            evidence = dict(zip(given, states, strict=True))
            answers = [dp.query(network, cpts, node, evidence | {rest: state}) for state in ("yes", "no")]
            np.testing.assert_allclose(*answers, atol=1e-9)


def test_the_guarantee_follows_from_the_rho_of_the_plan(asia: Dataset) -> None:
    release = simulated(asia, 1)
    assert Fraction(release.guarantee.rho) >= release.plan.rho
    assert zcdp_epsilon(float(release.plan.rho), delta=1e-5) <= 1
    assert Fraction(99, 100) * release.plan.rho <= release.process.cost <= release.plan.rho


def test_a_large_epsilon_rebuilds_the_table(asia: Dataset) -> None:
    release = simulated(asia, 1000)
    assert pair_error(asia, release.network, release.probabilities) < 0.002
    exact = dp.count(release.network, asia).values
    np.testing.assert_allclose(release.tables.outcome.updates, exact, atol=6)


def test_the_noise_model_states_the_variance_of_the_tables(asia: Dataset) -> None:
    """The squared errors of all residuals over their variances, over 30 releases: chi squared."""
    squares, numbers, table = 0.0, 0, asia.take(slice(0, 1000))
    for seed in range(30):
        release = simulated(table, 2, seed)
        residuals = release.network.residuals
        exact = residuals.of_tables(dp.count(release.network, table).values.astype(float))
        variances = release.measured.variances[residuals.set_of_number]
        away = (release.measured.numbers - exact)[1:]
        squares += float((away**2 / variances[1:]).sum())
        numbers += len(away)
    low, high = stats.chi2.ppf([CERTAINTY / 2, 1 - CERTAINTY / 2], numbers)
    assert low < squares < high
    assert not low < 1.7 * squares < high  # such a test can fail


def test_a_real_release_has_the_guarantee_and_another_graph_of_noise_each_time(asia: Dataset) -> None:
    first, second = (drawn_release(plan_for(2, "0.00001"), asia.take(slice(0, 500)), OpenDPDraws()) for _ in range(2))
    assert not first.is_simulated
    assert str(first.guarantee) == "ε = 2, δ = 0.00001"
    assert first.process.cost <= first.plan.rho
    assert not np.array_equal(first.measured.numbers[1:9], second.measured.numbers[1:9])
    assert pair_error(asia, first.network, first.probabilities) < 0.3


# Reading


def test_the_model_has_the_released_distribution_of_every_column(asia: Dataset) -> None:
    release = simulated(asia, 0.3)
    network = release.network
    columns = np.diag(pair_marginals(network, release.probabilities))
    np.testing.assert_allclose(columns, column_distributions(release.measured), atol=1e-3)
    noisy = network.residuals.tables(release.measured.numbers)
    root = next(node for node, parents in enumerate(network.parents) if not parents)
    assert np.abs(network.table(noisy, root) / asia.n - columns[2 * root : 2 * root + 2]).max() < 0.1


def measured(*codes: np.ndarray, parents: tuple[tuple[str, ...], ...], price: int) -> MeasuredResiduals:
    names = tuple(f"v{j}" for j in range(len(codes)))
    table = Dataset(names, tuple(tuple(map(str, range(own.max(initial=1) + 1))) for own in codes), np.stack(codes, 1))
    network = Network(names, table.states, parents)
    prices = np.where(np.arange(len(network.closure)) > 0, price, 0)
    nothing = MeasuredResiduals.nothing(network, table.n, 2**20)
    return nothing.with_results(prices, nothing.noisy(table, prices, SimulatedDraws(np.random.default_rng(1))))


@pytest.mark.parametrize(("share", "low", "high"), [(0.5, 10, 10), (0.0, 0.1, 0.1), (0.2113, 0.99, 1.01)])
def test_the_prior_of_the_columns_is_estimated_from_all_of_them(share: float, low: float, high: float) -> None:
    """Columns with a share p of a state are as far from even as Beta(a, a) with (1 - 2 p)^2 = 1/(2 a + 1)."""
    column = np.arange(10_000) < round(share * 10_000)
    assert low <= column_prior(measured(*[column.astype(int)] * 6, parents=((),) * 6, price=2**30)) <= high


def test_rows_are_shrunk_as_far_as_the_release_shows() -> None:
    """Copies stay copies at little noise; rows of independent columns become alike at much noise."""
    first, other = np.random.default_rng(2).integers(0, 6, (2, 6000))
    copies = model_probabilities(measured(first, first, parents=((), ("v0",)), price=2**20))[6:].reshape(6, 6)
    assert np.diag(copies).min() > 0.99993  # the means of the rows have 0.9999, and 0.997 at a prior of 1/2
    noisy = measured(first, other, parents=((), ("v0",)), price=16)
    raw, read = noisy.tables[6:].reshape(6, 6) / 1000, model_probabilities(noisy)[6:].reshape(6, 6)
    assert np.abs(read - 1 / 6).mean() < 0.7 * np.abs(raw - 1 / 6).mean()  # 0.97 at a prior of 1/2


# Hopeless stages


def test_a_stage_without_a_chance_is_left_out_and_costs_nothing(asia: Dataset) -> None:
    release = simulated(asia.take(slice(0, 50)), 0.1)
    assert {event.stage for event in release.process.events} == {"columns", "pairs", "families"}
    assert release.process.choices == 0
    assert release.process.cost > Fraction(99, 100) * release.plan.rho
    assert not release.network.edges
    assert simulated(asia, 1).process.choices > 0


@pytest.mark.parametrize(("n", "is_made"), [(23, False), (24, True)])
def test_the_forest_is_left_out_where_nothing_scores_more_than_equal_columns(n: int, is_made: bool) -> None:
    """The score of "nothing" is 5 * 2048 * (ln 4 + 1) at this cost, and that of equal columns 1024 n."""
    forest = chosen_forest(~np.eye(4, dtype=bool), lambda among: None, n=n, cost=Rho(Fraction(1, 50)))
    assert any(forest) == is_made


# Sizes


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_independent_columns_are_released_as_precisely_as_alone(epsilon: float) -> None:
    """The mean error of eight releases is within three standard errors: a false alarm in 1 of 300 settings or fewer."""
    rng = np.random.default_rng(4)
    cards = [2, 4, 6] * 8
    codes = np.column_stack([rng.choice(card, 5000, p=rng.dirichlet(np.ones(card))) for card in cards])
    table = Dataset(tuple(f"v{j}" for j in range(24)), tuple(tuple("abcdef"[:card]) for card in cards), codes)
    releases = [simulated(table, epsilon, seed) for seed in range(8)]
    ours = [pair_error(table, own.network, own.probabilities) for own in releases]
    others = [columns_alone(table, plan_for(epsilon, 1e-5), np.random.default_rng(seed)) for seed in range(8)]
    alone = [pair_error(table, own.network, model_probabilities(own)) for own in others]
    assert np.mean(ours) < np.mean(alone) + 3 * math.hypot(stats.sem(ours), stats.sem(alone))
    assert np.mean([len(own.network.edges) for own in releases]) < 4


@pytest.mark.parametrize(
    ("names", "states", "codes"),
    [
        (("a",), (("x", "y"),), np.array([[0], [1], [1]])),
        (("a", "b"), (("x",), ("u", "v")), np.array([[0, 0], [0, 1], [0, 1]])),
        (("a", "b", "c"), (("x", "y"),) * 3, np.array([[0, 0, 1]])),
    ],
)
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_small_tables_and_columns_of_one_state_are_released(names, states, codes, delta) -> None:
    table = Dataset(names, states, codes)
    release = simulate_adaptive(table, epsilon=1, delta=delta, rng=np.random.default_rng(1))
    assert release.network.names == names
    assert release.probabilities.shape == (release.network.cell_count,)


@pytest.mark.parametrize("delta", [0, 1e-5])
def test_no_arrow_begins_or_ends_at_a_column_of_one_state(delta: float) -> None:
    rng = np.random.default_rng(0)
    first, last = rng.integers(0, 2, (2, 2000))
    codes = np.column_stack([0 * first, first, first ^ (rng.random(2000) < 0.1), last])
    table = Dataset(("site", "b", "c", "d"), (("one",), ("y", "z"), ("y", "z"), ("p", "q")), codes)
    for _ in range(20):  # without either guard, one release in three would have such an arrow
        release = simulate_adaptive(table, epsilon=1, delta=delta, rng=rng)
        assert "site" not in {name for edge in release.network.edges for name in edge}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (Dataset(("a",), (("x", "y"),), np.zeros((0, 1), dtype=int)), "0 records"),
        (Dataset(("a",), (("x",),), np.zeros((3, 1), dtype=int)), "No column has two states"),
        (
            Dataset(
                tuple(f"v{j}" for j in range(40)), (tuple(map(str, range(250))),) * 40, np.zeros((3, 40), dtype=int)
            ),
            f"limit is {MOST_STATES:,}",
        ),
    ],
)
def test_tables_without_anything_to_release_are_refused(table: Dataset, message: str) -> None:
    with pytest.raises(InputError, match=message):
        require_feasible(table.states, table.n)


@pytest.mark.parametrize("epsilon", ["abc", 0, -1, 1001, math.inf])
def test_an_epsilon_out_of_range_is_refused(asia: Dataset, epsilon) -> None:
    with pytest.raises(InputError, match=r"epsilon|number"):
        dp.simulate_adaptive(asia, epsilon=epsilon, delta=1e-5, rng=1)


def test_a_plan_that_leaves_nothing_for_the_families_is_refused() -> None:
    with pytest.raises(InputError, match="The shares need"):
        AdaptivePlan(epsilon=Fraction(1), delta=Fraction(1, 1000), pairs=Fraction(9, 10))


# The parts


def test_choices_are_drawn_by_the_exponential_mechanism() -> None:
    """Both draws have the law softmax(score / scale)."""
    scores, rho = np.array([0, 4000, 7200, -1600]), Rho(Fraction(1, 8))
    scale = float(choice_scale(2048, rho))
    law = np.exp(scores / scale) / np.exp(scores / scale).sum()
    for draws, number in ((SimulatedDraws(np.random.default_rng(1)), 20_000), (OpenDPDraws(), 1200)):
        drawn = np.bincount([draws.chosen(scores, 2048, rho) for _ in range(number)], minlength=4)
        assert stats.chisquare(drawn, number * law).pvalue > CERTAINTY
        assert stats.chisquare(drawn, np.full(4, number / 4)).pvalue < CERTAINTY


def test_noise_of_both_draws_has_the_variance_of_its_rho() -> None:
    rhos = [Rho(Fraction(1, 200))] * 1000 + [Rho(Fraction(1, 2))] * 1000
    for draws in (SimulatedDraws(np.random.default_rng(1)), OpenDPDraws()):
        noise = draws.noisy(np.full(2000, 7), rhos) - 7
        for part, variance in ((noise[:1000], 100), (noise[1000:], 1)):
            low, high = stats.chi2.ppf([CERTAINTY / 2, 1 - CERTAINTY / 2], 1000)
            assert low < (part**2).sum() / variance < high


def test_measurements_of_a_set_are_combined_by_precision(asia: Dataset) -> None:
    network = dp.chain(2)
    table = Dataset(network.names, network.states, asia.codes[:, :2])
    draws = SimulatedDraws(np.random.default_rng(3))
    start = MeasuredResiduals.nothing(network, table.n, 2**42)
    all_sets, only_one = np.array([0, 2**20, 2**20, 2**20]), np.array([0, 3 * 2**20, 0, 0])
    first = start.with_results(all_sets, start.noisy(table, all_sets, draws))
    both = first.with_results(only_one, first.noisy(table, only_one, draws))
    assert both.variances[1] == pytest.approx(first.variances[1] / 4)
    np.testing.assert_array_equal(both.numbers[2:], first.numbers[2:])
    other = (both.numbers[1] - first.numbers[1] / 4) / 0.75
    exact = network.residuals.of_tables(dp.count(network, table).values.astype(float))[1]
    assert abs(other - exact) < 7 * math.sqrt(first.variances[1] / 3)


def test_no_parent_closes_a_cycle() -> None:
    graph = GrowingGraph.of([(), (0,), (1,), ()], np.array([2, 2, 2, 2]))
    cheap = np.zeros((4, 4), dtype=np.int64)
    allowed = graph.candidates(most_parents=2, noise=cheap, n=100)
    assert allowed[0, 2]
    assert not allowed[2, 0]
    assert not allowed[1, 0]
    assert not np.diag(allowed).any()
    assert allowed[3].tolist() == [True, True, True, False]
    assert not graph.candidates(most_parents=2, noise=cheap + UNIT * 100, n=100)[3, 1]
    large = GrowingGraph.of([(), (0,), ()], np.array([30, 30, 30]))  # 27,000 cells, more than a clique may have
    assert not large.candidates(most_parents=2, noise=cheap[:3, :3], n=100)[2, 1]


@pytest.mark.parametrize("network", random_networks(12, most_nodes=5))
def test_a_target_and_its_columns_get_a_family_and_arrows_to_the_target(network: Network) -> None:
    graph = GrowingGraph.of([tuple(map(network.index, own)) for own in network.parents], network.cards)
    for target, *others in itertools.permutations(range(len(network.names)), 3):
        if arrows := graph.arrows((target, *others), 4):
            parents = graph.with_arrows(arrows).parents
            assert any({target, *others} <= {child, *own} for child, own in enumerate(parents))
            assert all(j in parents[target] or target in parents[j] for j in others)


# What a recipient checks


@pytest.fixture(scope="module")
def course(asia: Dataset) -> tuple[AdaptivePlan, Process, Process]:
    plan = plan_for(1, 1e-5)
    process = carried_out(plan, asia, SimulatedDraws(np.random.default_rng(1)))
    return plan, Process.start(plan, process.measured.network, asia.n), process


def with_choice(events: tuple, **changed) -> tuple:
    """The steps with another first choice of a parent."""
    at = next(k for k, event in enumerate(events) if event.stage == "parents")
    event = events[at]
    assert isinstance(event, PairChoice)
    return (*events[:at], replace(event, **changed), *events[at + 1 :])


def with_measurement(events: tuple, **changed) -> tuple:
    """The steps with another measurement of the pairs."""
    at = next(k for k, event in enumerate(events) if event.stage == "pairs")
    assert isinstance(events[at], Measurement)
    return (*events[:at], replace(events[at], **changed), *events[at + 1 :])


def one_more_parent(events: tuple) -> tuple:
    parents = next(event for event in events if event.stage == "pairs").parents
    return tuple((1,) if k == 0 else () for k in range(len(parents)))


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        (lambda events: with_choice(events, cost=Rho(Fraction(1, 10**6))), "cost of a choice"),
        (lambda events: with_choice(events, pair=(0, 0)), "not among the candidates"),
        (lambda events: with_measurement(events, parents=one_more_parent(events)), "not the one that was chosen"),
        (lambda events: with_measurement(events, stage="families"), "order"),
        (lambda events: (*events, events[-1]), "more steps"),
        (lambda events: events[:-1], "order"),
        (lambda events: (events[1], events[0], *events[2:]), "order"),
    ],
)
def test_steps_that_the_plan_does_not_allow_are_refused_at_the_first_deviation(course, forged, reason: str) -> None:
    plan, start, process = course
    require_course(plan, start, process.events)
    with pytest.raises(InputError, match=reason):
        require_course(plan, start, forged(process.events))
