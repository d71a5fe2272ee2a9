"""How costs grow, as a page to look at."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import plotly.graph_objects as go
from playwright.sync_api import ViewportSize
from plotly.subplots import make_subplots

from tests.browser.serving import chromium

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


TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")


def errors_figure(errors: Mapping[str, Mapping[str, Mapping[float, float]]]) -> go.Figure:
    """Draw errors by table, method and epsilon: one panel for each table, both axes logarithmic."""
    rows = -(-len(errors) // COLUMNS)
    figure = make_subplots(
        rows=rows, cols=COLUMNS, subplot_titles=list(errors), vertical_spacing=0.36 / rows, horizontal_spacing=0.03
    )
    methods = list(dict.fromkeys(method for own in errors.values() for method in own))
    for place, (table, own) in enumerate(errors.items()):
        where = {"row": place // COLUMNS + 1, "col": place % COLUMNS + 1}
        for method, curve in own.items():
            figure.add_scatter(
                x=list(curve),
                y=list(curve.values()),
                mode="lines+markers",
                name=method,
                legendgroup=method,
                showlegend=table == next(name for name, curves in errors.items() if method in curves),
                line_color=COLOURS[methods.index(method)],
                **where,
            )
        values = sorted({epsilon for curve in own.values() for epsilon in curve})
        figure.update_xaxes(
            type="log", title="ε", tickvals=values, ticktext=[f"{value:g}" for value in values], **where
        )
        first = {"title": "total variation"} if where["col"] == 1 else {"showticklabels": False}
        figure.update_yaxes(type="log", range=[-2.5, 0], tickvals=TICKS, **first, **where)
    return figure.update_layout(
        template="plotly_white",
        width=1100,
        height=330 * rows,
        legend={"orientation": "h", "y": -0.12},
        margin={"t": 40},
    )


def save_errors(errors: Mapping[str, Mapping[str, Mapping[float, float]]], path: Path) -> None:
    """Photograph the figure of errors, as a PNG."""
    figure = errors_figure(errors)
    size: ViewportSize = {"width": figure.layout.width, "height": figure.layout.height}
    with chromium(viewport=size) as page:
        page.set_content(figure.to_html(include_plotlyjs=True, config={"displayModeBar": False, "staticPlot": True}))
        page.locator(".plotly-graph-div").screenshot(path=path)
