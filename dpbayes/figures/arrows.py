"""What each arrow of a graph teaches and what it costs: the error that it saves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, PRIVATE
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import LINES, ROWS, Figure, Trace, distinct_labels, figure_of, interval_bar, titled

LETTERS = 24
"""Letters of an arrow's name above its bars."""

LEAST_SPAN = 0.2
"""The least error, in percentage points, that is seen as the whole width."""

LEFT = 0.55
"""The part of the axis left of zero, of the part to its right without its margin."""

TEXT, BAR, THICK, DOT = 0.27, -0.1, 0.22, -0.32
"""Where the texts, the bars and the dot of a row are, above and below its middle."""

TEACHES, COSTS = ("teaches (endless records, no noise)", EXACT), ("costs (noise, fewer records in a row)", PRIVATE)
LEFT_OVER = "teaches − costs, 99.7% interval", BOUND
"""What the legend says of the parts of a row, and their colours."""


@dataclass(frozen=True)
class ArrowBar:
    """One arrow in the picture.

    Attributes:
        name: The arrow: "smoke → bronc".
        teaches: The error that it saves without noise and with endless records, in percentage points.
        net: The error that it saves with its noise.
        error: Half the width of the interval around `net`.
        is_clear: Whether `net` is clearly not zero.
        is_added: Whether the arrow is not in the drawn graph.
    """

    name: str
    teaches: float
    net: float
    error: float
    is_clear: bool
    is_added: bool = False

    @property
    def result(self) -> str:
        """What is left, as a word."""
        return "unclear" if not self.is_clear else "saves" if self.net > 0 else "loses"


def arrows_figure(bars: Sequence[ArrowBar]) -> Figure:
    """Draw for each arrow what it teaches, right of zero, what it costs, left of zero, and a dot at the difference.

    The axis stays while epsilon moves, unless a bar or an interval needs more.

    Args:
        bars: The arrows, the first one at the top.
    """
    rows = -np.arange(len(bars), dtype=float)
    taught, net = (np.array([getattr(bar, name) for bar in bars]) for name in ("teaches", "net"))
    around = np.nan_to_num([bar.error for bar in bars], posinf=0.0)
    span = max(LEAST_SPAN, *abs(taught))
    low = min(-LEFT * span, 1.1 * min(*(net - taught), *(net - around)))
    high = max(1.25 * span, 1.1 * max(net + around))
    interval = {"error_x": interval_bar(net, net - around, net + around, thickness=1.5, width=0)}
    dot = {"mode": "markers", "marker": {"color": BOUND, "size": 8}, "name": LEFT_OVER[0], "hoverinfo": "skip"}
    digits = 1 if span >= 1 else 2
    room = {"tickvals": rows, "ticktext": ["<br>"] * len(bars), "range": [0.4 - len(bars), 0.65]}  # two lines a row
    return figure_of(
        [
            _bars(taught, rows, *TEACHES),
            _bars(net - taught, rows, *COSTS),
            {"type": "scatter", "x": net, "y": rows + DOT} | dot | interval,
            _zero(rows),
            _texts(distinct_labels([bar.name for bar in bars], LETTERS), low + 1e-3 * span, rows, "middle right"),
            _texts([_sum(bar, digits) for bar in bars], high - 1e-3 * span, rows, "middle left"),
        ],
        x=titled("error saved, percentage points", range=[low, high], zeroline=False, tickangle=0, **_ticks(low, high)),
        y=room | {"showgrid": False, "zeroline": False, "showticklabels": False},
        height=120 + 42 * len(bars),
        barmode="relative",
        showlegend=True,
        **ROWS,
    )


def _bars(lengths: FloatArray, rows: FloatArray, name: str, colour: str) -> Trace:
    """Return a bar in each row from zero."""
    place = {"y": rows + BAR, "width": THICK, "orientation": "h"}
    return {"type": "bar", "x": lengths, "name": name, "marker": {"color": colour}, "hoverinfo": "skip"} | place


def _zero(rows: FloatArray) -> Trace:
    """Return the line at zero, without the parts that would cross the texts."""
    y = np.stack([rows, rows - 0.4, np.full(len(rows), np.nan)], axis=-1).ravel()
    look = {"line": {"color": BOUND, "width": 1.5}, "hoverinfo": "skip", "showlegend": False}
    return LINES | {"x": np.zeros(len(y)), "y": y} | look


def _texts(texts: Sequence[str], x: float, rows: FloatArray, side: str) -> Trace:
    """Return a text above the bars of each row, on a side of `x`."""
    look = {"mode": "text", "textposition": side, "hoverinfo": "skip", "showlegend": False, "cliponaxis": False}
    return {"type": "scatter", "x": np.full(len(rows), x), "y": rows + TEXT, "text": texts} | look


def _ticks(low: float, high: float) -> dict[str, Any]:
    """Return at most six lines of an axis with their numbers."""
    step = 10.0 ** math.floor(math.log10(high - low))
    step *= min(part for part in (0.2, 0.5, 1.0, 2.0) if part * step > (high - low) / 6)
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    texts = [f"{k * step:g}".replace("-", "−") for k in places]
    return {"tickvals": [k * step for k in places], "ticktext": texts}


def _sum(bar: ArrowBar, digits: int) -> str:
    """Return the numbers of a row, rounded so that they add up, and what is left as a word."""
    teaches, net = (round(number, digits) + 0.0 for number in (bar.teaches, bar.net))  # no "-0.00"
    left = bar.result + f" {abs(net):.{digits}f}" * bar.is_clear
    sign = "−" if teaches >= net else "+"
    return f"{teaches:.{digits}f} {sign} {abs(teaches - net):.{digits}f} = <b>{left}</b>".replace("-", "−")
