"""What each arrow of a graph is worth: the error that it saves with noise, and without."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, PRIVATE
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import LINES, ROWS, Figure, Trace, faded, figure_of, interval_bar, plain, titled

LETTERS = 16
"""Letters of each column's name above the bars of an arrow."""

LEAST_SPAN = 0.2
"""The least error, in percentage points, that is seen as the whole width."""

LEFT = 0.3
"""The part of the axis left of zero, of the part to its right without its margin."""

TEXT, BAR, THICK = 0.25, -0.2, 0.32
"""Where the texts and the bars of a row are, above and below its middle, and how thick the bars are."""

TEACHES = "without noise, with unlimited records"
SAVES, LOSES = ("saves at this ε", EXACT), ("loses at this ε", PRIVATE)
"""What the legend says of the bars, and their colours."""


def decimals(taught: Iterable[float]) -> int:
    """Return the decimals of what arrows save, from what they would save without noise, in percentage points."""
    return 1 if max(map(abs, taught), default=0.0) >= 1 else 2


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
        change: For all arrows together: the error without and with them.
    """

    name: str
    teaches: float
    net: float
    error: float
    is_clear: bool
    is_added: bool = False
    change: str = ""

    @property
    def look(self) -> tuple[str, str] | None:
        """What the arrow clearly does, as the legend says it, and its colour."""
        return (SAVES if self.net > 0 else LOSES) if self.is_clear else None


def arrows_figure(bars: Sequence[ArrowBar]) -> Figure:
    """Draw for each arrow what it clearly saves, and an interval, before a pale bar: what it would save without noise.

    The axis stays while epsilon moves, unless a bar or an interval needs more.

    Args:
        bars: The arrows, the first one at the top.
    """
    rows = -np.arange(len(bars), dtype=float)
    taught, net = (np.array([getattr(bar, name) for bar in bars]) for name in ("teaches", "net"))
    around = np.nan_to_num([bar.error for bar in bars], posinf=0.0)
    span = max(LEAST_SPAN, *abs(taught))
    low = min(-LEFT * span, 1.1 * min(*net, *(net - around)))
    high = max(1.25 * span, 1.1 * max(net + around))
    ends = interval_bar(net, net - around, net + around, thickness=1.5, width=4)
    interval = {"error_x": ends, "mode": "markers", "marker": {"color": BOUND, "size": 1}, "hoverinfo": "skip"}
    room = {"tickvals": rows, "ticktext": ["<br>"] * len(bars), "range": [0.4 - len(bars), 0.65]}  # two lines a row
    return figure_of(
        [
            _bars(taught, rows, TEACHES, faded(BOUND, 0.4)),
            *(_of_look(look, bars, net, rows) for look in (SAVES, LOSES)),
            {"type": "scatter", "x": net, "y": rows + BAR, "showlegend": False} | interval,
            _zero(rows),
            _texts([_short(bar) for bar in bars], low + 1e-3 * span, rows, "middle right"),
            _texts([_result(bar, decimals(taught)) for bar in bars], high - 1e-3 * span, rows, "middle left"),
        ],
        x=titled("error saved, percentage points", range=[low, high], zeroline=False, tickangle=0, nticks=6),
        y=room | {"showgrid": False, "zeroline": False, "showticklabels": False},
        height=120 + 42 * len(bars),
        barmode="overlay",
        **ROWS,
    )


def _bars(lengths: FloatArray, rows: FloatArray, name: str, colour: str) -> Trace:
    """Return a bar in each row from zero."""
    place = {"y": rows + BAR, "width": THICK, "orientation": "h"}
    return {"type": "bar", "x": lengths, "name": name, "marker": {"color": colour}, "hoverinfo": "skip"} | place


def _of_look(look: tuple[str, str], bars: Sequence[ArrowBar], net: FloatArray, rows: FloatArray) -> Trace:
    """Return the bars of one look, which the legend names if there are any."""
    has = np.array([bar.look == look for bar in bars])
    return _bars(np.where(has, net, 0.0), rows, *look) | {"showlegend": bool(has.any())}


def _zero(rows: FloatArray) -> Trace:
    """Return the line at zero, without the parts that would cross the texts."""
    y = np.stack([rows, rows - 0.4, np.full(len(rows), np.nan)], axis=-1).ravel()
    look = {"line": {"color": BOUND, "width": 1.5}, "hoverinfo": "skip", "showlegend": False}
    return LINES | {"x": np.zeros(len(y)), "y": y} | look


def _texts(texts: Sequence[str], x: float, rows: FloatArray, side: str) -> Trace:
    """Return a text above the bars of each row, on a side of `x`."""
    look = {"mode": "text", "textposition": side, "hoverinfo": "skip", "showlegend": False, "cliponaxis": False}
    return {"type": "scatter", "x": np.full(len(rows), x), "y": rows + TEXT, "text": texts} | look


def _short(bar: ArrowBar) -> str:
    """Return the name of an arrow with both of its columns."""
    return " → ".join(plain(end, LETTERS) for end in bar.name.split(" → "))


def _result(bar: ArrowBar, digits: int) -> str:
    """Return what an arrow does in words, with its number if it is clear."""
    if bar.look is None:
        return "too close to call"
    if bar.change:
        return f"<b>error {bar.change}</b>"
    saved = f"<b>{bar.look[0].split()[0]} {abs(bar.net):.{digits}f}</b>"
    return f"{saved} of {bar.teaches:.{digits}f}" if 0 < bar.net <= bar.teaches else saved
