"""The verdicts on the claims of each paper, as one bar for each paper."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.types import IntArray
from dpbayes.figures.style import FRAME, Figure, distinct_labels, figure_of, names_axis, titled

MARKS = ("✓", "✓+", "△", "✗", "○", "?")
"""What tells verdicts apart without their colours."""


def verdicts_figure(papers: Sequence[str], verdicts: Sequence[Look], counts: IntArray) -> Figure:
    """Draw how many claims of each paper met each verdict: `counts` (verdicts, papers)."""
    names = distinct_labels(papers, 40)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "x": numbers,
            "y": names,
            "name": f"{mark} {verdict.name}",
            "marker": {"color": verdict.colour, "line": {"color": "#FFFFFF", "width": 1}},
            "text": [f"{mark} {number}" for number in numbers],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "hovertemplate": "%{y}: %{x}<extra>" + verdict.name + "</extra>",
        }
        for verdict, mark, numbers in zip(verdicts, MARKS, np.asarray(counts), strict=True)
    ]
    return figure_of(
        bars,
        x=titled("claims", rangemode="tozero"),
        y=names_axis(autorange="reversed"),
        height=150 + 34 * len(papers),
        barmode="stack",
        legend=FRAME["legend"] | {"traceorder": "normal"},
    )
