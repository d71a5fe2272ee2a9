"""The adaptive release under a pure epsilon: its privacy by enumeration, its noise, its accuracy, and its real form."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

import dpbayes as dp
from dpbayes.base.amounts import number_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive import draws, process
from dpbayes.mechanisms.adaptive.choices import SENSITIVITY
from dpbayes.mechanisms.adaptive.draws import OpenDPDraws, SimulatedDraws, confirmed_choice, confirmed_noise
from dpbayes.mechanisms.adaptive.measured import MeasuredTables, measurable, table_prices
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.adaptive.release import drawn_release
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from tests.conftest import thorough
from tests.mechanisms.adaptive.scripted import Scripted, every_path, measured_cost
from tests.mechanisms.adaptive.test_privacy import CARDS, neighbours

PLAN = replace(plan_for(Fraction(4), Fraction(0)), most_parents=2, batches=2)
SHORT = replace(PLAN, batches=1, most_parents=1)
AIMED = replace(PLAN, batches=1, target="v1")
CERTAINTY = 1e-9


# The whole process by enumeration


def largest_loss(plan: AdaptivePlan, pair: tuple[Dataset, Dataset], seed: int = 1) -> float:
    """The largest |ln P/Q| over all paths of choices, with the largest loss that the noise of a path can add.

    The noise of whole numbers that move by m has the loss m * epsilon of a move by one, which some outputs attain. The
    choices of a path are the same given any measurements of the seed, and their probabilities are exact.
    """
    one, other = pair
    largest, log_p = 0.0, list[float]()
    for path, script in every_path(lambda draws: carried_out(plan, one, draws), seed):
        second = Scripted(path, seed)
        carried_out(plan, other, second)
        noise = float(measured_cost(script, second, power=1))
        largest = max(largest, abs(script.log_p - second.log_p) + noise)
        log_p.append(script.log_p)
    assert np.exp(special.logsumexp(log_p)) == pytest.approx(1.0)
    return largest


@pytest.mark.usefixtures("_no_stage_is_left_out")
@pytest.mark.parametrize(
    ("plan", "cards"),
    thorough(
        [(PLAN, (2, 2)), (AIMED, (2, 2)), (PLAN, (3, 2)), (SHORT, (2, 2, 2)), (AIMED, (2, 2, 2))],
        sample=[(PLAN, (2, 2)), (AIMED, (2, 2))],
    ),
)
def test_no_output_of_the_whole_process_is_more_than_exp_epsilon_as_likely(
    plan: AdaptivePlan, cards: tuple[int, ...]
) -> None:
    pairs = neighbours(cards, 2)
    sampled = np.random.default_rng(7).choice(len(pairs), size=6 if len(cards) == 2 else 2, replace=False)
    losses = [largest_loss(plan, pairs[k], seed) for k in sampled for seed in thorough(range(3), sample=[1])]
    assert max(losses) <= 4 * (1 + 1e-9)
    assert max(losses) > 0.5 * 4  # choices seldom lose all that they may


@pytest.mark.usefixtures("_no_stage_is_left_out")
@pytest.mark.parametrize("cards", CARDS)
def test_every_path_costs_at_most_epsilon_and_uses_it(cards: tuple[int, ...]) -> None:
    pairs = neighbours(cards, 2)
    paths = [path for path, _ in every_path(lambda draws: carried_out(SHORT, pairs[0][0], draws), 1)]
    most = Fraction(0)
    for path in paths[:: max(1, len(paths) // 10)]:
        for pair in pairs[:: max(1, len(pairs) // 4)]:
            scripts = [Scripted(path, 1), Scripted(path, 1)]
            for table, script in zip(pair, scripts, strict=True):
                carried_out(SHORT, table, script)
            assert scripts[0].costs == scripts[1].costs
            cost = measured_cost(*scripts, power=1) + sum(map(number_of, scripts[0].costs), Fraction(0))
            assert cost <= SHORT.total
            most = max(most, cost)
    assert most > Fraction(4, 5) * SHORT.total  # rounds that are left over are not spent


@pytest.mark.usefixtures("_no_stage_is_left_out")
def test_broken_variants_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices that forget the other measurements lose more than epsilon, and so do choices at half their scale."""
    pairs = neighbours((2, 2), 2)
    exact = process.table_prices

    def forgetful(measured: MeasuredTables, limit: Fraction):
        return exact(replace(measured, charge=0), limit)

    with monkeypatch.context() as patched:
        patched.setattr(process, "table_prices", forgetful)
        with pytest.raises(AssertionError, match="more than the budget"):
            carried_out(PLAN, pairs[0][0], Scripted())
        patched.setattr(process.Process, "cost", Fraction(0))
        assert any(largest_loss(PLAN, pair) > 4 for pair in pairs[:6])
    with monkeypatch.context() as patched:
        patched.setattr("tests.mechanisms.adaptive.scripted.choice_scale", lambda *_: Fraction(SENSITIVITY, 40))
        assert any(largest_loss(PLAN, pair) > 4 for pair in pairs[:6])


# The parts


