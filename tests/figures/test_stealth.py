import numpy as np
import pytest

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID
from dpbayes.figures.stealth import agreement_figure, stealth_figure
from dpbayes.mechanisms.stealth import Sense

T = np.geomspace(0.01, 5, 7)
CURVE = np.linspace(0, 1, 7)


def test_every_sense_has_a_look_of_its_own_and_none_that_means_something_else():
    colours, dashes = {sense.look.colour for sense in Sense}, {sense.look.dash for sense in Sense}
    assert len(colours) == len(dashes) == len(Sense)
    assert not {EXACT, INVALID, BOUND} & colours


def test_curves_are_drawn_as_they_are_with_bounds_grey_and_real_counts_blue():
    figure = stealth_figure(
        T,
        {Sense.MARGINALS.look: CURVE},
        {"printed": CURVE / 2, "proved": CURVE / 3},
        CURVE,
        chosen=(0.2, Estimate(0.5, 0.02), GREEN),
        records=100,
    ).to_plotly()
    printed, proved, simulated, real, chosen = figure.data
    assert (printed.line.color, printed.line.dash, proved.line.dash) == (BOUND, "dash", "dot")
    assert simulated.y == pytest.approx(CURVE)
    assert simulated.name == "all released tables"
    assert (real.line.color, real.name) == (EXACT, "real counts (curator only)")
    assert chosen.marker.color == GREEN
    assert list(chosen.x) == [0.2, 0.2]
    assert list(chosen.y) == [0, 0.5]
    assert "t = 0.2: 0.50 ± 0.02" in chosen.hovertemplate
    assert figure.layout.yaxis.title.text == "probability"
    assert figure.layout.xaxis.type == "log"


def test_the_axis_says_what_every_increment_adds():
    figure = stealth_figure(T, {}, {}, None, chosen=None, records=20_000).to_plotly()
    assert len(figure.data) == 0
    labels = dict(zip(figure.layout.xaxis.tickvals, figure.layout.xaxis.ticktext, strict=True))
    assert labels[0.01] == "0.01<br>200"
    assert labels[1] == "1<br>20 k"
    assert "records" in figure.layout.xaxis.title.text


@pytest.mark.parametrize(("records", "label"), [(0.3, "0.3"), (3e6, "3 m"), (2e9, "2 bn"), (4567, "4,567")])
def test_few_and_many_records_are_short(records, label):
    figure = stealth_figure(T, {}, {}, None, chosen=None, records=records).to_plotly()
    assert f"1<br>{label}" in figure.layout.xaxis.ticktext


@pytest.mark.parametrize(("t", "place"), [(0.0, 0.01), (50.0, 5.0)])
def test_an_increment_beyond_the_axis_is_marked_at_its_end(t, place):
    figure = stealth_figure(T, {}, {}, None, chosen=(t, Estimate(1.0, 0.1), GREEN), records=1).to_plotly()
    assert list(figure.data[0].x) == pytest.approx([place, place])
    assert figure.data[0].name == f"t = {t:.3g} (beyond this axis)"


def test_two_tables_agree_on_the_line():
    said = np.array([[1.0, 2.0], [3.0, 3.0]])
    figure = agreement_figure(said, names=("<b>", "b"), about="asia=yes", limits=(0, 5), colour=GREEN).to_plotly()
    line, dots = figure.data
    assert list(line.x) == list(line.y) == [0, 5]
    assert list(dots.x) == [1, 3]
    assert list(dots.y) == [2, 3]
    assert figure.layout.xaxis.title.text == "asia=yes, says &lt;b&gt; (records)"
    assert tuple(figure.layout.xaxis.range) == tuple(figure.layout.yaxis.range) == (0, 5)
