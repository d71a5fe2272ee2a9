"""Pictures of Explore: divergence and shares against epsilon.

Pictures against epsilon have the same logarithmic axis, and the same line at the epsilon that is chosen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, SLATE, Curve, Look
from dpbayes.base.text import in_hundred, numeral, percent, power_of_ten, share_text
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    PERCENT,
    Axis,
    Figure,
    Trace,
    band_of,
    chosen_epsilon,
    faded,
    figure_of,
    line_of,
    numerals,
    small_epsilon_axis,
    titled,
    value_mark,
)

HEIGHT = 256
"""Pixels of a picture of which four are on a screen."""

LEAST, MOST, ABOVE = -3, 5, 5
"""The powers of ten on an axis of divergences, and how far a bound may be above them."""

HALF = 0.5
"""A share above which its text is below the curve."""

BAND = 2
"""Standard errors on either side of a curve of coverage."""


@dataclass(frozen=True, eq=False)
class Spread:
    """A simulated quantity against epsilon (E,): its mean, and the interval that holds 90% of the releases."""

    look: Look
    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def divergence_figure(spread: Spread, bounds: Sequence[Curve], *, epsilon: float, value: float) -> Figure:
    """Draw the divergence of simulated releases against epsilon, both axes logarithmic, with bounds on it.

    Args:
        spread: The simulated divergence, as a multiple of that of other records.
        bounds: The proved bound, and that of a paper.
        epsilon: The chosen epsilon, marked by a line.
        value: The divergence there.

    Returns:
        The figure, whose axes do not depend on the chosen epsilon.
    """
    low, high = _positive(spread.low), _positive(spread.high)
    band = band_of(spread.x, low, high, faded(spread.look.colour, 0.2), name="90% range")
    lines = [_line(curve.look, curve.x, _positive(curve.y)) for curve in bounds]
    shown = _line(spread.look, spread.x, _positive(spread.mean))
    mark = value_mark(epsilon, value, f"{numeral(value, 2)} times", spread.look.colour, side="bottom right")
    y, x = _divergences("KL divergence", _top(spread, bounds)), small_epsilon_axis(spread.x)
    shapes = [chosen_epsilon(spread.x, epsilon)]
    return figure_of([band, *lines, shown, mark], x=x, y=y, height=HEIGHT, shapes=shapes)


def log_at(x: FloatArray, y: FloatArray, epsilon: float) -> float:
    """Return a positive curve at an epsilon, between its points on logarithmic scales."""
    return float(np.exp(np.interp(np.log(epsilon), np.log(x), np.log(np.maximum(y, 1e-300)))))


def _divergences(title: str, top: float) -> Axis:
    """Return a logarithmic axis that names three powers of ten, and ends at the power `top`."""
    powers = range(LEAST, math.floor(top) + 1, math.ceil((top - LEAST) / 3))
    texts = [f"{numeral(10.0**power) if power < MOST else power_of_ten(power)}×" for power in powers]
    ends = [LEAST - 0.1, top + 0.1]
    return titled(title, type="log", range=ends, tickvals=[10.0**power for power in powers], ticktext=texts)


def shares_figure(curves: Sequence[Curve], *, epsilon: float, value: float, title: str) -> Figure:
    """Draw shares between 0 and 1 against epsilon on a logarithmic axis.

    Args:
        curves: The shares; at least one.
        epsilon: The chosen epsilon, marked by a line.
        value: The share of the first curve there.
        title: What the shares are of, for the axis.

    Returns:
        The figure, whose axes do not depend on the chosen epsilon.
    """
    x = curves[0].x
    lines = [_line(curve.look, curve.x, curve.y, share=True) for curve in curves]
    mark = value_mark(
        epsilon, value, share_text(value), curves[0].look.colour, side=f"{'top' if value < HALF else 'bottom'} right"
    )
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


def _line(look: Look, x: FloatArray, y: FloatArray, *, share: bool = False) -> Trace:
    texts = [share_text(value) for value in y.tolist()] if share else numerals(y)
    hover = f"ε = %{{x:,.3~r}}: %{{customdata}}{'' if share else ' times'}<extra>{look.name}</extra>"
    return line_of(look, x, y, customdata=texts, hovertemplate=hover)


def _top(spread: Spread, bounds: Sequence[Curve]) -> float:
    """Return the power of ten that contains the simulated values, and bounds that are not too far above them."""
    top = float(np.log10(np.nanmax(_positive(spread.high), initial=1e-3)))
    above = _positive(np.concatenate([[10**top], *(bound.y for bound in bounds)]))
    return max(MOST, min(float(np.log10(np.nanmax(above))), top + ABOVE))


def _positive(values: FloatArray) -> FloatArray:
    """Return the values that a logarithmic axis can show, NaN in place of the others."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)
