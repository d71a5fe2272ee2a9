"""Pictures of posterior sampling: a trimmed row and its samples, errors by their number, and the query game."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, INVALID
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    LINES,
    PERCENT,
    Figure,
    Trace,
    band_of,
    faded,
    figure_of,
    log_axis,
    plain,
    probabilities,
    titled,
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


def omega_figure(
    epsilon: FloatArray,
    certified: FloatArray,
    printed: FloatArray,
    *,
    chosen: tuple[float, float],
    colour: str,
) -> Figure:
    """Draw omega over epsilon (grid,); red where the paper's omega is too small, with a dot at the chosen setting."""
    safe = printed >= certified * (1 - 1e-9)
    violated = printed < certified * (1 - 1e-9)
    at = {"type": "scatter", "mode": "markers", "x": [chosen[0]], "y": [chosen[1]], "name": "chosen"}
    traces = [LINES | {"x": epsilon, "y": certified, "line": {"color": colour, "width": 3}, "name": "proved"}]
    for where, hue, said in ((safe, BOUND, ""), (violated, INVALID, ", too small")):
        if where.any():
            line: Trace = {"line": {"color": hue, "width": 2, "dash": "dash"}}
            line["name"] = f"paper: exp(−ε/2){said}"
            line["showlegend"] = bool(where.sum() > SEEN * np.isfinite(printed).sum())
            traces.append(LINES | line | {"x": epsilon, "y": np.where(where, printed, np.nan)})
    traces.append(at | {"marker": _marker("circle", colour, 10)})
    return figure_of(
        traces,
        x=log_axis("privacy loss ε of all samples", float(epsilon[0]), float(epsilon[-1])),
        y=titled("least probability ω", range=[0, 0.52]),
        height=380,
    )


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
    answers: FloatArray,
    right: FloatArray,
    error: FloatArray,
    *,
    level: float,
    colour: str,
    marks: Sequence[tuple[str, float, bool]],
) -> Figure:
    """Draw how often the attacker is right (J,) with two standard errors; `marks` are (name, answers, is valid)."""
    low, high, name = right - 2 * error, right + 2 * error, "± 2 standard errors"
    traces: list[Trace] = [
        band_of(answers, low, high, faded(colour, 0.25), name=name, showlegend=True),
        LINES | {"x": answers, "y": right, "line": {"color": colour, "width": 3}, "name": "simulated"},
    ]
    for (name, at, valid), y in zip(marks, (0.68, 0.6, 0.52), strict=False):
        line = {"color": BOUND if valid else INVALID, "width": 2, "dash": "dash"}
        texts = {"text": ["", name, ""], "textposition": "middle right", "mode": "lines+text"}
        traces.append(LINES | texts | {"x": [at] * 3, "y": [0.5, y, 1.0], "line": line, "showlegend": False})
    most = 3 * max(float(answers[-1]), *(at for _, at, _ in marks))  # room for the texts
    needed = {"x": [1, most], "y": [level, level], "text": [f"{level:.0%} of games", ""], "mode": "lines+text"}
    needed |= {"textposition": "top right", "line": {"color": BOUND, "width": 1}, "showlegend": False}
    traces.append(LINES | needed)
    return figure_of(
        traces,
        x=log_axis(ANSWERS, 1, most, range=[0, float(np.log10(most))]),
        y=titled("share of games won", range=[0.48, 1.02], tickformat=PERCENT),
        height=400,
    )


def _marker(symbol: str, colour: str, size: int) -> dict[str, Any]:
    return {"symbol": symbol, "color": colour, "size": size}
