"""What the picture of *Which epsilon* is made of."""

import math

import numpy as np
import pytest

from dpbayes.figures.errors import HALF, NEARLY_ALL, TOLERANCE, error_figure

EPSILONS = np.array([0.1, 1.0, 10.0])


def drawn(needed: float = 1.8, most=(0.5, 0.1, 0.01), tolerance: float = 0.05):
    most = np.array(most)
    figure = error_figure(EPSILONS, most / 2, most, needed=needed, tolerance=tolerance, colour="#E08A00").to_plotly()
    return {trace.name: trace for trace in figure.data}, figure.layout


def test_the_least_epsilon_is_where_the_tolerance_is_met():
    traces, _ = drawn()
    assert list(traces[NEARLY_ALL].y) == [0.5, 0.1, 0.01]
    assert list(traces[HALF].y) == [0.25, 0.05, 0.005]
    assert (list(traces["least ε"].x), list(traces["least ε"].y)) == ([1.8], [0.05])
    assert list(traces["least ε"].text) == ["ε = 1.8"]
    assert list(traces[TOLERANCE].y) == [0.05, 0.05]


def test_what_is_not_known_is_not_drawn():
    traces, _ = drawn(math.inf, most=(math.inf, 0.0, 0.01))
    assert not traces["least ε"].visible
    assert np.isnan(traces[NEARLY_ALL].y[:2]).all()  # no logarithm
    assert set(traces) == set(drawn()[0]), "the legend is as long where nothing is found"


@pytest.mark.parametrize("tolerance", [0.001, 0.5])
def test_the_axes_do_not_depend_on_the_tolerance(tolerance):
    _, layout = drawn(tolerance=tolerance)
    _, other = drawn()
    assert layout.yaxis.range == other.yaxis.range
    assert layout.xaxis.range == other.xaxis.range
