import numpy as np

from dpbayes.base.looks import EXACT
from dpbayes.figures.structure import (
    FEW_NODES,
    MOST_NODES,
    ErrorBar,
    NodeBars,
    column_figure,
    mechanism_errors_figure,
    node_errors_figure,
    noise_figure,
)
from dpbayes.mechanisms import GaussianResiduals, LaplaceFourier, LaplaceUpdates


def test_every_mechanisms_noise_stands_beside_the_others_at_every_node():
    noises = [np.array([22.6, 22.6]), np.array([16.0, 31.0]), np.array([9.0, 8.0])]
    kinds = (LaplaceUpdates, LaplaceFourier, GaussianResiduals)
    bars = [NodeBars(kind.label, kind.colour, noise) for kind, noise in zip(kinds, noises, strict=True)]
    figure = noise_figure(["rain", "grass"], bars).to_plotly()
    assert [bar.name for bar in figure.data] == ["Laplace", "Fourier", "Gaussian residuals"]
    assert all(list(bar.x) == ["rain", "grass"] for bar in figure.data)
    assert all(np.array_equal(bar.y, noise) for bar, noise in zip(figure.data, noises, strict=True))
    assert [bar.marker.color for bar in figure.data] == [kind.colour for kind in kinds]
    assert figure.layout.yaxis.range[1] > 31, "no bar touches the frame"
    assert figure.layout.yaxis.title.text == "noise sd per cell, counts"


def test_errors_by_node_are_probabilities_and_begin_at_none():
    errors = [np.array([0.1, 0.3]), np.array([0.2, 0.2])]
    bars = [NodeBars(name, "#E08A00", values) for name, values in zip("ab", errors, strict=True)]
    figure = node_errors_figure(["rain", "grass"], bars).to_plotly()
    assert all(np.array_equal(bar.y, values) for bar, values in zip(figure.data, errors, strict=True))
    assert figure.layout.yaxis.title.text == "mean error of a probability"
    assert figure.layout.yaxis.range[0] == 0


def test_long_names_of_nodes_stay_apart():
    figure = noise_figure(["x" * 40 + "1", "x" * 40 + "2"], [NodeBars("Laplace", "#E08A00", np.ones(2))]).to_plotly()
    assert len(set(figure.data[0].x)) == 2


def test_many_nodes_have_a_name_on_every_bar_and_of_very_many_those_with_the_longest_bars_stay():
    rng = np.random.default_rng(1)
    for count in (FEW_NODES + 1, 200):
        names, errors = [f"node {k}" for k in range(count)], rng.random((2, count))
        bars = [NodeBars(name, "#E08A00", values) for name, values in zip("ab", errors, strict=True)]
        figure = node_errors_figure(names, bars).to_plotly()
        shown = [names.index(name) for name in figure.data[0].y]
        left_out = np.delete(errors.max(axis=0), shown)
        assert shown == sorted(shown)
        assert len(shown) == min(count, MOST_NODES)
        assert np.all(left_out <= errors.max(axis=0)[shown].min())
        assert all(np.array_equal(bar.x, values[shown]) for bar, values in zip(figure.data, errors, strict=True))
        assert figure.layout.height >= 16 * len(shown), "as high as names are that stand below each other"
        assert ("60 of 200" in figure.layout.yaxis.title.text) == (count == 200)
        assert figure.layout.xaxis.title.text == "mean error of a probability"


def test_a_mechanism_and_its_error_stand_above_its_bar_and_markup_stays_text():
    bars = [ErrorBar("Gaussian residuals (δ = 0.00001)", "#E08A00", 0.085, 0.001), ErrorBar("<b>", "#E08A00", 0.2, 0)]
    figure = mechanism_errors_figure(bars).to_plotly()
    labels = ["&lt;b&gt;: 0.2", "Gaussian residuals (δ = 0.00001): 0.085"]
    assert list(figure.data[0].y) == labels
    assert [(name.text, name.y) for name in figure.layout.annotations] == [(label, k) for k, label in enumerate(labels)]
    assert not figure.layout.yaxis.showticklabels


def test_a_columns_records_are_exact_and_say_so():
    figure = column_figure(["no", "<i>yes</i>"], np.array([3.0, 4.0]), name="<b>rain</b>").to_plotly()
    (bar,) = figure.data
    assert list(bar.y) == [3, 4]
    assert bar.marker.color == EXACT
    assert "not private" in figure.layout.yaxis.title.text
    assert "<" not in bar.x[1] + figure.layout.xaxis.title.text
