"""The pictures of regression hold the arrays they are given, in the colours of exact, private and bounds."""

import numpy as np
import pytest

from dpbayes.base.looks import BOUND, INVALID, RUST, Curve
from dpbayes.experiments.regression import LOOKS
from dpbayes.figures.regression import epsilon_figure, regression_errors_figure

B = np.array([0.1, 1.0, 10.0, 100.0])


def test_epsilons_are_certified_and_printed_and_too_low_a_promise_is_red() -> None:
    certified, printed = np.array([100.0, 10.0, 1.0, 0.1]), np.array([50.0, 20.0, 10.0, 5.0])
    figure = epsilon_figure(certified, printed, epsilon=1.0, colour=RUST).to_plotly()
    lines = {trace.name: trace for trace in figure.data}
    assert lines["proved"].y == pytest.approx(certified)
    assert lines["proved"].line.color == RUST
    fine, low = lines["stated in the paper"], lines["stated in the paper, too small"]
    assert np.array_equal(fine.y, [np.nan, 20, 10, 5], equal_nan=True)
    assert (fine.line.color, fine.line.dash) == (BOUND, "dash")
    assert np.array_equal(low.y, [50, np.nan, np.nan, np.nan], equal_nan=True)
    assert low.line.color == INVALID
    assert figure.layout.yaxis.type == "log"


def test_a_band_is_one_standard_error_and_flat_curves_have_none() -> None:
    of = Curve(LOOKS["exact"], B, np.array([4.0, 3.0, 2.0, 1.0]), np.full(4, 0.1))
    flat = Curve(LOOKS["baseline"], B, np.full(4, 5.0), np.full(4, np.nan))
    band, none, line, *_ = regression_errors_figure([of, flat], epsilon=10.0).to_plotly().data
    assert line.y == pytest.approx(of.y)
    assert band.y[:4] == pytest.approx(of.y + 0.1)
    assert np.isnan(none.y).all()
