import math

import numpy as np
import pytest

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID
from dpbayes.figures.audit import (
    FLOOR,
    LEAST_DELTA,
    LossBar,
    factor_axis,
    laws_figure,
    losses_figure,
    privacy_curve_figure,
    verdict_figure,
)
from dpbayes.figures.style import faded

EPSILONS = np.array([0.0, 1.0, 2.0, 3.0])
DELTAS = np.array([0.5, 0.1, 1e-4, 0.0])
NOWHERE = np.zeros(4, dtype=bool)
CLAIM = (1.0, 0.0)


def named(figure, part):
    return next(trace for trace in figure.data if part in trace.name)


def curve(lower=DELTAS, broken=NOWHERE, claimed=CLAIM):
    return privacy_curve_figure(EPSILONS, DELTAS, lower, broken=broken, claimed=claimed).to_plotly()


def test_an_exact_curve_is_blue_and_a_claim_that_holds_is_grey():
    figure = curve()
    assert list(named(figure, "exact").y) == [0.5, 0.1, 1e-4, LEAST_DELTA]
    assert named(figure, "exact").line.color == EXACT
    assert named(figure, "stated").line.color == BOUND
    assert not any(trace.line.color == INVALID for trace in figure.data)
    assert figure.layout.yaxis.type == "log"
    assert "δ" in figure.layout.yaxis.title.text


def test_where_the_claim_is_broken_the_curve_and_the_claim_are_red():
    figure = curve(broken=np.array([False, True, True, False]))
    red = named(figure, "above the claim")
    assert red.line.color == INVALID
    assert np.isnan(red.y[0])
    assert list(red.y[1:]) == [0.1, 1e-4, LEAST_DELTA]
    assert next(trace for trace in figure.data if trace.name == "stated").line.color == INVALID
    unpromised = curve(broken=np.ones(4, dtype=bool), claimed=None)
    assert not any("stated" in trace.name or "claim" in trace.name for trace in unpromised.data)


def test_two_values_of_the_curve_are_dashed_and_dotted_and_an_unknown_one_is_left_out():
    figure = curve(lower=DELTAS / 2)
    assert named(figure, "bounds").line.dash == "dash"
    assert list(named(figure, "lower").y[:3]) == [0.25, 0.05, 5e-5]
    assert not any(trace.name == "exact" for trace in figure.data)
    assert not any("lower" in trace.name for trace in curve(lower=np.zeros(4)).data)


def test_a_promise_stands_at_its_delta_and_one_without_delta_at_the_bottom():
    figure = curve(claimed=(1.0, 1e-6))
    assert list(named(figure, "stated").x) == [1.0, 1.0]
    assert named(figure, "stated").y[0] == 1e-6
    assert 10 ** figure.layout.yaxis.range[0] < 1e-6
    pure = curve()
    assert named(pure, "stated").y[0] == pytest.approx(10 ** pure.layout.yaxis.range[0])


def test_a_curve_of_zeros_and_one_of_ones_are_drawn():
    for deltas in (np.zeros(4), np.ones(4), np.array([1.0, 1e-200, 0, 0])):
        figure = privacy_curve_figure(EPSILONS, deltas, deltas, broken=NOWHERE, claimed=None).to_plotly()
        assert np.all(np.asarray(figure.data[0].y) >= LEAST_DELTA)
        assert math.log10(FLOOR) - 1e-9 <= figure.layout.yaxis.range[0] <= -3


def test_the_laws_are_drawn_where_they_differ():
    first, second = np.array([0.1, 0.4, 0.3, 0.1, 0.1]), np.array([0.1, 0.3, 0.3, 0.2, 0.1])
    laws = {"first": first, "second": second}
    figure = laws_figure(list("abcde"), laws, x="output", y="probability", mark=(1, "1.34 times", GREEN)).to_plotly()
    assert figure.layout.xaxis.title.text == "output; those not drawn differ little"
    assert list(named(figure, "first").x) == ["b", "c", "d"]
    assert list(named(figure, "second").y) == [0.3, 0.3, 0.2]
    assert named(figure, "largest factor").x == ("b", "b")
    assert named(figure, "largest factor").y == (0.4, 0.3)
    assert figure.layout.yaxis.range[0] == 0


