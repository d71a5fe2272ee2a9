"""The picture of private regression: errors against epsilon."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Curve
from dpbayes.figures.style import (
    Figure,
    band_of,
    chosen_epsilon,
    directly_named,
    epsilon_axis,
    faded,
    figure_of,
    line_of,
    titled,
)


def regression_errors_figure(curves: Sequence[Curve], *, epsilon: float) -> Figure:
    """Draw errors by predictor against epsilon, with bands of one standard error; the axis does not begin at zero.

    The first and the last curve are flat: they are named, with their values, at their lines.
    """
    x = curves[0].x
    bands = [band_of(x, of.y - of.error, of.y + of.error, faded(of.look.colour, 0.2)) for of in curves]
    lines = [line_of(of.look, x, of.y, hovertemplate="ε = %{x:,.4~r}: %{y:,.4~r}") for of in curves]
    ends = np.array([min(of.y.min() for of in curves), max(of.y.max() for of in curves)])
    span = (ends + np.array([-0.12, 0.12]) * np.ptp(ends)).tolist()  # with room for the names of the flat lines
    axis = titled("typical error in dollars (the axis does not begin at 0)", automargin=True, range=span)
    figure = figure_of([*bands, *lines], x=epsilon_axis(x), y=axis, height=420, shapes=[chosen_epsilon(x, epsilon)])
    for of, place, side in ((curves[0], x.min(), "bottom right"), (curves[-1], x.max(), "top left")):
        figure = directly_named(figure, of.look.name, f"{of.look.name}: {round(of.y[-1]):,}", place, side)
    return figure
