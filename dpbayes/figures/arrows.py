"""What each arrow of a graph is worth: the error that it saves, with and without noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID
from dpbayes.base.text import numeral
from dpbayes.figures.style import LINES, Figure, Trace, distinct_labels, faded, figure_of, titled, upright

LETTERS = 30
"""Letters of an arrow's name beside the picture."""

LEAST_SPAN = 0.002
"""The least error that is seen as the whole width."""

LEFT = 0.35
"""The part of the axis left of zero, of the part to its right without its margin."""

UNKNOWN, WORTH, COST = BOUND, GREEN, INVALID
"""The colours of an arrow without a clear difference, of one that is worth its noise, and of one that is not."""

KEYS = {"worth its noise": WORTH, "costs more": COST, "no clear difference": UNKNOWN}
"""The names of the bars in the legend."""


@dataclass(frozen=True)
class ArrowBar:
    """One arrow in the picture.

    Attributes:
        name: The arrow: "smoke → bronc".
        worth: The error that it saves.
        error: Half the width of the interval around `worth`.
        limit: The error that it saves without noise.
        is_clear: Whether `worth` is clearly not zero.
    """

    name: str
    worth: float
    error: float
    limit: float
    is_clear: bool

    @property
    def interval(self) -> tuple[float, float]:
        """The interval around `worth`."""
        return self.worth - self.error, self.worth + self.error

    @property
    def colour(self) -> str:
        """The colour of its bar."""
        if not self.is_clear:
            return UNKNOWN
        return WORTH if self.worth > 0 else COST


def arrows_figure(bars: Sequence[ArrowBar]) -> Figure:
    """Draw the error that each arrow saves as a bar, the largest on top, and what it saves without noise as a diamond.

    The axis stays while epsilon moves, unless a bar or an interval needs more of it.

    Args:
        bars: The arrows.
    """
    span = max([LEAST_SPAN, *(abs(bar.limit) for bar in bars)])
    ends = [end for bar in bars for end in (bar.limit, *bar.interval) if np.isfinite(end)]
    low, high = min(-LEFT * span, 1.1 * min(ends, default=0.0)), max(1.25 * span, 1.1 * max(ends, default=0.0))
    bars = sorted(bars, key=lambda bar: -bar.worth)
    rows = np.arange(len(bars), 0.0, -1.0)
    labels = distinct_labels([bar.name for bar in bars], LETTERS)
    return figure_of(
        [
            *map(_bar, bars, rows),
            *_whiskers(bars, rows),
            *(_key(name, colour) for name, colour in KEYS.items()),
            _limits(bars, rows),
        ],
        x=titled("error that the arrow saves", range=[low, high], zeroline=False),
        y=titled(
            "",
            automargin=True,
            tickvals=rows,
            ticktext=labels,
            range=[0.4, len(bars) + 1.2],
            showgrid=False,
            zeroline=False,
        ),
        height=110 + 34 * max(len(bars), 1),
        shapes=[upright(0.0, {"color": BOUND, "width": 1.5})],
        showlegend=True,
        annotations=_halves(len(bars) + 0.85),
    )


def _bar(bar: ArrowBar, row: float) -> Trace:
    line = {"color": faded(bar.colour, 0.45), "width": 14}
    hover = f"{numeral(bar.worth, 2)} ± {numeral(bar.error, 1)}<extra></extra>"
    return (
        LINES
        | {"x": np.array([0.0, bar.worth]), "y": np.array([row, row]), "line": line, "hovertemplate": hover}
        | {"showlegend": False}
    )


def _key(name: str, colour: str) -> Trace:
    """Return a bar of no length, which only the legend shows."""
    line = {"color": faded(colour, 0.45), "width": 14}
    return LINES | {"x": np.zeros(2), "y": np.ones(2), "line": line, "name": name, "hoverinfo": "skip"}


def _whiskers(bars: Sequence[ArrowBar], rows: "np.ndarray") -> list[Trace]:
    """Return the intervals around the ends of the bars."""
    return [
        LINES
        | {
            "x": np.array(bar.interval),
            "y": np.array([row, row]),
            "line": {"color": bar.colour, "width": 2.5},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        for bar, row in zip(bars, rows, strict=True)
        if np.isfinite(bar.error)
    ]


def _limits(bars: Sequence[ArrowBar], rows: "np.ndarray") -> Trace:
    marker = {"color": EXACT, "symbol": "diamond-open", "size": 11, "line": {"width": 2}}
    limits = np.array([bar.limit for bar in bars])
    hover = "without noise: %{x:.2~r}<extra></extra>"
    marks = {"type": "scatter", "mode": "markers", "x": limits, "y": rows, "marker": marker}
    return marks | {"name": "the same without noise", "hovertemplate": hover}


def _halves(y: float) -> list[dict[str, object]]:
    """Return what the two sides of zero mean, above the bars."""
    shared = {"x": 0.0, "y": y, "showarrow": False}
    return [
        shared | {"xanchor": "right", "xshift": -8, "text": "◂ costs more than it is worth"},
        shared | {"xanchor": "left", "xshift": 8, "text": "worth its noise ▸"},
    ]
