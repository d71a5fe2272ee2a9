"""What the public sees of one answer: its density in one release, and the answers of possible releases as dots."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import LINES, Figure, Trace, faded, figure_of, plain, titled

DOTS_SHARE = 0.3
"""The share of the picture's height below the densities, for the dots."""

DOTS_FILL = 0.94
"""The part of that share which the tallest stack fills, so that its last dot is whole."""

COLUMNS = 60
"""Columns of dots over the axis."""

TALLEST = 16
"""Dots on each other at most before they overlap."""

PRIOR_ALONE = "nothing learned: this is the prior"
"""The text in the picture of a release that is all but the prior."""

LEAST_TOP = 4.0
"""The least height of the frame: a density of 1 everywhere, that of no knowledge, does not fill it."""


@dataclass(frozen=True, eq=False)
class AnswerPicture:
    """One probability, as the public sees it after one of many possible releases.

    Attributes:
        theta: The probabilities (grid,) at which densities are given.
        density: Its density in this release (grid,); None if a release is no posterior.
        releases: The answers of possible releases (releases,).
        this: Which of them is this release.
        top: The height of the frame, which does not depend on this release.
        span: The part of the axis that is shown.
        exact: The density in the table itself (grid,), for the curator.
        answer: The table's own answer, for the curator.
        interval: The ends between which 95 of 100 releases answer, for the curator.
        is_prior: Whether this release is all but the prior.
    """

    theta: FloatArray
    density: FloatArray | None
    releases: FloatArray
    this: int
    top: float
    span: tuple[float, float] = (0.0, 1.0)
    exact: FloatArray | None = None
    answer: float | None = None
    interval: tuple[float, float] | None = None
    is_prior: bool = False


