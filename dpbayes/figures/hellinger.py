"""Pictures of the mechanisms for one die: their errors."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    EPSILON_AXIS,
    ROWS,
    Figure,
    Trace,
    chosen_epsilon,
    faded,
    figure_of,
    line_of,
    log_axis,
    names_axis,
    titled,
)

ERROR = "distance: 0 the same, 1 nothing in common"
"""The Hellinger distance of the exact and the released posterior."""


def error_box_figure(errors: Mapping[Look, FloatArray], said: Sequence[str]) -> Figure:
    """Draw each mechanism's errors, five quantiles (5,), as a box with whiskers from the first to the last.

    The median is at the left of each row, and above it the name and what the mechanism does, as `said`.
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
            "width": 0.3,
        }
        for look, quantiles in errors.items()
    ]
    names = [look.name for look in errors]
    texts: Trace = {
        **{"type": "scatter", "mode": "markers+text", "x": np.zeros(len(names)), "y": names, "hoverinfo": "skip"},
        "text": [f"<b>{name}</b>: {one}" for name, one in zip(names, said, strict=True)],
        **{"textposition": "top right", "cliponaxis": False, "showlegend": False},
        "marker": {"size": 20, "opacity": 0},  # keeps the text above the box
    }
    medians = [f"{numeral(float(quantiles[2]), 2)}<br> " for quantiles in errors.values()]
    return figure_of(
        [*boxes, texts],
        x=titled(ERROR, range=[-0.02, 1.02], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        y=names_axis(autorange="reversed", tickvals=names, ticktext=medians),
        height=110 + 72 * len(boxes),
        **ROWS,
    )


def die_errors_figure(places: FloatArray, errors: Mapping[Look, FloatArray], *, marked: float) -> Figure:
    """Draw the median of the errors, five quantiles (P, 5), along the epsilons (P,); one is `marked`."""
    traces = [_curve(look, places, quantiles[:, 2]) for look, quantiles in errors.items()]
    x = log_axis(EPSILON_AXIS, float(places.min()), float(places.max()))
    y = titled("median distance", range=[-0.02, 1.03], automargin=True)
    return figure_of(traces, x=x, y=y, height=430, shapes=[chosen_epsilon(places, marked)])


def _curve(look: Look, places: FloatArray, median: FloatArray) -> Trace:
    """Return the median of one mechanism where it is known."""
    finite, marker = np.isfinite(median), {"symbol": look.symbol, "size": 5}
    return line_of(look, places[finite], median[finite], mode="lines+markers", marker=marker)
