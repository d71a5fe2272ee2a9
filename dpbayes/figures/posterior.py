"""Pictures of exact and private posteriors."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpbayes.figures.style import EXACT, PRIVATE, Trace, distinct_labels, faded, figure_of, names_axis, plain, titled

FloatArray = NDArray[np.float64]


def density_figure(
    theta: FloatArray, private: FloatArray, exact: FloatArray | None, *, name: str, zoom: bool = False
) -> go.Figure:
    """Draw densities over theta (grid,): `private` (draws, grid), the first one bold, and `exact` (grid,) if given."""
    lines = {"type": "scatter", "mode": "lines"}
    traces = []
    others = private[1:]
    if len(others):  # one trace with gaps: a slider waits for every trace
        gap = np.full((len(others), 1), np.nan)
        traces.append(
            lines
            | {
                "x": np.tile(np.append(theta, np.nan), len(others)),
                "y": np.hstack([others, gap]).ravel(),
                "line": {"color": faded(PRIVATE, 0.22), "width": 1},
                "name": "other possible releases",
                "hoverinfo": "skip",
            }
        )
    bold = {"x": theta, "y": private[0], "line": {"color": PRIVATE, "width": 3}, "name": "private (this release)"}
    traces.append(lines | bold)
    if exact is not None:
        traces.append(
            lines
            | {
                "x": theta,
                "y": exact,
                "line": {"color": EXACT, "width": 3},
                "fill": "tozeroy",
                "fillcolor": faded(EXACT, 0.15),
                "name": "exact (curator only: not private)",
            }
        )
    shown = [private[0]] if exact is None else [private[0], exact]
    return figure_of(
        traces,
        x=titled(f"P({plain(name)})", range=_span(theta, shown) if zoom else [0, 1]),
        y=titled("posterior density", range=[0, 1.08 * _sensible_top(shown)]),
    )


def _sensible_top(curves: Sequence[FloatArray]) -> float:
    """Highest interior value: a density that is infinite at 0 or 1 must not flatten the rest."""
    tops = [float(np.max(curve[3:-3])) for curve in curves]
    return min(max(tops), 4 * float(np.median(tops)) + 20)


def _span(theta: FloatArray, curves: Sequence[FloatArray]) -> list[float]:
    live = np.any([curve > 1e-3 * curve[3:-3].max() for curve in curves], axis=0)
    inside = theta[live]
    return [float(inside.min()), float(inside.max())]


def quantile_dots_figure(values: FloatArray, exact: float | None, *, name: str, dots: int = 50) -> go.Figure:
    """Draw simulated values (draws,) as `dots` equally likely outcomes, stacked; a line marks the exact value."""
    quantiles = np.quantile(values, (np.arange(dots) + 0.5) / dots)
    low, high = float(quantiles.min()), float(quantiles.max())
    width = (high - low) / 22 or 0.01
    column = np.minimum(np.floor((quantiles - low) / width), 21)
    height = np.empty(dots)
    for place in np.unique(column):  # dots of one column stand on each other
        height[column == place] = np.arange(1, np.count_nonzero(column == place) + 1)
    traces: list[Trace] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": low + (column + 0.5) * width,
            "y": height,
            "marker": {"color": PRIVATE, "size": 11},
            "name": f"private: each dot is {100 / dots:.0f} % of possible releases",
            "customdata": quantiles,
            "hovertemplate": "%{customdata:.4f}<extra></extra>",
        }
    ]
    if exact is not None:
        low, high = min(low, exact), max(high, exact)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [exact, exact],
                "y": [0, float(height.max()) + 1],
                "line": {"color": EXACT, "width": 3},
                "name": "exact (curator only: not private)",
            }
        )
    span = [0.0, 1.0] if high - low > 0.5 else [low - 2 * width, high + 2 * width]
    return figure_of(
        traces,
        x=titled(plain(name, 80), range=span),
        y=titled("possible releases (dots)", rangemode="tozero"),
        height=300,
    )


def rows_figure(
    labels: Sequence[str],
    private: tuple[FloatArray, FloatArray, FloatArray],
    exact: tuple[FloatArray, FloatArray, FloatArray] | None,
) -> go.Figure:
    """Draw posterior mean and 95 % interval (mean, low, high; each (rows,)) of many rows, one line each."""
    places = np.arange(len(labels), dtype=float)
    sets = [(private, PRIVATE, "private (this release)", 0.16)]
    if exact is not None:
        sets.insert(0, (exact, EXACT, "exact (curator only: not private)", -0.16))
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": mean,
            "y": places + offset,
            "marker": {"color": colour, "size": 8},
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": high - mean,
                "arrayminus": mean - low,
                "width": 3,
            },
            "name": name,
            "hovertemplate": "%{x:.3f}<extra></extra>",
        }
        for (mean, low, high), colour, name, offset in sets
    ]
    ticks = {"tickvals": places, "ticktext": [plain(label, 60) for label in labels]}
    return figure_of(
        traces,
        x=titled("posterior mean and 95 % interval (probability)", range=[-0.01, 1.01]),
        y={"automargin": True, "range": [len(labels) - 0.4, -0.6], **ticks},
        height=_height(labels),
    )


def kl_figure(labels: Sequence[str], mean_kl: FloatArray) -> go.Figure:
    """Draw the mean KL divergence of rows (rows,) as bars, in nats."""
    bars = {
        "type": "bar",
        "x": mean_kl,
        "y": distinct_labels(labels, 60),
        "orientation": "h",
        "marker": {"color": PRIVATE},
        "hovertemplate": "%{x:.4g} nats<extra></extra>",
    }
    return figure_of(
        [bars],
        x=titled("KL(exact || private), nats, mean over simulated releases"),
        y=names_axis(autorange="reversed"),
        height=_height(labels),
    )


def _height(labels: Sequence[str]) -> int:
    return 110 + 24 * len(labels)
