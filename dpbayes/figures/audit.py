"""Pictures of an audit: the verdict, the privacy curve, and the distributions of the worst neighbours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID
from dpbayes.base.text import factor_text, numeral, power_of_ten
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.figures.style import (
    LINES,
    PERCENT,
    ROWS,
    Axis,
    Figure,
    Trace,
    faded,
    figure_of,
    names_axis,
    powers_axis,
    titled,
)

LEAST_DELTA = 1e-16
"""Smaller deltas are replaced by this value, which is below the picture."""

FLOOR = 1e-10
"""The least end of the delta axis, unless the claim's delta is smaller."""

FIRST, SECOND = "#5F6B76", "#9C8FB8"
"""The colours of two neighbouring tables, which no mechanism has."""

BARS = 61
"""Most outputs that are drawn as points; more are drawn as lines."""

SMALL_GAP = 0.02
"""Outputs at both ends whose probabilities differ by less than this share of the largest difference are left out."""


# The verdict

VERDICTS = {"holds": (GREEN, GREEN), "loose": (BOUND, BOUND), "open": (BOUND, BOUND), "fails": (BOUND, INVALID)}
"""The verdicts on a loss, with the colours of its bar and of the dot before its finding."""


@dataclass(frozen=True)
class LossBar:
    """A privacy loss of the verdict: its name, its least and largest value, both in words, and a finding.

    `verdict` is one of VERDICTS, and `finding` the same in words.
    """

    name: str
    low: float
    high: float
    text: str
    verdict: str = "open"
    finding: str = ""


def verdict_figure(rows: Sequence[LossBar], *, limit: float, title: str = "") -> Figure:
    """Draw each loss as a bar that is green if it holds, grey if not, and hollow if it is larger than needed.

    The computed loss, the last row, is green up to the `limit` and red above it. Between the least and the largest
    possible value, a bar is pale. Without a title, the axis has the factors of losses.
    """
    largest = max((row.high for row in rows if math.isfinite(row.high)), default=0.0) or 1.0
    end, bound = max(1.1 * largest, 0.0 if title else 1.5 * limit), limit * (1 + 1e-9)
    traces, names, lines = list[Trace](), list[Axis](), list[Axis]()
    for place, row in enumerate(rows):
        low, high, within = min(row.low, end), min(row.high, end), min(row.low, bound)
        is_last = place == len(rows) - 1
        inside, mark = (GREEN if is_last else VERDICTS[row.verdict][0]), VERDICTS[row.verdict][1]
        above = INVALID if is_last and row.low > bound else BOUND
        for start, stop, colour in (
            (0.0, within, faded(inside, 0.15) if row.verdict == "loose" else inside),
            (within, low, faded(above, 0.15) if row.verdict == "loose" else above),
            (low, high, faded(inside if row.high <= bound else above, 0.35)),
        ):
            if stop > start:
                traces.append(_bar(place, start, stop, colour, row))
        words = f" <span style='color:{mark};font-size:18px'>●</span> {row.finding}" if row.finding else ""
        names.append(_left(place - 0.42, f"{row.name}: <b>{row.text}</b>{words}"))
        ends = {"x0": limit, "x1": limit, "y0": place - 0.25, "y1": place + 0.25}
        lines.append({"type": "line", "line": {"color": BOUND, "width": 3, "dash": "dot"}} | ends)
    if not title:
        allowed = {"x": limit, "xanchor": "left" if limit < end / 2 else "right", "y": len(rows) - 0.6}
        names.append(allowed | {"text": f"allowed: {factor_text(limit)}", "showarrow": False, "font": {"size": 13}})
    return figure_of(
        traces,
        x=titled(title, range=[0, end]) if title else factor_axis(end),
        # each tick, though unseen, gives the picture height on a board
        y={"range": [len(rows) - 0.45, -0.7], "visible": False, "fixedrange": True, "tickvals": [0] * 3 * len(rows)},
        height=80 + 200 * len(rows),
        meta=ROWS["meta"],
        margin={"l": 16, "r": 24, "t": 12, "b": 52},
        barmode="overlay",
        annotations=names,
        shapes=lines,
    )


def factor_axis(end: float) -> Axis:
    """Return the axis of privacy losses up to `end`, with their factors as round numbers."""
    decades, excess = end / math.log(10), math.expm1(min(end, 7.0))
    powers = range(0, math.ceil(decades), max(1, round(decades / 5)))
    logs, texts = math.log(10) * np.array(powers), [f"{10**k:,}" if k < 4 else power_of_ten(k) for k in powers]
    if decades < 3:
        unit = 10.0 ** math.floor(math.log10(excess))
        step = unit * (0.5 if excess < 3 * unit else 1 if excess < 5 * unit else 2)
        factors = 1 + np.arange(0, excess, step) if excess < 9 else np.array([1, 3, 10, 30, 100, 300])
        logs, texts = np.log(factors), [numeral(factor, 9) for factor in factors]
    return titled("times as likely (1 is no difference)", tickvals=logs, ticktext=texts, range=[0, end])


def _bar(place: int, start: float, stop: float, colour: str, row: LossBar) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [place],
        "base": [start],
        "x": [stop - start],
        "width": [0.32],
        "marker": {"color": colour, "line": {"color": BOUND, "width": 2 if row.verdict == "loose" else 0}},
        "name": row.name,
        "hovertemplate": f"{row.name}: {row.text}<extra></extra>",
        "showlegend": False,
    }


