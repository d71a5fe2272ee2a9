"""Pictures of the mechanisms for one die: their errors, and the epsilons at which these are small."""

import math
from collections.abc import Mapping

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.rows import ABOVE, BAR, BELOW, figure_of_rows, row_texts, tops_of
from dpbayes.figures.style import LINES, Axis, Figure, chosen_epsilon, epsilon_axis, faded, titled

Box = tuple[Look, FloatArray, str]
"""A mechanism, five quantiles of its errors (5,), and the text at the right of its box."""

FENCES = ("lowerfence", "q1", "median", "q3", "upperfence")
"""The parts of a box by Plotly's names, in the order of the quantiles."""


def error_box_figure(rows: Mapping[str, Box], *, most: float, title: str) -> Figure:
    """Draw each mechanism's errors as a box with whiskers from the first to the last quantile, on a square-root scale.

    Args:
        rows: The boxes by the texts above them; a text of three lines begins with the heading of a group.
        most: The end of the axis.
        title: The title of the axis.
    """
    tops = tops_of(rows)
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "y": [top],
            **{key: [math.sqrt(quantiles[k])] for k, key in enumerate(FENCES)},
            "line": {"color": look.colour},
            "fillcolor": faded(look.colour, 0.12 if look.symbol.endswith("-open") else 0.35),
            "name": look.name,
            "showlegend": False,
            "hoverinfo": "skip",  # the places on the axis are roots
            "width": BAR,
        }
        for top, (look, quantiles, _) in zip(tops, rows.values(), strict=True)
    ]
    ends = [math.sqrt(box[-1]) for _, box, _ in rows.values()]
    values = row_texts([f" {value}" for *_, value in rows.values()], tops, ends) | {"textposition": "middle right"}
    return figure_of_rows([*boxes, row_texts([*rows], tops), values], _root_axis(title, most), tops, right=96)


def _root_axis(text: str, most: float) -> Axis:
    """Return a square-root axis from 0 to `most`, with as many round numbers as have room."""
    end, shown = math.sqrt(most), [0.0]
    for number in np.outer(10.0 ** np.arange(6), (1, 2, 5)).ravel():
        if shown[-1] + end / 12 < math.sqrt(number) <= end:
            shown.append(math.sqrt(number))
    texts = [numeral(root**2, 2) for root in shown]
    return titled(f"{text} (square-root scale)", range=[-0.01 * end, end], tickvals=shown, ticktext=texts)


def near_figure(starts: Mapping[str, tuple[Look, float]], places: FloatArray, *, marked: float) -> Figure:
    """Draw a bar below each text from an epsilon, NaN for none, to the largest of the places (P,); one is `marked`."""
    tops, line = tops_of(starts), chosen_epsilon(places, marked)
    bars = [
        LINES
        | {"x": [start, float(places.max())], "y": [top, top], "name": look.name, "showlegend": False}
        | {"line": {"color": look.colour, "width": BAR}, "hoverinfo": "skip"}
        for top, (look, start) in zip(tops, starts.values(), strict=True)
    ]
    mark = LINES | {"x": [line["x0"], line["x1"]], "y": [ABOVE, tops[-1] + BELOW], "line": line["line"]}
    mark |= {"showlegend": False, "hoverinfo": "skip"}  # on the bars, below the texts
    texts = row_texts([*starts], tops, [float(places.min())] * len(starts))
    return figure_of_rows([*bars, mark, texts], epsilon_axis(places), tops)
