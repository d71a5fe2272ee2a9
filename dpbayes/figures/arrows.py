"""What each arrow of a graph teaches, minus what its noise costs: the error that it saves."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID, PRIVATE
from dpbayes.figures.style import LINES, ROWS, Figure, Trace, band_of, distinct_labels, figure_of, titled, upright

LETTERS = 24
"""Letters of an arrow's name beside the picture."""

LEAST_SPAN = 0.2
"""The least error, in percentage points, that is seen as the whole width."""

LEFT = 0.25
"""The part of the axis left of zero, of the part to its right without its margin."""

NEAR, FAR = 0.03, 0.36
"""How far from the middle of a row its two bars begin and end."""

TEACHES, PRICE = ("teaches: error saved without noise", EXACT), ("noise: error that privacy adds", PRIVATE)
"""What the legend says of the parts of a row, and their colours; what is left has a word in its row."""

THIN, INTERVAL = 0.02, "#444"
"""Half the height of the interval of what is left, and its colour."""

SUM = "teaches − noise"
"""What stands above the numbers of the rows."""


@dataclass(frozen=True)
class ArrowBar:
    """One arrow in the picture.

    Attributes:
        name: The arrow: "smoke → bronc".
        worth: The error that it saves without noise, in percentage points.
        net: The error that it saves with its noise.
        error: Half the width of the interval around `net`.
        is_clear: Whether `net` is clearly not zero.
        is_added: Whether the arrow is not in the drawn graph.
    """

    name: str
    worth: float
    net: float
    error: float
    is_clear: bool
    is_added: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The interval around `net`."""
        return self.net - self.error, self.net + self.error

    @property
    def price(self) -> tuple[float, float]:
        """The part of `worth` that the noise costs; what it costs beyond that is a loss, left of zero."""
        return min(max(self.net, 0.0), self.worth), self.worth

    @property
    def kind(self) -> tuple[str, str]:
        """The word and the colour of what is left."""
        if not self.is_clear:
            return "unclear", BOUND
        return ("saves", GREEN) if self.net > 0 else ("loses", INVALID)


def arrows_figure(bars: Sequence[ArrowBar]) -> Figure:
    """Draw two bars for each arrow: what it teaches, and below it what is left beside the price of its noise.

    Arrows to add are below the drawn ones. The axis stays while epsilon moves, unless a bar or an interval needs more.

    Args:
        bars: The arrows, the drawn ones first.
    """
    span = max([LEAST_SPAN, *(abs(bar.worth) for bar in bars)])
    ends = [end for bar in bars for end in (bar.worth, *bar.interval) if np.isfinite(end)]
    low, high = min(-LEFT * span, 1.1 * min(ends, default=0.0)), max(1.25 * span, 1.1 * max(ends, default=0.0))
    rows = [-float(place) - bar.is_added for place, bar in enumerate(bars)]
    digits = 1 if span >= 1 else 2
    shared = {"range": [min(rows, default=0.0) - 0.7, 1.5], "showgrid": False, "zeroline": False, "automargin": True}
    sums = {"overlaying": "y", "side": "right", "tickvals": [1.0, *rows]}
    return figure_of(
        [*_rows(bars, rows), _key(TEACHES), _key(PRICE)],
        x=titled(
            "error saved, percentage points",
            range=[low, high],
            zeroline=False,
            tickangle=0,
            showgrid=True,
            **_ticks(low, high),
        ),
        y={"tickvals": rows, "ticktext": distinct_labels([bar.name for bar in bars], LETTERS), **shared},
        yaxis2={"ticktext": [SUM, *(_sum(bar, digits) for bar in bars)], **sums, **shared},
        height=170 + 38 * max(len(bars), 1),
        shapes=[upright(0.0, {"color": BOUND, "width": 1.5})],
        showlegend=True,
        **ROWS,
    )


def _ticks(low: float, high: float) -> dict[str, Any]:
    """Return at most six lines of an axis with their numbers."""
    step = 10.0 ** math.floor(math.log10(high - low))
    step *= min(part for part in (0.2, 0.5, 1.0, 2.0) if part * step > (high - low) / 6)
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    texts = [f"{k * step:g}".replace("-", "−") for k in places]
    return {"tickvals": [k * step for k in places], "ticktext": texts}


def _rows(bars: Sequence[ArrowBar], rows: Sequence[float]) -> Iterator[Trace]:
    """Yield the parts of every row, and the interval around what is left."""
    for bar, row in zip(bars, rows, strict=True):
        yield _part((0.0, bar.worth), row + NEAR, row + FAR, *TEACHES)
        yield _part((0.0, bar.net), row - FAR, row - NEAR, *bar.kind)
        yield _part(bar.price, row - FAR, row - NEAR, *PRICE)
        ends = bar.interval if np.isfinite(bar.error) else (bar.net, bar.net)
        middle = row - (NEAR + FAR) / 2
        outline = {"color": "rgba(255,255,255,0.5)", "width": 1}  # seen on every bar, and on a dark page
        yield _part(ends, middle - THIN, middle + THIN, "", INTERVAL) | {"line": outline}


def _part(ends: tuple[float, float], low: float, high: float, name: str, colour: str) -> Trace:
    """Return a bar from end to end."""
    return band_of(np.array(ends), np.full(2, low), np.full(2, high), colour, name=name)


def _key(part: tuple[str, str]) -> Trace:
    """Return a bar of no length, which only the legend shows."""
    name, colour = part
    line = {"x": np.zeros(2), "y": np.ones(2), "name": name, "line": {"color": colour, "width": 10}}
    return LINES | line | {"hoverinfo": "skip", "yaxis": "y2"}


def _sum(bar: ArrowBar, digits: int) -> str:
    """Return the numbers of a row, rounded so that they add up, and what is left as a word.

    What is left is alone where it is more than the arrow teaches: noise then costs nothing.
    """
    worth, net = (round(number, digits) + 0.0 for number in (bar.worth, bar.net))  # no "-0.00"
    word, _ = bar.kind
    left = f"<b>{word}</b>" + f" <b>{abs(net):.{digits}f}</b>" * bar.is_clear
    terms = f"{worth:.{digits}f} − {worth - net:.{digits}f}: ".replace("-", "−")
    return f"{terms}{left}" if worth >= net else left
