import numpy as np

from dpbayes.base.looks import BOUND, INVALID, PURPLE
from dpbayes.figures.sampling import (
    SHOWN_DRAWS,
    omega_figure,
    trim_figure,
)

THETA = np.linspace(0.01, 0.99, 99)


def named(figure, part):
    return next(trace for trace in figure.data if part in trace.name)


def test_without_an_exact_density_nothing_is_called_exact_or_posterior():
    figure = trim_figure(
        (THETA, None, THETA), np.full(2000, 0.5), region=(0.4, 0.6), name="a", colour=PURPLE
    ).to_plotly()
    names = " ".join(trace.name for trace in figure.data)
    assert "exact" not in names
    assert "posterior" not in names
    assert len(named(figure, "released").x) == SHOWN_DRAWS
    assert f"first {SHOWN_DRAWS}" in names


def test_a_printed_omega_is_red_only_where_it_breaks_its_promise():
    epsilon = np.array([1.0, 2.0, 3.0])
    figure = omega_figure(
        epsilon, np.full(3, 0.3), np.array([np.nan, 0.4, 0.2]), chosen=(1.0, 0.1), colour=PURPLE
    ).to_plotly()
    safe, broken = (trace for trace in figure.data if "paper" in trace.name)
    assert (safe.line.color, broken.line.color) == (BOUND, INVALID)
    assert np.array_equal(safe.y, [np.nan, 0.4, np.nan], equal_nan=True)
    assert np.array_equal(broken.y, [np.nan, np.nan, 0.2], equal_nan=True)
    assert "too small" in broken.name
    kept = omega_figure(epsilon, np.full(3, 0.3), np.full(3, 0.4), chosen=(1.0, 0.1), colour=PURPLE).to_plotly()
    assert not [trace for trace in kept.data if "too small" in trace.name]
