"""Pictures of an audit: the verdict, the privacy curve, and the distributions of the worst neighbours."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID
from dpbayes.base.text import numeral, power_of_ten
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.figures.style import (
    LINES,
    PERCENT,
    Axis,
    Figure,
    Trace,
    faded,
    figure_of,
    names_axis,
    powers_axis,
    titled,
    upright,
)

LEAST_DELTA = 1e-16
"""Smaller deltas are replaced by this value, which is below the picture."""

FLOOR = 1e-10
"""The least end of the delta axis, unless the claim's delta is smaller."""

FIRST, SECOND = "#5F6B76", "#9C8FB8"
"""The colours of two neighbouring tables, which no mechanism has."""

BARS = 61
"""Most outputs that are drawn as points; more are drawn as lines."""

RARE = SMALL_GAP = 0.02
"""A marked output with less than this share of the largest probability needs a logarithmic axis. Outputs at both ends
whose probabilities differ by less than this share of the largest difference are left out."""


# The verdict

VERDICTS = {"holds": (GREEN, GREEN), "fails": (BOUND, INVALID), "loose": (BOUND, BOUND), "open": (BOUND, BOUND)}
"""The verdicts on a loss, with the colours of its bar and of the dot before its finding."""

PALE = faded(BOUND, 0.35)


@dataclass(frozen=True)
class LossBar:
    """A row of the verdict: a name, the least and largest value and its text, a finding, and the loss as a factor.

    `verdict` is one of VERDICTS, and `finding` the same in words.
    """

    name: str
    low: float
    high: float
    text: str
    verdict: str = "open"
    finding: str = ""
    factor: str = ""


def belief_axis(before: float) -> Axis:
    """Return the axis of beliefs after a release, with room for a text behind certainty."""
    ticks = {"tickvals": [0, before, 0.25, 0.5, 0.75, 1], "tickformat": PERCENT}
    return titled(f"belief after a release (before it: {before:.0%})", range=[0, 1.2], **ticks)


