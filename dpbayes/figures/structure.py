"""Pictures of what a structure costs, and of how a table's columns are distributed."""

from collections.abc import Sequence

from dpbayes.base.looks import EXACT
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, distinct_labels, figure_of, names_axis, plain, titled
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.laplace import LaplaceUpdates


def noise_figure(nodes: Sequence[str], laplace: FloatArray, fourier: FloatArray) -> Figure:
    """Draw the noise sd in each node's cells (nodes,) under both mechanisms, in counts."""
    bars = {"type": "bar", "x": distinct_labels(nodes, 24)}
    hatched = {"color": LaplaceFourier.colour, "pattern": {"shape": "/", "size": 6}}
    traces = [
        bars | {"y": laplace, "name": "Laplace", "marker": {"color": LaplaceUpdates.colour}},
        bars | {"y": fourier, "name": "Fourier", "marker": hatched},
    ]
    return figure_of(traces, x=names_axis("node"), y=titled("noise sd per cell (counts)"), height=320)


def column_figure(states: Sequence[str], counts: FloatArray, *, name: str) -> Figure:
    """Draw how many records fall in each state (states,) of one column."""
    bars = {"type": "bar", "x": distinct_labels(states, 24), "y": counts, "marker": {"color": EXACT}}
    return figure_of(
        [bars], x=names_axis(plain(name)), y=titled("records (curator only: not private)", automargin=True), height=300
    )
