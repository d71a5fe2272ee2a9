"""The picture of a claim: a bound as stated, proved and measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.looks import BOUND, GREEN, INVALID, PRIVATE
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.figures.style import (
    LINES,
    Figure,
    Trace,
    band_of,
    faded,
    figure_of,
    interval_bar,
    log_axis,
    numerals,
    powers_axis,
    titled,
)

LARGEST = 1e38
"""Larger values are outside the picture."""

NINES = 3
SHARES = {"tickvals": [1, 0.5, 0.1, 0.01, 0.001], "ticktext": ["0%", "50%", "90%", "99%", "99.9%"]}
"""An axis of probabilities p near 1 is one of 1 - p, upside down, so that they are seen to differ: up to 99.9%."""

DECADES = 8
"""Most powers of ten on the axis of values; smaller values are outside the picture."""


@dataclass(frozen=True, eq=False)
class BoundCurves:
    """A bound at x (E,): `printed`, where it is `violated`, and `certified`; and the true values.

    These are an `exact` value, and a simulated `value` with its interval from `low` to `high`; NaN if not known.
    `exact_name` and `name` are the names of the exact and the simulated values. `is_limit`: the bound allows all values
    below it.
    """

    x: FloatArray
    printed: FloatArray
    certified: FloatArray
    violated: BoolArray
    exact: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    exact_name: str
    name: str
    is_limit: bool = True


def bound_figure(
    curves: BoundCurves, *, x_title: str, y_title: str, chosen: tuple[float, Mapping[str, float]]
) -> Figure:
    """Draw a bound against x on logarithmic axes; `chosen` is the chosen setting and its values by their texts."""
    drawn = np.isfinite(curves.certified) | np.isfinite(curves.exact) | np.isfinite(curves.value)
    drawn[np.abs(np.log(curves.x / chosen[0])).argmin()] = True
    least = min(curves.printed[curves.violated], default=0)
    is_share = y_title.startswith("probability") and 0.1 < least < 1  # decades would hide the difference near 1
    curves = _between_ends(curves, drawn)
    x, (low, high) = curves.x, _span(curves)
    exceeded = np.pad(curves.violated, 1, mode="edge")
    holds = np.where(exceeded[:-2] & exceeded[1:-1] & exceeded[2:], np.nan, curves.printed)  # up to the red line
    truth = np.where(np.isfinite(curves.exact), curves.exact, curves.value)
    gap = curves.violated & (curves.printed < LARGEST) & (truth > curves.printed)
    least_drawn = np.maximum(curves.printed[gap], 1 / LARGEST)
    band = band_of(x[gap], least_drawn, truth[gap], faded(INVALID, 0.18), name="above the stated bound")
    traces = [band] if gap.any() else []
    if curves.is_limit and (stated := _drawn(curves.printed)).any():
        bottom = np.full(stated.sum(), 0.0 if is_share else 10**low)
        allowed = {"name": "allowed by the claim", "showlegend": True}
        traces.insert(0, band_of(x[stated], bottom, curves.printed[stated], faded(GREEN, 0.1), **allowed))
    series = {"as stated": curves.printed, "proved": curves.certified, curves.exact_name: curves.exact}
    names = {name: _of_equal(series, y) for name, y in series.items()}  # the last one's line is that of all equal ones
    # thick lines first, so that all are seen where they meet
    if _drawn(curves.certified).any() and names["proved"].endswith("proved"):
        traces.append(_line(x, curves.certified, names["proved"], {"color": faded(BOUND, 0.7), "width": 6}))
    if np.any(curves.exact > 0):
        finite = np.isfinite(curves.exact)  # it can be known at only a few points
        traces.append(_line(x[finite], curves.exact[finite], names[curves.exact_name], {"color": PRIVATE, "width": 3}))
    if np.any(curves.value > 0):
        traces.append(_dots(curves))
    if _drawn(holds).any() and " = " not in names["as stated"]:
        traces.append(_line(x, holds, "as stated", {"color": BOUND, "width": 2, "dash": "dash"}))
    if curves.violated.any():
        wrong = np.where(curves.violated, curves.printed, np.nan)
        red = {"mode": "lines+markers", "marker": {"color": INVALID, "size": 5}}
        traces.append(_line(x, wrong, "as stated, exceeded", {"color": INVALID, "width": 2.5, "dash": "dash"}) | red)
    traces.append(_chosen(curves, *chosen, is_share=is_share))
    first, last = np.log10(x[[0, -1]]).tolist()
    side = 0.1 * (last - first)  # for the texts of a point at either end
    span = [first - side, last + side]
    up = log_axis(y_title, 10**low, 10**high, range=[low, high], automargin=True)
    if high - low > 2:
        up = powers_axis(y_title, low, high, automargin=True)
    if is_share:
        traces = list(map(_near_one, traces))
        up = titled(y_title, type="log", range=[0.5, -NINES], automargin=True, **SHARES)
    is_tiny, ends = span[0] < -5, (float(x[0]), float(x[-1]))
    across = powers_axis(x_title, *span, automargin=True) if is_tiny else log_axis(x_title, *ends, range=span)
    return figure_of(traces, x=across, y=up, height=460)


def _between_ends(curves: BoundCurves, kept: BoolArray) -> BoundCurves:
    """Return the curves from the first to the last place that is kept; all if none is."""
    places = np.flatnonzero(kept) if kept.sum() > 1 else [0, len(kept) - 1]
    part = slice(places[0], places[-1] + 1)
    kept_part = {name: y[part] for name, y in vars(curves).items() if not isinstance(y, str | bool)}
    return replace(curves, **kept_part)


def _of_equal(series: Mapping[str, FloatArray], y: FloatArray) -> str:
    """Return the names of all series that are equal to `y`."""
    return " = ".join(name for name, other in series.items() if np.allclose(other, y, rtol=1e-3, equal_nan=True))


def _line(x: FloatArray, y: FloatArray, name: str, line: Mapping[str, object]) -> Trace:
    return LINES | {
        "x": x,
        "y": np.where(_drawn(y), y, np.nan),
        "name": name,
        "line": dict(line),
        "customdata": numerals(y),
        "hovertemplate": "%{customdata} at %{x:,.3~r}",
    }


def _near_one(trace: Trace) -> Trace:
    """Return probabilities p as 1 - p, for an axis that is upside down."""
    bars = trace.get("error_y", {})
    turned = {"error_y": bars | {"array": bars["arrayminus"], "arrayminus": bars["array"]}} if bars else {}
    return trace | {"y": np.maximum(1 - np.asarray(trace["y"]), 1e-6)} | turned


def _drawn(y: FloatArray) -> BoolArray:
    """Return which values a logarithmic axis can show, in 32 bits."""
    return (y > 0) & (y < LARGEST)


def _dots(curves: BoundCurves) -> Trace:
    """Return simulated values with their intervals; every other value if there are many."""
    kept = np.flatnonzero(_drawn(curves.value))[:: 2 if len(curves.x) > 20 else 1]
    value = curves.value[kept]
    low = np.maximum(curves.low[kept], 0.001 * value)  # a logarithmic axis has no 0
    bars = interval_bar(value, low, curves.high[kept], width=3, thickness=1.5)
    dots = {"mode": "markers", "marker": {"color": PRIVATE, "size": 6}, "error_y": bars}
    return _line(curves.x[kept], value, curves.name, {}) | dots


def _chosen(curves: BoundCurves, at: float, values: Mapping[str, float], *, is_share: bool) -> Trace:
    """Mark the chosen setting, if it is on the axis, with its stated and its true value and a line between the two.

    Their texts are where the curves leave room: above and below, on the side of the picture's middle.
    """
    x, (low, high) = curves.x, _span(curves)
    shown = sorted((value, text) for text, value in values.items() if 0 < value < np.inf and x[0] <= at <= x[-1])
    left, right = ("left", "right") if curves.printed[-1] > curves.printed[0] else ("right", "left")
    share = np.log(at / x[0]) / np.log(x[-1] / x[0])
    inside = "right" if share < 0.5 else "left"
    if abs(share - 0.5) > 0.35:
        left = right = inside
    above, below = f"top {left}", f"bottom {right}"
    heights = np.array([value for value, _ in shown] or [0.5])
    is_apart = np.ptp(np.log10(1 - heights if is_share else heights)) > 0.08 * (NINES if is_share else high - low)
    if is_apart and right == inside and abs(share - 0.5) > 0.15:
        above = below
    return LINES | {
        "mode": "lines+markers+text",
        "x": [at] * len(shown),
        "y": [value for value, _ in shown],
        "line": {"color": BOUND, "width": 1.5, "dash": "dot"},
        "marker": {"symbol": "diamond-open", "size": 11, "color": BOUND, "line": {"width": 2}},
        "text": [text for _, text in shown],
        "textposition": [below, above][-len(shown) :],
        "textfont": {"size": 14},
        "name": "value of the slider",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _span(curves: BoundCurves) -> list[float]:
    """Return the range of all finite values, at most DECADES; a stated bound far above the rest is outside."""
    drawn = [np.log10(y[_drawn(y)]) for y in (curves.printed, curves.certified, curves.exact, curves.value)]
    every, rest = np.concatenate(drawn), np.concatenate(drawn[1:])
    if not every.size:
        return [0.0, 1.0]
    top = min(float(every.max()), float(rest.max()) + DECADES / 2 if rest.size else np.inf)
    low = max(float(every.min()), top - DECADES)
    # Nearly flat curves get most of a decade, because the axis would otherwise have no labels.
    room = max(0.08 * (top - low), (0.8 - (top - low)) / 2)
    return [low - room, top + room]
