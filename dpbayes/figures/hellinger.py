"""Pictures of the mechanisms for one die: their errors, their outputs and the sensitivities they scale to."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpbayes.experiments.hellinger import LEVELS, Accuracy
from dpbayes.experiments.hellinger_landscape import Outputs, SensitivityLine
from dpbayes.experiments.hellinger_scenario import Method
from dpbayes.figures.style import BOUND, EXACT, PRIVATE, Axis, Trace, faded, figure_of, titled
from dpbayes.text import numeral

FloatArray = NDArray[np.float64]

ERROR = "error (Hellinger distance, 0 to 1)"
"""H between exact and released posterior: 0 where they are the same, 1 where they do not overlap."""

COLOURS = {
    Method.GLOBAL: "#8C6D31",
    Method.SMOOTH: PRIVATE,
    Method.LOCAL: BOUND,
    Method.CELLS: "#2A9D77",
    Method.ONE: "#B04A8B",
}
DASHES = {Method.GLOBAL: "longdash", Method.LOCAL: "dot"}
SYMBOLS = {
    Method.GLOBAL: "square",
    Method.SMOOTH: "circle",
    Method.LOCAL: "circle-open",
    Method.CELLS: "triangle-up",
    Method.ONE: "diamond",
}


STOPS = [digit / 10**tens for tens in range(8, 0, -1) for digit in (1, 2, 5)]
"""Round sensitivities for the ticks of a logarithmic axis."""


def _line(method: Method, **more: object) -> Trace:
    line = {"color": COLOURS[method], "width": 2.5, "dash": DASHES.get(method, "solid")}
    return {"type": "scatter", "mode": "lines", "line": line, "name": method.value, **more}


def error_box_figure(errors: dict[Method, FloatArray]) -> go.Figure:
    """Draw each mechanism's errors, quantiles (5,) at LEVELS, as a box with whiskers from the first to the last.

    The axis follows the best mechanism; what lies beyond it is named at its end.
    """
    top = min(1.01, 6 * min(float(q[-1]) for q in errors.values()) or 1.01)
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "y": [method.value],
            **{key: [float(q[k])] for k, key in enumerate(("lowerfence", "q1", "median", "q3", "upperfence"))},
            "line": {"color": COLOURS[method]},
            "fillcolor": faded(COLOURS[method], 0.12 if method is Method.LOCAL else 0.35),
            "name": method.value,
            "showlegend": False,
        }
        for method, q in errors.items()
    ]
    middle = LEVELS.index(0.5)
    beyond = {method.value: float(q[middle]) for method, q in errors.items() if q[middle] > top}
    names: Trace = {
        "type": "scatter",
        "mode": "text",
        "x": [top] * len(beyond),
        "y": list(beyond),
        "text": [f"median {numeral(error, 2)} →" for error in beyond.values()],
        "textposition": "middle left",
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return figure_of(
        [*boxes, names] if beyond else boxes,
        x=titled(ERROR, range=[0, top]),
        y={"type": "category", "automargin": True, "autorange": "reversed"},
        height=90 + 48 * len(boxes),
    )


def accuracy_figure(accuracy: Accuracy, *, marked: float, title: str) -> go.Figure:
    """Draw the median error along a logarithmic axis, with the band of the middle half; `marked` is the setting now."""
    return _curves_figure(accuracy, marked=marked, x=_log_axis(title, accuracy.places))


def sides_figure(accuracy: Accuracy, *, marked: float, title: str) -> go.Figure:
    """Draw the same along the number of sides; a mechanism of one die only is a point with a bar for its band."""
    low, high = accuracy.places[[0, -1]]
    return _curves_figure(accuracy, marked=marked, x=titled(title, range=[low - 0.3, high + 0.3], dtick=1))


def _curves_figure(accuracy: Accuracy, *, marked: float, x: Axis) -> go.Figure:
    traces = [trace for k in range(len(accuracy.methods)) for trace in _curve(accuracy, k)]
    traces.append(_mark(marked, top=1.0, name="now"))
    return figure_of(traces, x=x, y=titled("median " + ERROR, range=[0, 1.02], automargin=True), height=430)


def _curve(accuracy: Accuracy, k: int) -> list[Trace]:
    """The median of one method and its middle half, where dice have it; the one without a guarantee has no band."""
    method = accuracy.methods[k]
    has = np.isfinite(accuracy.errors[:, k, 0])
    places = accuracy.places[has]
    low, middle, high = (accuracy.errors[has, k, LEVELS.index(level)] for level in (0.25, 0.5, 0.75))
    line = _line(method, x=places, y=middle, legendgroup=k)
    line |= {"mode": "lines+markers", "marker": {"symbol": SYMBOLS[method], "size": 7}}
    if method is Method.LOCAL:
        return [line]
    if len(places) == 1:
        bar = {"type": "data", "symmetric": False, "array": high - middle, "arrayminus": middle - low, "thickness": 1.5}
        return [line | {"mode": "markers", "marker": line["marker"] | {"color": COLOURS[method]}, "error_y": bar}]
    band = {"x": np.concatenate([places, places[::-1]]), "y": np.concatenate([high, low[::-1]]), "fill": "toself"}
    look = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return [
        {"type": "scatter", **band, **look, "fillcolor": faded(COLOURS[method], 0.1), "legendgroup": k},
        line,
    ]


def _log_axis(title: str, places: FloatArray) -> Axis:
    """A logarithmic axis with full numbers at its ticks: the powers of ten, or 1, 2, 5, 10, ... on a short one."""
    low, high = float(places.min()), float(places.max())
    digits = (1,) if high / low > 50 else (1, 2, 5)
    stops = [float(f"{digit}e{tens}") for tens in range(-3, 6) for digit in digits]
    stops = [stop for stop in stops if 0.99 * low <= stop <= 1.01 * high]
    ticks = {"tickvals": stops, "ticktext": [f"{stop:,g}" for stop in stops]}
    return titled(title, type="log", **ticks, minor={"dtick": "D1"})


def _mark(x: float, *, top: float, name: str, low: float = 0.0) -> Trace:
    line = {"color": EXACT, "width": 2}
    return {"type": "scatter", "mode": "lines", "x": [x, x], "y": [low, top], "line": line, "name": name}


def sensitivity_line_figure(line: SensitivityLine, *, data: int, title: str) -> go.Figure:
    """Draw the three sensitivities along a line of candidates; `data` marks the hypothetical throws."""
    everywhere = np.full(2, line.everywhere)
    traces = [
        _line(Method.GLOBAL, x=line.first[[0, -1]], y=everywhere, name="global"),
        _line(Method.SMOOTH, x=line.first, y=line.smooth, name="smooth"),
        _line(Method.LOCAL, x=line.first, y=line.local, name="local"),
        _mark(data, low=0.9 * float(line.local.min()), top=1.1 * line.everywhere, name="the data"),
    ]
    return figure_of(traces, x=titled(title), y=_sensitivity_axis(line), height=360)


def _sensitivity_axis(line: SensitivityLine) -> Axis:
    low, high = float(line.local.min()), line.everywhere
    stops = [stop for stop in STOPS if 0.9 * low <= stop <= 1.1 * high]
    if len(stops) < 3:  # a short axis has room for numbers that are less round
        stops = sorted({float(f"{stop:.2g}") for stop in np.geomspace(low, high, 3)})
    ticks = {"tickvals": stops, "ticktext": [numeral(stop, 6) for stop in stops]}
    return titled("sensitivity (Hellinger distance)", type="log", automargin=True, **ticks)


def sensitivity_plane_figure(ticks: FloatArray, values: FloatArray, *, data: tuple[int, int], name: str) -> go.Figure:
    """Draw one sensitivity over all throws of three sides, `values` (P, P) by sides 2 and 1; darker is larger."""
    logs = np.log10(values)
    stops = np.linspace(np.nanmin(logs), np.nanmax(logs), 5)
    heat = {
        "type": "heatmap",
        "x": ticks,
        "y": ticks,
        "z": logs,
        "customdata": values,
        "colorscale": "Cividis",
        "reversescale": True,
        "hoverongaps": False,
        "hovertemplate": "side 1: %{x}, side 2: %{y}<br>sensitivity %{customdata:,.3~r}<extra></extra>",
        "colorbar": {
            "title": {"text": f"{name} sensitivity"},
            "tickvals": stops,
            "ticktext": [numeral(10**stop, 2) for stop in stops],
        },
    }
    cross = {
        "type": "scatter",
        "mode": "markers",
        "x": [data[0]],
        "y": [data[1]],
        "marker": {"symbol": "x", "size": 13, "color": EXACT, "line": {"color": "white", "width": 1.5}},
        "name": "the data",
        "showlegend": True,
    }
    return figure_of(
        [heat, cross],
        x=titled("throws on side 1"),
        y=titled("throws on side 2; side 3 has the rest", automargin=True),
        height=400,
    )


def output_figure(outputs: Outputs, *, data: int) -> go.Figure:
    """Draw how probable every released count of side 1 is, by mechanism, as steps."""
    traces = [
        _line(method, x=outputs.middles, y=shares)
        | {"line": _line(method)["line"] | {"shape": "hvh", "width": 2}, "hovertemplate": "%{x:,.0f}: %{y:,.3~r}"}
        for method, shares in outputs.shares.items()
    ]
    top = max(float(shares.max()) for shares in outputs.shares.values())
    traces.append(_mark(data, top=1.05 * top, name="the data"))
    per = "count" if outputs.width == 1 else f"{outputs.width:,} counts"
    return figure_of(
        traces,
        x=titled("released count of side 1 (throws)", range=[outputs.edges[0], outputs.edges[-1]]),
        y=titled(f"probability per {per}", rangemode="tozero", automargin=True),
        height=360,
    )


def error_law_figure(errors: FloatArray, shares: dict[Method, FloatArray]) -> go.Figure:
    """Draw, by mechanism, the probability (P,) that the error is at most `errors` (P,)."""
    return figure_of(
        [_line(method, x=errors, y=within) for method, within in shares.items()],
        x=titled(ERROR, range=[0, 1.01]),
        y=titled("probability of an error at most this", range=[0, 1.02], automargin=True),
        height=360,
    )
