"""What the public learns of one answer: its density in one release, and the answers of possible releases as dots."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import LINES, Axis, Figure, Trace, faded, figure_of, plain, titled, upright

STRIP, CURVES = [0.0, 0.35], [0.53, 1.0]
"""The parts of the picture's height for the dots, and above them for the densities."""

BETWEEN = 0.435
"""The height between them, where texts cover nothing."""

FEW, FEW_STRIP, FEW_CURVES, FEW_BETWEEN, LOW = 10, [0.0, 0.12], [0.22, 1.0], 0.17, 400
"""The most releases that are few; the same parts for these, and the height of their picture in pixels."""

COLUMNS, TALLEST = 90, 16
"""Columns of the largest dots over the axis, and how many of these dots are on each other at most."""

SIZES = (6, 5, 4, 3)
"""Diameters of dots in pixels; the largest whose stacks have room is used, and the smallest overlap if none has."""

TABLE, READER, OTHERS = "the table (never published)", "a reader’s conclusion", "other possible releases"
RANGE, CREDIBLE = "95 of 100 releases", "what stays unknown: 95% credible interval"
"""Names of the curves, the dots and the band."""

LABEL = 0.012
"""The share of the axis that a letter beside a line needs."""

SPACE, MARGIN = "\u00a0\u00a0", {"l": 84, "r": 48, "t": 34, "b": 52}
"""What keeps a text off a band, and margins with room for it at the right of the picture."""

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
        interval: The ends between which 95 of 100 releases answer, for the curator; of one release, its interval.
        decimals: Those of these ends as texts.
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
    decimals: int = 2
    is_prior: bool = False


def frame_height(theta: FloatArray, density: FloatArray) -> float:
    """Return the height of a frame for a density (grid,), which is decided by its part away from both ends."""
    low, high = np.quantile(theta[[0, -1]], (0.02, 0.98))
    inner = density[(theta > low) & (theta < high)]
    return max(LEAST_TOP, 1.15 * float(np.max(inner[np.isfinite(inner)], initial=0.0)))


def answer_figure(answers: AnswerPicture, *, name: str, colour: str = PRIVATE) -> Figure:
    """Draw the densities, and below them possible releases as stacked dots; the filled dot is this release.

    A density that leaves the frame is cut off, and the picture states how much of it is at the ends.

    Args:
        answers: The answer in this release and in others.
        name: What the probability is of, for the axis.
        colour: The colour of the mechanism.
    """
    traces: list[Trace] = []
    is_few, is_single = len(answers.releases) <= FEW, len(answers.releases) == 1
    strip, curves, between = (FEW_STRIP, FEW_CURVES, FEW_BETWEEN) if is_few else (STRIP, CURVES, BETWEEN)
    notes, shapes = [*_ends(answers), *_outside(answers)], []
    if answers.exact is not None:
        fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
        line = {"line": {"color": EXACT, "width": 3}, "name": TABLE}
        traces.append(LINES | {"x": answers.theta, "y": answers.exact, "hoverinfo": "skip"} | line | fill)
    if answers.density is not None:
        curve: Trace = {"x": answers.theta, "y": np.minimum(answers.density, 1.05 * answers.top)}
        curve["line"] = {"color": faded(colour, 0.35 if answers.is_prior else 1.0), "width": 3, "simplify": False}
        traces.append(LINES | curve | {"name": READER, "showlegend": False, "hoverinfo": "skip"})
    if answers.interval is not None:
        band = {"name": CREDIBLE if is_single else RANGE, "showlegend": is_single}  # or else the headline names it
        traces += [_range(answers.interval, colour) | band, _named_ends(answers.interval, answers.decimals)]
    if answers.answer is not None:
        dots = {"color": EXACT, "width": 1.5, "dash": "dot"}
        shapes = [upright(answers.answer, dots) | {"yref": "paper", "layer": "below"}]
        notes.append(_beside(answers.answer, answers.span) | {"y": between})
    hidden: Axis = {"showticklabels": False, "showgrid": False, "zeroline": True}
    return figure_of(
        [*traces, *_dots(answers, colour)],
        x=titled(f"{plain(name, 80)}{_enlarged(answers.span)}", range=list(answers.span), anchor="y2"),
        y=titled("", range=[0, answers.top], domain=curves, **hidden),
        yaxis2=titled("", range=[0, 1], domain=strip, **hidden),
        annotations=notes,
        shapes=shapes,
        height=LOW if is_few else 480,
        margin=MARGIN,
        **({"meta": {"rows": True}} if is_few else {}),  # no higher on a large screen
    )


def range_figure(low: float, high: float, *, mark: float, name: str, colour: str = PRIVATE, **axis: Any) -> Figure:
    """Draw a range of probabilities as a band on the whole axis, with its properties, and a named line at `mark`."""
    band = _range((max(low, 0.0), min(high, 1.0)), colour) | {"yaxis": "y", "showlegend": False}
    named = _beside(mark, (0.0, 1.0)) | {"y": 0.85, "text": f"<b>{name}</b>"}
    x = titled("", range=[-0.01, 1.01], **axis)
    y: Axis = titled("", range=[0, 2], visible=False)
    rest = {"shapes": [upright(mark, {"color": EXACT, "width": 3})], "margin": {"l": 12, "r": 22, "t": 4, "b": 28}}
    return figure_of([band], x=x, y=y, annotations=[named], height=96, meta={"rows": True}, **rest)


