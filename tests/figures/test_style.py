import numpy as np
import pytest

from dpbayes.figures.style import distinct_labels, faded, log_axis, plain


@pytest.mark.parametrize("low", [0.02, 1.0, 30.0])
def test_a_logarithmic_axis_numbers_every_power_from_three_decades_on(low):
    axis = log_axis("epsilon", low, 1000 * low)
    assert axis["dtick"] == 1
    assert "tickvals" not in axis


@pytest.mark.parametrize("low", [0.02, 1.0, 30.0])
def test_a_shorter_logarithmic_axis_numbers_one_two_and_five(low):
    axis = log_axis("epsilon", low, 999 * low)
    ticks = np.array(axis["tickvals"])
    assert np.all(np.diff(ticks) > 0), "in order"
    assert ticks[0] <= low
    assert 999 * low <= ticks[-1]
    assert ticks[1:] / ticks[:-1] == pytest.approx(np.resize([2, 2.5, 2], len(ticks) - 1))
    assert len(axis["ticktext"]) == len(ticks)


def test_within_a_decade_plotly_writes_the_numbers():
    axis = log_axis("epsilon", 1.0, 9.9)
    assert axis["type"] == "log"
    assert not {"dtick", "tickvals"} & set(axis)


def test_numbers_of_an_axis_are_written_in_full_where_they_are_short():
    axis = log_axis("records", 1e3, 9e5)
    assert "1,000" in axis["ticktext"]
    assert "500,000" in axis["ticktext"]
    tiny = log_axis("delta", 1e-7, 5e-5)
    assert "2·10<sup>-6</sup>" in tiny["ticktext"]


def test_names_are_text_and_never_markup():
    assert plain("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert plain("x" * 60, 10) == "x" * 9 + "…"


def test_names_that_are_cut_to_the_same_text_stay_apart():
    labels = distinct_labels(["a" * 30 + "1", "a" * 30 + "2", "b"], 8)
    assert len(set(labels)) == 3
    assert labels[2] == "b"


def test_a_faded_colour_keeps_its_parts():
    assert faded("#2E86C1", 0.25) == "rgba(46,134,193,0.25)"
