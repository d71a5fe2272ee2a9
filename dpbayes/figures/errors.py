"""Errors against epsilon: of several mechanisms, and of one answer, whose error meets a tolerance at an epsilon."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, EXACT, Curve, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    EPSILON_AXIS,
    FRAME,
    LINES,
    Figure,
    Trace,
    chosen_epsilon,
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
    upright,
)


def errors_figure(curves: Sequence[Curve], *, epsilon: float) -> Figure:
    """Draw the error of each mechanism against epsilon, both on logarithmic scales, with its name at the line's end.

    Args:
        curves: Errors over epsilons in percentage points; NaN where a mechanism cannot be used.
        epsilon: The chosen epsilon, marked by a line.

    Returns:
        The figure.
    """
    x = np.concatenate([curve.x for curve in curves])
    low, high = positive_range(*(curve.y for curve in curves), otherwise=(0.01, 1.0))
    low = max(low, high / WIDEST)
    span = [math.log10(low) - 0.1, math.log10(high) + 0.15]
    return figure_of(
        [*map(_marked, curves), _names(curves, span)],
        x=log_axis(EPSILON_AXIS, float(x.min()), float(x.max())),
        y=log_axis("mean error, percentage points", low, high, range=span),
        height=360 + 14 * len(curves),
        margin=FRAME["margin"] | {"r": 136},
        shapes=[chosen_epsilon(x, epsilon)],
    )


def _names(curves: Sequence[Curve], span: Sequence[float]) -> Trace:
    """Return the names of curves at their ends; one that would lie on the next lower one is moved up."""
    ends = sorted(((float(curve.y[np.isfinite(curve.y)][-1]), curve.look) for curve in curves), key=lambda end: end[0])
    row = (span[1] - span[0]) / NAMES
    places = [math.log10(max(end, 10 ** span[0])) for end, _ in ends]
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + row)
    return {
        **{"type": "scatter", "mode": "text", "x": [float(curves[0].x[-1])] * len(ends), "cliponaxis": False},
        **{"y": [10**place for place in places], "text": [f" {look.name.split(' (')[0]}" for _, look in ends]},
        **{"textposition": "middle right", "textfont": {"color": [look.colour for _, look in ends]}},
        **{"hoverinfo": "skip", "showlegend": False},
    }


def errors_here_figure(errors: Mapping[Look, FloatArray], blind: float) -> Figure:
    """Draw the mean error of each mechanism at one epsilon as a dot with two standard errors, and its number.

    Args:
        errors: The errors (tables,) by look in percentage points, in the order of the rows.
        blind: The error without any release, a dashed line.

    Returns:
        The figure.
    """
    means, names = np.array([float(values.mean()) for values in errors.values()]), [look.name for look in errors]
    whiskers = 2 * np.array([float(standard_error(values)) for values in errors.values()])
    most = 1.1 * max(blind, float(means.max()))
    dots: Trace = {
        **{"type": "scatter", "mode": "markers", "x": means, "y": names, "showlegend": False},
        **{"marker": {"color": [look.colour for look in errors], "size": 12}, "hovertemplate": "%{x:,.3~r}<extra>%{y}"},
        "error_x": {"array": whiskers, "thickness": 2, "color": BOUND},
    }
    written: Trace = {
        **{"type": "scatter", "mode": "text", "x": np.full(len(means), 0.999 * most), "y": names, "cliponaxis": False},
        **{"text": [numeral(mean) for mean in means.tolist()], "textposition": "middle right"},
        **{"hoverinfo": "skip", "showlegend": False},
    }
    x = titled("mean error, percentage points", range=[0, most])
    line = upright(blind, {"color": BOUND, "width": 1.5, "dash": "dash"})
    margin = FRAME["margin"] | {"r": 56}
    y = names_axis(autorange="reversed")
    return figure_of([dots, written], x=x, y=y, height=360, shapes=[line], margin=margin)


def _marked(curve: Curve) -> Trace:
    marker = {"color": curve.look.colour, "symbol": curve.look.symbol, "size": 4}
    hover = "ε = %{x:,.3~r}: %{y:,.3~r}<extra>" + curve.look.name + "</extra>"
    more = {"mode": "lines+markers", "marker": marker, "hovertemplate": hover, "showlegend": False}
    return line_of(curve.look, curve.x, curve.y, **more)


WIDEST, NAMES = 1e4, 14
"""How many times the least shown error the largest is at most, and the most names that fit one above the other."""

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
