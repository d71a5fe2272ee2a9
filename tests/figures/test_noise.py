"""Pictures of the least noise: what is drawn where, labels that touch nothing, and names that stay text."""

import numpy as np
import pytest

from dpbayes.base.looks import BOUND, Look
from dpbayes.figures.noise import (
    MOST_NAMED,
    DensityLine,
    NoiseDot,
    factors_figure,
    noise_by_density_figure,
    noise_dots_figure,
    residuals_figure,
    spread,
)

COLOURS = {"Laplace": "#E08A00", "Gaussian": "#17A2B8"}
LOOKS = {name: Look(name, colour) for name, colour in COLOURS.items()}
ARROWS = np.array([0.0, 1.0, 2.0])


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


def test_every_line_has_its_name_at_its_end_and_no_legend() -> None:
    lines = [
        DensityLine(LOOKS["Laplace"], np.full((2, 3), 30.0)),
        DensityLine(LOOKS["Gaussian"], np.full((2, 3), 30.1)),
    ]
    figure = noise_by_density_figure(ARROWS, lines, crossing=1.5)
    beside = figure.layout["yaxis2"]
    assert [text.rpartition("> ")[2] for text in beside["ticktext"]] == ["Laplace", "Gaussian"]
    low, high = np.log10(beside["tickvals"])
    assert high > low, "labels of lines that end together do not overlap"
    assert not any(trace.get("showlegend", True) for trace in figure.data)
    (crossing,) = figure.to_plotly().layout.shapes
    assert crossing.x0 == 1.5
    assert [note["text"].strip() for note in figure.layout["annotations"]] == ["<b>1.5</b>"]


def test_a_band_is_one_standard_error_around_the_mean() -> None:
    noise = np.array([[10.0, 20.0, 30.0], [12.0, 24.0, 36.0]])
    band, line, _ = noise_by_density_figure(ARROWS, [DensityLine(LOOKS["Laplace"], noise)], crossing=None).data
    mean, error = noise.mean(axis=0), noise.std(axis=0, ddof=1) / np.sqrt(2)
    np.testing.assert_allclose(band["y"], [*(mean + error), *(mean - error)[::-1]])
    np.testing.assert_allclose(line["y"], mean)


@pytest.mark.parametrize("places", [[1.0, 1.0, 1.0], [3.0, 1.0, 1.1, 2.0], [0.0]])
def test_labels_are_apart_in_the_order_of_their_lines(places: list[float]) -> None:
    at = spread(places, gap=0.5)
    assert (np.diff(np.sort(at)) >= 0.5 - 1e-6).all()
    assert (np.argsort(at, kind="stable") == np.argsort(places, kind="stable")).all()
    assert at.mean() == pytest.approx(np.mean(places))


def test_residuals_stand_by_size_with_their_names() -> None:
    sets = [("a",), ("<b>",), ("a", "<b>")]
    sds = {"Laplace": np.array([1.0, 2.0, 3.0]), "Gaussian": np.array([0.5, 0.6, 0.7])}
    figure = residuals_figure(sets, sds, COLOURS).to_plotly()
    np.testing.assert_array_equal(figure.data[0].y, [1, 2, 3])
    assert list(figure.layout.xaxis.ticktext) == ["a", "&lt;b&gt;", "a, &lt;b&gt;"]
    assert figure.data[0].text[2] == "a, &lt;b&gt;: 3"
    assert [shape.x0 for shape in figure.layout.shapes] == [1.5]
    assert [note.text for note in figure.layout.annotations] == ["nodes", "pairs"]


def test_many_sets_are_named_at_the_pointer_alone() -> None:
    sets = [(f"x{k}",) for k in range(MOST_NAMED + 1)]
    figure = residuals_figure(sets, {"Laplace": np.ones(len(sets))}, COLOURS).to_plotly()
    assert figure.layout.xaxis.showticklabels is False
    assert figure.data[0].text[0] == "x0: 1"


def test_a_network_without_residuals_has_an_empty_picture() -> None:
    figure = residuals_figure([], {"Laplace": np.empty(0)}, COLOURS).to_plotly()
    assert len(figure.data[0].x) == 0
