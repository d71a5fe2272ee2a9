"""Rows with texts of any length above their bars, in pictures that are as high as the rows need."""

from collections.abc import Iterable, Sequence

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.figures.style import ROWS, Axis, Figure, Trace, figure_of, titled

ROW, HEADING, ABOVE, BELOW, BAR = 66, 22, 34, 18, 18
"""The heights of a row, a line above its name, what the first row lacks, below the last, and of a bar, in pixels."""


def figure_of_rows(traces: Sequence[Trace], x: Axis, tops: FloatArray, *, right: int = 24) -> Figure:
    """Draw rows at some pixels from the top, as high as they need, with some pixels of room at their right."""
    y, margin = titled("", range=[tops[-1] + BELOW, ABOVE], visible=False), ROWS["margin"] | {"r": right}
    height = round(tops[-1]) + BELOW - ABOVE + margin["t"] + margin["b"]
    size = {"height": height, "margin": margin, "meta": {"rows": True, "least": height}}
    return figure_of(traces, x=x, y=y, **size)


def tops_of(texts: Iterable[str]) -> FloatArray:
    """Return where the bars of rows with these texts are, in pixels from the top; of three lines, one is a heading."""
    return np.cumsum([ROW + HEADING * (text.count("<br>") > 1) for text in texts]).astype(float)


def row_texts(texts: Sequence[str], tops: FloatArray, x: Sequence[float] | None = None) -> Trace:
    """Return the texts above the rows, or at other places in them."""
    return {
        **{"type": "scatter", "mode": "markers+text", "x": x or [0.0] * len(texts), "y": tops, "hoverinfo": "skip"},
        **{"text": texts, "textposition": "top right", "cliponaxis": False, "showlegend": False},
        "marker": {"size": BAR, "opacity": 0},  # keeps the text above the row
    }
