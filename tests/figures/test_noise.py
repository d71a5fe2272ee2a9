"""Pictures of the least noise: what is drawn where, labels that touch nothing, and names that stay text."""

import numpy as np

from dpbayes.base.looks import BOUND, Look
from dpbayes.figures.noise import (
    NoiseDot,
    factors_figure,
    noise_dots_figure,
)

COLOURS = {"Laplace": "#E08A00", "Gaussian": "#17A2B8"}
LOOKS = {name: Look(name, colour) for name, colour in COLOURS.items()}


def test_each_mechanism_has_its_row_the_least_noise_on_top() -> None:
    dots = [NoiseDot("Laplace", "#E08A00", 22.6, 21.5), NoiseDot("Gaussian", "#17A2B8", np.nan, 16.9)]
    figure = noise_dots_figure(dots, x="noise per cell (counts)").to_plotly()
    joined, alone, with_delta, *keys, _ = figure.data
    assert list(alone.y) == ["Gaussian", "Laplace"]
    np.testing.assert_array_equal(alone.x, [np.nan, 22.6])
    np.testing.assert_array_equal(with_delta.x, [16.9, 21.5])
    np.testing.assert_array_equal(joined.x, [np.nan, np.nan, np.nan, 22.6, 21.5, np.nan])
    assert list(with_delta.marker.color) == ["#17A2B8", "#E08A00"]
    assert with_delta.marker.symbol.endswith("-open")
    assert not alone.marker.symbol.endswith("-open")
    assert [(key.name, key.marker.color) for key in keys] == [(alone.name, BOUND), (with_delta.name, BOUND)]
    assert figure.layout.xaxis.title.text == "noise per cell (counts)"


def test_the_numbers_stand_outside_the_frame_at_the_rows_of_their_dots() -> None:
    dots = [NoiseDot("Laplace", "#E08A00", 22.6, 21.5), NoiseDot("Gaussian", "#17A2B8", np.nan, 16.9)]
    beside = noise_dots_figure(dots, x="noise").layout["yaxis2"]
    assert beside["side"] == "right"
    *texts, room = beside["ticktext"]
    assert texts == ["◇ 16.9", "● 22.6   ◇ 21.5"]
    assert "transparent" in room, "it holds the width of both numbers"
    assert beside["tickvals"] == [0, 1, -0.5]
    assert beside["range"] == noise_dots_figure(dots, x="noise").layout["yaxis"]["range"]


def test_noise_that_is_not_computed_yet_leaves_an_empty_row() -> None:
    figure = noise_dots_figure([NoiseDot("Laplace", "#E08A00", np.nan, np.nan)], x="noise").to_plotly()
    assert figure.layout.yaxis2.ticktext[0] == ""
    assert np.isfinite(figure.layout.xaxis.range).all()


def test_factors_are_drawn_for_every_graph_with_a_line_at_one() -> None:
    factors = {LOOKS["Laplace"]: np.array([1.0, 1.0]), LOOKS["Gaussian"]: np.array([1.3, np.nan])}
    figure = factors_figure(["chain", "<b>tree</b>"], factors).to_plotly()
    assert [trace.name for trace in figure.data] == ["Laplace", "Gaussian"]
    np.testing.assert_array_equal(figure.data[1].x, [1.3, np.nan])
    assert "<b>" not in figure.data[0].y[1]
    (level,) = figure.layout.shapes
    assert (level.x0, level.x1) == (1, 1)
    assert figure.layout.xaxis.type == "log"
