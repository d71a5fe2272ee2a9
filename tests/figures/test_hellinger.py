import numpy as np
import pytest

from dpbayes.base.looks import EXACT, INVALID, Look
from dpbayes.experiments.die import DieMethod
from dpbayes.experiments.die_errors import LEVELS
from dpbayes.figures.hellinger import die_errors_figure, error_box_figure
from dpbayes.mechanisms.laplace import LaplaceUpdates


def errors(**tops: float) -> dict[Look, np.ndarray]:
    return {DieMethod[name].look: np.linspace(0, top, len(LEVELS)) for name, top in tops.items()}


def test_every_method_has_a_look_of_its_own_and_none_that_means_something_else():
    lines, symbols = {(one.look.colour, one.look.dash) for one in DieMethod}, {one.look.symbol for one in DieMethod}
    assert len(lines) == len(symbols) == len(DieMethod)
    assert not {EXACT, INVALID} & {method.look.colour for method in DieMethod}
    assert len({one.look.colour for one in DieMethod}) == len(DieMethod)
    assert DieMethod.CELLS.look.colour == LaplaceUpdates.colour
    assert [method for method in DieMethod if method.look.symbol.endswith("-open")] == [DieMethod.LOCAL], (
        "the one without a guarantee"
    )


def test_a_box_is_its_five_quantiles():
    figure = error_box_figure(errors(GLOBAL=1.0, ONE=0.4), ["", ""]).to_plotly()
    assert len(figure.data) == 3
    box = figure.data[1]
    quantiles = [box.lowerfence[0], box.q1[0], box.median[0], box.q3[0], box.upperfence[0]]
    assert quantiles == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert box.y[0] == DieMethod.ONE.value


def test_curves_are_medians_and_a_mark():
    values = np.sort(np.random.default_rng(1).random((3, 2, len(LEVELS))), axis=-1)
    places, looks = np.array([1.0, 10.0, 100.0]), (DieMethod.LOCAL.look, DieMethod.CELLS.look)
    curves = {look: values[:, k] for k, look in enumerate(looks)}
    figure = die_errors_figure(places, curves, marked=10).to_plotly()
    local, cells = figure.data
    assert local.y == pytest.approx(values[:, 0, 2])
    assert cells.y == pytest.approx(values[:, 1, 2])
    assert figure.layout.shapes[0].x0 == 10
    assert figure.layout.xaxis.type == "log"
