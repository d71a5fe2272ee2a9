"""The coverage of intervals, against epsilon."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import BOUND, Curve, Look
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import PERCENT, Figure, Trace, band_of, faded, figure_of, line_of, log_axis, shares, titled

BAND = 2
"""Standard errors on either side of a curve."""


def coverage_figure(curves: Sequence[Curve], epsilons: FloatArray, *, level: float) -> Figure:
    """Draw the share of intervals that contain the true value, with bands of two standard errors, and their level.

    The axis is that of all `epsilons`, so that the picture does not move while curves grow.
    """
    low, high = float(np.min(epsilons)), float(np.max(epsilons))
    bands = [_band(curve) for curve in curves if len(curve.x)]
    lines = [_line(curve.look, curve.x, curve.y) for curve in curves]
    claimed = Look(f"stated: {level:.0%}", BOUND, "dot", width=1.5)
    ends = np.log10([low, high])
    room = 0.02 * (ends[1] - ends[0]) or 0.1
    return figure_of(
        [*bands, _line(claimed, np.array([low, high]), np.full(2, level)) | {"mode": "lines"}, *lines],
        x=log_axis("proved ε, nats", low, high, range=[ends[0] - room, ends[1] + room]),
        y=titled("intervals that contain the true value", range=[0, 1.02], tickformat=PERCENT, automargin=True),
        height=400,
    )


def _band(curve: Curve) -> Trace:
    doubt = BAND * np.where(np.isfinite(curve.error), curve.error, 0.0)
    low, high = np.maximum(curve.y - doubt, 0.0), np.minimum(curve.y + doubt, 1.0)
    name = f"{curve.look.name} ± {BAND} standard errors"
    return band_of(curve.x, low, high, faded(curve.look.colour, 0.14), name=name)


def _line(look: Look, x: FloatArray, y: FloatArray) -> Trace:
    hover = "ε = %{x:,.3~r}: %{customdata}<extra>" + look.name + "</extra>"
    marker = {"color": look.colour, "size": 7, "symbol": look.symbol}
    return line_of(look, x, y, mode="lines+markers", marker=marker, customdata=shares(y), hovertemplate=hover)
