"""Pictures of the mechanisms' noise: at one guarantee, and over graphs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    Axis,
    Figure,
    Trace,
    distinct_labels,
    figure_of,
    log_axis,
    names_axis,
    numerals,
    plain,
    positive_range,
    upright,
)

ALONE, WITH_DELTA = "ε alone", "(ε, δ)"
"""The guarantees that a dot and an open diamond stand for."""


_EVEN = {"color": BOUND, "width": 1, "dash": "dot"}


@dataclass(frozen=True)
class NoiseDot:
    """One mechanism's row: its noise without and with a delta; NaN if it is not known."""

    label: str
    colour: str
    alone: float
    with_delta: float

    @property
    def least(self) -> float:
        """The smaller of the two values, infinite if both are missing."""
        return min((value for value in (self.alone, self.with_delta) if math.isfinite(value)), default=math.inf)


def noise_dots_figure(dots: Sequence[NoiseDot], *, x: str, rows: int = 0) -> Figure:
    """Draw a row for each mechanism, the least noise on top: a dot for epsilon alone, a diamond with the delta.

    The numbers are to the right of the frame. The height is that of at least so many `rows`.
    """
    ordered = sorted(dots, key=lambda dot: dot.least)
    labels = distinct_labels([dot.label for dot in ordered], 28)
    values = np.array([[dot.alone, dot.with_delta] for dot in ordered]).reshape(-1, 2)
    low, high = positive_range(values)
    colours = [dot.colour for dot in ordered]
    traces = [
        _joined(labels, values),
        _dots(labels, values[:, 0], colours, name=ALONE, symbol="circle"),
        _dots(labels, values[:, 1], colours, name=WITH_DELTA, symbol="diamond-open"),
        _key(labels[:1], ALONE, "circle"),
        _key(labels[:1], WITH_DELTA, "diamond-open"),
        _nowhere(low),
    ]
    span = [len(ordered) - 0.4, -0.6]
    level = {"tickangle": 0, "nticks": 6}  # rotated numbers would move the picture
    return figure_of(
        traces,
        x=log_axis(x, low, high, range=[math.log10(low) - 0.06, math.log10(high) + 0.06], **level),
        y=names_axis(categoryorder="array", categoryarray=labels, range=span, ticks=""),
        yaxis2=_beside([*range(len(ordered)), -0.5], [*(_numbers(*pair) for pair in values), _ROOM], range=span),
        height=110 + 42 * max(len(ordered), rows, 4),
    )


def _dots(labels: list[str], values: FloatArray, colours: list[str], *, name: str, symbol: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": labels,
        "name": name,
        "showlegend": False,  # the legend has a grey symbol instead
        "text": numerals(values),
        "marker": {"color": colours, "size": 14, "symbol": symbol, "line": {"width": 2.5 if "open" in symbol else 0}},
        "hovertemplate": f"%{{y}}: %{{text}}<extra>{name}</extra>",
    }


def _key(labels: list[str], name: str, symbol: str) -> Trace:
    """Return a trace that only shows a grey symbol in the legend."""
    marker = {"color": BOUND, "size": 11, "symbol": symbol, "line": {"width": 2 if "open" in symbol else 0}}
    return {"type": "scatter", "mode": "markers", "x": [math.nan], "y": labels, "name": name, "marker": marker}


def _joined(labels: list[str], values: FloatArray) -> Trace:
    """Draw a line from each dot to its diamond, which shows the effect of the delta."""
    x = values + 0 * values.sum(axis=1, keepdims=True)  # NaN in a row with a missing value
    return LINES | {
        "x": np.column_stack([x, np.full(len(labels), np.nan)]).ravel(),
        "y": [label for label in labels for _ in range(3)],
        "line": {"color": BOUND, "width": 1.5},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _numbers(alone: float, with_delta: float) -> str:
    pairs = (("●", alone), ("◇", with_delta))
    return "   ".join(f"{symbol} {numeral(value)}" for symbol, value in pairs if math.isfinite(value))


_ROOM = f'<span style="color:transparent">{_numbers(8888, 8888)}</span>'
"""Invisible text above the first numbers: the frame keeps its width if no mechanism needs a delta."""


def _nowhere(x: float) -> Trace:
    """Return an invisible trace, because Plotly does not draw an axis without a trace."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [math.nan],
        "yaxis": "y2",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _beside(places: Sequence[float] | FloatArray, texts: Sequence[str], **more: object) -> Axis:
    """Return an axis to the right of the frame with texts at these places, and the room that they need."""
    return {
        "overlaying": "y",
        "side": "right",
        "tickvals": list(places),
        "ticktext": list(texts),
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
        **more,
    }


def factors_figure(graphs: Sequence[str], factors: Mapping[Look, FloatArray]) -> Figure:
    """Draw Laplace noise divided by the noise of each mechanism (graphs,), with a row for each graph.

    NaN if a mechanism does not fit a graph.
    """
    labels = distinct_labels(graphs, 24)
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": values,
            "y": labels,
            "name": plain(look.name),
            "text": numerals(values),
            "marker": {"color": look.colour, "size": 11, "symbol": look.symbol, "line": {"width": 2}},
            "hovertemplate": f"%{{y}}: %{{text}} times<extra>{plain(look.name)}</extra>",
        }
        for look, values in factors.items()
    ]
    low, high = positive_range(*factors.values(), np.ones(1))
    span = [math.log10(low) - 0.05, math.log10(high) + 0.05]
    return figure_of(
        traces,
        x=log_axis("noise of Laplace divided by noise of the mechanism", low, high, range=span),
        y=names_axis(categoryorder="array", categoryarray=labels, range=[len(labels) - 0.4, -0.6], ticks=""),
        height=130 + 30 * max(len(labels), 4),
        shapes=[upright(1.0, _EVEN)],
    )