def _beside(answer: float, span: tuple[float, float]) -> dict[str, Any]:
    """Return the name of the line at the table's answer, on the side that has more room."""
    side = {"xanchor": "left", "xshift": 6} if answer < sum(span) / 2 else {"xanchor": "right", "xshift": -6}
    place = {"x": answer, "yref": "paper", "yanchor": "middle", "showarrow": False}
    return place | side | {"text": "the table’s answer"}


def _named_ends(interval: tuple[float, float], decimals: int) -> Trace:
    """Return the ends of a band as texts on its outer sides."""
    low, high = (f"{end:.{decimals}f}" for end in interval)
    texts = {"text": [f"{low}{SPACE}", f"{SPACE}{high}"], "textposition": ["middle left", "middle right"]}
    look = {"mode": "text", "yaxis": "y2", "showlegend": False, "hoverinfo": "skip", "cliponaxis": False}
    return {"type": "scatter", "x": list(interval), "y": [0.85, 0.85]} | texts | look


def _enlarged(span: tuple[float, float]) -> str:
    """Return which part of the axis is shown, in bold; "" for the whole axis."""
    return "" if span == (0.0, 1.0) else f"<br><b>enlarged: {span[0]:g} to {span[1]:g}</b>"


def _range(interval: tuple[float, float], colour: str) -> Trace:
    """Return the range of answers as a band behind the dots."""
    low, high = interval
    band: Trace = {"x": [low, high, high, low, low], "y": [0.0, 0.0, 1.0, 1.0, 0.0], "fill": "toself", "yaxis": "y2"}
    band |= {"fillcolor": faded(colour, 0.22), "line": {"color": faded(colour, 0.8), "width": 1.5}}
    return LINES | band | {"hoverinfo": "skip"}


def _dots(answers: AnswerPicture, colour: str) -> list[Trace]:
    """Return possible releases in stacks, and this one as a filled dot among them."""
    x, y, size = _stacked(answers.releases, answers.span)
    strength = 0.4 if answers.is_prior else 1.0
    hollow = {"color": faded(colour, 0.2 * strength), "size": size}
    hollow["line"] = {"color": faded(colour, strength), "width": 1}
    if size < SIZES[0]:  # too small for an outline
        hollow |= {"color": faded(colour, 0.6 * strength), "line": {"color": faded(colour, 0.6 * strength), "width": 0}}
    this = [answers.this]
    filled = {"x": x[this], "y": y[this], "marker": {"color": colour, "size": 9}, "name": READER}
    filled["mode"] = "markers" if answers.density is None else "lines+markers"  # which the legend shows
    others = {"x": x, "y": y, "marker": hollow, "name": OTHERS, "mode": "markers"}
    dots = [filled] if len(x) == 1 else [others, filled]
    same: Trace = {"type": "scatter", "yaxis": "y2", "cliponaxis": False, "hoverinfo": "skip"}
    same["line"] = {"color": colour, "width": 3}
    return [same | one for one in dots]


def _stacked(values: FloatArray, span: tuple[float, float]) -> tuple[FloatArray, FloatArray, int]:
    """Return places of dots in stacks from the median on, and the size of these dots."""
    middle, order = float(np.median(values)), np.argsort(np.argsort(values, kind="stable"))
    for size in SIZES:
        unit = (span[1] - span[0]) / COLUMNS * size / SIZES[0]
        stacks = np.round((np.clip(values, span[0] + unit / 2, span[1] - unit / 2) - middle) / unit)
        rows = (stacks[:, None] == stacks) & (order < order[:, None])
        heights, room = rows.sum(axis=1), TALLEST * SIZES[0] // size
        if heights.max(initial=0) < room:
            break
    most = max(min(room, len(values)), heights.max(initial=0) + 1)
    return middle + unit * stacks, (heights + 0.5) / most, size


def _ends(answers: AnswerPicture) -> list[dict[str, Any]]:
    """Return notes on the probability of this release beyond the points where it leaves the frame, at either end."""
    if answers.density is None:
        return []
    outside, middle = answers.density > answers.top, len(answers.theta) // 2
    masses, near = answers.density * np.gradient(answers.theta), LABEL * (answers.span[1] - answers.span[0])
    notes = []
    for side, inner in ((slice(None, middle), max), (slice(middle, None), min)):
        if outside[side].any():
            x, mass = inner(answers.theta[side][outside[side]]), float(masses[side][outside[side]].sum())
            if answers.answer is not None and abs(x - answers.answer) < near:
                x = inner(x, answers.answer)  # the text covers no line
            text = f"▴ cut off: {100 * min(mass, 1.0):.0f}% of the area"
            notes.append(_beside(float(x), answers.span) | {"y": 0.99, "yanchor": "top", "text": text})
    return notes


def _outside(answers: AnswerPicture) -> list[dict[str, Any]]:
    """Return notes on the releases whose answers lie on either side of what is shown."""
    low, high = answers.span
    below, above = (int(np.count_nonzero(side)) for side in (answers.releases < low, answers.releases > high))
    left = {"x": 0.02, "xanchor": "left", "text": f"◂ {many(below, 'release')} further left"}
    right = {"x": 0.98, "xanchor": "right", "text": f"{many(above, 'release')} further right ▸"}
    place = {"xref": "paper", "yref": "paper", "y": BETWEEN, "showarrow": False}
    return [place | note for number, note in ((below, left), (above, right)) if number]