def frame_height(density: FloatArray) -> float:
    """Return the height of a frame for a density (grid,), which is decided by its inner part."""
    inner = density[len(density) // 50 : -len(density) // 50 or None]
    return max(LEAST_TOP, 1.15 * float(np.max(inner[np.isfinite(inner)], initial=0.0)))


def answer_figure(answers: AnswerPicture, *, name: str, colour: str = PRIVATE) -> Figure:
    """Draw the densities above the axis and possible releases as dots below it; the filled dot is this release.

    A density that leaves the frame is cut off, and the picture states how much of it is at the ends.

    Args:
        answers: The answer in this release and in others.
        name: What the probability is of, for the axis.
        colour: The colour of the mechanism.
    """
    top = answers.top
    traces: list[Trace] = []
    if answers.exact is not None:
        fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
        line = {"line": {"color": EXACT, "width": 3}, "name": "the table itself (curator only)"}
        traces.append(LINES | {"x": answers.theta, "y": answers.exact, "hoverinfo": "skip"} | line | fill)
    if answers.density is not None:
        shown = np.minimum(answers.density, 1.05 * top)
        curve: Trace = {"x": answers.theta, "y": shown}
        curve["line"] = {"color": faded(colour, 0.35 if answers.is_prior else 1.0), "width": 3}
        traces.append(LINES | curve | {"name": "this release (public)", "hoverinfo": "skip"})
    below = -DOTS_SHARE / (1 - DOTS_SHARE) * top
    if answers.interval is not None:
        traces.append(_range(answers.interval, below, colour))
    traces += _dots(answers, colour)
    if answers.answer is not None:
        mark: Trace = {"x": [answers.answer] * 2, "y": [below, 0.0], "hoverinfo": "skip", "showlegend": False}
        traces.insert(1, LINES | mark | {"line": {"color": EXACT, "width": 1.5, "dash": "dot"}})
    middle = sum(answers.span) / 2
    side = 0.02 if answers.answer is None or answers.answer > middle else 0.98  # beside the table's own curve
    notes = [_note(side, 0.85, f"<b>{PRIOR_ALONE}</b>")] if answers.is_prior else []
    notes += [*_ends(answers), *_outside(answers)]
    return figure_of(
        traces,
        x=titled(f"{plain(name, 80)}{_enlarged(answers.span)}", range=list(answers.span)),
        y=titled("density", range=[below, top], showticklabels=False, zeroline=True),
        annotations=notes,
        height=480,
    )


def _enlarged(span: tuple[float, float]) -> str:
    """Return which part of the axis is shown, in bold; "" for the whole axis."""
    return "" if span == (0.0, 1.0) else f"<br><b>enlarged: {span[0]:g} to {span[1]:g}</b>"


def _range(interval: tuple[float, float], below: float, colour: str) -> Trace:
    """Return the range of answers as a band behind the dots."""
    low, high = interval
    band: Trace = {"x": [low, high, high, low, low], "y": [0.0, 0.0, below, below, 0.0], "fill": "toself"}
    band |= {"fillcolor": faded(colour, 0.22), "line": {"color": faded(colour, 0.8), "width": 1.5}}
    return LINES | band | {"name": "95 of 100 releases (simulated)", "hoverinfo": "skip"}


def _dots(answers: AnswerPicture, colour: str) -> list[Trace]:
    """Return possible releases, stacked downwards from the axis, and this one as a filled dot among them."""
    low, width = answers.span[0], answers.span[1] - answers.span[0]
    columns = np.clip(np.floor((answers.releases - low) / width * COLUMNS), 0, COLUMNS - 1)
    same = columns[:, None] == columns
    depths = np.tril(same).sum(axis=1)
    step = DOTS_FILL * answers.top * DOTS_SHARE / (1 - DOTS_SHARE) / max(TALLEST, depths.max(initial=0))
    x, y = low + width * (columns + 0.5) / COLUMNS, -depths * step
    hover = f"%{{x:.{2 - round(np.log10(width))}f}}<extra></extra>"
    marks = {"type": "scatter", "mode": "markers", "hovertemplate": hover, "cliponaxis": False}
    strength = 0.4 if answers.is_prior else 1.0
    hollow = {"color": faded(colour, 0.2 * strength), "size": 9}
    hollow["line"] = {"color": faded(colour, strength), "width": 1}
    this = [answers.this]
    filled = {
        "x": x[this],
        "y": y[this],
        "marker": {"color": colour, "size": 11},
        "name": "this release’s answer (public)",
    }
    others = {"x": x, "y": y, "marker": hollow, "name": f"{many(len(x), 'possible release')} (simulated)"}
    return [marks | filled] if len(x) == 1 else [marks | others, marks | filled]


def _ends(answers: AnswerPicture) -> list[dict[str, Any]]:
    """Return notes on the probability of this release beyond the points where it leaves the frame, at either end."""
    if answers.density is None:
        return []
    steps = np.diff(answers.theta, prepend=2 * answers.theta[0] - answers.theta[1])
    outside = answers.density > answers.top
    middle = len(outside) // 2
    notes = []
    for side, x in ((slice(None, middle), 0.02), (slice(middle, None), 0.98)):
        if outside[side].any():
            mass = float(np.sum(np.where(outside[side], answers.density[side] * steps[side], 0.0)))
            notes.append(_note(x, 0.97, f"{100 * min(mass, 1.0):.0f}% here"))
    return notes


def _outside(answers: AnswerPicture) -> list[dict[str, Any]]:
    """Return notes on the releases whose answers lie on either side of what is shown."""
    low, high = answers.span
    below, above = (int(np.count_nonzero(side)) for side in (answers.releases < low, answers.releases > high))
    notes = (
        (0.02, below, f"◂ {many(below, 'release')} further left"),
        (0.98, above, f"{many(above, 'release')} further right ▸"),
    )
    return [_note(x, 0.04, text) for x, number, text in notes if number]


def _note(x: float, y: float, text: str) -> dict[str, Any]:
    anchor = "left" if x < 0.1 else "right" if x > 0.9 else "center"
    return {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": anchor, "text": text, "showarrow": False}
