"""The privacy of an adaptive release by enumeration: every score, every choice, and every path of a whole release."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy import special

from dpbayes.base.amounts import Rho, number_of
from dpbayes.mechanisms.adaptive import process
from dpbayes.mechanisms.adaptive.choices import (
    SENSITIVITY,
    UNIT,
    PairChoice,
    chosen_forest,
    drawn_by_scores,
    pair_counts,
    pair_scores,
    state_starts,
)
from dpbayes.mechanisms.adaptive.draws import choice_scale
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import by_state, carried_out
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.query import joint_probabilities
from tests.conftest import thorough
from tests.mechanisms.adaptive.scripted import Scripted, every_path, measured_cost, renyi
from tests.strategies import random_networks

PLAN = AdaptivePlan(epsilon=Fraction(4), delta=Fraction(1, 1000), batches=2, most_parents=2)
SHORT = replace(PLAN, batches=1, most_parents=1)
AIMED = replace(SHORT, most_parents=2, target="v1")
pytestmark = pytest.mark.usefixtures("_no_stage_is_left_out")

CARDS = [(2, 2), (3, 2), (2, 2, 2)]


def tables(cards: tuple[int, ...], n: int) -> list[Dataset]:
    """Every table of n records, whose order does not count."""
    records = list(product(*map(range, cards)))
    names = tuple(f"v{j}" for j in range(len(cards)))
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in cards)
    return [Dataset(names, states, np.array(own)) for own in combinations_with_replacement(records, n)]


def records_of(table: Dataset) -> tuple[tuple[int, ...], ...]:
    """The records without their order."""
    return tuple(sorted(map(tuple, table.codes.tolist())))


def neighbours(cards: tuple[int, ...], n: int) -> list[tuple[Dataset, Dataset]]:
    """All pairs of tables that differ in one record."""
    records = list(product(*map(range, cards)))
    return [
        (table.replace(0, one), table.replace(0, other))
        for table in tables(cards, n)
        if not table.codes[0].any()  # the record to be replaced
        for one in records
        for other in records
        if one != other
    ]


# One score, and one choice


@pytest.mark.parametrize("cards", CARDS)
def test_one_record_changes_a_score_by_at_most_the_sensitivity_whatever_was_expected(cards: tuple[int, ...]) -> None:
    rng, n = np.random.default_rng(3), 3
    most = 0
    pairs = neighbours(cards, n)
    starts = state_starts(pairs[0][0])
    expected = [n * rng.random((starts[-1], starts[-1])) for _ in range(6)]
    expected += [np.zeros((starts[-1], starts[-1])), np.full((starts[-1], starts[-1]), float(n))]
    for one, other in pairs:
        for counts in expected:
            first, second = (pair_scores(pair_counts(table), counts, starts) for table in (one, other))
            most = max(most, int(np.abs(first - second).max()))
    assert most == SENSITIVITY == 2 * UNIT  # attained


def test_scores_are_those_of_counting_by_hand() -> None:
    rng = np.random.default_rng(4)
    data = Dataset(("a", "b"), (("x", "y", "z"), ("u", "v")), rng.integers(0, 2, (40, 2)))
    expected = rng.random((5, 5)) * 10
    table = np.zeros((3, 2))
    for a, b in data.codes.tolist():
        table[a, b] += 1
    by_hand = np.abs(UNIT * table - np.rint(UNIT * expected[:3, 3:])).sum()
    assert pair_scores(pair_counts(data), expected, state_starts(data))[0, 1] == by_hand


def ranges_of_loss(scale: float) -> Iterator[float]:
    """The ranges of the loss of one choice among three pairs and nothing, over all neighbours of 3 records."""
    pairs = neighbours((2, 2, 2), 3)[::5]
    starts = state_starts(pairs[0][0])
    for where in product((0.0, 3.0), repeat=3):
        expected = np.zeros((6, 6))
        for (i, j), value in zip(((0, 1), (0, 2), (1, 2)), where, strict=True):
            expected[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = [[value, 0.0], [0.0, 3.0 - value]]
        for one, other in pairs:
            laws = [
                special.log_softmax(np.append(scores[np.triu_indices(3, 1)], 0) / scale)
                for scores in (pair_scores(pair_counts(table), expected, starts) for table in (one, other))
            ]
            yield float(np.ptp(laws[0] - laws[1]))


def test_the_loss_of_a_choice_has_the_range_of_its_rho() -> None:
    """rho = e^2/8 of a range of e."""
    rho = Fraction(1, 50)
    allowed = math.sqrt(8 * rho)
    scale = float(choice_scale(SENSITIVITY, Rho(rho)))
    assert 0.5 * allowed <= max(ranges_of_loss(scale)) <= allowed * (1 + 1e-12)
    assert any(width > allowed for width in ranges_of_loss(scale / 2.1)), "a scale that is too small fails"


def test_columns_in_no_pair_select_before_trees() -> None:
    choose = drawn_by_scores(np.zeros((4, 4), dtype=int), Scripted())
    forest = chosen_forest(~np.eye(4, dtype=bool), choose, n=100_000, cost=Rho(Fraction(1, 50)))
    assert [chosen.pair for chosen in forest] == [(0, 1), (2, 0), (3, 0)]


def test_one_record_changes_the_score_of_a_table_with_the_target_by_at_most_the_sensitivity() -> None:
    """From the choice of a release whose measurements do not depend on the records."""
    scores = {}
    for table in tables((2, 2, 2), 3):
        script = Scripted()
        steps = carried_out(AIMED, table, script).events
        at = [event.stage for event in steps if isinstance(event, PairChoice)].index("target")
        scores[records_of(table)] = script.options[at]
    pairs = neighbours((2, 2, 2), 3)
    changes = np.array([np.abs(scores[records_of(one)] - scores[records_of(other)]) for one, other in pairs])
    assert 0.9 * SENSITIVITY < np.max(changes) <= SENSITIVITY
    assert not np.any(changes[:, -1])


@pytest.mark.parametrize("network", random_networks(4, most_nodes=4, states=(2, 3)))
def test_what_is_expected_of_a_target_is_its_exact_table_with_two_columns(network: Network) -> None:
    rng, starts = np.random.default_rng(6), np.concatenate(([0], np.cumsum(network.cards)))
    cpts = rng.random(network.cell_count)
    cpts /= network.over_cells(network.row_sums(cpts))
    for node, i, j in product(range(len(network.names)), repeat=3):
        if len({node, i, j}) == 3:
            own = [
                pairs[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] for pairs in by_state(network, cpts, node)
            ]
            (expected,) = joint_probabilities(network, cpts[None], (node, i, j))
            np.testing.assert_allclose(np.ravel(own), expected[0], atol=1e-14)


# A whole release


@pytest.mark.parametrize("cards", thorough(CARDS, sample=[(3, 2)]))
@pytest.mark.parametrize("seed", thorough(range(6), sample=[1]))
@pytest.mark.parametrize("plan", [PLAN, AIMED])
def test_every_path_costs_at_most_rho_for_every_pair_of_neighbours(
    plan: AdaptivePlan, cards: tuple[int, ...], seed: int
) -> None:
    """The exact squared distance of all that is measured, and the rhos of the choices, on every path."""
    most = Fraction(0)
    pairs = neighbours(cards, 2)
    rng = np.random.default_rng(seed)
    first = pairs[0][0]
    every = [path for path, _ in every_path(lambda draws: carried_out(plan, first, draws), seed)]
    assert len(every) > 3
    sampled = rng.choice(len(every), size=min(12, len(every)), replace=False)
    for path in thorough(every, sample=[every[k] for k in sampled]):
        for k in rng.choice(len(pairs), size=2, replace=False):
            scripts = [Scripted(path, seed), Scripted(path, seed)]
            for table, script in zip(pairs[k], scripts, strict=True):
                carried_out(plan, table, script)
            assert scripts[0].costs == scripts[1].costs
            cost = measured_cost(*scripts, power=2) + sum(map(number_of, scripts[0].costs), Fraction(0))
            assert cost <= plan.rho
            most = max(most, cost)
    assert most > Fraction(3, 4) * plan.rho  # and a part of the budget that is not used is small


def law_of_choices(plan: AdaptivePlan, table: Dataset) -> dict[tuple[int, ...], float]:
    """ln of the probability of every path of choices, given what was measured."""
    return {path: draws.log_p for path, draws in every_path(lambda draws: carried_out(plan, table, draws), seed=1)}


@pytest.mark.parametrize(("plan", "cards"), [(PLAN, (2, 2)), (PLAN, (3, 2)), (SHORT, (2, 2, 2)), (AIMED, (2, 2, 2))])
def test_all_choices_together_keep_their_share_given_what_was_measured(
    plan: AdaptivePlan, cards: tuple[int, ...]
) -> None:
    allowed = float((plan.forest + plan.parents) * plan.rho)
    pairs = neighbours(cards, 3)
    rng = np.random.default_rng(5)
    most = 0.0
    for k in rng.choice(len(pairs), size=3 if len(cards) == 2 else 1, replace=False):
        one, other = (law_of_choices(plan, table) for table in pairs[k])
        assert one.keys() == other.keys()
        assert np.exp(special.logsumexp([*one.values()])) == pytest.approx(1.0)
        for order in (1.01, 2.0, 8.0, 64.0):
            divergence = renyi([*one.values()], [other[path] for path in one], order)
            assert divergence <= order * allowed * (1 + 1e-9)
            most = max(most, divergence / (order * allowed))
    assert most > 1e-4


def test_a_process_that_measures_twice_at_the_same_limit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The enumeration above fails if earlier measurements are forgotten in the account."""
    exact = process.new_prices

    def forgetful(measured, limit):
        return exact(type(measured).nothing(measured.network, measured.n, measured.unit), limit)

    monkeypatch.setattr(process, "new_prices", forgetful)
    one, _ = neighbours((2, 2), 2)[0]
    with pytest.raises(AssertionError, match="more than the budget"):
        carried_out(PLAN, one, Scripted())
    monkeypatch.setattr(process.Process, "cost", Fraction(0))

    def cost(pair: tuple[Dataset, Dataset]) -> Fraction:
        scripts = [Scripted(), Scripted()]
        for table, script in zip(pair, scripts, strict=True):
            carried_out(PLAN, table, script)
        return measured_cost(*scripts, power=2)

    assert any(cost(pair) > PLAN.rho for pair in neighbours((2, 2), 2))


@pytest.mark.parametrize("plan", [PLAN, replace(plan_for(4, 0), batches=2)])
def test_nothing_but_the_two_draws_sees_the_records(plan: AdaptivePlan) -> None:
    """With scripted draws, all released numbers are the same for all tables, as long as the path is."""
    first, *rest = tables((2, 3), 2)[:5]
    for path in [path for path, _ in every_path(lambda draws: carried_out(plan, first, draws), 0)][:6]:
        expected = carried_out(plan, first, Scripted(path))
        for table in rest:
            other = carried_out(plan, table, Scripted(path))
            assert other.events == expected.events
            assert other.measured.network == expected.measured.network
            np.testing.assert_array_equal(other.measured.numbers, expected.measured.numbers)
            np.testing.assert_array_equal(other.measured.variances, expected.measured.variances)
