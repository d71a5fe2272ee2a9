"""Pictures of the mechanisms for one die: their errors, and the epsilons at which these are small."""

from collections.abc import Mapping

from dpbayes.base.looks import Look
from dpbayes.base.types import FloatArray
from dpbayes.figures.rows import BAR, figure_of_rows, row_texts, tops_of
from dpbayes.figures.style import LINES, Figure, chosen_epsilon, epsilon_axis, faded, titled

Box = tuple[Look, FloatArray, str]
"""A mechanism, five quantiles of its errors (5,), and the text at the right of its box."""


def error_box_figure(rows: Mapping[str, Box], *, most: float, title: str) -> Figure:
    """Draw each mechanism's errors as a box with whiskers from the first to the last quantile.

    Args:
        rows: The boxes by the texts above them; a text of two lines begins with the heading of a group.
        most: The end of the axis.
        title: The title of the axis.
    """
    tops = tops_of(rows)
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "y": [top],
            **{key: [float(quantiles[k])] for k, key in enumerate(("lowerfence", "q1", "median", "q3", "upperfence"))},
            "line": {"color": look.colour},
            "fillcolor": faded(look.colour, 0.12 if look.symbol.endswith("-open") else 0.35),
            "name": look.name,
            "showlegend": False,
            "width": BAR,
        }
        for top, (look, quantiles, _) in zip(tops, rows.values(), strict=True)
    ]
    values = row_texts(
        [f" {value}" for _, _, value in rows.values()], tops, [float(box[-1]) for _, box, _ in rows.values()]
    )
    x = titled(title, range=[-0.01 * most, most])
    return figure_of_rows(
        [*boxes, row_texts([*rows], tops), values | {"textposition": "middle right"}], x, tops, right=96
    )


def near_figure(starts: Mapping[str, tuple[Look, float]], places: FloatArray, *, marked: float) -> Figure:
    """Draw a bar below each text from an epsilon, NaN for none, to the largest of the places (P,); one is `marked`."""
    tops, line = tops_of(starts), chosen_epsilon(places, marked) | {"yref": "y"}
    bars = [
        LINES
        | {"x": [start, float(places.max())], "y": [top, top], "name": look.name, "showlegend": False}
        | {"line": {"color": look.colour, "width": BAR}, "hoverinfo": "skip"}
        for top, (look, start) in zip(tops, starts.values(), strict=True)
    ]
    shapes = [line | {"y0": top - BAR / 2, "y1": top + BAR} for top in tops]  # not through the texts
    texts = row_texts([*starts], tops, [float(places.min())] * len(starts))
    return figure_of_rows([*bars, texts], epsilon_axis(places), tops, shapes=shapes)
