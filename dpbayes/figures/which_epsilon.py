"""Pictures of the epsilon that an answer needs: its error against epsilon, and the least epsilon by mechanism."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    EPSILON_AXIS,
    FRAME,
    Figure,
    Trace,
    distinct_labels,
    faded,
    figure_of,
    interval_bar,
    log_axis,
    names_axis,
    numerals,
    positive_range,
)

_FAR_BELOW = 1000
"""Errors are shown down to this factor below the tolerance; with whole noise, an error can be zero."""


@dataclass(frozen=True)
class NeededEpsilon:
    """A least epsilon and its 95% interval: `high` is infinite if it is not known; all are NaN if none exists."""

    label: str
    colour: str
    epsilon: float
    low: float
    high: float


def error_figure(
    epsilons: FloatArray, median: FloatArray, wanted: FloatArray, *, needed: NeededEpsilon, tolerance: float, share: str
) -> Figure:
    """Draw errors against epsilons (E,): the median and a larger quantile, and where the quantile meets the tolerance.

    Errors that are not computed yet are NaN.
    """
    low, high = positive_range(median, wanted, np.array([tolerance]))
    low = max(low, tolerance / _FAR_BELOW)
    line = {"type": "scatter", "mode": "lines+markers", "x": epsilons, "hovertemplate": "ε = %{x}: %{text}"}
    traces: list[Trace] = [
        line
        | {
            "y": np.where(wanted > 0, wanted, np.nan),
            "name": f"{share} of releases",
            "text": numerals(wanted),
            "line": {"color": needed.colour, "width": 2.5},
            "marker": {"color": needed.colour, "size": 5},
        },
        line
        | {
            "y": np.where(median > 0, median, np.nan),
            "name": "half of releases",
            "text": numerals(median),
            "line": {"color": needed.colour, "width": 1.5, "dash": "dot"},
            "marker": {"color": needed.colour, "size": 4},
        },
    ]
    has_epsilon = math.isfinite(needed.epsilon)
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [needed.epsilon if has_epsilon else None],
            "y": [tolerance],
            "name": "least ε",  # also before it is known, because a longer legend would move the picture
            "marker": {"color": EXACT, "size": 13, "symbol": "diamond"},
            "hovertemplate": f"least ε: {numeral(needed.epsilon)}<extra></extra>" if has_epsilon else "",
        }
    )
    shapes = [_level(tolerance), *([_band(needed, float(epsilons[-1]))] if has_epsilon else [])]
    return figure_of(
        traces,
        x=log_axis(EPSILON_AXIS, float(epsilons[0]), float(epsilons[-1]), range=np.log10(epsilons[[0, -1]]).tolist()),
        y=log_axis("error of the probability", low, high, range=[math.log10(low) - 0.1, math.log10(high) + 0.15]),
        height=330,
        margin=FRAME["margin"] | {"l": 100},  # room for numbers as long as 0.00005, so that the frame does not move
        shapes=shapes,
    )


def _level(tolerance: float) -> dict[str, object]:
    line = {"color": BOUND, "width": 1.5, "dash": "dash"}
    return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": tolerance, "y1": tolerance, "line": line}


def _band(needed: NeededEpsilon, most: float) -> dict[str, object]:
    """Return the interval of the least epsilon as a vertical band."""
    high = needed.high if math.isfinite(needed.high) else most
    place = {"type": "rect", "x0": needed.low, "x1": high, "yref": "y domain", "y0": 0, "y1": 1}
    return place | {"fillcolor": faded(EXACT, 0.18), "line": {"width": 0}, "layer": "below"}


def least_epsilons_figure(needs: Sequence[NeededEpsilon]) -> Figure:
    """Draw a row for each mechanism, the first on top: its least epsilon with its 95% interval."""
    labels = distinct_labels([need.label for need in needs], 28)
    values = np.array([need.epsilon for need in needs])
    low, high = (np.array([getattr(need, end) for need in needs]) for end in ("low", "high"))
    least, most = positive_range(values, low, high)
    upper = np.where(np.isfinite(high), high, most * 10**0.3)  # to the edge of the picture if it is not known
    dots: Trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": values,
        "y": labels,
        "text": [f"{numeral(value)}" if math.isfinite(value) else "" for value in values],
        "textposition": "top center",
        "marker": {"color": [need.colour for need in needs], "size": 11},
        "error_x": interval_bar(values, low, upper, color=BOUND, thickness=1.5),
        "hovertemplate": "%{y}: ε = %{text}<extra></extra>",
        "showlegend": False,
    }
    return figure_of(
        [dots],
        x=log_axis("least ε, nats", least, most, range=[math.log10(least) - 0.15, math.log10(most) + 0.3]),
        y=names_axis(categoryorder="array", categoryarray=labels[::-1], ticks=""),
        height=96 + 44 * max(len(needs), 3),
    )
