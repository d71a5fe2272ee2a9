"""The board of regression: Figure 2 of the paper, and a recipient's board without errors."""

from dataclasses import replace

import pytest

from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral
from dpbayes.boards.board import nearest_place
from dpbayes.boards.regression import (
    PRECISIONS,
    RegressionInputs,
    RegressionPrice,
    regression,
)
from dpbayes.experiments.regression import records_of, regression_study
from dpbayes.experiments.regression_scenario import Records, RegressionScenario

SMALL = RegressionScenario(n=20_000, repeats=3)
INPUTS = RegressionInputs(SMALL, seed=2, data_seed=3)


def test_the_errors_are_those_of_the_experiment_at_this_precision():
    """An experiment at the single precision has the same splits, so its exact error is the same."""
    alone = replace(SMALL, precisions=(1.0,))
    result = regression_study(records_of(alone, seed=3).table, alone, stream(2, "regression"))
    numbers = regression(INPUTS).frames_at("1")[0].numbers
    assert numbers["exact"] == pytest.approx(float(result.exact.mean[0]), rel=1e-9)
    assert numbers["mean"] == pytest.approx(float(result.baseline.mean[0]), rel=1e-9)


def test_a_strong_prior_predicts_as_badly_as_no_features():
    """The weights are near zero, so every record is predicted as the middle of the bounds."""
    weak, strong = (regression(INPUTS).frames_at(stop)[0].numbers for stop in ("1", "1000000"))
    assert weak["exact"] < weak["mean"] < strong["exact"]
    assert strong["private"] == pytest.approx(strong["exact"], rel=0.05)


def test_the_line_stands_at_the_nearest_precision():
    frame = regression(INPUTS).frames_at("130")[0]
    assert nearest_place(PRECISIONS, 130) == PRECISIONS.index(100.0)
    for figure in frame.figures.values():
        assert figure.layout["shapes"][0]["x0"] == 100.0
        figure.to_plotly()


def test_only_the_errors_on_a_census_are_private():
    assert not regression(INPUTS).board.private
    assert regression(RegressionInputs(replace(SMALL, records=Records.FULTON))).board.private


def test_a_recipient_sees_epsilon_and_no_error():
    board = regression(RegressionPrice(SMALL, 20_000, 14)).complete()
    assert not board.private
    assert [panel.key for panel in board.panels] == ["epsilons"]
    curator = regression(INPUTS).frames_at("100")[0].figures["epsilons"]
    assert board.frame.figures["epsilons"].to_json() == curator.to_json()
    k = nearest_place(PRECISIONS, 100)
    assert board.frame.numbers == {"proved": float(SMALL.certified[k])}
    stated = SMALL.claimed(SMALL.training_records(20_000), features=14)[k]
    assert f"the paper states {numeral(float(f'{stated:.2g}'))}" in board.frame.captions["epsilons"]
