import numpy as np
import pytest

from dpbayes.base.looks import EXACT, INVALID, Look
from dpbayes.experiments.die import DieMethod
from dpbayes.experiments.die_errors import LEVELS
from dpbayes.figures.hellinger import error_box_figure, near_figure
from dpbayes.figures.rows import HEADING, ROW
from dpbayes.mechanisms.laplace import LaplaceUpdates


def errors(**tops: float) -> dict[Look, np.ndarray]:
    return {DieMethod[name].look: np.linspace(0, top, len(LEVELS)) for name, top in tops.items()}


def test_every_method_has_a_look_of_its_own_and_none_that_means_something_else():
    lines, symbols = {(one.look.colour, one.look.dash) for one in DieMethod}, {one.look.symbol for one in DieMethod}
    assert len(lines) == len(symbols) == len(DieMethod)
    assert not {EXACT, INVALID} & {method.look.colour for method in DieMethod}
    assert len({one.look.colour for one in DieMethod}) == len(DieMethod)
    assert DieMethod.CELLS.look.colour == LaplaceUpdates.colour
    assert [method for method in DieMethod if method.look.symbol.endswith("-open")] == [DieMethod.LOCAL]


def test_a_box_is_its_five_quantiles_and_a_heading_takes_room():
    rows = {
        f"family<br>{look.name}<br>what it is": (look, values, "")
        for look, values in errors(GLOBAL=1.0, ONE=0.4).items()
    }
    figure = error_box_figure(rows, most=1.0, title="distance").to_plotly()
    assert len(figure.data) == 4
    box = figure.data[1]
    quantiles = [box.lowerfence[0], box.q1[0], box.median[0], box.q3[0], box.upperfence[0]]
    assert np.square(quantiles) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert figure.data[2].text == tuple(rows)
    assert box.y[0] == figure.data[2].y[1] == figure.data[3].y[1] == 2 * (ROW + HEADING)
    assert np.square(figure.data[3].x) == pytest.approx([1.0, 0.4])


def test_bars_begin_at_their_epsilons_and_one_that_never_does_is_not_drawn():
    places, cells = np.array([1.0, 10.0, 100.0]), DieMethod.CELLS.look
    figure = near_figure({"cells": (cells, 10.0), "global": (DieMethod.GLOBAL.look, np.nan)}, places, marked=10)
    cells, never = figure.data[:2]
    assert cells["x"] == [10, 100]
    assert np.isnan(never["x"][0])
    assert figure.data[2]["x"] == [10, 10]  # the chosen epsilon
    assert figure.to_plotly().layout.xaxis.type == "log"
