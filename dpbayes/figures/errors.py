"""Errors against epsilon: of several mechanisms, and of one answer, whose error meets a tolerance at an epsilon."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, EXACT, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    ROWS,
    Figure,
    Trace,
    directly_named,
    epsilon_axis,
    faded,
    figure_of,
    line_of,
    log_axis,
    names_axis,
    numerals,
    positive_range,
    titled,
    value_mark,
)

GroupedErrors: TypeAlias = Mapping[str, Mapping[Look, FloatArray]]
"""The errors (tables,) of mechanisms in percentage points, by the name of a group and by look, in the order of rows."""


def errors_figure(groups: GroupedErrors, best: Collection[Look], most: float) -> Figure:
    """Draw the mean error of each mechanism at one epsilon as a bar with two standard errors, below its group's name.

    Args:
        groups: The errors.
        best: The mechanisms whose bars are not faded.
        most: The largest error that the axis has room for.
    """
    errors = {look: values for group in groups.values() for look, values in group.items()}
    means = np.array([float(values.mean()) for values in errors.values()])
    around = np.array([2 * float(standard_error(values)) for values in errors.values()])
    names = [look.name for look in errors]
    rows = [row for group, looks in groups.items() for row in (group, *(look.name for look in looks))]
    bars: Trace = {
        **{"type": "bar", "orientation": "h", "x": means, "y": names, "width": 0.5, "hoverinfo": "skip"},
        "marker": {"color": [look.colour if look in best else faded(look.colour, 0.4) for look in errors]},
        "error_x": {"array": around, "thickness": 1.5, "width": 5, "color": BOUND},
        "showlegend": False,
    }
    values = _texts(means + around, names, [numeral(mean) for mean in means.tolist()])
    headings = _texts(np.zeros(len(groups)), [*groups], [f"<b>{group}</b>" for group in groups])
    shown = ["" if row in groups else row for row in rows]
    return figure_of(
        [bars, values, headings],
        x=titled("mean absolute error, percentage points", range=[0, 1.12 * most]),
        y=names_axis(autorange="reversed", categoryarray=rows, tickvals=rows, ticktext=shown, showgrid=False),
        height=80 + 42 * len(rows),
        **ROWS,
    )


def _texts(x: FloatArray, y: Sequence[str], texts: Sequence[str]) -> Trace:
    """Return texts at the right of places in the rows of some names."""
    quiet = {"hoverinfo": "skip", "showlegend": False, "cliponaxis": False, "marker": {"size": 8, "opacity": 0}}
    text = {"mode": "markers+text", "textposition": "middle right", "text": texts}
    return quiet | text | {"type": "scatter", "x": x, "y": y}


LEAST, MOST = (1e-4, 1e-3), 0.5
"""Errors between which an axis begins, and the least at which it ends: it contains every tolerance."""


NEARLY_ALL, HALF, TOLERANCE = "95 of 100 releases stay below", "half of the releases stay below", "acceptable error"
"""The names of the curves."""


@dataclass(frozen=True)
class NeededEpsilon:
    """A least epsilon and its interval: `high` is infinite if it is unknown; all are infinite if none is sufficient."""

    epsilon: float
    low: float
    high: float


def error_figure(
    epsilons: FloatArray, half: FloatArray, most: FloatArray, *, needed: NeededEpsilon, tolerance: float, colour: str
) -> Figure:
    """Draw errors against epsilons (E,), and the least epsilon at which most of them are within the tolerance.

    Args:
        epsilons: The grid.
        half: The errors that half of the releases do not exceed.
        most: The errors that 95 of 100 releases do not exceed.
        needed: The least epsilon.
        tolerance: The tolerance.
        colour: The colour of the mechanism.

    Returns:
        The figure, whose axes do not depend on the tolerance.
    """
    low, high = positive_range(half, most, otherwise=(0.01, 1.0))
    span = [math.log10(np.clip(low, *LEAST)) - 0.1, math.log10(max(high, MOST)) + 0.6]  # room for texts
    has_epsilon = math.isfinite(needed.epsilon)
    end = needed.high if math.isfinite(needed.high) else float(epsilons[-1])
    interval = [needed.low, end] if has_epsilon else [None, None]
    traces: list[Trace] = [
        _line(Look(NEARLY_ALL, colour), epsilons, most),
        _line(Look(HALF, colour, "dot", width=1.5), epsilons, half),
        LINES | _level([float(epsilons[0]), float(epsilons[-1])], tolerance, TOLERANCE, BOUND, 1.5, "dash"),
        LINES | _level(interval, tolerance, "95% interval", faded(EXACT, 0.4), 9.0, "solid") | {"showlegend": False},
        value_mark(needed.epsilon, tolerance, f"ε = {numeral(needed.epsilon)}", EXACT, side="top right")
        | {"marker": {"color": EXACT, "size": 13, "symbol": "diamond"}, "visible": has_epsilon, "name": "least ε"},
    ]
    y = log_axis("error of the answer", 10 ** span[0], 10 ** span[1], range=span)
    figure = figure_of(traces, x=epsilon_axis(epsilons), y=y, height=420)
    return directly_named(figure, TOLERANCE, TOLERANCE, float(epsilons[-1]), "bottom left")


def _line(look: Look, x: FloatArray, y: FloatArray) -> Trace:
    shown = np.where(np.isfinite(y) & (y > 0), y, np.nan)
    hover = "ε = %{x:,.3~r}: %{customdata}<extra>" + look.name + "</extra>"
    return line_of(look, x, shown, customdata=numerals(y), hovertemplate=hover)


def _level(x: list[float] | list[None], y: float, name: str, colour: str, width: float, dash: str) -> Trace:
    line = {"color": colour, "width": width, "dash": dash}
    return {"x": x, "y": [y, y], "name": name, "line": line, "hoverinfo": "skip"}
