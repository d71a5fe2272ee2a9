"""Pictures of the mechanisms for one die: their errors, and the epsilons at which these are small."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    ROWS,
    Axis,
    Figure,
    Trace,
    chosen_epsilon,
    epsilon_axis,
    faded,
    figure_of,
    titled,
)

Box = tuple[Look, FloatArray, str]
"""A mechanism, five quantiles of its errors (5,), and the text at the left of its box."""

HEADING = 0.5
"""The height of a line above the name of a row, in rows."""


def error_box_figure(rows: Mapping[str, Box], *, ticks: Mapping[str, float], title: str) -> Figure:
    """Draw each mechanism's errors as a box with whiskers from the first to the last quantile.

    Args:
        rows: The boxes by the texts above them; a text of two lines begins with the heading of a group.
        ticks: The distances from 0 to 1 at which the axis has texts.
        title: The title of the axis.
    """
    tops = np.cumsum([1 + HEADING * text.count("<br>") for text in rows])
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "y": [top],
            **{key: [float(quantiles[k])] for k, key in enumerate(("lowerfence", "q1", "median", "q3", "upperfence"))},
            "line": {"color": look.colour},
            "fillcolor": faded(look.colour, 0.12 if look.symbol.endswith("-open") else 0.35),
            "name": look.name,
            "showlegend": False,
            "width": 0.24,
        }
        for top, (look, quantiles, _) in zip(tops, rows.values(), strict=True)
    ]
    x = titled(title, range=[-0.02, 1.02], tickvals=[*ticks.values()], ticktext=[*ticks])
    y = _rows(tops, [value for _, _, value in rows.values()])
    return figure_of([*boxes, _texts([*rows], tops, 0.0)], x=x, y=y, height=110 + 80 * len(rows), **ROWS)


def near_figure(starts: Mapping[str, tuple[Look, float]], places: FloatArray, *, marked: float) -> Figure:
    """Draw a bar below each text from an epsilon, NaN for none, to the largest of the places (P,); one is `marked`."""
    tops, line = np.arange(1.0, len(starts) + 1), chosen_epsilon(places, marked) | {"yref": "y"}
    bars = [
        LINES
        | {"x": [start, float(places.max())], "y": [top, top], "name": look.name, "showlegend": False}
        | {"line": {"color": look.colour, "width": 14}, "hoverinfo": "skip"}
        for top, (look, start) in zip(tops, starts.values(), strict=True)
    ]
    return figure_of(
        [*bars, _texts([*starts], tops, float(places.min()))],
        x=epsilon_axis(places),
        y=_rows(tops, ["<br> "] * len(starts)),
        height=110 + 76 * len(starts),
        shapes=[line | {"y0": top - 0.12, "y1": top + 0.3} for top in tops],  # not through the texts
        **ROWS,
    )


def _rows(tops: FloatArray, values: Sequence[str]) -> Axis:
    """Return the axis of rows from top to bottom, with values at their left."""
    return titled("", range=[tops[-1] + 0.35, 0.2], tickvals=tops, ticktext=values, automargin=True)


def _texts(names: Sequence[str], tops: FloatArray, x: float) -> Trace:
    """Return the texts above the rows."""
    return {
        **{"type": "scatter", "mode": "markers+text", "x": np.full(len(names), x), "y": tops, "hoverinfo": "skip"},
        **{"text": names, "textposition": "top right", "cliponaxis": False, "showlegend": False},
        "marker": {"size": 18, "opacity": 0},  # keeps the text above the row
    }
