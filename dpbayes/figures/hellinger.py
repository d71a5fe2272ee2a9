"""Pictures of the mechanisms for one die: their errors, and the epsilons at which these are small."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
"""A mechanism, five quantiles of its errors (5,), and the text at the right of its box."""

ROW, HEADING, ABOVE, BELOW, BAR = 66, 22, 34, 18, 18
"""The heights of a row, a line above its name, what the first row lacks, below the last, and of a bar, in pixels."""


def error_box_figure(rows: Mapping[str, Box], *, most: float, title: str) -> Figure:
    """Draw each mechanism's errors as a box with whiskers from the first to the last quantile.

    Args:
        rows: The boxes by the texts above them; a text of two lines begins with the heading of a group.
        most: The end of the axis.
        title: The title of the axis.
    """
    tops = _tops(rows)
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
            "width": BAR,
        }
        for top, (look, quantiles, _) in zip(tops, rows.values(), strict=True)
    ]
    values = _texts(
        [f" {value}" for _, _, value in rows.values()], tops, [float(box[-1]) for _, box, _ in rows.values()]
    )
    x = titled(title, range=[-0.01 * most, most])
    return _figure([*boxes, _texts([*rows], tops), values | {"textposition": "middle right"}], x, tops, right=96)


def near_figure(starts: Mapping[str, tuple[Look, float]], places: FloatArray, *, marked: float) -> Figure:
    """Draw a bar below each text from an epsilon, NaN for none, to the largest of the places (P,); one is `marked`."""
    tops, line = _tops(starts), chosen_epsilon(places, marked) | {"yref": "y"}
    bars = [
        LINES
        | {"x": [start, float(places.max())], "y": [top, top], "name": look.name, "showlegend": False}
        | {"line": {"color": look.colour, "width": BAR}, "hoverinfo": "skip"}
        for top, (look, start) in zip(tops, starts.values(), strict=True)
    ]
    shapes = [line | {"y0": top - BAR / 2, "y1": top + BAR} for top in tops]  # not through the texts
    texts = _texts([*starts], tops, [float(places.min())] * len(starts))
    return _figure([*bars, texts], epsilon_axis(places), tops, shapes=shapes)


def _tops(texts: Iterable[str]) -> FloatArray:
    """Return where the rows with these texts are, in pixels from the top."""
    return np.cumsum([ROW + HEADING * text.count("<br>") for text in texts]).astype(float)


def _figure(traces: Sequence[Trace], x: Axis, tops: FloatArray, *, right: int = 24, **layout: Any) -> Figure:
    """Draw rows, as high as they need, with some pixels of room at their right."""
    y, margin = titled("", range=[tops[-1] + BELOW, ABOVE], visible=False), ROWS["margin"] | {"r": right}
    height = round(tops[-1]) + BELOW - ABOVE + margin["t"] + margin["b"]
    size = {"height": height, "margin": margin, "meta": {"rows": True, "least": height}}
    return figure_of(traces, x=x, y=y, **size, **layout)


def _texts(names: Sequence[str], tops: FloatArray, x: Sequence[float] | None = None) -> Trace:
    """Return the texts above the rows, or at other places in them."""
    return {
        **{"type": "scatter", "mode": "markers+text", "x": x or [0.0] * len(names), "y": tops, "hoverinfo": "skip"},
        **{"text": names, "textposition": "top right", "cliponaxis": False, "showlegend": False},
        "marker": {"size": BAR, "opacity": 0},  # keeps the text above the row
    }
