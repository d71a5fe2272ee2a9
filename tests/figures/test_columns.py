import numpy as np

from dpbayes.base.looks import EXACT
from dpbayes.figures.columns import column_figure


def test_a_columns_records_are_exact_and_say_so():
    figure = column_figure(["no", "<i>yes</i>"], np.array([3.0, 4.0]), name="<b>rain</b>").to_plotly()
    (bar,) = figure.data
    assert list(bar.y) == [3, 4]
    assert bar.marker.color == EXACT
    assert "not private" in figure.layout.yaxis.title.text
    assert "<" not in bar.x[1] + figure.layout.xaxis.title.text
