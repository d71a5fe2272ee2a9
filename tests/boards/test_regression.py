"""The board of regression: Figure 2 of the paper, and a recipient's board without errors."""

from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.steps import finished
from dpbayes.boards.regression import (
    PRECISIONS,
    RegressionInputs,
    RegressionPrice,
    design_of,
    precision_place,
    regression,
    regression_price,
)
from dpbayes.experiments.regression.scenario import (
    NormBound,
    Records,
    RegressionScenario,
    experiment,
    records_of,
)
from dpbayes.mechanisms.regression import RegressionSampler

SMALL = RegressionScenario(n=20_000, repeats=3)
INPUTS = RegressionInputs(SMALL, seed=2, data_seed=3)


def test_the_errors_are_those_of_the_experiment_at_this_precision():
    """An experiment at the single precision has the same splits, so its exact error is the same."""
    alone = replace(SMALL, points=1, precision=1.0)
    result = finished(experiment(alone, records_of(alone, seed=3), seed=2))
    numbers = regression(INPUTS).frames_at("1")[0].numbers
    assert numbers["exact"] == pytest.approx(float(result.exact.mean[0]), rel=1e-9)
    assert numbers["mean"] == pytest.approx(float(result.baseline.mean[0]), rel=1e-9)


def test_a_strong_prior_predicts_as_badly_as_no_features():
    """The weights are near zero, so every record is predicted as the middle of the bounds."""
    weak, strong = (regression(INPUTS).frames_at(stop)[0].numbers for stop in ("1", "1000000"))
    assert weak["exact"] < weak["mean"] < strong["exact"]
    assert strong["private"] == pytest.approx(strong["exact"], rel=0.05)


def test_the_proved_epsilon_is_that_of_the_sampler():
    study = design_of(SMALL)
    for k in (0, 12, 24):
        sampler = RegressionSampler(
            prior_precision=PRECISIONS[k], noise_variance=1.0, norm_bound=10 / PRECISIONS[k] ** 0.5, draws=1
        )
        assert study.certified[k] == pytest.approx(sampler.certified.epsilon)


def test_the_line_stands_at_the_nearest_precision():
    frame = regression(INPUTS).frames_at("130")[0]
    assert precision_place(130) == PRECISIONS.index(100.0)
    marked = next(trace for trace in frame.figures["errors"].data if trace["name"] == "chosen")
    assert marked["x"] == [100.0, 100.0]
    for figure in frame.figures.values():
        figure.to_plotly()


def test_a_norm_bound_from_epsilon_has_this_epsilon_at_every_precision():
    study = design_of(replace(SMALL, norm_bound=NormBound.EPSILON, epsilon=2.0))
    np.testing.assert_allclose(study.certified, 2.0, rtol=1e-6)


def test_only_the_errors_on_a_census_are_private():
    assert not regression(INPUTS).board.private
    assert regression(RegressionInputs(replace(SMALL, records=Records.FULTON))).board.private


def test_a_recipient_sees_epsilon_and_no_error():
    board = regression_price(RegressionPrice(SMALL, 20_000, 14)).complete()
    assert not board.private
    assert [panel.key for panel in board.panels] == ["epsilons"]
    curator = regression(INPUTS).frames_at("100")[0].figures["epsilons"]
    assert board.frame.figures["epsilons"].to_json() == curator.to_json()
    assert board.frame.numbers == {"proved": float(design_of(SMALL).certified[precision_place(100)])}


def test_all_stops_fit_into_a_small_block():
    assert len(regression(INPUTS).complete().block()) < 100_000
