"""The board of regression: Figure 2 of the paper."""

from dataclasses import replace

import pytest

from dpbayes.base.randomness import stream
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.regression import RegressionInputs, regression
from dpbayes.experiments.regression import records_of, regression_study
from dpbayes.experiments.regression_scenario import Records, RegressionScenario

SMALL = RegressionScenario(n=20_000, repeats=3)
INPUTS = RegressionInputs(SMALL, seed=2, data_seed=3)


def test_the_errors_are_those_of_the_experiment_at_this_epsilon():
    """An experiment at the single precision has the same splits, so its exact error is the same."""
    alone = replace(SMALL, precisions=(100.0,))
    result = regression_study(records_of(alone, seed=3).table, alone, stream(2, "regression"))
    assert alone.certified[0] == 4.0
    numbers = regression(INPUTS).frames_at("4")[0].numbers
    assert INPUTS.measured[0].exact.mean[STOPS[::-1].index(4.0)] == pytest.approx(result.exact.mean[0], rel=1e-9)
    assert numbers["mean"] == pytest.approx(float(result.baseline.mean[0]), rel=1e-9)


def test_a_small_epsilon_predicts_as_badly_as_no_features():
    """The weights are near zero, so every record is predicted as the middle of the bounds."""
    large, small = (regression(INPUTS).frames_at(stop)[0].numbers for stop in ("100", "0.01"))
    assert large["exact"] < large["private"] < large["mean"] < small["private"]


@pytest.mark.parametrize("draws", [1, 3])
def test_the_board_has_each_epsilon_of_the_slider_and_one_advice(draws):
    study = replace(SMALL, draws=draws).at_epsilons(STOPS)
    assert study.certified[::-1] == pytest.approx(STOPS)
    view = regression(INPUTS)
    notes = {view.frames_at(stop)[0].notes for stop in ("0.1", "1", "10")}
    assert len(notes) == 1
    for figure in view.frames_at("1.02")[0].figures.values():
        assert figure.layout["shapes"][0]["x0"] == pytest.approx(1.0)
        figure.to_plotly()


def test_only_the_errors_on_a_census_are_private():
    assert not regression(INPUTS).board.private
    assert regression(RegressionInputs(replace(SMALL, records=Records.FULTON))).board.private