def _left(y: float, text: str) -> Axis:
    """Return a text that begins at the left end of the picture."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": y, "yanchor": "middle"}
    return place | {"text": text, "showarrow": False, "font": {"size": 14}, "align": "left"}


# The privacy curve


def privacy_curve_figure(
    epsilons: FloatArray,
    upper: FloatArray,
    lower: FloatArray,
    *,
    broken: BoolArray,
    claimed: tuple[float, float] | None,
    name: str = "stated",
) -> Figure:
    """Draw delta (E,) against epsilon, with log y; red where it is `broken` (E,), above the claim (epsilon, delta).

    If `lower` equals `upper`, the curve is exact. Otherwise both are drawn, the lower one where it is known.
    """
    floor = _floor(upper, claimed)
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
        last = np.flatnonzero(broken)[-1]
        above, x = np.where(broken, top, np.nan)[: last + 1], epsilons[: last + 1]
        above, x = np.append(above, LEAST_DELTA), np.append(x, x[-1])  # a loss below δ = 0 is seen to end there
        what = "above the claim" if claimed else "above the ε setting"
        traces.append(LINES | {"x": x, "y": above, "name": what, "line": {"color": INVALID, "width": 5}})
    if claimed is not None:
        beyond = ", off the chart" if len(epsilons) and claimed[0] > epsilons[-1] else ""
        traces.append(_mark(*claimed, floor, INVALID if broken.any() else BOUND) | {"name": f"{name}{beyond}"})
    y = powers_axis("δ, rare cases", math.log10(floor), 0.15, automargin=True)
    ticks = dict(zip(y["tickvals"], y["ticktext"], strict=True)) | {floor: "0"}  # below it, a curve is 0 or too small
    y |= {"tickvals": list(ticks), "ticktext": list(ticks.values())}
    return figure_of(
        traces,
        x=factor_axis(float(epsilons[-1]) if len(epsilons) and epsilons[-1] > 0 else 1.0),
        y=y,
        height=380,
    )


def _floor(deltas: FloatArray, claimed: tuple[float, float] | None) -> float:
    seen = [float(d) for d in deltas if d > 0] + [1e-3]
    least = max(min(seen), FLOOR)
    promised = claimed[1] / 30 if claimed and claimed[1] else least
    return 10.0 ** math.floor(math.log10(min(least, promised)))


def _mark(epsilon: float, delta: float, floor: float, colour: str) -> Trace:
    """Return a line at the guarantee's epsilon upwards from its delta; a delta of zero is at the bottom."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [epsilon, epsilon],
        "y": [delta if delta > 0 else floor, 1.0],
        "line": {"color": colour, "width": 2, "dash": "dash"},
        "marker": {"symbol": "circle", "size": [12, 0], "color": colour, "opacity": 1},
        "hovertemplate": f"ε = {numeral(epsilon, 4)}, δ = {numeral(delta)}<extra></extra>",
        "cliponaxis": False,
    }


# The worst neighbours


def laws_figure(outputs: FloatArray | list[str], first: FloatArray, second: FloatArray, *, x: str, y: Axis) -> Figure:
    """Draw the distributions (R,) of two neighbours over the same outputs, enlarged to where they differ.

    Few outputs of a linear axis are bars, because a bar shows the size of a probability, and a line its differences.
    """
    gap, is_linear = np.abs(first - second), y.get("type") != "log"
    seen = np.flatnonzero(gap >= SMALL_GAP * gap.max()) if is_linear else np.arange(len(first))
    shown = slice(seen[0], seen[-1] + 1)
    places = outputs[shown]
    is_few = isinstance(places, list) and len(places) <= BARS and is_linear
    traces = list[Trace]()
    for law, colour, dash, name in (
        (first, FIRST, "solid", "first table"),
        (second, SECOND, "dash", "second table, one record changed"),
    ):
        line = LINES | {"line": {"color": colour, "width": 2.5, "dash": dash}}
        line |= {"fill": "tozeroy", "fillcolor": faded(colour, 0.2)} if is_linear else {}
        look = {"type": "bar", "marker": {"color": colour}} if is_few else line
        traces.append(look | {"x": places, "y": law[shown], "name": name})
    axis = names_axis(x, nticks=6, tickangle=0) if isinstance(places, list) else titled(x)
    return figure_of(traces, x=axis, y={**y, "automargin": True}, height=380, bargap=0.25)


# Losses of simulated outputs


def losses_figure(first: FloatArray, second: FloatArray, *, claimed: float) -> Figure:
    """Draw the share of outputs above each size of loss, of two neighbours (D,), and the claimed epsilon as a line."""
    traces: list[Trace] = []
    for losses, colour, name in ((first, FIRST, "first table"), (second, SECOND, "second table")):
        seen = np.sort(np.abs([0.0, *losses]))
        shares = 1 - np.arange(len(seen)) / len(losses)
        steps = {"x": np.repeat(seen, 2)[1:], "y": np.repeat(shares, 2)[:-1]}
        traces.append(LINES | steps | {"name": name, "line": {"color": colour, "width": 2.5}})
    claim = {"color": BOUND, "width": 2, "dash": "dash"}
    most = max(claimed, *np.abs([*first, *second]))
    traces.append(LINES | {"x": [claimed, claimed], "y": [0.0, 1.0], "name": "proved", "line": claim})
    return figure_of(
        traces,
        x=factor_axis(1.1 * most),
        y=titled("share of releases above", range=[0, 1.02], tickformat=PERCENT),
        height=380,
    )
