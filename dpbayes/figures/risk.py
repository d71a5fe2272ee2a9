"""The picture of what releases make of a belief about one record."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import PERCENT, Axis, Figure, Trace, figure_of, shares, titled


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
    line: Trace = {"type": "scatter", "mode": "lines", "x": beliefs.before}
    traces: list[Trace] = [
        line
        | _raised(beliefs.before, beliefs.most)
        | {"name": beliefs.most_name, "line": {"color": BOUND, "width": 2.5, "dash": "dash"}},
        line
        | _raised(beliefs.before, beliefs.usual)
        | {"name": beliefs.usual_name, "line": {"color": colour, "width": 3}},
        line
        | _raised(beliefs.before, beliefs.before)
        | {"name": "without a release", "line": {"color": BOUND, "width": 1.5, "dash": "dot"}},
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
        "name": "the belief set here",
        "line": {"color": colour, "width": 1},
        "marker": {"color": colour, "size": 9, "symbol": "diamond"},
    } | _raised([belief] * len(heights), heights, "<extra></extra>")


def _raised(before: Sequence[float] | FloatArray, after: Sequence[float] | FloatArray, aside: str = "") -> Trace:
    told = [f"{first} → {then}" for first, then in zip(shares(before), shares(after), strict=True)]
    return {"y": after, "customdata": told, "hovertemplate": "%{customdata}" + aside}


def _axis(text: str) -> Axis:
    return titled(text, range=[0, 1], tickformat=PERCENT, automargin=True)
