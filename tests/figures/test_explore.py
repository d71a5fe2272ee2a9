"""Pictures against epsilon with their bounds and one line at epsilon."""

import numpy as np

from dpbayes.base.looks import BOUND, PRIVATE, Curve, Look
from dpbayes.figures.explore import shares_figure

X = np.geomspace(0.01, 100, 5)
NONE = np.full(5, np.nan)


def test_shares_are_drawn_with_the_value_of_the_first_and_the_line_at_epsilon():
    shares = Curve(Look("simulated", PRIVATE), X, np.linspace(0, 1, 5), NONE)
    bound = Curve(Look("proved", BOUND), X, np.linspace(0, 0.5, 5), NONE)
    figure = shares_figure([shares, bound], epsilon=2.0, value=0.6, title="share").to_plotly()
    first, proved, mark = figure.data
    assert (list(mark.x), list(mark.y), list(mark.text)) == ([2.0], [0.6], ["60%"])
    assert [first.name, proved.name] == ["simulated", "proved"]
    assert np.array_equal(proved.y, bound.y)
    (line,) = figure.layout.shapes
    (at_end,) = shares_figure([shares], epsilon=1000.0, value=1.0, title="share").to_plotly().layout.shapes
    assert (line.x0, line.x1, at_end.x0) == (2.0, 2.0, X[-1])
