"""Pictures of private regression: squared error, and what is proved and printed of epsilon, by prior precision."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpbayes.experiments.regression import CUT_NAME, EXACT_NAME, MEAN_NAME, Errors
from dpbayes.figures.style import BOUND, EXACT, INVALID, PRIVATE, Axis, Trace, faded, figure_of, titled

FloatArray = NDArray[np.float64]

PRECISION = "prior precision b"
SEVERAL = "#B04A8B"

_LINES: Trace = {"type": "scatter", "mode": "lines"}


def error_figure(precisions: FloatArray, curves: dict[str, Errors], *, marked: float) -> go.Figure:
    """Draw mean squared errors (P,) by predictor with bands of one standard error; `marked` is the precision shown."""
    traces: list[Trace] = []
    for name, errors in curves.items():
        line = _look(name)
        if name != MEAN_NAME and errors.repeats > 1:
            traces.append(_band(precisions, errors, name=name, colour=line["color"]))
        hover = "b = %{x:.4g}: %{y:.4g}"
        traces.append(_LINES | {"x": precisions, "y": errors.mean, "line": line, "name": name, "hovertemplate": hover})
    shown = [errors.mean for errors in curves.values()]
    low, high = min(map(np.min, shown)), max(map(np.max, shown))
    traces.append(_mark(marked, float(low), float(high)))
    _dots(traces, precisions)
    axis = titled("mean squared error (scaled units²)", automargin=True, rangemode="tozero", exponentformat="none")
    return figure_of(traces, x=_precision_axis(precisions), y=axis, height=420)


def epsilon_figure(
    precisions: FloatArray, certified: FloatArray, printed: FloatArray, *, several: FloatArray | None, marked: float
) -> go.Figure:
    """Draw epsilon of one draw (P,): certified, and printed, red where that is less than what is proved.

    `several` is the certified epsilon of all draws together, if they are more than one.
    """
    traces = [_LINES | {"x": precisions, "y": certified, "line": {"color": PRIVATE, "width": 3}, "name": "certified"}]
    traces[0]["name"] += ", one draw" if several is not None else ""
    if several is not None:
        line = {"color": SEVERAL, "width": 3, "dash": "dot"}
        traces.append(_LINES | {"x": precisions, "y": several, "line": line, "name": "certified, all draws"})
    low = printed < certified
    for where, colour, said in ((~low, BOUND, ""), (low, INVALID, ", below what is proved")):
        if where.any():
            line = {"color": colour, "width": 2.5, "dash": "dash"}
            name = f"printed 2L(w), one draw{said}"
            traces.append(_LINES | {"x": precisions, "y": np.where(where, printed, np.nan), "line": line, "name": name})
    everything = np.concatenate([certified, printed, certified if several is None else several])
    traces.append(_mark(marked, float(everything.min()), float(everything.max())))
    for trace in traces:
        trace["hovertemplate"] = "b = %{x:.4g}: ε = %{y:.4g}"
    _dots(traces, precisions)
    axis = titled("ε of what is released", type="log", automargin=True, exponentformat="power", dtick=2)
    return figure_of(traces, x=_precision_axis(precisions), y=axis, height=360)


def _dots(traces: list[Trace], precisions: FloatArray) -> None:
    """A single precision makes no line: show it as a dot."""
    if len(precisions) == 1:
        for trace in traces:
            trace["mode"] = "lines+markers"


def _look(name: str) -> Trace:
    looks = {
        EXACT_NAME: {"color": EXACT, "width": 3},
        CUT_NAME: {"color": EXACT, "width": 2, "dash": "dot"},
        MEAN_NAME: {"color": BOUND, "width": 2, "dash": "dash"},
    }
    private = {"color": SEVERAL, "width": 3, "dash": "dot"} if name.startswith("mean of") else None
    return looks.get(name) or private or {"color": PRIVATE, "width": 3}


def _band(precisions: FloatArray, errors: Errors, *, name: str, colour: str) -> Trace:
    above, below = errors.mean + errors.standard_error, errors.mean - errors.standard_error
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([precisions, precisions[::-1]]),
        "y": np.concatenate([above, below[::-1]]),
        "fill": "toself",
        "fillcolor": faded(colour, 0.2),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "name": f"{name}: standard error",
    }


def _mark(x: float, low: float, high: float) -> Trace:
    line = {"color": BOUND, "width": 1.5}
    return _LINES | {"x": [x, x], "y": [low, high], "line": line, "name": "looked at", "hoverinfo": "skip"}


def _precision_axis(precisions: FloatArray) -> Axis:
    many = len(precisions) > 1 and precisions[-1] / precisions[0] >= 100
    ticks: Axis = {"dtick": 1 if precisions[-1] / precisions[0] < 1e5 else 2} if many else {}
    return titled(PRECISION, type="log", exponentformat="power", **ticks)
