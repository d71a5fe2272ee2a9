"""Pictures of non-negativity: curves as they are, the axis with its cost, and a mark for the chosen t."""

import numpy as np
import pytest

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import BOUND, EXACT, INVALID, Curve, Look
from dpbayes.figures.non_negativity import non_negativity_figure
from dpbayes.mechanisms.stealth import Sense

T = np.geomspace(0.01, 5, 7)
CURVE = Curve(Sense.MARGINALS.look, T, np.linspace(0, 1, 7), np.full(7, np.nan))


def test_every_sense_has_a_look_of_its_own_and_none_that_means_something_else() -> None:
    colours, dashes = {sense.look.colour for sense in Sense}, {sense.look.dash for sense in Sense}
    assert len(colours) == len(dashes) == len(Sense)
    assert not {EXACT, INVALID, BOUND} & colours


def test_curves_are_drawn_as_they_are_and_the_chosen_t_is_marked() -> None:
    stated = Curve(Look("stated", BOUND, "dash"), T, CURVE.y / 2, CURVE.error)
    marked = (0.2, Estimate(0.5, 0.02))
    figure = non_negativity_figure([CURVE, stated], t=T, marked=marked, counts=100).to_plotly()
    simulated, second, mark = figure.data
    assert simulated.y == pytest.approx(CURVE.y)
    assert simulated.name == "all released tables"
    assert (second.line.color, second.line.dash) == (BOUND, "dash")
    assert (list(mark.x), list(mark.y), mark.marker.color) == ([0.2], [0.5], CURVE.look.colour)
    assert "t = 0.2: 0.50 ± 0.02" in mark.hovertemplate
    assert not mark.showlegend
    assert figure.layout.shapes[0].x0 == 0.2
    assert figure.layout.yaxis.title.text == "probability"
    assert figure.layout.xaxis.type == "log"


@pytest.mark.parametrize(
    ("counts", "label"), [(0.3, "0.3"), (4567, "4,567"), (20_000, "20 k"), (3e6, "3 m"), (2e9, "2 bn")]
)
def test_the_axis_says_what_every_increment_adds(counts: float, label: str) -> None:
    axis = non_negativity_figure([CURVE], t=T, marked=None, counts=counts).to_plotly().layout.xaxis
    labels = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    assert labels[1] == f"1<br>{label}"
    assert "counts that t adds" in axis.title.text


@pytest.mark.parametrize(("t", "place"), [(0.0, 0.01), (50.0, 5.0)])
def test_an_increment_beyond_the_axis_is_marked_at_its_end(t: float, place: float) -> None:
    mark = non_negativity_figure([CURVE], t=T, marked=(t, Estimate(1.0, 0.1)), counts=1).to_plotly().data[-1]
    assert list(mark.x) == pytest.approx([place])
    assert mark.name == f"t = {t:.3g} (beyond this axis)"
    assert mark.showlegend
