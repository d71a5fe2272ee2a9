"""Pictures against epsilon with their bounds and one line at epsilon."""

import numpy as np

from dpbayes.base.looks import BOUND, PRIVATE, Curve, Look
from dpbayes.figures.explore import ABOVE, LEAST, MOST, Spread, divergence_figure, shares_figure

X = np.geomspace(0.01, 100, 5)
MEAN = np.array([100.0, 10.0, 1.0, 0.1, 0.0])
SPREAD = Spread(Look("simulated mean", PRIVATE), X, MEAN, MEAN / 2, MEAN * 2)
NONE = np.full(5, np.nan)


def test_a_divergence_is_drawn_with_its_interval_its_bounds_and_the_line_at_epsilon():
    bound = Curve(Look("proved", BOUND), X, MEAN * 10, NONE)
    figure = divergence_figure(SPREAD, [bound], epsilon=2.0, value=0.7).to_plotly()
    band, proved, mean, mark = figure.data
    assert (list(mark.x), list(mark.y), list(mark.text)) == ([2.0], [0.7], ["0.7 times"])
    assert [trace.name for trace in figure.data if trace.name and trace.showlegend is not False] == [
        "proved",
        SPREAD.look.name,
    ]
    assert np.array_equal(mean.y[:4], MEAN[:4])
    assert np.isnan(mean.y[4]), "a logarithmic axis has no zero"
    assert np.array_equal(proved.y[:4], 10 * MEAN[:4])
    assert np.array_equal(band.y[:4], 2 * MEAN[:4])
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 2.0


def test_a_bound_far_above_does_not_push_what_is_simulated_out_of_the_picture():
    vacuous = Curve(Look("stated", BOUND, "dash"), X, np.full(5, 1e12), NONE)
    low, high = divergence_figure(SPREAD, [vacuous], epsilon=1.0, value=1.0).to_plotly().layout.yaxis.range
    assert low < np.log10(MEAN[3]) < np.log10(SPREAD.high[0]) < high < 12
    assert high == np.log10(SPREAD.high[0]) + ABOVE + 0.1
    vanishing = Spread(SPREAD.look, X, MEAN * 1e-5, MEAN * 1e-5, MEAN * 1e-5)
    ends = divergence_figure(vanishing, [], epsilon=1.0, value=1.0).to_plotly().layout.yaxis.range
    assert ends == (LEAST - 0.1, MOST + 0.1)


def test_an_epsilon_beyond_the_axis_is_marked_at_its_end():
    curve = Curve(Look("clipped", PRIVATE), X, np.linspace(1, 0, 5), NONE)
    (line,) = shares_figure([curve], epsilon=1000.0, value=0.0, title="share").to_plotly().layout.shapes
    assert line.x0 == X[-1]
