"""Accuracy and log loss against epsilon, and the calibration of predictive probabilities."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.base.looks import Curve, Look
from dpbayes.base.text import numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    EPSILON_AXIS,
    LINES,
    PERCENT,
    Axis,
    Figure,
    Trace,
    band_of,
    chosen_epsilon,
    faded,
    figure_of,
    line_of,
    log_axis,
    titled,
    value_mark,
)

BAND = 2
"""Standard errors on either side of a curve."""

CLOSE = 0.07
"""The share of the height within which a line is so close to a value that its text is beyond the line."""

NOISES = 40
"""Noises of a row that are drawn."""

ACCURACY = "correct predictions"


def accuracy_figure(
    curves: Sequence[Curve],
    epsilons: FloatArray,
    *,
    epsilon: float | None = None,
    marked: Sequence[Curve] = (),
) -> Figure:
    """Draw the share of test records that are predicted correctly against the stated epsilon of each method.

    Args:
        curves: Accuracies over epsilon.
        epsilons: The grid (E,) that the axis is drawn for.
        epsilon: The chosen epsilon, marked by a line, at the end of the axis if it is outside.
        marked: The curves whose values at the chosen epsilon are written beside a dot, a lower one before a higher.
    """
    x, y = _epsilon_axis(epsilons, EPSILON_AXIS), titled(ACCURACY, tickformat=PERCENT, range=_range(curves))
    shapes = [] if epsilon is None else [chosen_epsilon(epsilons, epsilon)]
    figure = _figure(curves, x=x, y=y, shapes=shapes)
    if epsilon is None:
        return figure
    low, high = y["range"]
    sides = dict(zip(("bottom right", "top left"), marked, strict=False))
    return replace(figure, data=(*figure.data, *_marks(curves, sides, epsilon, share_text, float, high - low)))


def _marks(
    curves: Sequence[Curve],
    sides: Mapping[str, Curve],
    epsilon: float,
    text: Callable[[float], str],
    scale: Callable[[float], float],
    height: float,
) -> list[Trace]:
    """Mark values of curves with texts on their sides, beyond a line that is close, and with names of several.

    The height is that of the picture in the scale of its axis.
    """
    levels, marks = [at_epsilon(curve, epsilon) for curve in curves], []
    for side, curve in sides.items():
        value, name = at_epsilon(curve, epsilon), f"{curve.look.name} " if len(sides) > 1 else ""
        mark = value_mark(epsilon, value, name + text(value), curve.look.colour, side=side)
        close = [one for one in levels if abs(scale(one) - scale(value)) < CLOSE * height]
        beyond = (max if side.startswith("top") else min)(close)
        points = {"x": [epsilon] * 2, "y": [value, beyond], "text": ["\u00a0", *mark["text"]]}  # two, so they move
        marks.append(mark | points | {"marker": mark["marker"] | {"opacity": [1, 0]}})
    return marks


def _range(curves: Sequence[Curve]) -> list[float]:
    """Return the range of the curves with their bands, so that the axis stays while a mark moves."""
    bands = [BAND * np.where(np.isfinite(curve.error), curve.error, 0.0) for curve in curves]
    low = min(float((curve.y - band).min()) for curve, band in zip(curves, bands, strict=True))
    high = max(float((curve.y + band).max()) for curve, band in zip(curves, bands, strict=True))
    return [low - 0.02, min(high + 0.04, 1.01)]  # room for a value above the highest curve


def at_epsilon(curve: Curve, epsilon: float) -> float:
    """Return the value of a curve at an epsilon, between its points on a logarithmic scale."""
    return float(np.interp(np.log(epsilon), np.log(curve.x), curve.y))


def log_loss_figure(
    curves: Sequence[Curve], epsilons: FloatArray, *, epsilon: float, marked: Sequence[Curve] = ()
) -> Figure:
    """Draw the mean log loss against epsilon, both on logarithmic scales; values at epsilon are `marked`."""
    ends = np.array([value for curve in curves for value in (curve.y.min(), curve.y.max())])
    y = log_axis("log loss (logarithmic scale)", ends.min() * 0.8, ends.max() * 1.1)
    x, shapes = _epsilon_axis(epsilons, EPSILON_AXIS), [chosen_epsilon(epsilons, epsilon)]
    figure = _figure(curves, x=x, y=y, shapes=shapes)
    ranked, span = sorted(marked, key=lambda curve: at_epsilon(curve, epsilon)), math.log(ends.max() / ends.min())
    sides = dict(zip(("bottom left", "top right"), ranked, strict=False))
    return replace(figure, data=(*figure.data, *_marks(curves, sides, epsilon, numeral, math.log, span)))


def noise_figure(laplace: FloatArray, fourier: FloatArray, *, colours: Sequence[str]) -> Figure:
    """Draw noises as dots on one axis, in three rows, and the mean absolute noise of each row as a box behind them.

    Args:
        laplace: The noise of a count (releases,) by Laplace.
        fourier: The noises of the numbers (releases, cells) whose mean is a count by Fourier; the first has none.
        colours: The colours of Laplace and of Fourier.
    """
    cells = fourier.shape[-1]
    rows = (
        ("Laplace: a count", laplace, colours[0]),
        (f"Fourier: one of {cells - 1} noisy numbers", fourier[:, -1], colours[1]),
        (f"Fourier: a count, the mean of {cells}, one without noise", fourier.mean(axis=1), colours[1]),
    )
    sizes = [float(f"{np.abs(noises).mean():.2g}") for _, noises, _ in rows]
    end, traces, names = 3 * max(sizes), list[Trace](), list[dict[str, Any]]()
    for y, ((name, noises, colour), size) in enumerate(zip(rows, sizes, strict=True)):
        box = {"x": [-size, size, size, -size], "y": [y - 0.2, y - 0.2, y + 0.2, y + 0.2], "fill": "toself"}
        dots = {"x": noises[:NOISES], "y": np.full(NOISES, float(y)), "mode": "markers"}
        shared = LINES | {"showlegend": False, "hoverinfo": "skip"}
        traces.append(shared | box | {"fillcolor": faded(colour, 0.25), "line": {"width": 0}})
        traces.append(shared | dots | {"marker": {"color": faded(colour, 0.6), "size": 5}})
        text = {"x": -end, "xanchor": "left", "text": f"{name}: <b>±{numeral(size)}</b>", "showarrow": False}
        names.append(text | {"y": y - 0.2, "yanchor": "bottom"})
    x = titled("noise, records (box: mean absolute noise)", range=[-end, end])
    down: Axis = titled("", range=[len(rows) - 0.3, -0.75], visible=False)
    margin = {"l": 16, "r": 24, "t": 4, "b": 44}
    return figure_of(traces, x=x, y=down, annotations=names, margin=margin)


def _epsilon_axis(epsilons: FloatArray, title: str) -> Axis:
    low, high = np.log10(epsilons[[0, -1]])
    room = 0.02 * (high - low) or 0.1
    return log_axis(title, *epsilons[[0, -1]], range=[low - room, high + room])


def _figure(curves: Sequence[Curve], *, x: Axis, y: Axis, **layout: Any) -> Figure:
    """Draw curves with their bands below all lines."""
    bands, lines = [], []
    for curve in curves:
        doubt = BAND * np.where(np.isfinite(curve.error), curve.error, 0.0)
        low = np.maximum(curve.y - doubt, curve.y / 10)  # a logarithmic axis has no values below zero
        name, fill = f"{curve.look.name} ± {BAND} standard errors", faded(curve.look.colour, 0.1)
        bands.append(band_of(curve.x, low, curve.y + doubt, fill, name=name))
        lines.append(_line(curve.look, curve.x, curve.y) | _dot(curve, doubt))
    return figure_of([*bands, *lines], x=x, y=y, height=400 + 14 * len(lines), **layout)


def _dot(curve: Curve, doubt: FloatArray) -> Trace:
    """Return a dot with its band as an error bar, for a curve whose points have the same x."""
    if not len(curve.x) or curve.x.min() < curve.x.max():
        return {}
    colour = curve.look.colour
    bar = {"type": "data", "array": doubt[:1], "thickness": 1.5, "color": colour}
    marker = {"color": colour, "size": 10, "symbol": curve.look.symbol, "line": {"color": colour, "width": 2}}
    return {"mode": "markers", "marker": marker, "error_y": bar}


def _line(look: Look, x: FloatArray, y: FloatArray) -> Trace:
    hover = "ε = %{x:,.3~r}: %{y:,.3~r}<extra>" + look.name + "</extra>"
    return line_of(look, x, y, marker={"color": look.colour, "size": 7}, hovertemplate=hover)
