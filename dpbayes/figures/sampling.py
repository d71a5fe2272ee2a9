"""Pictures of posterior sampling: a trimmed row and its samples, their distance from the answer, and the query game."""

from collections.abc import Mapping

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, PURPLE, Curve, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    PERCENT,
    Axis,
    Figure,
    Trace,
    band_of,
    chosen_epsilon,
    epsilon_axis,
    faded,
    figure_of,
    line_of,
    log_axis,
    plain,
    probabilities,
    titled,
    upright,
    value_mark,
)

SHOWN_DRAWS = 500

ROOM = 0.28
"""The share of the axis that the text beside the interval needs."""


def trim_figure(
    densities: tuple[FloatArray, FloatArray | None, FloatArray],
    draws: FloatArray,
    *,
    region: tuple[float, float],
    allowed: str,
    answer: float,
    name: str,
) -> Figure:
    """Draw densities, each relative to its peak, the allowed interval, and samples (N,) as ticks.

    `densities` are theta, the exact and the trimmed density, (grid,) each. Without an exact density, the trimmed one is
    that of the public prior, and the `answer`, the exact mean, is not drawn.
    """
    theta, exact, trimmed = densities
    traces: list[Trace] = [*_band(*region, f"allowed: {allowed}", is_left=answer > 0.5)]
    if exact is not None:
        fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
        blue = {"x": theta, "y": _to_peak(exact), "line": {"color": EXACT, "width": 3}}
        traces.append(LINES | fill | blue | {"name": "the table’s posterior"})
        traces.append(_near(answer, 1.0, f"table’s answer: {numeral(answer, 3)}", "top"))
    line = {"color": PURPLE, "width": 3} if exact is not None else {"color": BOUND, "width": 2}
    label = "its part in the interval" if exact is not None else "trimmed prior (public)"
    live = np.convolve(trimmed > 0, np.ones(3), mode="same") > 0  # and the zeros next to it
    traces.append(LINES | {"x": theta[live], "y": _to_peak(trimmed)[live], "line": line, "name": label})
    shown, mean = draws[:SHOWN_DRAWS], float(draws.mean())
    ticks = {"symbol": "line-ns", "size": 16, "line": {"width": 2, "color": PURPLE}, "color": PURPLE}
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": shown,
            "y": np.full(len(shown), -0.07),
            "marker": ticks,
            "showlegend": False,
            "customdata": probabilities(shown),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    )
    few = f", first {SHOWN_DRAWS} shown" if len(draws) > SHOWN_DRAWS else ""
    said = "sample" if len(draws) == 1 else f"mean of {len(draws):,} samples{few}"
    traces.append(_near(mean, -0.09, f"{said}: {numeral(mean, 3)}", "bottom"))
    return figure_of(
        traces,
        x=titled(f"probability of {plain(name)}", range=[0, 1]),
        y=titled("density, each curve scaled to its peak", range=[-0.18, 1.12], tickvals=[0], showticklabels=False),
    )


