"""Pictures of which noise is the least: by mechanism, over graphs, and where it lies."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    Figure,
    Trace,
    distinct_labels,
    figure_of,
    log_axis,
    names_axis,
    numerals,
    plain,
    titled,
    upright,
)

MOST_NAMED = 40
"""Sets of nodes up to which all are named below the picture; more are named at the pointer."""

_ALONE, _WITH = "ε without a δ", "ε with δ, counted exactly"
_SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star")


@dataclass(frozen=True)
class NoiseDot:
    """One mechanism's place in the picture: its noise without a delta, and with it; NaN where there is none."""

    label: str
    colour: str
    alone: float
    with_delta: float


def best_noise_figure(dots: Sequence[NoiseDot], *, x: str) -> Figure:
    """Draw a line for each mechanism, the first on top: a full dot for epsilon alone, an open one with the delta."""
    labels = distinct_labels([dot.label for dot in dots], 28)
    values = np.array([[dot.alone, dot.with_delta] for dot in dots])
    shown = values[np.isfinite(values) & (values > 0)]
    colours = [dot.colour for dot in dots]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (1.0, 1.0)
    traces = [
        _dots(labels, values[:, 0], colours, name=_ALONE, symbol="circle"),
        _dots(labels, values[:, 1], colours, name=_WITH, symbol="diamond-open"),
        _said(labels, values, low),
    ]
    level = {"tickangle": 0, "nticks": 6}  # numbers that turn where room is scarce would move the picture
    return figure_of(
        traces,
        x=log_axis(x, low, high, range=[math.log10(low) - 0.12, math.log10(high) + 0.3], **level),
        y=names_axis(categoryorder="array", categoryarray=labels[::-1], ticks=""),
        height=96 + 40 * max(len(dots), 4),
    )


def _dots(labels: list[str], values: FloatArray, colours: list[str], *, name: str, symbol: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": labels,
        "name": name,
        "text": numerals(values),
        "marker": {"color": colours, "size": 13, "symbol": symbol, "line": {"width": 2.5 if "open" in symbol else 0}},
        "hovertemplate": f"%{{y}}: %{{text}}<extra>{name}</extra>",
    }


def _said(labels: list[str], values: FloatArray, least: float) -> Trace:
    """The numbers themselves, to the right of both dots."""
    known = np.where(np.isfinite(values), values, -np.inf).max(axis=1)
    texts = [", ".join(numeral(float(value)) for value in pair if math.isfinite(value)) for pair in values]
    return {
        "type": "scatter",
        "mode": "text",
        "x": np.where(known > 0, known, least),
        "y": labels,
        "text": [f"    {text}" for text in texts],
        "textposition": "middle right",
        "showlegend": False,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def factors_figure(graphs: Sequence[str], factors: Mapping[str, FloatArray], colours: Mapping[str, str]) -> Figure:
    """Draw how many times less noise than Laplace's each mechanism adds (graphs,), NaN where it cannot be run."""
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": distinct_labels(graphs, 24),
            "y": values,
            "name": plain(label),
            "text": numerals(values),
            "marker": {"color": colours[label], "size": 9, "symbol": _SYMBOLS[place % len(_SYMBOLS)]},
            "line": {"color": colours[label], "width": 1, "dash": "dot"},
            "hovertemplate": f"%{{x}}: %{{text}} times<extra>{plain(label)}</extra>",
        }
        for place, (label, values) in enumerate(factors.items())
    ]
    known = np.concatenate([*factors.values(), [1.0]])
    known = known[np.isfinite(known) & (known > 0)]
    axis = log_axis("times less noise than Laplace", float(known.min()), float(known.max()))
    level = {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": 1, "y1": 1, "line": _even()}
    return figure_of(traces, x=names_axis(), y=axis, height=400, shapes=[level])


def residuals_figure(
    sets: Sequence[tuple[str, ...]], sds: Mapping[str, FloatArray], colours: Mapping[str, str]
) -> Figure:
    """Draw the noise on the residual of every set of nodes (sets,), smallest sets first, with a line between sizes."""
    places = np.arange(len(sets), dtype=np.float64)
    names = [plain(", ".join(members)) for members in sets]
    sizes = np.array([len(members) for members in sets])
    turns = np.flatnonzero(np.diff(sizes)) + 0.5
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": places,
            "y": values,
            "name": plain(label),
            "text": [f"{name}: {value}" for name, value in zip(names, numerals(values), strict=True)],
            "marker": {"color": colours[label], "size": 8, "symbol": _SYMBOLS[place % len(_SYMBOLS)]},
            "hovertemplate": f"%{{text}}<extra>{plain(label)}</extra>",
        }
        for place, (label, values) in enumerate(sds.items())
    ]
    known = np.concatenate([*sds.values(), [np.nan]])
    known = known[np.isfinite(known) & (known > 0)]
    low, high = (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)
    return figure_of(
        traces,
        x=_set_axis(names),
        y=log_axis("noise sd of the residual (counts)", low, high),
        height=460 if len(sets) <= MOST_NAMED else 380,
        shapes=[upright(float(turn), _even()) for turn in turns],
        annotations=[_size_note(sizes, int(size)) for size in np.unique(sizes)],
    )


def _set_axis(names: list[str]) -> dict[str, object]:
    span = {"range": [-0.7, len(names) - 0.3], "zeroline": False, "showgrid": False, "automargin": True}
    if len(names) > MOST_NAMED:
        return titled("sets of nodes within a family, smallest first", showticklabels=False, **span)
    return titled("", tickvals=list(range(len(names))), ticktext=names, tickangle=-60, **span)


def _size_note(sizes: FloatArray, size: int) -> dict[str, object]:
    """Name the sets of one size above them."""
    where = np.flatnonzero(sizes == size)
    words = {1: "nodes", 2: "pairs", 3: "triples"}
    return {
        "x": float(where.mean()),
        "y": 1.0,
        "yref": "y domain",
        "yanchor": "top",
        "text": words.get(size, str(size)),
        "showarrow": False,
    }


def _even() -> dict[str, object]:
    return {"color": BOUND, "width": 1, "dash": "dot"}
