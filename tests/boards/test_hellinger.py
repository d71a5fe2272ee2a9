"""The board of a die: its errors at every stop, its ranking, and what is proved of it."""

import numpy as np
import pytest

from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.hellinger import (
    HellingerInputs,
    die_advice,
    die_headline,
    hellinger_or_laplace,
    ranked,
)
from dpbayes.experiments.die import Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import LEVELS, error_laws, misread_throws, swept_errors
from dpbayes.posteriors.hellinger import hellinger_between

INPUTS = HellingerInputs(Scenario(n=30))
MEDIAN = LEVELS.index(0.5)


def test_the_errors_at_every_stop_are_those_of_single_scenarios():
    noise = np.random.default_rng(3).laplace(size=(500, 6))
    scenarios = [Scenario(n=10), Scenario(n=30, sides=3)]
    errors = swept_errors(scenarios, (0.1, 1.0, 10.0), noise)
    for place, scenario in enumerate(scenarios):
        for k, epsilon in enumerate((0.1, 1.0, 10.0)):
            alone = error_laws([scenario.at(epsilon=epsilon)], noise)
            for method, law in alone.items():
                np.testing.assert_allclose(errors[method][place, k], law.quantiles()[0])
    assert np.isnan(errors[DieMethod.ONE][1]).all()  # one noisy count says nothing about three sides


def test_the_box_and_the_curve_agree_at_the_chosen_epsilon():
    frame = hellinger_or_laplace(INPUTS).frames_at("1")[0]
    k = STOPS.index(1.0)
    for method, median in frame.numbers.items():
        curve = float(INPUTS.along_epsilon[DieMethod(method)][0, k, MEDIAN])
        assert curve == pytest.approx(median, rel=0.12, abs=1e-9)  # 1,000 simulated releases against 10,000
    line = next(line for line in frame.figures["epsilon"].data if line.get("name") == DieMethod.CELLS.look.name)
    np.testing.assert_array_equal(line["y"], INPUTS.along_epsilon[DieMethod.CELLS][0, :, MEDIAN])
    for figure in frame.figures.values():
        figure.to_plotly()


def errors_of(**medians):
    return {DieMethod[name]: np.full(5, median) for name, median in medians.items()}


def test_local_sensitivity_is_never_ranked_and_ties_are_named():
    errors = errors_of(LOCAL=0.001, GLOBAL=0.2, SMOOTH=0.15, CELLS=0.1)
    assert ranked(errors) == [DieMethod.CELLS, DieMethod.SMOOTH, DieMethod.GLOBAL]
    assert f"{DieMethod.CELLS.value} is closest to the truth" in die_headline(errors, Scenario())
    tied = die_headline(errors | errors_of(CELLS=0.149), Scenario())
    assert f"{DieMethod.CELLS.value} and {DieMethod.SMOOTH.value} are" in tied


def test_the_advice_is_the_mechanism_that_stays_near_the_truth_from_the_least_epsilon_on():
    steps = np.arange(len(STOPS))
    starts = {DieMethod.LOCAL: 0, DieMethod.CELLS: 7, DieMethod.GLOBAL: 9}
    errors = {
        method: np.where(steps < start, 0.5, 0.05)[None, :, None] * np.ones(5) for method, start in starts.items()
    }
    errors[DieMethod.GLOBAL][0, 2] = 0.0  # near once, and not from then on
    assert f"ε = {STOPS[7]:.3g} or more with {DieMethod.CELLS.value}: " in die_advice(errors, Scenario())
    far = {method: 1 + values for method, values in errors.items()}
    assert "no mechanism" in die_advice(far, Scenario())


def test_distances_are_given_as_misread_throws():
    scenario = Scenario(n=30, balance=Balance.SHARE, share=0.0)
    one = hellinger_between(scenario.die, first=scenario.counts, second=np.array([1, 29]))
    assert [misread_throws(scenario, distance) for distance in (0.0, 0.9 * one, 1.1 * one, 2.0)] == [0, 1, 2, 31]


def test_of_equal_medians_the_one_with_the_shorter_whisker_is_best():
    wide = {DieMethod.GLOBAL: np.array([0, 0, 0, 0, 0.07])} | errors_of(LOCAL=0, SMOOTH=0, CELLS=0.02)
    assert ranked(wide)[0] is DieMethod.SMOOTH


def test_a_run_as_in_the_notes_states_what_is_proved_of_it():
    printed = Scenario(calibration=SmoothRun.AS_PRINTED)
    assert str(printed.certified(DieMethod.SMOOTH)) in die_advice(INPUTS.along_epsilon, printed)
    assert "proved." not in die_advice(INPUTS.along_epsilon, Scenario())


def test_all_stops_fit_into_a_block():
    board = hellinger_or_laplace(INPUTS).complete()
    assert not board.private
    assert len(board.block()) < 400_000
