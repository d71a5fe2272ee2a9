"""How costs grow, as a page to look at."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

COLUMNS = 3


def costs_figure(measured: Mapping[str, tuple[Sequence[int], list[float]]]) -> go.Figure:
    """Draw every cost against what was varied, both on logarithmic scales."""
    rows = -(-len(measured) // COLUMNS)
    figure = make_subplots(rows=rows, cols=COLUMNS, subplot_titles=list(measured), vertical_spacing=0.3 / rows)
    for place, (sizes, took) in enumerate(measured.values()):
        where = {"row": place // COLUMNS + 1, "col": place % COLUMNS + 1}
        figure.add_scatter(x=list(sizes), y=took, mode="lines+markers", marker_color="#2E86C1", **where)
        figure.update_xaxes(type="log", **where)
        figure.update_yaxes(type="log", title="milliseconds", **where)
    return figure.update_layout(height=340 * rows, showlegend=False)


def save_costs(measured: Mapping[str, tuple[Sequence[int], list[float]]], path: Path) -> Path:
    """Write the figure as a page that needs no network."""
    costs_figure(measured).write_html(path, include_plotlyjs=True)
    return path
