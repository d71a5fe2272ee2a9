import numpy as np

from dpbayes.base.looks import PURPLE
from dpbayes.figures.sampling import (
    SHOWN_DRAWS,
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