def test_a_rare_output_with_the_largest_factor_is_seen_on_a_logarithmic_axis():
    laws = {"first": np.array([0.6, 0.399, 0.001]), "second": np.array([0.6, 0.3999, 0.0001])}
    figure = laws_figure(np.arange(3.0), laws, x="output", y="density", mark=(2, "10 times", INVALID)).to_plotly()
    assert figure.layout.yaxis.title.text.endswith("density (logarithmic)")
    assert figure.layout.yaxis.range[0] < -4
    assert list(named(figure, "first").x) == [0, 1, 2]


@pytest.mark.parametrize(
    ("limit", "proved", "low", "high", "colours"),
    [
        (1.0, ("holds", 1.0), 1.0, 1.0, [GREEN, GREEN]),
        (2.0, ("open", 9.0), 7.0, 7.0, [BOUND, BOUND, GREEN, INVALID]),
        (2.0, ("holds", 1.0), 0.5, 1.0, [GREEN, GREEN, faded(GREEN, 0.35)]),
        (2.0, ("loose", 2.0), 0.5, math.inf, [faded(BOUND, 0.15), GREEN, faded(BOUND, 0.35)]),
    ],
)
def test_a_loss_is_green_within_the_allowed_one_and_red_above_it(limit, proved, low, high, colours):
    verdict, loss = proved
    rows = [LossBar("proved", loss, loss, "text", verdict, "so"), LossBar("loss", low, high, "text")]
    end = 1.45 * max(value for value in (limit, loss, high) if math.isfinite(value))
    figure = verdict_figure(rows, x={"range": [0, end]}, limit=limit).to_plotly()
    assert [bar.marker.color for bar in figure.data] == colours
    field, line = figure.layout.shapes
    assert (field.x0, field.x1, line.x0) == (0, limit, limit)
    assert max(bar.base[0] + bar.x[0] for bar in figure.data) == pytest.approx(min(max(loss, high), end))


def test_a_value_below_the_axis_has_its_texts_on_the_axis() -> None:
    rows = [LossBar("Stated", -1.0, -1.0, "-1"), LossBar("True value", 1.0, 1.0, "1")]
    _, *notes = verdict_figure(rows, x={"range": [0, 1.45]}, limit=-1.0).layout["annotations"]
    assert [note["x"] for note in notes] == [0, 0, 0, 1]


@pytest.mark.parametrize("end", [1e-5, 0.01, 0.9, 1.5, 1.7, 5.0, 40.0, 1000.0])
def test_the_axis_of_losses_has_a_few_round_factors_at_their_logarithms(end):
    axis = factor_axis(end)
    assert 2 <= len(axis["tickvals"]) <= 10
    assert axis["tickvals"][0] == 0
    assert sum(axis["tickvals"] <= end) >= 2
    if end < 6:
        np.testing.assert_allclose(np.exp(axis["tickvals"]), np.array(axis["ticktext"], dtype=float))


def test_losses_are_drawn_as_the_share_of_outputs_above_them_beside_the_claim() -> None:
    first, second = np.array([0.5, -0.2, 0.1, 0.3]), np.array([0.0, 0.4, 0.2, 0.1])
    above, other, claim = losses_figure(first, second, claimed=1.0).data
    np.testing.assert_allclose(above["x"][::2], [0, 0.1, 0.2, 0.3, 0.5])
    np.testing.assert_allclose(above["y"][::2], [1, 0.75, 0.5, 0.25, 0])
    np.testing.assert_allclose(other["x"][::2], [0, *np.sort(second)])
    assert claim["x"] == [1.0, 1.0]
