"""Non-negativity of the Fourier mechanism: how often a released count is negative, against the increment t."""

import math
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, INVALID, Curve, Look
from dpbayes.base.text import numeral, share_text, typed
from dpbayes.boards.board import Board, Frame, Panel, Slider, View
from dpbayes.experiments.non_negativity import NonNegativity
from dpbayes.figures.style import PERCENT, Figure, figure_of, line_of, log_axis, titled, upright
from dpbayes.mechanisms import LaplaceFourier
from dpbayes.mechanisms.fourier import INCREMENT

STOPS = tuple(float(f"{10 ** (k / 8):.2g}") for k in range(-16, 9))
"""The increments of the slider, 0.01 to 10."""

GRID = np.geomspace(STOPS[0], STOPS[-1], 97)
"""The increments at which curves are drawn."""

SLIDER = Slider(
    "t",
    "Increment t",
    tuple(map(typed, STOPS)),
    INCREMENT.low,
    INCREMENT.high,
    help="Fourier raises all counts by a multiple of t before they are released.",
    ends=("fewer records added", "fewer negative counts"),
)


WORST_CASE = (
    "Computed for a table without records, where a negative count is most likely: the shares hold for every table."
)

SHARE = Panel(
    "share",
    "How often is a count negative?",
    "Share of releases with a negative count.",
    large=True,
    help="Fourier adds noise to sums of counts with signs, from which tables are rebuilt; a rebuilt count can be "
    "negative. Raising all counts by a multiple of t makes that rarer.",
)
ADDED = Panel("added", "How many records does t add?", "Records that are added to every table, against t.")


def non_negativity(inputs: NonNegativity) -> View:
    """Return the board of non-negativity against t. [Zhang16] Theorem 2, Corollary 3.

    Args:
        inputs: A binary network and the calibration.

    Returns:
        A view whose stops are increments. All counts are zero, which is the worst case: nothing depends on a table.
    """
    board = Board("non-negativity", "Non-negativity of Fourier releases", (SHARE, ADDED), {}, "0.5", SLIDER)
    curves = _curves(inputs)
    added = Curve(Look("added records", LaplaceFourier.colour), GRID, inputs.added(GRID), np.full(len(GRID), np.nan))
    return View(board, lambda stop: (_frame(inputs, curves, added, float(stop)),))


def _curves(inputs: NonNegativity) -> list[Curve]:
    """Return the shares over the grid: simulated, proved, and exp(-t) of [Zhang16] Corollary 3."""
    unknown = np.full(len(GRID), np.nan)
    proved = Curve(Look("proved at most", BOUND), GRID, inputs.proved(GRID), unknown)
    stated = Curve(Look("as the paper states", INVALID, "dash"), GRID, np.exp(-GRID), unknown)
    if not len(inputs.needed):
        return [proved, stated]
    measured = 1 - np.searchsorted(np.sort(inputs.needed), GRID, side="right") / len(inputs.needed)
    return [Curve(Look("simulated", LaplaceFourier.colour), GRID, measured, unknown), proved, stated]


def _frame(inputs: NonNegativity, curves: list[Curve], added: Curve, t: float) -> Frame:
    proved, stated = float(inputs.proved(t)), math.exp(-t)
    numbers = {"proved": proved, "stated": stated, "added": float(inputs.added(t))}
    if len(inputs.needed):
        numbers["simulated"] = float(np.mean(inputs.needed > t))
        said = f"{share_text(numbers['simulated'])} of releases have a negative count"
    else:
        said = f"the proved bound of releases with a negative count is {share_text(proved)}"
    figures = {
        "share": _figure(curves, t, "releases with a negative count", range=[-0.02, 1.04], tickformat=PERCENT),
        "added": _figure([added], t, "added to every table, records", rangemode="tozero"),
    }
    exceeded = GRID[curves[0].y > curves[-1].y] if len(curves) > 2 else GRID[:0]
    wrong = f" That is too small up to t = {numeral(float(exceeded.max()), 2)}." if len(exceeded) else ""
    captions = {
        "share": f"Proved bound: {share_text(proved)}. The paper states exp(−t) = {share_text(stated)}.{wrong}",
        "added": f"{numeral(numbers['added'], 3)} records at ε = {numeral(inputs.epsilon)}.",
    }
    return Frame(f"t = {numeral(t)}: {said}.", figures, (WORST_CASE,), captions, numbers)


def _figure(curves: list[Curve], t: float, title: str, **axis: Any) -> Figure:
    lines = [line_of(curve.look, curve.x, curve.y) for curve in curves]
    line = upright(float(np.clip(t, GRID[0], GRID[-1])), {"color": BOUND, "width": 1.5, "dash": "dot"})
    x = log_axis("increment t", float(GRID[0]), float(GRID[-1]))
    return figure_of(lines, x=x, y=titled(title, **axis), height=400, shapes=[line])
