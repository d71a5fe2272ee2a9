"""The picture of how an adaptive release spends its budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpbayes.base.looks import PRIVATE, SLATE
from dpbayes.base.text import share_text
from dpbayes.figures.style import (
    PERCENT,
    Figure,
    Trace,
    distinct_labels,
    figure_of,
    names_axis,
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
