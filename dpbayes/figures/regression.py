"""Pictures of private regression: squared error, and epsilon as proved and as in the paper, by prior precision."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import BOUND, INVALID, Curve
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    Axis,
    Figure,
    Trace,
    chosen_epsilon,
    faded,
    figure_of,
    line_of,
    powers_axis,
    titled,
)


def regression_errors_figure(
    precisions: FloatArray, curves: Sequence[Curve], proved: FloatArray, *, marked: float
) -> Figure:
    """Draw errors by predictor with bands of one standard error; `marked` is the chosen precision.

    The axis has the `proved` epsilons (P,) below the precisions (P,). NaN is a gap; an empty curve is left out.
    """
    curves = [curve for curve in curves if np.isfinite(curve.y).any()]
    traces: list[Trace] = []
    for curve in curves:
        if np.isfinite(curve.error).any():
            traces.append(_band(curve))
        traces.append(line_of(curve.look, curve.x, curve.y, hovertemplate="b = %{x:,.4~r}: %{y:,.4~r}"))
    high = float(max(np.nanmax(curve.y) for curve in curves))
    axis = titled("typical error in dollars (root mean square)", automargin=True, range=[0, 1.06 * high])
    mark = chosen_epsilon(precisions, marked)
    x = _precision_axis(precisions)
    spent = np.exp(np.interp(np.log(x["tickvals"]), np.log(precisions), np.log(proved)))
    x["ticktext"] = [f"{text}<br>ε = {numeral(at, 2)}" for text, at in zip(x["ticktext"], spent.tolist(), strict=True)]
    return figure_of(traces, x=x, y=axis, height=420, shapes=[mark])


def epsilon_figure(
    precisions: FloatArray,
    certified: FloatArray,
    printed: FloatArray,
    *,
    several: FloatArray | None,
    marked: float,
    colour: str,
) -> Figure:
    """Draw epsilon of one sample (P,): proved, and as in the paper, which is red where it is below the proved epsilon.

    `several` is the proved epsilon of all samples together, if there are several.
    """
    bold = {"color": colour, "width": 3}
    traces = [LINES | {"x": precisions, "y": certified, "line": bold, "name": "proved"}]
    traces[0]["name"] += ", one sample" if several is not None else ""
    if several is not None:
        dotted = {"line": bold | {"dash": "dot"}, "name": "proved, all samples"}
        traces.append(LINES | {"x": precisions, "y": several} | dotted)
    low = printed < certified
    for where, hue, said in ((~low, BOUND, ""), (low, INVALID, ", below the proved ε")):
        if where.any():
            line = {"color": hue, "width": 2.5, "dash": "dash"}
            name = f"paper: 2L(w), one sample{said}"
            traces.append(LINES | {"x": precisions, "y": np.where(where, printed, np.nan), "line": line, "name": name})
    everything = np.concatenate([certified, printed, certified if several is None else several])
    for trace in traces:
        trace["hovertemplate"] = "b = %{x:,.4~r}: ε = %{y:,.4~r}"
    axis = powers_axis("privacy loss ε", *_ends(everything), automargin=True)
    mark = chosen_epsilon(precisions, marked)
    return figure_of(traces, x=_precision_axis(precisions), y=axis, height=360, shapes=[mark])


def _band(curve: Curve) -> Trace:
    above, below, precisions = curve.y + curve.error, curve.y - curve.error, curve.x
    finite = np.flatnonzero(np.isfinite(above))
    x, y = [], []
    for run in np.split(finite, np.flatnonzero(np.diff(finite) > 1) + 1):  # NaN separates two areas
        x += [np.nan, *precisions[run], *precisions[run[::-1]]]
        y += [np.nan, *above[run], *below[run[::-1]]]
    return LINES | {
        "x": np.array(x[1:]),
        "y": np.array(y[1:]),
        "fill": "toself",
        "fillcolor": faded(curve.look.colour, 0.2),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "name": f"{curve.look.name}: standard error",
    }


def _precision_axis(precisions: FloatArray) -> Axis:
    return powers_axis("prior precision b", *_ends(precisions))


def _ends(values: FloatArray) -> tuple[float, float]:
    """Return the logarithms of the ends of an axis of positive values."""
    low, high = np.log10(values[values > 0].min()), np.log10(values.max())
    return float(low - 0.02 * (high - low)), float(high + 0.02 * (high - low))
