"""What each arrow of a graph teaches, minus what its noise costs: the error that it saves."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID, PRIVATE
from dpbayes.figures.style import LINES, Figure, Trace, distinct_labels, faded, figure_of, titled, upright

LETTERS = 24
"""Letters of an arrow's name beside the picture."""

LEAST_SPAN = 0.002
"""The least error that is seen as the whole width."""

LEFT = 0.35
"""The part of the axis left of zero, of the part to its right without its margin."""

WIDTH, HATCH = 15, "2px,3px"
"""The height of a bar in pixels, and the stripes of a price."""

TEACHES, PRICE, SAVES, COSTS, UNCLEAR = (
    ("what it teaches", EXACT),
    ("− what its noise costs", PRIVATE),
    ("= what it saves", GREEN),
    ("= a net loss", INVALID),
    ("= no clear difference", BOUND),
)
"""The names of the parts of a row in the legend, and their colours."""

SUM = "teaches − noise = <b>saves</b>"
"""What stands above the numbers of the rows."""


@dataclass(frozen=True)
class ArrowBar:
    """One arrow in the picture.

    Attributes:
        name: The arrow: "smoke → bronc".
        worth: The error that it saves without noise.
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
        """The name and the colour of what is left."""
        if not self.is_clear:
            return UNCLEAR
        return SAVES if self.net > 0 else COSTS


def arrows_figure(bars: Sequence[ArrowBar]) -> Figure:
    """Draw a row for each arrow: what it teaches, the price of its noise at its end, and what is left.

    Arrows to add are below the drawn ones. Rows and axis stay while epsilon moves, unless a bar or an interval needs
    more of the axis.

    Args:
        bars: The arrows, the drawn ones first.
    """
    span = max([LEAST_SPAN, *(abs(bar.worth) for bar in bars)])
    ends = [end for bar in bars for end in (bar.worth, *bar.interval) if np.isfinite(end)]
    low, high = min(-LEFT * span, 1.1 * min(ends, default=0.0)), max(1.25 * span, 1.1 * max(ends, default=0.0))
    rows = [-float(place) - bar.is_added for place, bar in enumerate(bars)]
    digits = max(2, 1 - math.floor(math.log10(span)))
    shared = {"range": [min(rows, default=0.0) - 0.7, 1.5], "showgrid": False, "zeroline": False, "automargin": True}
    sums = {"overlaying": "y", "side": "right", "tickvals": [1.0, *rows]}
    return figure_of(
        [*_rows(bars, rows), *map(_key, (TEACHES, PRICE, SAVES, COSTS, UNCLEAR))],
        x=titled("error saved (total variation)", range=[low, high], zeroline=False, nticks=6, tickangle=0),
        y=titled("", tickvals=rows, ticktext=distinct_labels([bar.name for bar in bars], LETTERS), **shared),
        yaxis2=titled("", ticktext=[SUM, *(_sum(bar, digits) for bar in bars)], **sums, **shared),
        height=120 + 32 * max(len(bars), 1),
        shapes=[upright(0.0, {"color": BOUND, "width": 1.5})],
        showlegend=True,
    )


def _rows(bars: Sequence[ArrowBar], rows: Sequence[float]) -> Iterator[Trace]:
    """Yield the parts of every row, and the interval around what is left."""
    for bar, row in zip(bars, rows, strict=True):
        yield _part((0.0, bar.worth), row, *TEACHES)
        yield _part((0.0, bar.net), row, *bar.kind)
        yield _part(bar.price, row, *PRICE)
        yield _part(bar.interval if np.isfinite(bar.error) else (bar.net, bar.net), row, "interval of 99.7%", BOUND)


def _part(ends: tuple[float, float], row: float, name: str, colour: str) -> Trace:
    hover = {"hovertemplate": f"{name.lstrip('−= ')}<extra></extra>", "showlegend": False}
    return _line(np.array(ends), np.array([row, row]), name, colour) | hover


def _key(part: tuple[str, str]) -> Trace:
    """Return a bar of no length, which only the legend shows."""
    return _line(np.zeros(2), np.ones(2), *part) | {"hoverinfo": "skip", "yaxis": "y2"}


def _line(x: "np.ndarray", y: "np.ndarray", name: str, colour: str) -> Trace:
    line: Trace = {"color": colour, "width": WIDTH}
    if name == TEACHES[0]:
        line["color"] = faded(colour, 0.45)
    elif name == PRICE[0]:
        line["dash"] = HATCH
    elif name.startswith("interval"):
        line["width"] = 2
    return LINES | {"x": x, "y": y, "name": name, "line": line}


def _sum(bar: ArrowBar, digits: int) -> str:
    """Return the numbers of a row, rounded so that they add up."""
    worth, net = (round(number, digits) + 0.0 for number in (bar.worth, bar.net))  # no "-0.00"
    sign = "−" if worth >= net else "+"
    numbers = [f"{number:.{digits}f}".replace("-", "−") for number in (worth, abs(worth - net), net)]
    return f"{numbers[0]} {sign} {numbers[1]} = <b>{numbers[2]}</b>"
