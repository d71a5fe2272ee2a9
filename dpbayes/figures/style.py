"""One frame for all figures."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray

Trace = dict[str, Any]
Axis = dict[str, Any]


def figure_of(traces: Sequence[Trace], *, x: Axis, y: Axis, height: int = 340) -> go.Figure:
    """Build a figure from plain dictionaries; axes have titles with units, text takes the page's theme.

    In one step, because a slider waits for it: updating a Plotly figure piece by piece takes several times as long.
    """
    layout = {
        "height": height,
        "margin": {"l": 60, "r": 16, "t": 34, "b": 52},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
        "xaxis": x,
        "yaxis": y,
    }
    return go.Figure({"data": list(traces), "layout": layout})


def titled(text: str, **more: Any) -> Axis:
    """Return an axis with a title."""
    return {"title": {"text": text}, **more}


def log_axis(text: str, low: float, high: float, **more: Any) -> Axis:
    """Return a logarithmic axis whose numbers are whole: powers of ten, on a short way also 2 and 5 times them."""
    minor = {"dtick": "D1"}
    if high >= 1000 * low:
        return titled(text, type="log", dtick=1, minor=minor, **more)
    if not high >= 10 * low > 0:
        return titled(text, type="log", **more)  # within a decade Plotly writes numbers in full
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [(step, power) for power in powers for step in (1, 2, 5)]
    shown = {"tickvals": [step * 10.0**power for step, power in steps], "ticktext": [_stop(*at) for at in steps]}
    return titled(text, type="log", minor=minor, **shown, **more)


def _stop(step: int, power: int) -> str:
    return f"{step * 10.0**power:,g}" if -4 <= power < 6 else f"{step}·10<sup>{power}</sup>"


def names_axis(text: str = "", **more: Any) -> Axis:
    """Return an axis of names, with as much room as they need."""
    return titled(text, type="category", automargin=True, **more)


def numerals(values: FloatArray, digits: int = 4) -> list[str]:
    """Return numbers of any magnitude as the texts that a pointer shows; Plotly's own formats would use an e."""
    return [numeral(float(value), digits) for value in values]


def faded(colour: str, opacity: float) -> str:
    """Return a hex colour with the given opacity."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def plain(text: str, limit: int = 48) -> str:
    """Return a name that Plotly shows as text, never as markup, cut to `limit` characters."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def distinct_labels(texts: Iterable[str], limit: int) -> list[str]:
    """Return `plain` names for a category axis; those that are equal once cut stay apart by an invisible character."""
    seen: Counter[str] = Counter()
    labels = []
    for text in texts:
        short = plain(text, limit)
        labels.append(short + "\u200b" * seen[short])
        seen[short] += 1
    return labels
