"""Pictures of posterior sampling: a trimmed row and its samples, their distance from the answer, and the query game."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, INVALID, Curve, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.accuracy import at_epsilon
from dpbayes.figures.style import (
    LINES,
    PERCENT,
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

ANSWERS, FEW = "answers that the attacker has seen", 9
"""The title of an axis, and below how many numbers it has all of them."""

SHOWN_DRAWS = 500
SEEN = 0.02
"""A part of a line below this share is too short to be visible, and has no legend entry."""


def trim_figure(
    densities: tuple[FloatArray, FloatArray | None, FloatArray],
    draws: FloatArray,
    *,
    region: tuple[float, float],
    name: str,
    colour: str,
) -> Figure:
    """Draw densities, each relative to its peak, the allowed region, and samples (N,) as ticks.

    `densities` are theta, the exact and the trimmed density, (grid,) each. Without an exact density, the trimmed one is
    that of the public prior.
    """
    theta, exact, trimmed = densities
    traces: list[Trace] = [_band(region)]
    if exact is not None:
        fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
        blue = {"x": theta, "y": _to_peak(exact), "line": {"color": EXACT, "width": 3}}
        traces.append(LINES | fill | blue | {"name": "exact posterior (curator view)"})
    line = {"color": colour, "width": 3} if exact is not None else {"color": BOUND, "width": 2}
    label = "trimmed posterior (curator view)" if exact is not None else "trimmed prior (public)"
    live = np.convolve(trimmed > 0, np.ones(3), mode="same") > 0  # and the zeros next to it
    traces.append(LINES | {"x": theta[live], "y": _to_peak(trimmed)[live], "line": line, "name": label})
    shown = draws[:SHOWN_DRAWS]
    ticks = {"symbol": "line-ns", "size": 16, "line": {"width": 2, "color": colour}, "color": colour}
    few = f", first {SHOWN_DRAWS}" if len(draws) > SHOWN_DRAWS else ""
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": shown,
            "y": np.full(len(shown), -0.07),
            "marker": ticks,
            "name": f"released samples{few}",
            "customdata": probabilities(shown),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    )
    return figure_of(
        traces,
        x=titled(f"sampled probability of {plain(name)}", range=[0, 1]),
        y=titled("density, relative to its peak", range=[-0.14, 1.12], tickvals=[0, 0.5, 1]),
    )


def _band(region: tuple[float, float]) -> Trace:
    low, high = region
    return LINES | {
        "x": [low, low, high, high],
        "y": [0, 1.1, 1.1, 0],
        "line": {"color": BOUND, "width": 1.5, "dash": "dash"},
        "fill": "toself",
        "fillcolor": faded(BOUND, 0.12),
        "name": "allowed region",
        "hoverinfo": "skip",
    }


def _to_peak(density: FloatArray) -> FloatArray:
    """Scale to an interior peak of 1; infinite values at 0 or 1 are cut."""
    peak = float(density[2:-2].max()) or 1.0
    return np.minimum(density / peak, 1.0)


def missed_figure(
    epsilons: FloatArray, distances: FloatArray, *, epsilon: float, needed: float | None, colour: str
) -> Figure:
    """Draw the typical distance of samples from the answer, in percentage points, and the epsilon that is needed."""
    curve = Curve(Look("samples", colour, width=3), epsilons, distances, np.zeros(len(epsilons)))
    lines, here = [chosen_epsilon(epsilons, epsilon)], at_epsilon(curve, float(np.clip(epsilon, *epsilons[[0, -1]])))
    most = 1.25 * float(distances.max())
    traces: list[Trace] = [
        line_of(curve.look, epsilons, distances),
        value_mark(epsilon, here, f"{numeral(here, 2)} points", colour, side="top right"),
    ]
    if needed is not None:
        lines.append(upright(needed, {"color": EXACT, "width": 2}))
        traces.append(value_mark(needed, 0.96 * most, f"needed: ε = {numeral(needed)}", EXACT, side="middle left"))
    y = titled("typical distance, percentage points", range=[0, most])
    return figure_of(traces, x=epsilon_axis(epsilons), y=y, height=380, shapes=lines)


def game_figure(
    answers: FloatArray, belief: FloatArray, ceilings: Sequence[tuple[str, FloatArray, bool]], *, colour: str
) -> Figure:
    """Draw the attacker's probability for the true table, (J, G) over answers (J,): median, 90% and the first game.

    `ceilings` are (name, values (J,), whether no game exceeds it).
    """
    low, middle, high = np.quantile(belief, [0.05, 0.5, 0.95], axis=1)
    traces = [
        band_of(answers, low, high, faded(colour, 0.18), name="90% of games", showlegend=True),
        LINES | {"x": answers, "y": belief[:, 0], "line": {"color": colour, "width": 1}, "name": "one game"},
        LINES | {"x": answers, "y": middle, "line": {"color": colour, "width": 3}, "name": "median of all games"},
    ]
    for name, values, kept in ceilings:
        line = {"color": BOUND if kept else INVALID, "width": 2, "dash": "dash"}
        traces.append(LINES | {"x": answers, "y": values, "line": line, "name": name})
    return figure_of(
        traces,
        x=titled(ANSWERS, range=[0, float(answers[-1])], **({"dtick": 1} if len(answers) < FEW else {})),
        y=titled("attacker’s belief in the true table", range=[0, 1.02], tickformat=PERCENT),
        height=400,
    )


def adversary_figure(
    right: Curve, *, level: float, bracket: tuple[float, float, str], stated: tuple[float, str, bool]
) -> Figure:
    """Draw how often the attacker is right, with two standard errors, and what the `level` takes.

    Args:
        right: The share of games against the number of answers.
        level: A share of games.
        bracket: The proved bounds of the number of answers that the level takes, and their text.
        stated: The number of answers that the paper states, its text, and whether it is valid.
    """
    x, y, doubt = right.x, right.y, 2 * right.error
    least, most, text = bracket
    end = 1.3 * max(float(x[-1]), most)
    quiet = {"showlegend": False, "hoverinfo": "skip", "cliponaxis": False}
    at, named, is_valid = stated
    colour = BOUND if is_valid else INVALID
    traces: list[Trace] = [
        LINES | quiet | {"x": [1, end], "y": [level, level], "line": {"color": BOUND, "width": 1}},
        band_of(x, y - doubt, y + doubt, faded(right.look.colour, 0.25), name="± 2 standard errors"),
        line_of(right.look, x, y),
        LINES | {"x": [least, most], "y": [level, level], "line": {"color": EXACT, "width": 5}, "name": text},
        LINES
        | quiet
        | {"x": [at], "y": [level], "mode": "markers+text", "text": [named], "textposition": "bottom right"},
    ]
    traces[-1] |= {"marker": _marker("circle" if is_valid else "x", colour, 10), "textfont": {"color": colour}}
    return figure_of(
        traces,
        x=log_axis(ANSWERS, 1, end, range=[0, float(np.log10(end))]),
        y=titled("share of games in which the attacker is right", range=[0.48, 1.03], tickformat=PERCENT),
        height=400,
    )


def _marker(symbol: str, colour: str, size: int) -> dict[str, Any]:
    return {"symbol": symbol, "color": colour, "size": size}
