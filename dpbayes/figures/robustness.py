"""Pictures of robustness: the change of a posterior by one record, and the answers that reveal the table."""

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, INVALID
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.figures.style import FRAME, LINES, Axis, Figure, Trace, faded, figure_of, log_axis, titled, upright


def moved_figure(
    prior: FloatArray,
    *,
    exact: FloatArray,
    printed: FloatArray,
    proved: FloatArray,
    broken: BoolArray,
    chosen: tuple[float, float],
) -> Figure:
    """Draw divergences in nats against the prior's strength (points,), both axes logarithmic.

    `printed` is red where `broken`; `chosen` is the chosen strength and the exact divergence there.
    """
    traces = [
        _line(prior, proved, "proved", {"color": BOUND, "width": 2}),
        _line(prior, printed, "as stated in the paper", {"color": BOUND, "width": 2, "dash": "dash"}),
        *_red(prior, printed, broken, "as stated, exceeded"),
        _line(prior, exact, "exact", {"color": EXACT, "width": 2.5}),
        _chosen(*chosen, floor=float(min(values[values > 0].min(initial=1.0) for values in (exact, printed, proved)))),
    ]
    return figure_of(traces, x=_strength(prior), y=_log("KL divergence, nats"), height=400)


def answers_figure(
    prior: FloatArray, *, least: FloatArray, most: FloatArray, promised: FloatArray, too_few: BoolArray, at: float
) -> Figure:
    """Draw the bracket of needed answers and the number that the paper states (points,), both axes logarithmic.

    `promised` is red where it is `too_few`; `at` is the chosen strength.
    """
    edge = {"color": EXACT, "width": 1.5}
    traces = [
        _line(prior, least, "proved: at least", edge),
        _line(prior, most, "proved: at most", edge | {"dash": "dot"})
        | {"fill": "tonexty", "fillcolor": faded(EXACT, 0.18)},
        _line(prior, promised, "stated to suffice", {"color": BOUND, "width": 2, "dash": "dash"}),
        *_red(prior, promised, too_few, "stated to suffice, but too few"),
    ]
    return figure_of(
        traces,
        x=_strength(prior),
        y=_log("answers"),
        height=360,
        legend=FRAME["legend"] | {"traceorder": "normal"},  # an area would reverse the order
        shapes=[upright(at, {"color": BOUND, "width": 1, "dash": "dot"})],
    )


def _line(x: FloatArray, y: FloatArray, name: str, line: Axis) -> Trace:
    return LINES | {"x": x, "y": y, "name": name, "line": line}


def _red(x: FloatArray, y: FloatArray, where: BoolArray, name: str) -> list[Trace]:
    """Return the refuted part of a line in red; an empty list if no part is refuted."""
    if not where.any():
        return []
    line = {"color": INVALID, "width": 3, "dash": "dash"}
    return [_line(x, np.where(where, y, np.nan), name, line)]


def _chosen(strength: float, divergence: float, *, floor: float) -> Trace:
    """Mark the chosen prior by a dot at the end of a vertical line."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [strength, strength],
        "y": [floor, divergence],
        "name": "chosen prior",
        "line": {"color": EXACT, "width": 1, "dash": "dot"},
        "marker": {"color": EXACT, "size": [0, 11], "opacity": 1, "line": {"color": "#FFFFFF", "width": 1.5}},
    }


def _strength(prior: FloatArray) -> Axis:
    low, high = float(prior.min()), float(prior.max())
    return log_axis("strength of the prior (λ, or a of a Beta(a, a))", low, high, automargin=True)


def _log(text: str) -> Axis:
    return titled(text, type="log", automargin=True, exponentformat="power", nticks=8)
