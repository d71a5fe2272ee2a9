"""The board of a die: its errors at every stop, its ranking, and what is proved of it."""

import numpy as np
import pytest

from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.hellinger import (
    HellingerInputs,
    closest,
    die_advice,
    die_headline,
    hellinger_or_laplace,
    throws_text,
)
from dpbayes.experiments.die import Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import (
    MEDIAN,
    error_laws,
    least_epsilons,
    misread_distances,
    misread_throws,
    swept_errors,
)
from dpbayes.posteriors.hellinger import hellinger_between

INPUTS = HellingerInputs(Scenario(n=30))


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


def test_the_box_and_the_bar_agree_at_the_chosen_epsilon():
    frame = hellinger_or_laplace(INPUTS).frames_at("1")[0]
    k = STOPS.index(1.0)
    for method, median in frame.numbers.items():
        curve = float(INPUTS.along_epsilon[DieMethod(method)][0, k, MEDIAN])
        assert curve == pytest.approx(median, rel=0.12, abs=1e-9)  # 1,000 simulated releases against 10,000
    bar = next(line for line in frame.figures["epsilon"].data if line.get("name") == DieMethod.CELLS.look.name)
    assert bar["x"] == [INPUTS.starts[DieMethod.CELLS], STOPS[-1]]
    for figure in frame.figures.values():
        figure.to_plotly()


def errors_of(**medians):
    return {DieMethod[name]: np.full(5, median) for name, median in medians.items()}


def test_local_sensitivity_is_never_closest_and_ties_are_named_the_one_with_the_shorter_whisker_first():
    errors = errors_of(LOCAL=0.001, GLOBAL=0.2, SMOOTH=0.15, CELLS=0.1)
    assert closest(errors) == [DieMethod.CELLS]
    assert f"{DieMethod.CELLS.value} is closest to the truth" in die_headline(errors, Scenario())
    wide = {DieMethod.GLOBAL: np.array([0, 0, 0, 0, 0.07])} | errors_of(LOCAL=0, SMOOTH=0, CELLS=0.02)
    assert closest(wide)[0] is DieMethod.SMOOTH
    tied = die_headline(errors | errors_of(CELLS=0.149), Scenario())
    assert f"{DieMethod.CELLS.value} and the exponential mechanism with {DieMethod.SMOOTH.value} are" in tied
    assert "the exponential mechanism is closest" in die_headline(wide, Scenario())


def test_the_advice_is_the_mechanism_that_stays_near_the_truth_from_the_least_epsilon_on():
    steps = np.arange(len(STOPS))
    starts = {DieMethod.LOCAL: 0, DieMethod.CELLS: 7, DieMethod.GLOBAL: 9}
    errors = {
        method: np.where(steps < start, 0.5, 0.05)[None, :, None] * np.ones(5) for method, start in starts.items()
    }
    errors[DieMethod.GLOBAL][0, 2] = 0.0  # near once, and not from then on
    assert least_epsilons(errors, STOPS, 0.1) == {DieMethod.CELLS: STOPS[7], DieMethod.GLOBAL: STOPS[9]}
    assert np.isnan([*least_epsilons(errors, STOPS, 0.01).values()]).all()
    near, far = HellingerInputs(Scenario()), HellingerInputs(Scenario())
    near.__dict__["along_epsilon"] = errors
    far.__dict__["along_epsilon"] = {method: 1 + values for method, values in errors.items()}
    enough = f"With {DieMethod.CELLS.value}, ε = {STOPS[7]:.3g} is enough to be near the truth."
    assert die_advice(near, [DieMethod.SMOOTH], STOPS[7]) == [f"So: choose {DieMethod.SMOOTH.value}. {enough}"]
    assert die_advice(near, [DieMethod.SMOOTH], STOPS[6]) == [f"So: choose a larger ε. {enough}"]
    assert die_advice(far, [], 1.0) == ["So: even ε = 100 is not enough to be near the truth."]


def test_distances_are_given_as_misread_throws():
    scenario = Scenario(n=30, balance=Balance.SHARE, share=0.0)
    one, two = hellinger_between(scenario.die, first=scenario.counts, second=np.array([[1, 29], [2, 28]]))
    distances = (0.0, 0.5 * one, one, (one + two) / 2, 2.0)
    assert misread_throws(scenario, distances) == pytest.approx([0, 0.5, 1, 1.5, 30])
    assert throws_text(scenario, misread_distances(scenario)[-1]) == "30 throws"


def test_a_release_that_says_nothing_of_the_throws_is_not_called_near():
    far = errors_of(GLOBAL=0.95, SMOOTH=0.99)
    assert "half of the releases are further from it than 21 misread throws of 100." in die_headline(far, Scenario())
    assert "within 1 misread throw of" in die_headline(errors_of(GLOBAL=misread_distances(Scenario())[1]), Scenario())


def test_rows_have_one_order_at_every_epsilon_with_families_together_and_the_one_that_is_not_private_last():
    view = hellinger_or_laplace(INPUTS)
    errors, bars = (
        [list(view.frames_at(stop)[0].figures[key].data) for stop in ("0.1", "10")] for key in ("errors", "epsilon")
    )
    texts = errors[0][-2]["text"]
    assert [text for text in texts if text.startswith("<i>")] == [texts[0], texts[2], texts[5]]
    assert ["Laplace" in texts[0], "Exponential" in texts[2], "Not private" in texts[5]] == [True] * 3
    assert texts == errors[1][-2]["text"]
    assert all(method.value in bar for method, bar in zip(INPUTS.rows, bars[0][-1]["text"], strict=True))
    assert list(bars[0][-1]["y"]) == list(errors[0][-2]["y"])
    bold = [one for one, value in zip(INPUTS.rows, errors[1][-1]["text"], strict=True) if "<b>" in value]
    assert bold
    assert all(one.value in view.frames_at("10")[0].notes[0] for one in bold)


def test_no_median_is_bold_beyond_all_misread_throws_of_a_side():
    (frame,) = hellinger_or_laplace(HellingerInputs(Scenario(n=6, sides=6))).frames_at("0.1")
    assert set(frame.figures["errors"].data[-1]["text"]) == {" over 1 throw"}
    assert "half of the releases are further from it than 1 misread throw of 6." in frame.headline


def test_boxes_are_misread_throws_on_one_square_root_axis():
    view = hellinger_or_laplace(INPUTS)
    figures = [view.frames_at(stop)[0].figures["errors"] for stop in ("0.1", "10")]
    assert [figure.layout["xaxis"]["range"][1] for figure in figures] == pytest.approx([15**0.5] * 2)
    assert list(figures[0].layout["xaxis"]["ticktext"]) == ["0", "1", "2", "5", "10"]
    median = misread_throws(INPUTS.scenario, view.frames_at("0.1")[0].numbers[DieMethod.ONE.value])
    assert figures[0].data[INPUTS.rows.index(DieMethod.ONE)]["median"] == pytest.approx([float(median) ** 0.5])


def test_a_run_as_in_the_notes_states_what_is_proved_of_it():
    printed = Scenario(n=30, calibration=SmoothRun.AS_PRINTED)
    assert str(printed.certified(DieMethod.SMOOTH)) in die_advice(HellingerInputs(printed), [], 1.0)[1]
    assert len(die_advice(INPUTS, [], 1.0)) == 1


def test_all_stops_fit_into_a_block():
    board = hellinger_or_laplace(INPUTS).complete()
    assert not board.private
    assert len(board.block()) < 400_000
