"""Pictures of the noise and the errors of a structure, and of the distribution of a table's columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.figures.style import FRAME, Figure, distinct_labels, figure_of, names_axis, plain, titled

HEADROOM = 1.05
"""The length of an axis of bars, relative to the longest bar, so that no bar touches the frame."""


@dataclass(frozen=True, eq=False)
class NodeBars:
    """A mechanism's name, the colour of its curves, and a value for each node (nodes,)."""

    name: str
    colour: str
    values: FloatArray


def noise_figure(nodes: Sequence[str], mechanisms: Sequence[NodeBars]) -> Figure:
    """Draw the noise sd in each node's cells under every mechanism, in counts."""
    return _by_node(nodes, mechanisms, "noise sd per cell, counts")


def node_errors_figure(nodes: Sequence[str], mechanisms: Sequence[NodeBars]) -> Figure:
    """Draw the expected error of each node's probabilities under every mechanism."""
    return _by_node(nodes, mechanisms, "mean error of a probability")


FEW_NODES, MOST_NODES = 20, 60
"""Most nodes with upright bars, and most nodes with horizontal bars; of more nodes, the longest bars are shown."""


def by_node_height(mechanisms: int, nodes: int) -> int:
    """Return the height in pixels of a picture by node for so many mechanisms and nodes."""
    legend = 20 * mechanisms
    return 280 + legend if nodes <= FEW_NODES else 120 + legend + max(16, 4 * mechanisms) * min(nodes, MOST_NODES)


def longest_bars(mechanisms: Sequence[NodeBars]) -> IntArray:
    """Return the nodes whose bars are drawn, in their order; if there are many, those with the longest bars."""
    longest = np.max([bars.values for bars in mechanisms], axis=0)
    return np.sort(np.argsort(-longest, kind="stable")[:MOST_NODES])


def _by_node(nodes: Sequence[str], mechanisms: Sequence[NodeBars], title: str) -> Figure:
    lies, shown = len(nodes) > FEW_NODES, longest_bars(mechanisms)
    labels = distinct_labels([nodes[node] for node in shown], 24)
    traces = [
        {
            "type": "bar",
            "orientation": "h" if lies else "v",
            "y" if lies else "x": labels,
            "x" if lies else "y": bars.values[shown],
            "name": bars.name,
            "marker": {"color": bars.colour},
        }
        for bars in mechanisms
    ]
    height = by_node_height(len(mechanisms), len(nodes))
    value = titled(title, range=[0, HEADROOM * max(float(bars.values.max(initial=0.0)) for bars in mechanisms) or 1])
    if lies:
        named = "node" if len(shown) == len(nodes) else f"node: the {len(shown)} of {len(nodes)} with the longest bars"
        return figure_of(traces, x=value, y=names_axis(named, autorange="reversed"), height=height)
    return figure_of(traces, x=names_axis("node"), y=value, height=height)


@dataclass(frozen=True)
class ErrorBar:
    """A mechanism's name, the colour of its curves, and its expected error with its standard error."""

    name: str
    colour: str
    mean: float
    error: float


def mechanism_errors_figure(bars: Sequence[ErrorBar]) -> Figure:
    """Draw the expected error of every mechanism's probabilities, the least on top.

    Each name is above its bar, so that the bars have the whole width of a narrow column.
    """
    ordered = sorted(bars, key=lambda bar: bar.mean, reverse=True)
    labels = distinct_labels([f"{bar.name}: {numeral(bar.mean, 2)}" for bar in ordered], 48)
    longest = max((bar.mean + bar.error for bar in bars), default=0.0)
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": labels,
        "x": [bar.mean for bar in ordered],
        "width": 0.4,
        "offset": -0.45,
        "error_x": {"type": "data", "array": [bar.error for bar in ordered], "color": BOUND, "thickness": 1.5},
        "marker": {"color": [bar.colour for bar in ordered]},
        "hovertemplate": "%{y}<extra></extra>",
        "showlegend": False,
    }
    names = [
        {"text": label, "x": 0, "y": k, "showarrow": False, "xanchor": "left", "yanchor": "bottom", "yshift": -4}
        for k, label in enumerate(labels)
    ]
    return figure_of(
        [trace],
        x=titled("mean absolute error", range=[0, HEADROOM * longest or 1]),
        y=names_axis(showticklabels=False, range=[-0.6, len(bars) - 0.4]),
        height=errors_height(len(bars)),
        margin=FRAME["margin"] | {"l": 16},
        annotations=names,
    )


def errors_height(mechanisms: int) -> int:
    """Return the height in pixels of the picture of so many mechanisms' errors."""
    return 100 + 36 * mechanisms


def column_figure(states: Sequence[str], counts: FloatArray, *, name: str) -> Figure:
    """Draw the number of records in each state (states,) of one column."""
    bars = {"type": "bar", "x": distinct_labels(states, 24), "y": counts, "marker": {"color": EXACT}}
    return figure_of([bars], x=names_axis(plain(name)), y=titled("records (not private)", automargin=True), height=300)
