"""Pictures of tables: posterior densities of one probability, intervals of many, and the records of all columns."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from scipy import special

from dpbayes.base.looks import BOUND, EXACT, PRIVATE
from dpbayes.base.text import share_text
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.figures.answer import frame_height
from dpbayes.figures.style import (
    LINES,
    ROWS,
    Figure,
    Trace,
    distinct_labels,
    faded,
    figure_of,
    interval_bar,
    plain,
    probabilities,
    titled,
)


def density_grid(shapes: Sequence[tuple[Any, Any]], *, within: tuple[float, float] | None = None) -> FloatArray:
    """Return points in (0, 1), evenly spaced, and denser where beta distributions (a, b) have their mass: (grid,).

    `within` is the mean and the standard deviation of another distribution with dense points. The points reach into the
    tails and around them, so that curves have no corners where a picture is zoomed.
    """
    even = np.linspace(0, 1, 161)
    scores = np.linspace(-4.5, 4.5, 37)
    peaks = [special.betaincinv(a, b, special.ndtr(scores)) for a, b in shapes if b > 0]
    if within is not None:
        peaks.append(within[0] + within[1] * scores)
    if peaks:
        low, high = np.clip([np.min(peaks), np.max(peaks)], 0, 1)
        margin = (high - low) / 2
        peaks.append(np.linspace(max(0.0, low - margin), min(1.0, high + margin), 31))
    return np.clip(np.unique(np.concatenate([even, *peaks])), 1e-6, 1 - 1e-6)


def density_figure(
    theta: FloatArray,
    private: Mapping[str, FloatArray],
    *,
    exact: FloatArray | None = None,
    samples: FloatArray | None = None,
    name: str,
    zoom: bool = False,
) -> Figure:
    """Draw the densities of one probability, and the samples of a release as ticks.

    The exact density decides the height of the frame; without it, that of the release does.

    Args:
        theta: The probabilities (grid,) at which densities are given.
        private: The densities after a release by their names; the second one, of another reading, is dashed.
        exact: The exact density, for the curator.
        samples: The values (N,) that a release of samples has.
        name: What the probability is of.
        zoom: Whether the axis shows only where the densities are.

    Returns:
        The figure.
    """
    looks = {"color": PRIVATE, "width": 3}, {"color": faded(PRIVATE, 0.8), "width": 2, "dash": "dash"}
    traces: list[Trace] = [
        LINES | {"x": theta, "y": density, "line": line, "name": title}
        for (title, density), line in zip(private.items(), looks, strict=False)
    ]
    if samples is not None:
        traces.append(_ticks(samples))
    if exact is not None:
        fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
        line = {"line": {"color": EXACT, "width": 3}, "name": "exact (curator view)"}
        traces.append(LINES | {"x": theta, "y": exact} | line | fill)
    curves = ([] if exact is None else [exact]) + list(private.values())
    span = _span(theta, curves, np.empty(0) if samples is None else samples) if zoom else [0.0, 1.0]
    y = titled("posterior density", range=[0, frame_height(curves[0])])
    return figure_of(traces, x=titled(f"P({plain(name)})", range=span), y=y)


def _ticks(samples: FloatArray) -> Trace:
    mark = {"symbol": "line-ns", "size": 18, "line": {"width": 2, "color": PRIVATE}}
    ticks = {"type": "scatter", "mode": "markers", "x": samples, "y": np.zeros(len(samples)), "marker": mark}
    texts = {"customdata": probabilities(samples), "hovertemplate": "%{customdata}<extra></extra>"}
    return ticks | texts | {"name": "private (this release)"}


def _span(theta: FloatArray, curves: Sequence[FloatArray], samples: FloatArray) -> list[float]:
    """Return a range around the samples and the middle 99% of every density."""
    ends = list(samples)
    for curve in curves:  # lower sums, because a density can be infinite at an end
        mass = np.append(0.0, np.cumsum(np.minimum(curve[1:], curve[:-1]) * np.diff(theta)))
        ends += np.interp((0.005, 0.995), mass / mass[-1], theta).tolist() if mass[-1] > 0 else []
    low, high = float(min(ends, default=0.0)), float(max(ends, default=1.0))
    room = max(0.3 * (high - low), 0.01)
    return [max(0.0, low - room), min(1.0, high + room)]


ABSENT = "missing"
"""The value that stands for no value."""

LIGHT, DARK = 0.25, 0.75
"""The opacities of the first and the last value of a bar."""

LETTER, LETTERS = 1.8, 20
"""The width of a letter below a bar, in percent of the bar in a narrow window, and the letters of a value there."""


def columns_figure(names: Sequence[str], states: Sequence[Sequence[str]], records: Sequence[IntArray]) -> Figure:
    """Draw a bar for each column, which its values share by their records, with the names of the values below it.

    Args:
        names: The columns.
        states: The values of each column; one called `ABSENT` is grey.
        records: The number of records with each value, (states,) for each column.
    """
    rows, bars = -np.arange(len(names), dtype=float), []
    for k in range(max(map(len, states))):
        has = np.array([k < len(values) for values in states])
        counts = [numbers[k] for numbers in records if k < len(numbers)]
        shares = [numbers[k] / max(numbers.sum(), 1) for numbers in records if k < len(numbers)]
        values = [plain(values[k], LETTERS) for values in states if k < len(values)]
        shades = [_shade(values, k) for values in states if k < len(values)]
        marker = {"color": shades, "line": {"color": faded(BOUND, 0.8), "width": 1}}
        texts = {"text": [share_text(share) for share in shares], "textposition": "inside", "textfont": {"size": 11}}
        template = "%{customdata[0]}: %{text}, %{customdata[1]:,} records<extra></extra>"
        hover = {"customdata": list(zip(values, counts, strict=True)), "hovertemplate": template}
        place = {"x": 100 * np.array(shares), "y": rows[has] + 0.18, "width": 0.54, "insidetextanchor": "middle"}
        bars.append({"type": "bar", "orientation": "h", "marker": marker, "showlegend": False} | place | texts | hover)
    legends = [_legend(*column) for column in zip(states, records, rows, strict=True) if column[0]]
    labels = [f"{name}<br> " for name in distinct_labels(names, 24)]
    ticks = {"tickvals": rows, "ticktext": labels, "automargin": True, "showgrid": False}
    x, y = titled("% of the records", range=[0, 100.3]), {"zeroline": False, "range": [0.5 - len(names), 0.5], **ticks}
    layout = ROWS | {"barmode": "stack", "uniformtext": {"minsize": 9, "mode": "hide"}}
    layout["margin"] = ROWS["margin"] | {"t": 12}
    return figure_of([*bars, *legends], x=x, y=y, height=64 + 35 * len(names), **layout)


def _legend(values: Sequence[str], records: IntArray, row: float) -> Trace:
    """Return the names of a bar's values below their parts, moved apart; of too many, those of most records."""
    shares = 100 * records / max(records.sum(), 1)
    widths = LETTER * np.array([2.5 + min(len(value), LETTERS) for value in values])
    order = np.argsort(-records, kind="stable")
    named = np.sort(order[np.cumsum(widths[order]) <= 100])
    before, width = np.cumsum(widths[named]) - widths[named], widths[named].sum()
    wanted = (np.cumsum(shares) - shares)[named]
    starts = np.minimum(np.maximum.accumulate(np.maximum(wanted - before, 0)), 100 - width) + before
    texts = [f'<span style="color:{_shade(values, k)}">■</span> {plain(values[k], LETTERS)}' for k in named]
    look = {"mode": "text", "textposition": "middle right", "textfont": {"size": 11}, "cliponaxis": False}
    quiet = {"hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "x": starts, "y": np.full(len(named), row - 0.27), "text": texts} | look | quiet


def _shade(values: Sequence[str], k: int) -> str:
    """Return the colour of a column's value at index k, which no other value of the column has."""
    if values[k] == ABSENT:
        return faded(BOUND, 0.6)
    last = sum(value != ABSENT for value in values) - 1
    return faded(EXACT, LIGHT + (DARK - LIGHT) * k / max(last, k, 1))


Spans = tuple[FloatArray, FloatArray, FloatArray]
"""Mean, low and high of many rows, each (rows,)."""


ESTIMATE = "<b>estimate</b>"
"""What stands above the means of the rows."""


def rows_figure(labels: Sequence[str], spans: Spans, texts: Sequence[str]) -> Figure:
    """Draw mean and 95% interval of the rows of a release, one line each, beside `texts`; long labels are wrapped."""
    mean, low, high = spans
    lines, places = [wrap(label, 32) for label in labels], np.arange(len(labels), dtype=float)
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": mean,
        "y": places,
        "marker": {"color": PRIVATE, "symbol": "circle", "size": 8},
        "error_x": interval_bar(mean, low, high, width=3),
        "name": "this release",
        "showlegend": False,
        "customdata": probabilities(mean),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    ticktext = ["<br>".join(map(plain, own_lines)) for own_lines in lines]
    shared = {"automargin": True, "range": [len(labels) - 0.4, -1.4]}
    right = {"overlaying": "y", "side": "right", "tickvals": [-1.0, *places], "ticktext": [ESTIMATE, *texts]}
    axis = {"x": mean, "y": places, "yaxis": "y2", "opacity": 0, "hoverinfo": "skip", "showlegend": False}
    return figure_of(
        [marks, axis],
        x=titled("probability", range=[-0.01, 1.01]),
        y={"tickvals": places, "ticktext": ticktext, **shared},
        height=90 + 24 * (max(map(len, lines), default=1) * len(labels) + 1),
        yaxis2={**shared, **right, "showgrid": False, "zeroline": False},
        **ROWS,
    )
