import numpy as np
import pytest

from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.figures.accuracy import BAND, accuracy_figure, certified_figure
from dpbayes.sources.named_networks import naive_bayes


@pytest.fixture(scope="module")
def study() -> AccuracyStudy:
    return accuracy_study(
        AccuracyPlan(
            network=naive_bayes(3),
            target="class",
            source=Synthetic(records=200),
            epsilons=(0.5, 2.0, 8.0),
            methods=tuple(METHODS.values()),
            repeats=20,
            draws=7,
        )
    )


def lines(figure) -> dict:
    return {trace.name: trace for trace in figure.data if trace.showlegend is not False}


def test_proved_epsilons_place_the_printed_sampler_where_it_belongs(study):
    drawn = lines(certified_figure(study.certified_curves()).to_plotly())
    printed = drawn["sampling (paper, 7 samples)"]
    assert np.array_equal(printed.x, study.certified[METHODS["sampler_many"]][1:]), "coins at 0.5 have no place"
    assert drawn["exact (not private)"].x[1] == printed.x[-1]
    assert list(drawn["Laplace"].x) == [0.5, 2.0, 8.0]


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
    assert len({curves[name].marker.symbol for name in ("Laplace", "majority class")}) == 2
