"""The picture of what releases make of a belief about one record."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Axis, Figure, Trace, figure_of, titled


@dataclass(frozen=True, eq=False)
class RaisedBeliefs:
    """Beliefs (B,) in probabilities: `before`, the `most` that epsilon lets them become, and what is `usual`.

    NaN stands for what is not known. The names stand in the legend.
    """

    before: FloatArray
    most: FloatArray
    usual: FloatArray
    most_name: str
    usual_name: str


def risk_figure(beliefs: RaisedBeliefs, *, chosen: tuple[float, float, float], colour: str) -> Figure:
    """Draw what a belief may become; `chosen` is a person's belief, the most it can become, and what is usual."""
    line: Trace = {"type": "scatter", "mode": "lines", "x": beliefs.before, "hovertemplate": "%{x:.3~p} → %{y:.3~p}"}
    traces: list[Trace] = [
        line | {"y": beliefs.most, "name": beliefs.most_name, "line": {"color": BOUND, "width": 2.5, "dash": "dash"}},
        line | {"y": beliefs.usual, "name": beliefs.usual_name, "line": {"color": colour, "width": 3}},
        line
        | {"y": beliefs.before, "name": "without a release", "line": {"color": BOUND, "width": 1.5, "dash": "dot"}},
        _mark(chosen, colour),
    ]
    return figure_of(traces, x=_axis("belief before"), y=_axis("belief after"), height=330)


def _mark(chosen: tuple[float, float, float], colour: str) -> Trace:
    """The person's belief, as a line from itself upwards with a dot at each height that is known."""
    belief, most, usual = chosen
    heights = [height for height in (belief, usual, most) if np.isfinite(height)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [belief] * len(heights),
        "y": heights,
        "name": "the belief set here",
        "line": {"color": colour, "width": 1},
        "marker": {"color": colour, "size": 9, "symbol": "diamond"},
        "hovertemplate": "%{x:.3~p} → %{y:.3~p}<extra></extra>",
    }


def _axis(text: str) -> Axis:
    return titled(text, range=[0, 1], tickformat=".0%", automargin=True)
