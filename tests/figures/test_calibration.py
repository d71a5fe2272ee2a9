"""The picture of coverage against epsilon shows the arrays it was given."""

import json

import numpy as np
import pytest

from dpbayes.base.looks import EXACT, PRIVATE, Curve, Look
from dpbayes.figures.explore import coverage_figure

EPSILONS = np.array([0.1, 1.0, 10.0, 100.0])
REAL = Curve(Look("as real", EXACT), EPSILONS, np.array([0.01, 0.6, 0.9, 0.95]), np.array([0.01, 0.02, 0.03, np.nan]))
AWARE = Curve(Look("aware", PRIVATE), EPSILONS[:2], np.array([0.94, 0.99]), np.array([0.01, 0.01]))


def test_curves_have_bands_of_two_errors_within_what_a_share_can_be():
    figure = coverage_figure([REAL, AWARE], EPSILONS, level=0.95).to_plotly()
    first, second, claimed, real, aware = figure.data
    assert list(real.x) == list(EPSILONS)
    assert list(real.y) == list(REAL.y)
    assert list(aware.y) == list(AWARE.y)
    assert list(first.y) == pytest.approx([0.03, 0.64, 0.96, 0.95, 0.95, 0.84, 0.56, 0.0])
    assert list(second.y) == pytest.approx([0.96, 1.0, 0.97, 0.92])
    assert list(claimed.y) == [0.95, 0.95]
    assert list(claimed.x) == [0.1, 100]
    assert claimed.name == "stated: 95%"
    assert (first.showlegend, second.showlegend) == (False, False)
    assert [trace.name for trace in (real, aware)] == ["as real", "aware"]


def test_the_frame_does_not_move_while_curves_grow():
    gap = np.zeros(0)
    nothing = [Curve(look, gap, gap, gap) for look in (REAL.look, AWARE.look)]
    waiting, done = (coverage_figure(curves, EPSILONS, level=0.8) for curves in (nothing, [REAL, AWARE]))
    assert waiting.layout == done.layout
    assert waiting.layout["xaxis"]["title"]["text"] == "proved ε, nats"
    assert waiting.layout["yaxis"]["title"]["text"] == "intervals that contain the true value"
    json.loads(waiting.to_json())


def test_one_epsilon_alone_is_seen():
    one = Curve(REAL.look, EPSILONS[:1], REAL.y[:1], REAL.error[:1])
    figure = coverage_figure([one], EPSILONS[:1], level=0.95).to_plotly()
    assert figure.data[-1].mode == "lines+markers"
    low, high = figure.layout.xaxis.range
    assert low < -1 < high
