"""Errors against epsilon: of several mechanisms, and of one answer, whose error meets a tolerance at an epsilon."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, EXACT, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.rows import ABOVE, BAR, HEADING, ROW, figure_of_rows, row_texts
from dpbayes.figures.style import (
    FRAME,
    LINES,
    Figure,
    Trace,
    directly_named,
    epsilon_axis,
    faded,
    figure_of,
    line_of,
    log_axis,
    numerals,
    positive_range,
    titled,
    value_mark,
)


def errors_figure(
    errors: Mapping[Look, FloatArray],
    texts: Sequence[str],
    pale: Collection[Look],
    *,
    limit: Look,
    at: float,
    most: float,
) -> Figure:
    """Draw the mean error of each mechanism at one epsilon as a bar with two standard errors.

    Args:
        errors: The errors (tables,) of mechanisms in percentage points, in the order of rows.
        texts: The two lines of text above each bar.
        pale: The mechanisms whose bars are faded.
        limit: The look of a line through all rows.
        at: The error of this line.
        most: The largest error that the axis has room for.
    """
    tops = 2 * HEADING + ROW * np.arange(1.0, len(errors) + 1)  # with a line for the name of the limit
    bars: Trace = {
        **{"type": "bar", "orientation": "h", "y": tops, "width": BAR, "hoverinfo": "skip", "showlegend": False},
        "x": np.array([float(values.mean()) for values in errors.values()]),
        "marker": {"color": [faded(look.colour, 0.4) if look in pale else look.colour for look in errors]},
        "error_x": {"thickness": 1.5, "width": 5, "color": BOUND}
        | {"array": np.array([2 * float(standard_error(values)) for values in errors.values()])},
    }
    line = line_of(limit, np.array([at, at]), np.array([ABOVE, tops[-1] + BAR]), hoverinfo="skip", showlegend=False)
    name = row_texts([limit.name], np.array([HEADING / 2 + ABOVE]), [at]) | {"textposition": "middle left"}
    x = titled("mean absolute error, percentage points", range=[0, 1.1 * most])
    return figure_of_rows([bars, line, row_texts(texts, tops), name], x, tops)


LEAST, MOST = (1e-4, 1e-3), 0.5
"""Errors between which an axis begins, and the least at which it ends: it contains every tolerance."""


FAR = 5.0
"""An epsilon beyond which its mark is where the name of the tolerance is otherwise."""

NEARLY_ALL, HALF, TOLERANCE = "95 of 100 releases stay below", "half of the releases stay below", "acceptable error"
"""The names of the curves."""


def epsilon_above(epsilon: float) -> float:
    """Return an epsilon in two digits, never a smaller one; infinity as it is."""
    if not math.isfinite(epsilon):
        return epsilon
    place = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / place - 1e-9) * place:.2g}")


def error_figure(
    epsilons: FloatArray, half: FloatArray, most: FloatArray, *, needed: float, tolerance: float, colour: str
) -> Figure:
    """Draw errors against epsilons (E,), and the least epsilon at which most of them are within the tolerance.

    Args:
        epsilons: The grid.
        half: The errors that half of the releases do not exceed.
        most: The errors that 95 of 100 releases do not exceed.
        needed: The least epsilon, infinite if none is sufficient.
        tolerance: The tolerance.
        colour: The colour of the mechanism.

    Returns:
        The figure, whose axes do not depend on the tolerance.
    """
    low, high = positive_range(half, most, otherwise=(0.01, 1.0))
    span = [math.log10(np.clip(low, *LEAST)) - 0.1, math.log10(max(high, MOST)) + 0.6]  # room for texts
    level = {"x": epsilons[[0, -1]], "line": {"color": BOUND, "width": 1.5, "dash": "dash"}}
    traces: list[Trace] = [
        _line(Look(NEARLY_ALL, colour), epsilons, most),
        _line(Look(HALF, colour, "dot", width=1.5), epsilons, half),
        LINES | level | {"y": [tolerance, tolerance], "name": TOLERANCE, "hoverinfo": "skip"},
        value_mark(needed, tolerance, f"ε = {numeral(needed)}", EXACT)
        | {"marker": {"color": EXACT, "size": 13, "symbol": "diamond"}, "name": "least ε"}
        | {"visible": math.isfinite(needed), "textposition": "top right"},  # off the curves, which fall
    ]
    y = log_axis("error of the answer", 10 ** span[0], 10 ** span[1], range=span)
    figure = figure_of(traces, x=epsilon_axis(epsilons), y=y, height=420, margin=FRAME["margin"] | {"r": 56})
    x, side = (epsilons[0], "bottom right") if FAR < needed < math.inf else (epsilons[-1], "bottom left")
    return directly_named(figure, TOLERANCE, TOLERANCE, float(x), side)


def _line(look: Look, x: FloatArray, y: FloatArray) -> Trace:
    shown = np.where(np.isfinite(y) & (y > 0), y, np.nan)
    hover = "ε = %{x:,.3~r}: %{customdata}<extra>" + look.name + "</extra>"
    return line_of(look, x, shown, customdata=numerals(y), hovertemplate=hover)
