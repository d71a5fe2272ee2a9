"""Pictures of what a structure costs, and of how a table's columns are distributed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from dpbayes.base.looks import BOUND, EXACT
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, distinct_labels, figure_of, names_axis, plain, titled

PATTERNS = ("", "/", "x", "\\", ".", "+", "-")
"""What bars of one node are told apart by besides their colours, in the order of the mechanisms."""


@dataclass(frozen=True, eq=False)
class NodeBars:
    """A mechanism's name, the colour of its curves, and what is shown of each node (nodes,)."""

    name: str
    colour: str
    values: FloatArray


def noise_figure(nodes: Sequence[str], mechanisms: Sequence[NodeBars]) -> Figure:
    """Draw the noise sd in each node's cells under every mechanism, in counts."""
    return _by_node(nodes, mechanisms, "noise sd per cell (counts)")


def node_errors_figure(nodes: Sequence[str], mechanisms: Sequence[NodeBars]) -> Figure:
    """Draw the expected error of each node's probabilities under every mechanism."""
    return _by_node(nodes, mechanisms, "mean error of a probability")


def by_node_height(mechanisms: int) -> int:
    """Return how high a picture by node of so many mechanisms is, in pixels."""
    return 280 + 20 * mechanisms


def _by_node(nodes: Sequence[str], mechanisms: Sequence[NodeBars], title: str) -> Figure:
    bars = {"type": "bar", "x": distinct_labels(nodes, 24)}
    traces = [
        bars
        | {
            "y": each.values,
            "name": each.name,
            "marker": {"color": each.colour, "pattern": {"shape": shape, "size": 6, "fillmode": "overlay"}},
        }
        for each, shape in zip(mechanisms, cycle(PATTERNS))
    ]
    height = by_node_height(len(mechanisms))
    return figure_of(traces, x=names_axis("node"), y=titled(title, rangemode="tozero"), height=height)


@dataclass(frozen=True)
class ErrorBar:
    """A mechanism's name, the colour of its curves, and its expected error with its standard error."""

    name: str
    colour: str
    mean: float
    error: float


def errors_figure(bars: Sequence[ErrorBar]) -> Figure:
    """Draw the expected error of every mechanism's probabilities, the least on top."""
    ordered = sorted(bars, key=lambda bar: bar.mean, reverse=True)
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": distinct_labels([f"{bar.name}: {numeral(bar.mean, 2)}" for bar in ordered], 48),
        "x": [bar.mean for bar in ordered],
        "error_x": {"type": "data", "array": [bar.error for bar in ordered], "color": BOUND, "thickness": 1.5},
        "marker": {"color": [bar.colour for bar in ordered]},
        "hovertemplate": "%{y}<extra></extra>",
        "showlegend": False,
    }
    return figure_of(
        [trace],
        x=titled("mean error of a probability", rangemode="tozero"),
        y=names_axis(),
        height=errors_height(len(bars)),
    )


def errors_height(mechanisms: int) -> int:
    """Return how high the picture of so many mechanisms' errors is, in pixels."""
    return 110 + 26 * mechanisms


def column_figure(states: Sequence[str], counts: FloatArray, *, name: str) -> Figure:
    """Draw how many records fall in each state (states,) of one column."""
    bars = {"type": "bar", "x": distinct_labels(states, 24), "y": counts, "marker": {"color": EXACT}}
    return figure_of(
        [bars], x=names_axis(plain(name)), y=titled("records (curator only: not private)", automargin=True), height=300
    )