def _band(low: float, high: float, text: str, *, is_left: bool) -> list[Trace]:
    """Return the allowed interval, and a text beside it, or in it if there is room on neither side."""
    sides = [(low, "left", low), (high, "right", 1 - high)]
    x, side, _ = next((one for one in sides[:: 1 if is_left else -1] if one[2] > ROOM), (low, "right", 0.0))
    band = LINES | {
        "x": [low, low, high, high],
        "y": [0, 1, 1, 0],
        "line": {"color": BOUND, "width": 1.5, "dash": "dash"},
        "fill": "toself",
        "fillcolor": faded(BOUND, 0.12),
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return [band, _text(x, 0.5, text, f"middle {side}")]


def _near(x: float, y: float, text: str, side: str) -> Trace:
    """Return a text above or below a place, within the picture."""
    return _text(x, y, text, f"{side} {'right' if x < 0.15 else 'left' if x > 0.85 else 'center'}")


def _text(x: float, y: float, text: str, side: str) -> Trace:
    quiet = {"mode": "markers+text", "marker": {"size": 8, "opacity": 0}, "showlegend": False, "hoverinfo": "skip"}
    return {"type": "scatter", "x": [x], "y": [y], "text": [text], "textposition": side, "cliponaxis": False} | quiet


def _to_peak(density: FloatArray) -> FloatArray:
    """Scale to an interior peak of 1; infinite values at 0 or 1 are cut."""
    peak = float(density[2:-2].max()) or 1.0
    return np.minimum(density / peak, 1.0)


def shift_figure(
    epsilons: FloatArray, shifts: FloatArray, *, here: tuple[float, float], variation: float, needed: float | None
) -> Figure:
    """Draw by how much samples are shifted, in percentage points, and the epsilon that is `needed`.

    `here` is the chosen epsilon and its shift, and `variation` the standard deviation without privacy.
    """
    lines, (first, last) = [chosen_epsilon(epsilons, here[0])], epsilons[[0, -1]]
    most = 1.25 * float(max(shifts.max(), variation))
    side = "bottom right" if variation > most / 8 else "top right"
    dashed = {"x": [first, last], "y": [variation, variation], "line": {"color": EXACT, "dash": "dash"}}
    traces: list[Trace] = [
        LINES | dashed | {"showlegend": False},
        line_of(Look("shift", PURPLE, width=3), epsilons, shifts, showlegend=False),
        _text(float(first), variation, f"variation without privacy: {numeral(variation, 2)}", side),
        _marked(*here, f"{numeral(round(here[1], 1))} points", PURPLE, "top"),
    ]
    if needed is not None:
        lines.append(upright(needed, {"color": EXACT, "width": 2}) | {"layer": "below"})
        away = {"textposition": "middle left"} if here[0] > needed else {}  # from the line of the chosen epsilon
        traces.append(_marked(needed, 0.96 * most, f"ε needed: {numeral(needed)}", EXACT, "middle") | away)
    y = titled("mean shift, percentage points", range=[0, most])
    return figure_of(traces, x=epsilon_axis(epsilons), y=y, height=380, shapes=lines)


def _marked(epsilon: float, y: float, text: str, colour: str, above: str) -> Trace:
    """Return a dot with a text at its right, where the falling curve leaves room, but for the end of the axis."""
    return value_mark(epsilon, y, text, colour) | {"textposition": f"{above} {'right' if epsilon <= 12 else 'left'}"}


def game_figure(answers: FloatArray, belief: FloatArray, *, marked: float, colour: str) -> Figure:
    """Draw the attacker's probability for the true table, (J, G) over answers (J,): median and 90% of games.

    A line is at the `marked` number of answers.
    """
    low, middle, high = np.quantile(belief, [0.05, 0.5, 0.95], axis=1)
    traces = [
        band_of(answers, low, high, faded(colour, 0.18), name="90% of games", showlegend=True),
        LINES | {"x": answers, "y": middle, "line": {"color": colour, "width": 3}, "name": "median game"},
    ]
    return figure_of(
        traces,
        x=_answers_axis(answers),
        y=titled("attacker’s belief in the true value", range=[0, 1.02], tickformat=PERCENT),
        height=400,
        shapes=[chosen_epsilon(answers, marked)],
    )


def adversary_figure(right: Curve, limits: Mapping[Look, FloatArray], *, level: float) -> Figure:
    """Draw how often the attacker is right, with two standard errors, and the limits (J,) for any attacker.

    Args:
        right: The share of games against the number of answers.
        limits: The limits at the same numbers of answers, by their looks.
        level: A share of games, which is drawn as a line.
    """
    x, y, doubt = right.x, right.y, 2 * right.error
    traces: list[Trace] = [
        LINES
        | {"x": x[[0, -1]], "y": [level, level], "line": {"color": BOUND, "width": 1}}
        | {"showlegend": False, "hoverinfo": "skip"},
        band_of(x, y - doubt, y + doubt, faded(right.look.colour, 0.25), name="± 2 standard errors"),
        line_of(right.look, x, y),
        *(line_of(look, x, limit) for look, limit in limits.items()),
    ]
    tick = {"tickvals": [0.5, 0.6, 0.7, 0.8, 0.9, level, 1], "tickformat": PERCENT}
    y_axis = titled("share of games in which the attacker is right", range=[0.48, 1.03], **tick)
    return figure_of(traces, x=_answers_axis(x), y=y_axis, height=400)


def _answers_axis(answers: FloatArray) -> Axis:
    """Return the logarithmic axis of numbers of answers (J,)."""
    most = float(answers[-1])
    return log_axis("answers that the attacker has seen", 1, most, range=[0, float(np.log10(1.1 * most))])
