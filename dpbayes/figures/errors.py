"""Errors against epsilon: of several mechanisms, and of one answer, whose error meets a tolerance at an epsilon."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
)

WIDEST = 2.0
"""The largest relative error that is drawn at its place; larger ones are at the end with their number."""


def errors_figure(errors: Mapping[Look, FloatArray], said: Sequence[str], blind: float) -> Figure:
    """Draw the error of each mechanism at one epsilon, relative to Laplace, as a dot with two standard errors.

    Args:
        errors: The errors (tables,) by look in percentage points, in the order of the rows. Without Laplace among
            them, they are relative to the first one.
        said: What each mechanism is, in one sentence.
        blind: The error without any release, a dashed line.
    """
    names = [look.name for look in errors]
    first = next((values for look, values in errors.items() if look.name == "Laplace"), next(iter(errors.values())))
    unit, means = float(first.mean()), np.array([float(values.mean()) for values in errors.values()])
    around = np.array([float(standard_error(values - first)) for values in errors.values()])
    shown, is_far = np.minimum(means / unit, WIDEST), means > WIDEST * unit
    row: Trace = {"type": "scatter", "y": names, "showlegend": False, "cliponaxis": False}
    dots = row | {
        **{"x": shown, "mode": "markers+text", "textposition": "middle left", "hoverinfo": "skip"},
        "text": [f"{numeral(mean / unit, 2)} times  " if far else "" for mean, far in zip(means, is_far, strict=True)],
        "marker": {
            **{"color": [look.colour for look in errors], "size": 11},
            "symbol": ["triangle-right" if far else "circle" for far in is_far],
        },
        "error_x": {"array": np.where(is_far, 0.0, 2 * around / unit), "thickness": 2, "width": 7, "color": BOUND},
    }
    texts = row | {
        **{"x": np.zeros(len(names)), "mode": "markers+text", "hoverinfo": "skip", "textposition": "top right"},
        **{"text": [f"<b>{name}</b>: {one}" for name, one in zip(names, said, strict=True)]},
        "marker": {"size": 12, "opacity": 0},  # keeps the text above the line of the row
    }
    lines = _between_texts(1.0, len(names), "solid")
    if blind <= WIDEST * unit:
        lines += _between_texts(blind / unit, len(names), "dash")
    points = [f"{numeral(mean)}<br> points" for mean in means.tolist()]
    ticks = {"tickvals": [0, 0.5, 1, 1.5, 2], "ticktext": ["0", "half", "as Laplace", "1.5 times", "twice"]}
    return figure_of(
        [dots, texts],
        x=titled("mean absolute error relative to Laplace", range=[0, 1.03 * WIDEST], **ticks),
        y=names_axis(autorange="reversed", tickvals=names, ticktext=points),
        height=120 + 56 * len(names),
        shapes=lines,
        **ROWS,
    )


def _between_texts(x: float, rows: int, dash: str) -> list[Trace]:
    """Return an upright line at `x` without the parts that would cross the texts above the rows, for `shapes`."""
    line = {"type": "line", "x0": x, "x1": x, "line": {"color": BOUND, "width": 1.5, "dash": dash}}
    return [line | {"y0": row - 0.15, "y1": row + 0.4} for row in range(rows)]


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
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [needed.epsilon if has_epsilon else None],
            "y": [tolerance],
            "text": [f"ε = {numeral(needed.epsilon)}" if has_epsilon else ""],
            "textposition": "top right",
            "cliponaxis": False,
            "name": "least ε",
            "showlegend": False,
            "marker": {"color": EXACT, "size": 13, "symbol": "diamond"},
            "hovertemplate": f"least ε: {numeral(needed.epsilon)}<extra></extra>" if has_epsilon else "",
        },
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
