"""Pictures of non-negativity: the share of Fourier releases without a negative number."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import BOUND, Curve
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    PERCENT,
    Axis,
    Figure,
    Trace,
    figure_of,
    line_of,
    shares,
    titled,
    upright,
)

STOPS = [digit * 10.0**tens for tens in range(-4, 2) for digit in (1, 2, 5)]
"""Round increments for the ticks of a logarithmic axis."""


def non_negativity_figure(
    curves: Sequence[Curve], *, t: FloatArray, marked: tuple[float, Estimate] | None, counts: float, height: int = 420
) -> Figure:
    """Draw probabilities of a non-negative release against the increment t, on a logarithmic axis.

    Args:
        curves: The probabilities over t.
        t: The grid (points,) that the axis is drawn for.
        marked: The chosen t and its probability, marked at the end of the axis if it is beyond.
        counts: The number of counts that t = 1 adds to every table.
        height: Pixels.
    """
    traces: list[Trace] = [
        line_of(
            curve.look,
            curve.x,
            curve.y,
            customdata=shares(curve.y),
            hovertemplate=f"t = %{{x:,.3~r}}: %{{customdata}}<extra>{curve.look.name}</extra>",
        )
        for curve in curves
    ]
    shapes = []
    if marked is not None:
        at, probability = marked
        place = float(np.clip(at, t[0], t[-1]))
        shapes = [upright(place, {"color": BOUND, "width": 1.5, "dash": "dot"})]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [place],
                "y": [probability.value],
                "marker": {"symbol": "diamond", "size": 12, "color": curves[0].look.colour},
                "name": f"t = {numeral(at)}{'' if place == at else ' (beyond this axis)'}",
                "showlegend": place != at,
                "hovertemplate": f"t = {numeral(at, 4)}: {probability}<extra></extra>",
            }
        )
    y = titled("probability", range=[-0.02, 1.04], tickformat=PERCENT)
    return figure_of(traces, x=_increments(t, counts), y=y, height=height, shapes=shapes)


def _increments(t: FloatArray, counts: float) -> Axis:
    stops = [stop for stop in STOPS if 0.999 * t[0] <= stop <= 1.001 * t[-1]]
    return titled(
        "t (below: the counts that t adds to every table)",
        type="log",
        range=[float(np.log10(t[0])), float(np.log10(t[-1]))],
        tickvals=stops,
        ticktext=[f"{numeral(stop, 6)}<br>{_short(stop * counts)}" for stop in stops],
        automargin=True,
    )


def _short(counts: float) -> str:
    """Return a number of counts with at most three characters and a unit."""
    for size, unit in ((1e9, " bn"), (1e6, " m"), (1e4, " k")):
        if counts >= size:
            return f"{numeral(counts / (1000 if size == 1e4 else size))}{unit}"
    return f"{counts:,.0f}" if counts >= 10 else numeral(counts, 2)
