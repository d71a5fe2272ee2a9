"""Pictures of the least noise: what is drawn where, and names that stay text."""

import numpy as np

from dpbayes.figures.best_noise import MOST_NAMED, NoiseDot, best_noise_figure, factors_figure, residuals_figure

COLOURS = {"Laplace": "#E08A00", "Gaussian": "#17A2B8"}


def test_each_mechanism_has_its_line_the_first_on_top():
    dots = [NoiseDot("Laplace", "#E08A00", 22.6, 21.5), NoiseDot("Gaussian", "#17A2B8", np.nan, 16.9)]
    figure = best_noise_figure(dots, x="noise per cell (counts)").to_plotly()
    alone, with_delta, said = figure.data
    assert list(alone.y) == ["Laplace", "Gaussian"]
    assert list(figure.layout.yaxis.categoryarray) == ["Gaussian", "Laplace"]
    np.testing.assert_array_equal(alone.x, [22.6, np.nan])
    np.testing.assert_array_equal(with_delta.x, [21.5, 16.9])
    assert list(with_delta.marker.color) == ["#E08A00", "#17A2B8"]
    assert with_delta.marker.symbol.endswith("-open")
    assert not alone.marker.symbol.endswith("-open")
    assert [text.strip() for text in said.text] == ["22.6, 21.5", "16.9"]
    np.testing.assert_array_equal(said.x, [22.6, 16.9])
    assert figure.layout.xaxis.title.text == "noise per cell (counts)"


def test_noise_that_nobody_knows_yet_leaves_an_empty_line():
    figure = best_noise_figure([NoiseDot("Laplace", "#E08A00", np.nan, np.nan)], x="noise").to_plotly()
    assert [text.strip() for text in figure.data[2].text] == [""]
    assert np.isfinite(figure.layout.xaxis.range).all()


def test_factors_are_drawn_for_every_graph_with_a_line_at_one():
    factors = {"Laplace": np.array([1.0, 1.0]), "Gaussian": np.array([1.3, np.nan])}
    figure = factors_figure(["chain", "<b>tree</b>"], factors, COLOURS).to_plotly()
    assert [trace.name for trace in figure.data] == ["Laplace", "Gaussian"]
    np.testing.assert_array_equal(figure.data[1].y, [1.3, np.nan])
    assert "<b>" not in figure.data[0].x[1]
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol
    (level,) = figure.layout.shapes
    assert (level.y0, level.y1) == (1, 1)
    assert figure.layout.yaxis.type == "log"


def test_residuals_stand_by_size_with_their_names():
    sets = [("a",), ("<b>",), ("a", "<b>")]
    sds = {"Laplace": np.array([1.0, 2.0, 3.0]), "Gaussian": np.array([0.5, 0.6, 0.7])}
    figure = residuals_figure(sets, sds, COLOURS).to_plotly()
    np.testing.assert_array_equal(figure.data[0].y, [1, 2, 3])
    assert list(figure.layout.xaxis.ticktext) == ["a", "&lt;b&gt;", "a, &lt;b&gt;"]
    assert figure.data[0].text[2] == "a, &lt;b&gt;: 3"
    assert [shape.x0 for shape in figure.layout.shapes] == [1.5]
    assert [note.text for note in figure.layout.annotations] == ["nodes", "pairs"]


def test_many_sets_are_named_at_the_pointer_alone():
    sets = [(f"x{k}",) for k in range(MOST_NAMED + 1)]
    figure = residuals_figure(sets, {"Laplace": np.ones(len(sets))}, COLOURS).to_plotly()
    assert figure.layout.xaxis.showticklabels is False
    assert figure.data[0].text[0] == "x0: 1"


def test_a_network_without_residuals_has_an_empty_picture():
    figure = residuals_figure([], {"Laplace": np.empty(0)}, COLOURS).to_plotly()
    assert len(figure.data[0].x) == 0
