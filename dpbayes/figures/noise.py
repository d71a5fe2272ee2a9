"""Pictures of the mechanisms' noise: at one guarantee, over graphs, by density and by set of nodes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    Axis,
    Figure,
    Trace,
    band_of,
    distinct_labels,
    faded,
    figure_of,
    line_of,
    log_axis,
    names_axis,
    numerals,
    plain,
    positive_range,
    titled,
    upright,
)

MOST_NAMED = 40
"""Most sets of nodes that are named below the picture; more sets are named at the pointer."""

ALONE, WITH_DELTA = "ε alone", "(ε, δ)"
"""The guarantees that a dot and an open diamond stand for."""

GAP = 0.055
"""The least distance of two labels next to an axis, as a share of the axis."""

_EVEN = {"color": BOUND, "width": 1, "dash": "dot"}
_SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star")


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


# Graphs of growing density


@dataclass(frozen=True, eq=False)
class DensityLine:
    """A mechanism's noise sd in counts on random graphs (graphs, densities); no graphs before the first result."""

    look: Look
    noise: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean over graphs (densities,), NaN without graphs."""
        return self.noise.mean(axis=0) if len(self.noise) else np.full(self.noise.shape[1], np.nan)


def noise_by_density_figure(arrows: FloatArray, lines: Sequence[DensityLine], *, crossing: float | None) -> Figure:
    """Draw noise sds against arrows per node (densities,), the noise on a logarithmic axis.

    Each line is the mean over random graphs, with a band of one standard error and its name at its end. `crossing` is
    where the line of Fourier reaches the line of Laplace.
    """
    low, high = map(math.log10, positive_range(*(line.mean for line in lines)))
    span = [low - 0.05 * (high - low) - 0.02, high + 0.05 * (high - low) + 0.02]
    ends = {line.look: float(line.mean[-1]) for line in lines if np.isfinite(line.mean[-1])}
    places = spread([math.log10(end) for end in ends.values()], gap=GAP * (span[1] - span[0]))
    names = [f'<span style="color:{look.colour}">■</span> {plain(look.name)}' for look in ends]
    traces = [_band(arrows, line) for line in lines if _varies(line.noise)]
    traces += [_line(arrows, line) for line in lines]
    room = 0.02 * float(arrows.max())
    return figure_of(
        [*traces, _nowhere(0.0)],
        x=titled("average in-degree, arrows per node", range=[-room, float(arrows.max()) + room]),
        y=log_axis("noise sd per cell, counts", 10**low, 10**high, range=span),
        yaxis2=_beside([10**place for place in places], names, type="log", range=span),
        height=440,
        shapes=[] if crossing is None else [upright(crossing, _EVEN)],
        annotations=[] if crossing is None else [_crossing_note(crossing)],
    )


def spread(places: Sequence[float], *, gap: float) -> FloatArray:
    """Return places for labels, in the given order, near their values and at least `gap` apart."""
    order = np.argsort(places, kind="stable")
    at = np.array(places, dtype=np.float64)[order]
    for _ in range(50):
        short = gap - np.diff(at)
        if not (short > 1e-9).any():
            break
        push = np.maximum(short, 0.0) / 2
        at[:-1] -= push
        at[1:] += push
    spaced = np.empty_like(at)
    spaced[order] = at
    return spaced


def _crossing_note(crossing: float) -> dict[str, object]:
    return {
        "x": crossing,
        "y": 1.0,
        "yref": "y domain",
        "xanchor": "left",
        "yanchor": "top",
        "text": f" <b>{numeral(crossing)}</b>",
        "showarrow": False,
    }


def _varies(values: FloatArray) -> bool:
    """Whether values (graphs, densities) differ between graphs."""
    return len(values) > 1 and bool(np.ptp(values, axis=0).any())


def _band(arrows: FloatArray, line: DensityLine) -> Trace:
    """Shade one standard error around the mean over graphs."""
    mean, error, name = line.mean, standard_error(line.noise), f"{line.look.name}: standard error"
    return band_of(arrows, mean - error, mean + error, faded(line.look.colour, 0.25), name=name)


def _line(arrows: FloatArray, line: DensityLine) -> Trace:
    hover = f"%{{x:,.3~r}} arrows per node: %{{y:,.4~r}} counts<extra>{line.look.name}</extra>"
    return line_of(line.look, arrows, line.mean, hovertemplate=hover, showlegend=False)  # the name is at its end


# Sets of nodes


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
    return figure_of(
        traces,
        x=_set_axis(names),
        y=log_axis("noise sd of the residual, counts", *positive_range(*sds.values())),
        height=460 if len(sets) <= MOST_NAMED else 380,
        shapes=[upright(float(turn), _EVEN) for turn in turns],
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
