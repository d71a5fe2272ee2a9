"""The picture of regression holds the arrays it is given."""

import numpy as np
import pytest

from dpbayes.base.looks import Curve
from dpbayes.experiments.regression import LOOKS
from dpbayes.figures.regression import regression_errors_figure

B = np.array([0.1, 1.0, 10.0, 100.0])


def test_a_band_is_one_standard_error_and_flat_curves_have_none() -> None:
    of = Curve(LOOKS["private"], B, np.array([4.0, 3.0, 2.0, 1.0]), np.full(4, 0.1))
    flat = Curve(LOOKS["baseline"], B, np.full(4, 5.0), np.full(4, np.nan))
    figure = regression_errors_figure([of, flat], epsilon=10.0).to_plotly()
    band, none, line, *_ = figure.data
    assert figure.layout.yaxis.range == pytest.approx((0.52, 5.48))  # filled by the curves from 1 to 5
    assert line.y == pytest.approx(of.y)
    assert band.y[:4] == pytest.approx(of.y + 0.1)
    assert np.isnan(none.y).all()
