"""Pictures of what a structure costs, and of how a table's columns are distributed."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpbayes.figures.style import EXACT, PRIVATE, distinct_labels, framed, plain

FloatArray = NDArray[np.float64]


def noise_figure(nodes: Sequence[str], laplace: FloatArray, fourier: FloatArray) -> go.Figure:
    """Draw the noise sd in each node's cells (nodes,) under both mechanisms, in counts."""
    figure = go.Figure()
    names = distinct_labels(nodes, 24)
    figure.add_bar(x=names, y=laplace, name="Laplace", marker={"color": PRIVATE})
    hatched = {"color": PRIVATE, "pattern": {"shape": "/", "size": 6}}
    figure.add_bar(x=names, y=fourier, name="Fourier", marker=hatched)
    framed(figure, x="node", y="noise sd per cell (counts)", height=320)
    figure.update_xaxes(type="category")
    return figure


def column_figure(states: Sequence[str], counts: FloatArray, *, name: str) -> go.Figure:
    """Draw how many records fall in each state (states,) of one column."""
    figure = go.Figure(go.Bar(x=distinct_labels(states, 24), y=counts, marker={"color": EXACT}))
    framed(figure, x=plain(name), y="records (curator only: not private)", height=300)
    figure.update_xaxes(type="category")
    return figure
