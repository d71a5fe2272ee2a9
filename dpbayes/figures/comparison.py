"""The error of several mechanisms against epsilon."""

import math
from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Curve
from dpbayes.figures.style import (
    EPSILON_AXIS,
    Figure,
    Trace,
    chosen_epsilon,
    figure_of,
    line_of,
    log_axis,
    positive_range,
)


def errors_figure(curves: Sequence[Curve], *, epsilon: float, title: str) -> Figure:
    """Draw the error of each mechanism against epsilon, a line with markers, both on logarithmic scales.

    Args:
        curves: Errors over epsilons; NaN where a mechanism cannot be used.
        epsilon: The chosen epsilon, marked by a line.
        title: What is on the vertical axis, with its unit.

    Returns:
        The figure.
    """
    x = np.concatenate([curve.x for curve in curves])
    low, high = positive_range(*(curve.y for curve in curves), otherwise=(0.01, 1.0))
    span = [math.log10(low) - 0.1, math.log10(high) + 0.15]
    return figure_of(
        [_line(curve) for curve in curves],
        x=log_axis(EPSILON_AXIS, float(x.min()), float(x.max())),
        y=log_axis(title, low, high, range=span),
        height=360 + 14 * len(curves),
        shapes=[chosen_epsilon(x, epsilon)],
    )


def _line(curve: Curve) -> Trace:
    marker = {"color": curve.look.colour, "symbol": curve.look.symbol, "size": 7}
    bar = {"type": "data", "array": curve.error, "visible": True, "thickness": 1}
    hover = "ε = %{x:,.3~r}: %{y:,.3~r}<extra>" + curve.look.name + "</extra>"
    more = {"mode": "lines+markers", "marker": marker, "error_y": bar, "hovertemplate": hover}
    return line_of(curve.look, curve.x, curve.y, **more)
