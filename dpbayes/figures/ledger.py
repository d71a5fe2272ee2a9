"""Budgets of datasets, as bars."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import GREEN, INVALID, PRIVATE
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import FRAME, Figure, distinct_labels, figure_of, names_axis, titled

PARTS = (("released", PRIVATE, ""), ("reserved", INVALID, "/"), ("left", GREEN, "."))
"""What becomes of a budget: its name, its colour, and a pattern for those who do not tell colours apart."""


def budget_figure(datasets: Sequence[str], parts: FloatArray, *, symbol: str = "ε") -> Figure:
    """Draw one bar for each dataset: `parts` (3, datasets) are what was released, reserved and is left, in `symbol`."""
    names = distinct_labels(datasets, 40)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "x": values,
            "y": names,
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}},
            "hovertemplate": symbol + " = %{x:,.6~r}<extra>" + name + "</extra>",
        }
        for (name, colour, pattern), values in zip(PARTS, np.asarray(parts, dtype=np.float64), strict=True)
    ]
    return figure_of(
        bars,
        x=titled(f"budget ({symbol})", rangemode="tozero"),
        y=names_axis(autorange="reversed"),
        height=120 + 34 * len(datasets),
        barmode="stack",
        legend=FRAME["legend"] | {"traceorder": "normal"},
    )
