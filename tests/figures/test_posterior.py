"""Densities of one probability, rows with intervals and columns: their arrays, and what is exact in blue alone."""

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.figures.posterior import LETTER, columns_figure, density_figure, rows_figure

THETA = np.linspace(0, 1, 201)
PRIVATE_DENSITY, EXACT_DENSITY = stats.beta(3, 10).pdf(THETA), stats.beta(3.5, 10).pdf(THETA)


def test_the_release_is_orange_another_reading_dashed_and_the_exact_density_blue():
    private = {"noise-aware": PRIVATE_DENSITY, "naive": 3 * PRIVATE_DENSITY}
    figure = density_figure(THETA, private, exact=EXACT_DENSITY, name="a | <b>").to_plotly()
    aware, naive, exact = figure.data
    assert np.array_equal(aware.y, PRIVATE_DENSITY)
    assert (aware.line.dash, naive.line.dash) == (None, "dash")
    assert (exact.line.color, aware.line.color) == (EXACT, PRIVATE)
    assert figure.layout.xaxis.title.text == "P(a | &lt;b&gt;)"
    assert tuple(figure.layout.xaxis.range) == (0, 1)
    assert figure.layout.yaxis.range[1] < 1.5 * EXACT_DENSITY.max(), "the exact density decides the frame"


@pytest.mark.parametrize(
    "figure",
    [
        density_figure(THETA, {"private": PRIVATE_DENSITY}, name="a").to_plotly(),
        density_figure(THETA, {"private": PRIVATE_DENSITY}, samples=np.array([0.2, 0.4]), name="a").to_plotly(),
        rows_figure(["a"], (np.array([0.5]), np.array([0.4]), np.array([0.7])), ["0.5"]).to_plotly(),
    ],
)
def test_a_recipients_picture_has_nothing_exact_in_it(figure):
    assert not [trace for trace in figure.data if "exact" in (trace.name or "")]
    assert EXACT not in figure.to_json()


def test_a_density_that_is_infinite_at_an_end_does_not_flatten_the_rest():
    spiked = stats.beta(0.5, 3).pdf(THETA)
    assert np.isinf(spiked[0])
    top = density_figure(THETA, {"private": spiked}, name="a").to_plotly().layout.yaxis.range[1]
    assert spiked[4:-4].max() < top < 100


def test_rows_have_means_and_both_ends_of_their_intervals_and_whole_labels():
    mean, low, high = np.array([0.5, 0.2]), np.array([0.4, 0.1]), np.array([0.7, 0.25])
    figure = rows_figure(["a", "age < 40, bmi=18.5 to < 25, sex=F"], (mean, low, high), ["0.5", "0.2"]).to_plotly()
    private, _ = figure.data
    assert private.x == pytest.approx(mean)
    assert private.error_x.array == pytest.approx(high - mean)
    assert private.error_x.arrayminus == pytest.approx(mean - low)
    first, second = figure.layout.yaxis.ticktext
    assert (first, second) == ("a", "age &lt; 40, bmi=18.5 to &lt; 25,<br>sex=F")
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"


def test_the_values_of_a_column_share_its_bar_by_their_records():
    states, records = [["no", "<i>yes</i>"], ["a", "b", "c"]], [np.array([3, 1]), np.array([2, 0, 0])]
    figure = columns_figure(["<b>rain</b>", "x"], states, records, pitch=40).to_plotly()
    first, below, second, others = figure.data
    assert [list(bar.x) for bar in (first, second)] == [[75, 25], [100, 0, 0]]
    assert [list(bar.base) for bar in (first, second)] == [[0, 75], [0, 100, 100]]
    assert list(first.text) == ["no 75.0%", "25.0%"], "a name that needs more room than its part is below"
    named = [[text.split("■</span> ")[1] for text in row.text] for row in (below, others)]
    assert named == [["&lt;i&gt;yes&lt;/i&gt;"], ["b 0%", "c 0%"]]
    assert list(below.x) == [75], "a name begins where its part does"
    assert "<b>" not in figure.layout.yaxis.ticktext[0]


def test_of_many_values_the_most_frequent_have_names_that_do_not_lie_on_each_other():
    values, records = [f"value {k}" for k in range(40)], np.arange(40)
    *_, names = columns_figure(["x"], [values], [records], pitch=40).data
    assert "value 39" in names["text"][-1]
    assert 2 < len(names["text"]) < 12
    (note,) = columns_figure(["x"], [()], [np.zeros(0, int)], pitch=40).data
    assert note["text"] == ["not in use"]
    assert min(np.diff(names["x"])) >= LETTER * len("value 39")