def verdict_figure(rows: Sequence[LossBar], *, x: Axis, limit: float, before: float = 0.0, allowed: str = "") -> Figure:
    """Draw each row as a bar that is green if it holds, grey if not, and hollow if it is larger than needed.

    Up to `before`, it is pale. The field from there to the `limit` is shaded, with the text `allowed` above. The last
    row, which is computed, is green in this field and red beyond. Between its least and largest possible value, a bar
    is pale too.
    """
    end, bound = x["range"][1], limit * (1 + 1e-9)
    side, away = ("right", -6) if limit > 0.4 * end else ("left", 6)
    left = limit if before < limit < 0.3 * end else before  # not across the dotted line, where there is room
    traces, texts = list[Trace](), [_text(limit, 1, allowed, yref="paper", xanchor=side, xshift=away, yanchor="bottom")]
    for place, row in enumerate(rows):
        low, high, within, above = min(row.low, end), min(row.high, end), min(row.low, bound), BOUND
        inside, mark = VERDICTS[row.verdict]
        if row is rows[-1]:
            inside, above = GREEN, INVALID if low > bound else BOUND
        first = faded(inside, 0.15) if row.verdict == "loose" else inside
        pale = faded(inside if high <= bound else above, 0.35)
        parts = (0, before, PALE), (before, within, first), (within, low, above), (low, high, pale)
        for start, stop, colour in parts:
            if stop > start:
                traces.append(_bar(place, start, stop, colour, row))
        beside = limit if limit - 0.1 * end < high < limit else max(high, before)  # not across the dotted line
        words = f" <span style='color:{mark};font-size:18px'>●</span> {row.finding}" if row.finding else ""
        name = ": ".join(filter(None, (row.name, row.factor))) + words
        texts += [
            _text(left, place - 0.2, name, xanchor="left", xshift=5, yanchor="bottom"),
            _text(beside, place, f"<b>{row.text}</b>", xanchor="left" if high < end else "right", xshift=5),
        ]
    field = {"type": "rect", "x0": before, "x1": limit, "yref": "y domain", "y0": 0, "y1": 1, "layer": "below"}
    return figure_of(
        traces,
        x=x,
        y={"range": [len(rows) - 0.7, -0.75], "visible": False, "fixedrange": True},
        height=440,
        meta={"least": 80 + 38 * len(rows)},
        margin={"l": 16, "r": 24, "t": 30, "b": 52},
        barmode="overlay",
        annotations=texts,
        shapes=[
            field | {"fillcolor": faded(GREEN, 0.1), "line": {"width": 0}},
            upright(limit, {"color": BOUND, "width": 2, "dash": "dot"}),
        ],
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
    look = {"color": colour, "line": {"color": BOUND, "width": 2 if row.verdict == "loose" else 0}}
    bar = {"type": "bar", "orientation": "h", "y": [place], "base": [start], "x": [stop - start], "width": [0.4]}
    return bar | {"marker": look, "hoverinfo": "skip", "showlegend": False}


def _text(x: float, y: float, text: str, **more: Any) -> Axis:
    return {"x": x, "y": y, "text": text, "yanchor": "middle", "showarrow": False, "font": {"size": 14}} | more


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
    least = max(min([1e-3, *upper[upper > 0]]), FLOOR)
    floor = 10.0 ** math.floor(math.log10(min(least, claimed[1] / 30) if claimed and claimed[1] else least))
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


def _mark(epsilon: float, delta: float, floor: float, colour: str) -> Trace:
    """Return a line at the guarantee's epsilon upwards from its delta; a delta of zero is at the bottom."""
    ends = {"x": [epsilon, epsilon], "y": [delta if delta > 0 else floor, 1.0], "mode": "lines+markers"}
    line = {"line": {"color": colour, "width": 2, "dash": "dash"}, "cliponaxis": False}
    dot = {"marker": {"symbol": "circle", "size": [12, 0], "color": colour, "opacity": 1}}
    return (
        LINES | ends | line | dot | {"hovertemplate": f"ε = {numeral(epsilon, 4)}, δ = {numeral(delta)}<extra></extra>"}
    )


# Guesses


def guesses_figure(
    beliefs: FloatArray, shares: FloatArray, allowed: FloatArray, *, is_exact: bool, broken: BoolArray
) -> Figure:
    """Draw how often the best guess of one of two values is right, against the belief in the likelier one (E,).

    The `shares` (E,) are exact or else upper bounds, and red where they are `broken` (E,). Without a release, a guess
    is right as often as believed: this is the diagonal. The field from it to the `allowed` shares (E,) is shaded.
    """
    grey, own = {"color": BOUND, "width": 2}, {"color": EXACT, "width": 3, "dash": "solid" if is_exact else "dash"}
    name, field = "with one" if is_exact else "with one, at most", {"fill": "tonexty", "fillcolor": faded(GREEN, 0.1)}
    traces = [
        LINES | {"x": beliefs, "y": beliefs, "name": "without a release", "line": grey},
        LINES | {"x": beliefs, "y": allowed, "name": "allowed", "line": grey | {"dash": "dot"}} | field,
        LINES | {"x": beliefs, "y": shares, "name": name, "line": own},
    ]
    if broken.any():
        above, red = np.where(broken, shares, np.nan), {"color": INVALID, "width": 5}
        traces.append(LINES | {"x": beliefs, "y": above, "name": "too often", "line": red})
    axis = {"range": [0.5, 1.0], "tickformat": PERCENT, "dtick": 0.1}
    x = titled("belief in the likelier value, before the release", **axis)
    return figure_of(traces, x=x, y=titled("right guesses", **axis), height=380)


# The worst neighbours


def laws_figure(
    outputs: FloatArray | list[str],
    laws: Mapping[str, FloatArray],
    *,
    x: str,
    y: str,
    mark: tuple[int, str, str] | None = None,
) -> Figure:
    """Draw the distributions (R,) of two neighbours by name over the same outputs, enlarged to where they differ.

    `mark` has the place of the output whose probabilities differ most, a text and a colour. If it is rare, the axis is
    logarithmic. Few outputs of a linear axis are bars: a bar shows the size of a probability, a line its differences.
    """
    first, second = laws.values()
    most, place = max(first.max(), second.max()), mark[0] if mark else int(first.argmax())
    gap, is_linear = np.abs(first - second), first[place] > RARE * most
    seen = np.flatnonzero(gap >= SMALL_GAP * gap.max()) if is_linear else np.arange(len(first))
    shown = slice(min(seen[0], place), max(seen[-1], place) + 1)
    places, ends = outputs[shown], [first[place], second[place]]
    is_few = isinstance(places, list) and len(places) <= BARS and is_linear
    traces = list[Trace]()
    for (name, law), colour, dash in zip(laws.items(), (FIRST, SECOND), ("solid", "dash"), strict=True):
        line = LINES | {"line": {"color": colour, "width": 2.5, "dash": dash}}
        line |= {"fill": "tozeroy", "fillcolor": faded(colour, 0.2)} if is_linear and np.ptp(second) else {}
        look = {"type": "bar", "marker": {"color": colour}} if is_few else line
        traces.append(look | {"x": places, "y": law[shown], "name": name})
    if mark:  # the text has room above the likely outputs, and below rare ones
        side = ("right", "center", "left")[3 * (place - shown.start) // len(places)]
        points = {"x": [outputs[place]] * 2, "y": ends if is_linear else ends[::-1], "cliponaxis": False}
        words = {"mode": "lines+markers+text", "text": [mark[1], ""], "showlegend": False}
        look = {"line": {"color": mark[2], "width": 3}, "marker": {"color": mark[2], "size": 8}}
        named = {"name": "largest factor", "textposition": f"{'top' if is_linear else 'bottom'} {side}"}
        traces.append(LINES | points | words | look | named)
    x += "; those not drawn differ little" if is_few and len(places) < len(outputs) else ""
    y += "" if is_linear else " (logarithmic)"
    axis = names_axis(x, nticks=6, tickangle=0) if isinstance(places, list) else titled(x)
    low, high = math.log10(min(ends)) - 1, math.log10(most) + 0.3
    heights = titled(y, range=[0, 1.2 * most]) if is_linear else powers_axis(y, low, high)
    return figure_of(traces, x=axis, y=heights | {"automargin": True}, height=380, bargap=0.25)


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
