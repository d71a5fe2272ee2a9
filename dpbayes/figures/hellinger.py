"""Pictures of the mechanisms for one die: their errors."""

from collections.abc import Mapping

import numpy as np

from dpbayes.base.looks import EXACT, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    Figure,
    Trace,
    band_of,
    faded,
    figure_of,
    line_of,
    log_axis,
    titled,
)

ERROR = "Hellinger distance, 0 to 1"
"""H between exact and released posterior: 0 if they are equal, 1 if they do not overlap."""


def error_box_figure(errors: Mapping[Look, FloatArray]) -> Figure:
    """Draw each mechanism's errors, five quantiles (5,), as a box with whiskers from the first to the last.

    Each median is written behind the end of the axis.
    """
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "y": [look.name],
            **{key: [float(quantiles[k])] for k, key in enumerate(("lowerfence", "q1", "median", "q3", "upperfence"))},
            "line": {"color": look.colour},
            "fillcolor": faded(look.colour, 0.12 if look.symbol.endswith("-open") else 0.35),
            "name": look.name,
            "showlegend": False,
        }
        for look, quantiles in errors.items()
    ]
    names: Trace = {
        **{"type": "scatter", "mode": "text", "x": [1.03] * len(errors), "y": [look.name for look in errors]},
        "text": [numeral(float(quantiles[2]), 2) for quantiles in errors.values()],
        "textposition": "middle right",
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return figure_of(
        [*boxes, names],
        x=titled(ERROR, range=[-0.02, 1.2], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        y={"type": "category", "automargin": True, "autorange": "reversed"},
        height=90 + 42 * len(boxes),
    )


def die_errors_figure(places: FloatArray, errors: Mapping[Look, FloatArray], *, marked: float, title: str) -> Figure:
    """Draw the median error along a logarithmic axis, with the band of the middle half; `marked` is the chosen setting.

    `errors` are five quantiles at every place: (P, 5).
    """
    traces = [trace for look, quantiles in errors.items() for trace in _curve(look, places, quantiles)]
    traces.append(
        LINES | {"x": [marked, marked], "y": [0.0, 1.0], "line": {"color": EXACT, "width": 2}, "name": "chosen"}
    )
    x = log_axis(title, float(places.min()), float(places.max()))
    return figure_of(traces, x=x, y=titled("median distance", range=[-0.02, 1.03], automargin=True), height=430)


def _curve(look: Look, places: FloatArray, quantiles: FloatArray) -> list[Trace]:
    """Return the median of one mechanism and its middle half; without a guarantee, there is no band."""
    finite = np.isfinite(quantiles[:, 0])
    places, (_, low, middle, high, _) = places[finite], quantiles[finite].T
    line = line_of(look, places, middle, mode="lines+markers", marker={"symbol": look.symbol, "size": 7})
    if look.symbol.endswith("-open"):
        return [line]
    return [band_of(places, low, high, faded(look.colour, 0.1)), line]
