"""Pictures of Explore: shares against epsilon, and a belief.

Pictures against epsilon have the same logarithmic axis, and the same line at the epsilon that is chosen.
"""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import BOUND, SLATE, Curve
from dpbayes.base.text import in_hundred, percent, share_text
from dpbayes.figures.style import (
    PERCENT,
    Figure,
    Trace,
    chosen_epsilon,
    faded,
    figure_of,
    line_of,
    small_epsilon_axis,
    titled,
    value_mark,
)

HEIGHT = 256
"""Pixels of a picture of which four are on a screen."""

HALF = 0.5
"""A share above which its text is below the curve."""


def shares_figure(curves: Sequence[Curve], *, epsilon: float, value: float, title: str, text: str = "") -> Figure:
    """Draw shares between 0 and 1 against epsilon on a logarithmic axis.

    Args:
        curves: The shares; at least one.
        epsilon: The chosen epsilon, marked by a line.
        value: The share of the first curve there.
        title: What the shares are of, for the axis.
        text: The value as a text; "" for its share.

    Returns:
        The figure, whose axes do not depend on the chosen epsilon.
    """
    x = curves[0].x
    lines = [_line(curve) for curve in curves]
    above = "top" if value < HALF else "bottom"
    side = "top left" if curves[0].y[-1] > curves[0].y[0] else f"{above} right"  # off a curve that rises
    mark = value_mark(epsilon, value, text or share_text(value), curves[0].look.colour, side=side)
    y = titled(title, range=[-0.04, 1.06], tickformat=PERCENT, dtick=0.5)
    return figure_of([*lines, mark], x=small_epsilon_axis(x), y=y, height=HEIGHT, shapes=[chosen_epsilon(x, epsilon)])


def belief_rise(before: float, after: float) -> str:
    """Return how far a belief can rise, in percent; the limit is rounded up."""
    return f"{percent(before)} → at most {in_hundred(after)}%"


def belief_figure(before: float, after: float) -> Figure:
    """Draw a belief about one person as a hundred squares: before a release, and at most after it, rounded up."""
    percents = np.clip(100 * after - np.arange(100.0), 0.0, 1.0)  # the last one may be a part of a percent
    percents[: round(100 * before)] = 2.0
    colours = [[0.0, faded(BOUND, 0.15)], [0.5, faded(SLATE, 0.5)], [1.0, SLATE]]
    squares = {"type": "heatmap", "z": percents.reshape(10, 10), "zmin": 0, "zmax": 2, "colorscale": colours}
    squares |= {"xgap": 3, "ygap": 3, "showscale": False, "hoverinfo": "skip"}
    text = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 1, "yanchor": "bottom", "showarrow": False}
    said = {"text": f"<b>{belief_rise(before, after)}</b>", "font": {"size": 22}}
    hidden, margin = {"visible": False}, {"l": 8, "r": 8, "t": 44, "b": 8}
    return figure_of([squares], x=hidden, y=hidden, annotations=[text | said], margin=margin)


def _line(curve: Curve) -> Trace:
    texts = [share_text(value) for value in curve.y.tolist()]
    hover = f"ε = %{{x:,.3~r}}: %{{customdata}}<extra>{curve.look.name}</extra>"
    return line_of(curve.look, curve.x, curve.y, customdata=texts, hovertemplate=hover)
