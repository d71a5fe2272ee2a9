"""Pictures of private regression against epsilon: errors, and the epsilon that the paper states."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import BOUND, INVALID, Curve
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    Figure,
    band_of,
    chosen_epsilon,
    directly_named,
    epsilon_axis,
    faded,
    figure_of,
    line_of,
    powers_axis,
    titled,
)


def regression_errors_figure(curves: Sequence[Curve], *, epsilon: float) -> Figure:
    """Draw errors by predictor against epsilon with bands of one standard error; the axis has the range of the errors.

    The first and the last curve are named at their lines.
    """
    x = curves[0].x
    bands = [band_of(x, of.y - of.error, of.y + of.error, faded(of.look.colour, 0.2)) for of in curves]
    lines = [line_of(of.look, x, of.y, hovertemplate="ε = %{x:,.4~r}: %{y:,.4~r}") for of in curves]
    low, high = (float(end([of.y for of in curves])) for end in (np.min, np.max))
    room = 0.08 * (high - low)
    axis = titled("typical error in dollars", automargin=True, range=[low - room, high + 2 * room])
    figure = figure_of([*bands, *lines], x=epsilon_axis(x), y=axis, height=420, shapes=[chosen_epsilon(x, epsilon)])
    first, last = curves[0].look.name, curves[-1].look.name
    return directly_named(directly_named(figure, first, first, x.min(), "top right"), last, last, x.max(), "top left")


def epsilon_figure(certified: FloatArray, printed: FloatArray, *, epsilon: float, colour: str) -> Figure:
    """Draw epsilon of the samples as proved (P,), and as in the paper for one sample, red where it is too small."""
    bold = {"color": colour, "width": 3}
    traces = [LINES | {"x": certified, "y": certified, "line": bold, "name": "proved"}]
    low = printed < certified
    for where, hue, said in ((~low, BOUND, ""), (low, INVALID, ", too small")):
        if where.any():
            line = {"color": hue, "width": 2.5, "dash": "dash"}
            y = np.where(where, printed, np.nan)
            traces.append(LINES | {"x": certified, "y": y, "line": line, "name": f"stated in the paper{said}"})
    for trace in traces:
        trace["hovertemplate"] = "ε = %{x:,.4~r}: ε = %{y:,.4~r}"
    axis = powers_axis("privacy loss ε", *_ends(np.concatenate([certified, printed])), automargin=True)
    shapes = [chosen_epsilon(certified, epsilon)]
    return figure_of(traces, x=epsilon_axis(certified), y=axis, height=360, shapes=shapes)


def _ends(values: FloatArray) -> tuple[float, float]:
    """Return the logarithms of the ends of an axis of positive values."""
    low, high = np.log10(values[values > 0].min()), np.log10(values.max())
    return float(low - 0.02 * (high - low)), float(high + 0.02 * (high - low))
