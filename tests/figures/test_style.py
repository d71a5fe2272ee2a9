import json
from base64 import b64decode

import numpy as np
import pytest

from dpbayes.figures.style import distinct_labels, figure_of, log_axis, plain, titled, upright


@pytest.mark.parametrize("low", [0.02, 1.0, 30.0])
def test_a_logarithmic_axis_numbers_every_power_from_three_decades_on(low):
    axis = log_axis("epsilon", low, 1000 * low)
    assert axis["dtick"] == 1
    assert "tickvals" not in axis


@pytest.mark.parametrize("times", [10, 999])
@pytest.mark.parametrize("low", [0.02, 1.0, 30.0])
def test_a_shorter_logarithmic_axis_numbers_one_two_and_five(low, times):
    axis = log_axis("epsilon", low, times * low)
    ticks = np.array(axis["tickvals"])
    assert np.all(np.diff(ticks) > 0), "in order"
    assert ticks[0] <= low
    assert times * low <= ticks[-1]
    assert ticks[1:] / ticks[:-1] == pytest.approx(np.resize([2, 2.5, 2], len(ticks) - 1))
    assert len(axis["ticktext"]) == len(ticks)


def test_numbers_of_an_axis_are_written_in_full_where_they_are_short():
    axis = log_axis("records", 1e3, 9e5)
    assert "1,000" in axis["ticktext"]
    assert "500,000" in axis["ticktext"]
    tiny = log_axis("delta", 1e-7, 5e-5)
    assert "2·10<sup>-6</sup>" in tiny["ticktext"]


def test_the_numbers_of_every_axis_are_written_as_a_person_writes_them():
    layout = figure_of([], x=titled("n", type="log"), y=titled("share", tickformat=".0%"), yaxis2=titled("KL")).layout
    assert layout["xaxis"]["exponentformat"] == "none", "100,000 and not 100k"
    assert layout["yaxis2"]["exponentformat"] == "power", "10 to the -6 and not 1μ"
    for axis in ("xaxis", "yaxis2"):
        assert layout[axis]["separatethousands"]
        assert layout[axis]["hoverformat"] == ",.4~r", "what a pointer shows has four digits and no e"
    assert "hoverformat" not in layout["yaxis"], "percent stay percent"


def test_names_are_text_and_never_markup():
    assert plain("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert plain("x" * 60, 10) == "x" * 9 + "…"


def test_names_that_are_cut_to_the_same_text_stay_apart():
    labels = distinct_labels(["a" * 30 + "1", "a" * 30 + "2", "b"], 8)
    assert len(set(labels)) == 3
    assert labels[2] == "b"


FIGURE = figure_of(
    [
        {"type": "scatter", "x": np.array([1.5, np.nan, 1e-300]), "y": [1, float("nan"), float("inf")], "name": "a"},
        {"type": "bar", "x": np.array(["b", "c"]), "y": np.array([[1, 2], [3, 4]])[0], "width": np.float64(0.5)},
        {"type": "heatmap", "z": np.array([[0.5, np.nan]])},
    ],
    x=titled("x", range=(0, np.float64(2))),
    y=titled("y"),
    shapes=[upright(1.0, {"width": 1})],
)


def test_a_browser_gets_numbers_as_bytes_and_gaps_as_null():
    line, bars, map_ = json.loads(FIGURE.to_json())["data"]
    sent = np.frombuffer(b64decode(line["x"]["bdata"]), dtype=line["x"]["dtype"])
    assert np.array_equal(sent, FIGURE.data[0]["x"], equal_nan=True)
    assert line["y"] == [1, None, None]
    assert (bars["x"], bars["y"], bars["width"]) == (["b", "c"], [1, 2], 0.5)
    assert map_["z"] == [[0.5, None]]


@pytest.mark.parametrize(("size", "times", "kind"), [(1e-29, 101, "f4"), (1e-29, 100, "f8"), (1e-31, 101, "f8")])
def test_many_numbers_of_a_usual_size_are_sent_in_seven_digits(size: float, times: int, kind: str):
    numbers = np.tile([0.0, np.nan, size, -1 / 3, 1 / size], times)
    sent = json.loads(figure_of([{"x": numbers}], x=titled("x"), y=titled("y")).to_json())["data"][0]["x"]
    assert sent["dtype"] == kind
    unpacked = np.frombuffer(b64decode(sent["bdata"]), dtype=kind)
    np.testing.assert_allclose(unpacked, numbers, rtol=1e-7)


def test_what_a_browser_gets_is_what_plotly_would_send_it():
    ours, theirs = json.loads(FIGURE.to_json()), FIGURE.to_plotly().to_plotly_json()
    theirs["layout"].pop("template")
    assert set(ours["layout"]) == set(theirs["layout"])
    for key in ("xaxis", "yaxis", "shapes", "margin", "legend", "height"):
        assert json.dumps(ours["layout"][key], sort_keys=True) == json.dumps(
            theirs["layout"][key], sort_keys=True, default=list
        )


def test_plotly_refuses_a_property_that_it_does_not_know():
    with pytest.raises(ValueError, match="colour"):
        figure_of([{"type": "scatter", "colour": "red"}], x=titled("x"), y=titled("y")).to_plotly()
