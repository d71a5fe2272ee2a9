"""Pictures of budgets: of datasets, and of an adaptive release."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import GREEN, INVALID, PRIVATE, SLATE
from dpbayes.base.text import share_text
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    PERCENT,
    Figure,
    Trace,
    distinct_labels,
    figure_of,
    names_axis,
    stacked_bars,
    titled,
)


@dataclass(frozen=True)
class Payment:
    """A stage of a release: its share of the budget, its purpose, and whether it chose arrows or measured tables."""

    stage: str
    share: float
    purpose: str
    is_choice: bool


def payments_figure(payments: Sequence[Payment]) -> Figure:
    """Draw one bar for each stage, in order: measurements in one colour, choices in another."""
    names = distinct_labels((payment.stage for payment in payments), 40)
    traces: list[Trace] = []
    for is_choice, name, colour in ((False, "measurements", PRIVATE), (True, "choices of arrows", SLATE)):
        own = [
            (label, payment) for label, payment in zip(names, payments, strict=True) if payment.is_choice == is_choice
        ]
        if own:
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "x": [payment.share for _, payment in own],
                    "y": [label for label, _ in own],
                    "name": name,
                    "marker": {"color": colour},
                    "text": [share_text(payment.share) for _, payment in own],
                    "textposition": "outside",
                    "cliponaxis": False,
                    "customdata": [payment.purpose for _, payment in own],
                    "hovertemplate": "%{customdata}<extra></extra>",
                }
            )
    y = names_axis(autorange="reversed", categoryorder="array", categoryarray=names)
    top = 1.15 * max((payment.share for payment in payments), default=1.0)
    return figure_of(
        traces, x=titled("share of the budget", tickformat=PERCENT, range=[0, top]), y=y, height=120 + 34 * len(names)
    )


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
