"""Pictures of an audit: the privacy curve, and the distributions of the worst neighbours."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, INVALID, PRIVATE
from dpbayes.base.text import numeral
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.figures.style import (
    EPSILON_AXIS,
    LINES,
    Axis,
    Figure,
    Trace,
    faded,
    figure_of,
    names_axis,
    numerals,
    titled,
)

LEAST_DELTA = 1e-16
"""Smaller deltas are replaced by this value, which is below the picture."""

FLOOR = 1e-10
"""The least end of the delta axis, unless the claim's delta is smaller."""

SECOND = "#6B7F2A"
"""The colour of the second of two neighbours; blue stands for exact and orange for released values."""

BARS = 61
"""Most outputs that are drawn as bars; more are drawn as lines."""


# The privacy curve


@dataclass(frozen=True)
class Mark:
    """A guarantee (epsilon, delta) as a point of the picture, and its name.

    The pointer shows its numbers. In the legend, they would move the picture when they need another line.
    """

    epsilon: float
    delta: float
    name: str


def privacy_curve_figure(
    epsilons: FloatArray,
    upper: FloatArray,
    lower: FloatArray,
    *,
    broken: BoolArray,
    claimed: Mark | None,
    certified: Mark | None,
) -> Figure:
    """Draw delta (E,) against epsilon, with log y; red where it is `broken` (E,), above the claim.

    If `lower` equals `upper`, the curve is exact. Otherwise both are drawn, the lower one where it is known.
    """
    floor = _floor(upper, [mark for mark in (claimed, certified) if mark])
    top, bottom = np.maximum(upper, LEAST_DELTA), np.maximum(lower, LEAST_DELTA)
    traces: list[Trace] = []
    if np.allclose(upper, lower, rtol=1e-3, atol=LEAST_DELTA):
        traces.append(LINES | {"x": epsilons, "y": top, "name": "exact", "line": {"color": EXACT, "width": 3}})
    else:
        # One short entry for both, because a longer legend would move the picture.
        both = LINES | {"x": epsilons, "legendgroup": "bounds"}
        dashed = {"color": BOUND, "width": 2.5, "dash": "dash"}
        traces.append(both | {"y": top, "name": "bounds", "line": dashed})
        if np.any(lower > 0):
            dotted = {"color": BOUND, "width": 2.5, "dash": "dot"}
            traces.append(both | {"y": bottom, "name": "lower bound", "line": dotted, "showlegend": False})
    if broken.any():
        above = np.where(broken, top, np.nan)
        name = "above the claim" if claimed and claimed.name == "stated" else "above the ε setting"
        traces.append(LINES | {"x": epsilons, "y": above, "name": name, "line": {"color": INVALID, "width": 5}})
    if certified is not None:
        traces.append(_mark(certified, floor, symbol="diamond-open", colour=BOUND, dash="dot"))
    if claimed is not None and len(epsilons) and claimed.epsilon > epsilons[-1]:
        claimed = replace(claimed, name=f"{claimed.name}, off the chart")
    if claimed is not None:
        traces.append(_mark(claimed, floor, symbol="circle", colour=INVALID if broken.any() else BOUND, dash="dash"))
    return figure_of(
        traces,
        x=titled(EPSILON_AXIS, range=[0, float(epsilons[-1])] if len(epsilons) and epsilons[-1] > 0 else [0, 1]),
        y=titled(
            "δ(ε)",
            type="log",
            dtick=2 if floor < 1e-5 else 1,
            range=[math.log10(floor), 0.15],
            exponentformat="power",
            automargin=True,
        ),
        height=380,
    )


def _floor(deltas: FloatArray, marks: list[Mark]) -> float:
    seen = [float(d) for d in deltas if d > 0] + [1e-3]
    least = max(min(seen), FLOOR)
    promised = [mark.delta / 30 for mark in marks if mark.delta > 0]
    return 10.0 ** math.floor(math.log10(min([least, *promised])))


def _mark(mark: Mark, floor: float, *, symbol: str, colour: str, dash: str) -> Trace:
    """Return a line at the guarantee's epsilon upwards from its delta; a delta of zero is at the bottom."""
    low = mark.delta if mark.delta > 0 else floor
    promise = f"ε = {numeral(mark.epsilon, 4)}, δ = {numeral(mark.delta)}"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [mark.epsilon, mark.epsilon],
        "y": [low, 1.0],
        "name": mark.name,
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"symbol": symbol, "size": [12, 0], "color": colour, "opacity": 1},
        "hovertemplate": f"{mark.name}: {promise}<extra></extra>",
        "cliponaxis": False,
    }


# The worst neighbours


def laws_figure(outputs: FloatArray | list[str], first: FloatArray, second: FloatArray, *, x: str, y: Axis) -> Figure:
    """Draw the distributions (R,) of two neighbours over the same outputs, and below the loss ln(first / second)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(first) - np.log(second)
    loss = np.where(np.isfinite(loss), loss, np.nan)
    few = len(first) <= BARS and isinstance(outputs, list)
    traces = [
        _law(outputs, first, few=few, line={"color": PRIVATE}, name="first table"),
        _law(outputs, second, few=few, line={"color": SECOND, "dash": "dash"}, name="second table"),
        _law(outputs, loss, few=few, line={"color": BOUND}, name="privacy loss") | {"yaxis": "y2"},
    ]
    axis = names_axis(x, anchor="y2", nticks=12) if isinstance(outputs, list) else titled(x, anchor="y2")
    return figure_of(
        traces,
        x=axis,
        y={"rangemode": "tozero", **y, "domain": [0.46, 1], "automargin": True},
        height=430,
        yaxis2=titled("privacy loss, nats", domain=[0, 0.36], anchor="x", automargin=True, zeroline=True),
        bargap=0.15,
    )


def _law(x: FloatArray | list[str], y: FloatArray, *, few: bool, line: Axis, name: str) -> Trace:
    shared: Trace = {"x": x, "y": y, "name": name, "hovertemplate": "%{x}: %{y:.4~r}"}
    if few:
        shared |= {"customdata": numerals(y), "hovertemplate": "%{x}: %{customdata}"}
        pattern = {"shape": "/" if "dash" in line else "", "size": 6}
        return {"type": "bar", "marker": {"color": faded(line["color"], 0.85), "pattern": pattern}, **shared}
    return LINES | {"line": line | {"width": 2.5}, **shared}


# Losses of simulated outputs


def losses_figure(first: FloatArray, second: FloatArray, *, claimed: float) -> Figure:
    """Draw the share of outputs above each privacy loss, of two neighbours (D,), and the claimed epsilon as a line."""
    lines = [
        (first, {"color": PRIVATE, "width": 2.5}, "first table"),
        (second, {"color": SECOND, "width": 2.5, "dash": "dash"}, "second table"),
    ]
    traces: list[Trace] = []
    for losses, line, name in lines:
        seen = np.sort(losses)
        shares = 1 - np.arange(1, len(seen) + 1) / len(seen)
        traces.append(LINES | {"x": seen, "y": shares, "name": name, "line": line | {"shape": "hv"}})
    claim = {"color": BOUND, "width": 2, "dash": "dash"}
    traces.append(LINES | {"x": [claimed, claimed], "y": [0.0, 1.0], "name": "stated ε", "line": claim})
    return figure_of(
        traces, x=titled("privacy loss, nats"), y=titled("share of outputs above", range=[0, 1.02]), height=380
    )
