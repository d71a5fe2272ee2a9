import numpy as np

from dpbayes.base.looks import EXACT
from dpbayes.figures.structure import NodeBars, column_figure, node_errors_figure, noise_figure
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
    assert len({bar.marker.pattern.shape for bar in figure.data}) == 3
    assert figure.layout.yaxis.title.text == "noise sd per cell (counts)"


def test_errors_by_node_are_probabilities_and_begin_at_none():
    errors = [np.array([0.1, 0.3]), np.array([0.2, 0.2])]
    bars = [NodeBars(name, "#E08A00", each) for name, each in zip("ab", errors, strict=True)]
    figure = node_errors_figure(["rain", "grass"], bars).to_plotly()
    assert all(np.array_equal(bar.y, each) for bar, each in zip(figure.data, errors, strict=True))
    assert figure.layout.yaxis.title.text == "mean error of a probability"
    assert figure.layout.yaxis.rangemode == "tozero"


def test_long_names_of_nodes_stay_apart():
    figure = noise_figure(["x" * 40 + "1", "x" * 40 + "2"], [NodeBars("Laplace", "#E08A00", np.ones(2))]).to_plotly()
    assert len(set(figure.data[0].x)) == 2


def test_a_columns_records_are_exact_and_say_so():
    figure = column_figure(["no", "<i>yes</i>"], np.array([3.0, 4.0]), name="<b>rain</b>").to_plotly()
    (bar,) = figure.data
    assert list(bar.y) == [3, 4]
    assert bar.marker.color == EXACT
    assert "not private" in figure.layout.yaxis.title.text
    assert "<" not in bar.x[1] + figure.layout.xaxis.title.text
