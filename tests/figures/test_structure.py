import numpy as np

from dpbayes.base.looks import EXACT
from dpbayes.figures.structure import column_figure, noise_figure
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.laplace import LaplaceUpdates


def test_both_mechanisms_noise_stands_beside_each_other_at_every_node():
    laplace, fourier = np.array([22.6, 22.6]), np.array([16.0, 31.0])
    figure = noise_figure(["rain", "grass"], laplace, fourier).to_plotly()
    assert [bar.name for bar in figure.data] == ["Laplace", "Fourier"]
    assert all(list(bar.x) == ["rain", "grass"] for bar in figure.data)
    assert np.array_equal(figure.data[0].y, laplace)
    assert np.array_equal(figure.data[1].y, fourier)
    assert [bar.marker.color for bar in figure.data] == [LaplaceUpdates.colour, LaplaceFourier.colour]
    assert figure.data[1].marker.pattern.shape != figure.data[0].marker.pattern.shape
    assert figure.layout.yaxis.title.text == "noise sd per cell (counts)"


def test_long_names_of_nodes_stay_apart():
    figure = noise_figure(["x" * 40 + "1", "x" * 40 + "2"], np.ones(2), np.ones(2)).to_plotly()
    assert len(set(figure.data[0].x)) == 2


def test_a_columns_records_are_exact_and_say_so():
    figure = column_figure(["no", "<i>yes</i>"], np.array([3.0, 4.0]), name="<b>rain</b>").to_plotly()
    (bar,) = figure.data
    assert list(bar.y) == [3, 4]
    assert bar.marker.color == EXACT
    assert "not private" in figure.layout.yaxis.title.text
    assert "<" not in bar.x[1] + figure.layout.xaxis.title.text
