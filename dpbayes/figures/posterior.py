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
    y = titled("posterior density", range=[0, frame_height(theta, curves[0])])
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

LIGHT, DARK = 0.35, 0.8
"""The opacities of the first and the last value of a bar."""

LETTER, LETTERS = 1.8, 18
"""The width of a letter, in percent of a bar in a narrow window, and the letters of a value there."""


def columns_figure(
    names: Sequence[str], states: Sequence[Sequence[str]], records: Sequence[IntArray], *, pitch: int
) -> Figure:
    """Draw a bar for each column, which its values share by their records.

    Args:
        names: The columns.
        states: The values of each column; one called `ABSENT` is grey. A column that is not in use has none.
        records: The number of records with each value, (states,) for each column.
        pitch: The pixels of a row.
    """
    rows, height = -np.arange(len(names), dtype=float), 24 + pitch * len(names)
    columns = [_column(*column) for column in zip(states, records, rows, strict=True) if column[0]]
    note = {"mode": "text", "textposition": "middle right", "hoverinfo": "skip", "showlegend": False}
    note |= {"type": "scatter", "x": [0], "text": ["not in use"]}
    unused = [note | {"y": [row + 0.18]} for values, row in zip(states, rows, strict=True) if not values]
    labels = [f"{name}<br> " for name in distinct_labels(names, 24)]
    ticks = {"tickvals": rows, "ticktext": labels, "automargin": True, "showgrid": False, "zeroline": False}
    return figure_of(
        [*(trace for column in columns for trace in column), *unused],
        x={"range": [0, 100.3], "visible": False},
        y={"range": [0.5 - len(names), 0.5], **ticks},
        height=height,
        meta={"rows": True, "least": height},
        margin=ROWS["margin"] | {"t": 12, "b": 12},
        barmode="overlay",
    )


def _column(values: Sequence[str], records: IntArray, row: float) -> tuple[Trace, Trace]:
    """Return a bar with the names and shares of its values, and those that need more room than their parts, below."""
    shares = 100 * records / max(records.sum(), 1)
    starts, shades = np.cumsum(shares) - shares, [_shade(values, k) for k in range(len(values))]
    texts, within, below = [], [], []
    for value, share in zip(values, shares, strict=True):
        value = value.replace(">=", "≥")
        name = value if len(value) <= LETTERS else value[: LETTERS - 1] + "…"
        percent = f"{share:.1f}%" if 0.05 <= share < 99.95 else share_text(share / 100)
        texts.append(f"{name} {percent}")
        fits = next((text for text in (texts[-1], percent) if LETTER * (1.5 + len(text)) <= share), "")
        within.append(plain(fits))
        below.append("" if fits == texts[-1] else name if fits else texts[-1])
    marker = {"color": shades, "line": {"color": faded(BOUND, 0.8), "width": 1}}
    look = {"insidetextanchor": "middle", "constraintext": "none", "textangle": 0, "width": 0.5, "showlegend": False}
    hover = {"customdata": list(zip(map(plain, texts), records, strict=True))}
    template = {"hovertemplate": "%{customdata[0]}, %{customdata[1]:,} records<extra></extra>"}
    place = {"x": shares, "base": starts, "y": np.full(len(shares), row + 0.18), "orientation": "h"}
    bar = {"type": "bar", "marker": marker, "text": within, "textposition": "inside"}
    return bar | place | look | hover | template, _below(below, shades, shares, starts, row)


def _below(texts: Sequence[str], shades: Sequence[str], shares: FloatArray, starts: FloatArray, row: float) -> Trace:
    """Return texts below parts, moved apart; of too many, those of the largest."""
    widths = LETTER * np.array([2.5 + len(text) if text else 0 for text in texts])
    order = np.array([k for k in np.argsort(-shares, kind="stable") if texts[k]], dtype=int)
    named = np.sort(order[np.cumsum(widths[order]) <= 100])
    before, width = np.cumsum(widths[named]) - widths[named], widths[named].sum()
    x = np.minimum(np.maximum.accumulate(np.maximum(starts[named] - before, 0)), 100 - width) + before
    shown = [f'<span style="color:{shades[k]}">■</span> {plain(texts[k])}' for k in named]
    look = {"mode": "text", "textposition": "middle right", "textfont": {"size": 12}, "cliponaxis": False}
    quiet = {"hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "x": x, "y": np.full(len(named), row - 0.27), "text": shown} | look | quiet


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
