import numpy as np
import pytest

from dpbayes.base.looks import Curve, Look
from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.figures.accuracy import BAND, accuracy_figure, log_loss_figure
from dpbayes.sources.named_networks import naive_bayes


def test_a_curve_of_one_point_is_a_dot_with_its_band_as_a_bar():
    methods = METHODS["laplace"], METHODS["sampler"]
    plan = AccuracyPlan(network=naive_bayes(2), target="class", epsilons=(3.0,), repeats=4, methods=methods)
    study = accuracy_study(plan)
    traces = accuracy_figure(study.curves, study.plan.grid).to_plotly().data
    curves = {trace.name: trace for trace in traces if trace.showlegend is not False}
    assert set(curves) == {method.title for method in study.methods}
    for trace in curves.values():
        assert trace.mode == "markers"
        assert set(trace.x) == {3.0}
    assert curves["Laplace"].y == pytest.approx(study.mean(METHODS["laplace"]))
    assert curves["Laplace"].error_y.array[0] == pytest.approx(BAND * study.error(METHODS["laplace"])[0])
    assert len({curves[name].marker.symbol for name in ("Laplace", "most frequent value")}) == 2


@pytest.mark.parametrize("figure", [accuracy_figure, log_loss_figure])
def test_no_line_runs_through_the_text_of_a_value(figure):
    grid = np.array([0.1, 10.0])
    curves = [Curve(Look(str(y), "#000000"), grid, np.full(2, y), np.zeros(2)) for y in (0.5, 0.51, 0.7, 0.9)]
    *_, first, second = figure(curves, grid, epsilon=1, marked=curves[1:3]).data
    assert (*first["y"], *second["y"]) == (0.51, 0.5, 0.7, 0.7), "the text of the lower value is below the next line"
