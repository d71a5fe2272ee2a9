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
    """Draw errors by predictor against epsilon with bands of one standard error; the axis has the range of the errors.

    The first and the last curve are named at their lines.
    """
    x = curves[0].x
    bands = [band_of(x, of.y - of.error, of.y + of.error, faded(of.look.colour, 0.2)) for of in curves]
    lines = [line_of(of.look, x, of.y, hovertemplate="ε = %{x:,.4~r}: %{y:,.4~r}") for of in curves]
    low, high = (float(end([of.y for of in curves])) for end in (np.min, np.max))
    room = 0.08 * (high - low)
    axis = titled("typical error in dollars", automargin=True, range=[low - room, high + 2 * room])
    figure = figure_of([*bands, *lines], x=epsilon_axis(x), y=axis, height=420, shapes=[chosen_epsilon(x, epsilon)])
    first, last = curves[0].look.name, curves[-1].look.name
    return directly_named(directly_named(figure, first, first, x.min(), "top right"), last, last, x.max(), "top left")