def test_the_stated_move_costs_are_those_of_the_sampled_noise() -> None:
    """OpenDP's maps confirm them, and a simulated noise of scale 1/epsilon has the variance 2/epsilon^2."""
    cost = Fraction(1, 20)
    assert confirmed_noise(cost) == pytest.approx(20)
    assert confirmed_choice(SENSITIVITY, cost) == pytest.approx(2 * SENSITIVITY * 20)
    assert float(draws.choice_scale(SENSITIVITY, cost)) == 2 * SENSITIVITY * 20
    for source in (SimulatedDraws(np.random.default_rng(1)), draws.OpenDPDraws()):
        noise = source.noisy(np.zeros(4000, dtype=np.int64), [cost] * 4000)
        signs = stats.binomtest(int((noise > 0).sum()), int((noise != 0).sum())).pvalue
        inside, chance = int((np.abs(noise) <= 14).sum()), 1 - 2 * math.exp(-15 / 20) / (1 + math.exp(-1 / 20))
        assert signs > CERTAINTY
        assert stats.binomtest(inside, 4000, chance).pvalue > CERTAINTY
        assert stats.binomtest(inside, 4000, 0.8).pvalue < CERTAINTY


def test_tables_within_others_are_not_measured() -> None:
    network = dp.chain(3)
    assert measurable(network).tolist() == [False, True, True]
    alone = Network(("a", "b"), (("x",), ("u", "v")), ((), ()))
    assert measurable(alone).tolist() == [False, True]


def test_prices_add_up_to_the_limit_and_never_more() -> None:
    network, _ = dp.load_named("asia")
    measured = MeasuredTables.nothing(network, 1000, 2**40)
    for limit in (Fraction(1, 100), Fraction(1, 7)):
        prices = table_prices(measured, limit)
        measured = replace(measured, charge=measured.charge + sum(prices.tolist()))
        assert Fraction(99, 100) * limit < measured.cost <= limit
    with pytest.raises(InputError, match="too small"):
        table_prices(replace(measured, unit=4), Fraction(1, 7))


def test_the_stated_variance_is_that_of_the_numbers_as_functions_of_the_noise() -> None:
    """Each number is linear in the noisy counts, whose noise has the variance 2 b^2; all coefficients are computed."""
    network = dp.chain(3)
    nothing, prices = MeasuredTables.nothing(network, 50, 1000), np.array([0, 400, 200])
    scales = np.repeat([2 * 1000 / 400, 2 * 1000 / 200], 4)
    base = nothing.with_results(prices, [0] * 8).numbers
    slopes = np.stack([nothing.with_results(prices, row).numbers - base for row in np.eye(8, dtype=int).tolist()])
    variances = (2 * scales**2) @ slopes**2
    stated = nothing.with_results(prices, [0] * 8).variances[network.residuals.set_of_number]
    np.testing.assert_allclose(stated[1:], variances[1:])


def test_combined_tables_are_weighted_least_squares() -> None:
    """Against a dense solution for two tables of a chain that overlap in a column."""
    network = dp.chain(3)
    rng = np.random.default_rng(5)
    data = Dataset(network.names, network.states, rng.integers(0, 2, (50, 3)))
    measured = MeasuredTables.nothing(network, data.n, 1000)
    prices = np.array([0, 400, 200])
    integers = measured.noisy(data, prices, SimulatedDraws(rng))
    combined = measured.with_results(prices, integers)
    joint = np.indices((2, 2, 2)).reshape(3, -1)
    rows, weights = [], []
    for pair, price in (((0, 1), 400), ((1, 2), 200)):
        for cell in np.ndindex(2, 2):
            rows.append((joint[pair[0]] == cell[0]) & (joint[pair[1]] == cell[1]))
            weights.append(price)
    design = np.vstack([np.array(rows, dtype=float) * np.array(weights)[:, None], 1e7 * np.ones(8)])
    aim = np.append(np.array(integers) * np.array(weights), 1e7 * data.n)
    cells = np.linalg.lstsq(design, aim, rcond=None)[0]
    expected = [cells[rows[k]].sum() for k in range(8)]
    np.testing.assert_allclose(combined.tables[2:], expected, atol=1e-3)


# The release


def test_a_pure_release_has_a_pure_guarantee(asia: Dataset) -> None:
    release = drawn_release(plan_for(2, 0), asia.take(slice(0, 500)), OpenDPDraws())
    assert str(release.guarantee) == "ε = 2"
    assert release.guarantee.delta == 0
    assert release.plan.total == 2 >= release.process.cost > Fraction(19, 10)
    assert not release.is_simulated
    posterior = release.tables.noise_aware(points=64)
    np.testing.assert_allclose(release.network.row_sums(posterior.mean), 1)


def test_a_release_ends_with_the_pairs_where_no_parent_can_be_chosen(asia: Dataset) -> None:
    few = asia.take(slice(0, 50))
    process_of_few = carried_out(plan_for(Fraction(1, 10), Fraction(0)), few, SimulatedDraws(np.random.default_rng(1)))
    assert [event.stage for event in process_of_few.events] == ["columns", "pairs"]
    assert process_of_few.cost > Fraction(99, 1000)


def test_a_measurement_that_does_not_fit_is_refused(asia: Dataset) -> None:
    network = dp.chain(2)
    measured = MeasuredTables.nothing(network, 10, 100)
    for prices, integers, message in (
        ([0, 5], [1, 2, 3], "need 4"),
        ([5, 5], [1] * 6, "price 0"),
        ([0, 0], [], "measured table"),
    ):
        with pytest.raises(InputError, match=message):
            measured.with_results(np.array(prices), integers)
