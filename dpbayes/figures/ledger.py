"""Budgets of datasets, as bars."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import GREEN, INVALID, PRIVATE
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, distinct_labels, stacked_bars

PARTS = (("released", PRIVATE, ""), ("reserved", INVALID, "/"), ("left", GREEN, "."))
"""The parts of a budget: name, colour, and a pattern for readers who cannot distinguish the colours."""


def budget_figure(datasets: Sequence[str], parts: FloatArray, *, symbol: str = "ε") -> Figure:
    """Draw one bar for each dataset: `parts` (3, datasets) are what was released, reserved and is left, in `symbol`."""
    bars = [
        {
            "x": values,
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}},
            "hovertemplate": symbol + " = %{x:,.6~r}<extra>" + name + "</extra>",
        }
        for (name, colour, pattern), values in zip(PARTS, np.asarray(parts, dtype=np.float64), strict=True)
    ]
    return stacked_bars(distinct_labels(datasets, 40), bars, x=f"budget ({symbol})", height=120)
