import pytest

from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.figures.accuracy import BAND, accuracy_figure
from dpbayes.sources.named_networks import naive_bayes


def lines(figure) -> dict:
    return {trace.name: trace for trace in figure.data if trace.showlegend is not False}


def test_a_curve_of_one_point_is_a_dot_with_its_band_as_a_bar():
    """A line of one point draws nothing; neither does one whose ends are at the same place."""
    plan = AccuracyPlan(
        network=naive_bayes(2),
        target="class",
        epsilons=(3.0,),
        repeats=4,
        methods=(METHODS["laplace"], METHODS["sampler"]),
    )
    study = accuracy_study(plan)
    curves = lines(accuracy_figure(study.curves, study.plan.grid).to_plotly())
    assert set(curves) == {method.title for method in study.methods}
    for trace in curves.values():
        assert trace.mode == "markers"
        assert set(trace.x) == {3.0}
    assert curves["Laplace"].y == pytest.approx(study.mean(METHODS["laplace"]))
    assert curves["Laplace"].error_y.array[0] == pytest.approx(BAND * study.error(METHODS["laplace"])[0])
    assert len({curves[name].marker.symbol for name in ("Laplace", "most frequent value")}) == 2
