"""The pictures of regression hold the arrays they are given, in the colours of exact, private and bounds."""

import numpy as np
import pytest

from dpbayes.base.looks import BOUND, INVALID, RUST, Curve
from dpbayes.experiments.regression import LOOKS, Errors
from dpbayes.figures.regression import epsilon_figure, regression_errors_figure

B = np.array([0.1, 1.0, 10.0, 100.0])
EXACT_NAME, CUT_NAME, ONE_NAME, MEAN_NAME = (LOOKS[field].name for field in ("exact", "cut", "one", "baseline"))
NONE = np.full(4, np.nan)


def errors(level: float, repeats: int = 5) -> Errors:
    rng = np.random.default_rng(1)
    return Errors.of(level + rng.normal(0, 0.1, (repeats, 4)))


def drawn(errors: dict[str, Errors]) -> list[Curve]:
    """Return errors as the curves that a result with them has."""
    looks = {look.name: look for look in LOOKS.values()}
    return [
        Curve(looks[name], B, of.mean, NONE if name == MEAN_NAME else of.standard_error) for name, of in errors.items()
    ]


def test_epsilons_are_certified_and_printed_and_too_low_a_promise_is_red() -> None:
    certified, printed = np.array([100.0, 10.0, 1.0, 0.1]), np.array([50.0, 20.0, 10.0, 5.0])
    figure = epsilon_figure(certified, printed, epsilon=1.0, colour=RUST).to_plotly()
    lines = {trace.name: trace for trace in figure.data}
    assert lines["proved"].y == pytest.approx(certified)
    assert lines["proved"].line.color == RUST
    fine, low = lines["paper: 2L(w)"], lines["paper: 2L(w), too small"]
    assert np.array_equal(fine.y, [np.nan, 20, 10, 5], equal_nan=True)
    assert (fine.line.color, fine.line.dash) == (BOUND, "dash")
    assert np.array_equal(low.y, [50, np.nan, np.nan, np.nan], equal_nan=True)
    assert low.line.color == INVALID
    assert figure.layout.yaxis.type == "log"


def test_what_is_not_known_is_a_gap_in_line_and_band_and_a_curve_of_nothing_else_is_left_out() -> None:
    gaps, nothing = errors(2), errors(3)
    gaps.mean[1], nothing.mean[:] = np.nan, np.nan
    figure = regression_errors_figure(drawn({EXACT_NAME: gaps, CUT_NAME: nothing}), epsilon=10.0).to_plotly()
    shown = [trace for trace in figure.data if trace.name]
    line, band = (next(t for t in shown if (t.fill is None) == is_line) for is_line in (True, False))
    assert {trace.name for trace in shown} == {EXACT_NAME, f"{EXACT_NAME}: standard error"}
    assert np.array_equal(line.y, gaps.mean, equal_nan=True)
    assert np.array_equal(band.x, [0.1, 0.1, np.nan, 10, 100, 100, 10], equal_nan=True)
    assert np.array_equal(np.isnan(band.y), np.isnan(band.x))
    assert [band.y[0], band.y[1]] == pytest.approx([(gaps.mean + sign * gaps.standard_error)[0] for sign in (1, -1)])
