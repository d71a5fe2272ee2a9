"""What the pictures of *Which epsilon* are made of."""

import math

import numpy as np
import pytest

from dpbayes.figures.which_epsilon import NeededEpsilon, error_figure, least_epsilons_figure

LAPLACE = NeededEpsilon("Laplace", "#E08A00", 1.8, 1.7, 1.9)
OPEN = NeededEpsilon("Gaussian", "#17A2B8", 1.2, 1.1, math.inf)
NONE = NeededEpsilon("Fourier", "#2A9D77", math.nan, math.nan, math.nan)
EPSILONS = np.array([0.1, 1.0, 10.0])


def drawn(needed: NeededEpsilon, wanted: list[float]):
    half = np.array(wanted) / 2
    return error_figure(EPSILONS, half, np.array(wanted), needed=needed, tolerance=0.05, share="95 of 100").to_plotly()


def test_the_least_epsilon_is_where_the_tolerance_is_met():
    figure = drawn(LAPLACE, [0.5, 0.1, 0.01])
    wanted, half, least = figure.data
    assert list(wanted.y) == [0.5, 0.1, 0.01]
    assert list(half.y) == [0.25, 0.05, 0.005]
    assert (list(least.x), list(least.y)) == ([1.8], [0.05])
    level, band = figure.layout.shapes
    assert level.y0 == level.y1 == 0.05
    assert (band.x0, band.x1) == (1.7, 1.9)


def test_what_is_not_known_is_not_drawn():
    figure = drawn(NONE, [math.nan, 0.0, 0.01])
    wanted, _, least = figure.data
    assert list(least.x) == [None]
    assert least.name == drawn(LAPLACE, [0.5, 0.1, 0.01]).data[2].name, "the legend is as long before it is known"
    assert len(figure.layout.shapes) == 1
    assert np.isnan(wanted.y[:2]).all()  # no logarithm
    assert drawn(NONE, [math.nan] * 3).layout.yaxis.range[0] < math.log10(0.05)


def test_an_interval_without_an_end_reaches_the_pictures_edge():
    assert drawn(OPEN, [0.5, 0.1, 0.01]).layout.shapes[1].x1 == 10.0
    dots = least_epsilons_figure([LAPLACE, OPEN]).to_plotly()
    assert list(dots.data[0].x) == [1.8, 1.2]
    assert dots.data[0].error_x.arrayminus == pytest.approx([0.1, 0.1])
    assert 1.2 + dots.data[0].error_x.array[1] == pytest.approx(10 ** dots.layout.xaxis.range[1])
    assert list(dots.layout.yaxis.categoryarray) == ["Gaussian", "Laplace"]


@pytest.mark.parametrize(("least", "shown"), [(0.01, 0.005), (1e-4, 5e-5), (1e-15, 5e-5)])
def test_the_error_axis_ends_at_the_least_error_but_at_a_thousandth_of_the_tolerance(least, shown):
    low, high = drawn(LAPLACE, [0.5, 0.1, least]).layout.yaxis.range
    assert 10**low == pytest.approx(shown * 10**-0.1)
    assert 10**high == pytest.approx(0.5 * 10**0.15)
