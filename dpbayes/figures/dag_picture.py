"""A picture of a DAG: an SVG file for a paper or a slide, or a figure for a notebook."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from dpbayes.base.looks import BOUND, EXACT
from dpbayes.figures.style import Axis, Figure, figure_of, plain

Place = tuple[float, float]

FONT, LETTER, TALL, EDGE = 16.0, 9.5, 30.0, 24.0
"""Height of letters, width of a letter, height of a node, and the margin, in units of the drawing."""

INK, PAPER = "#1b1f24", "#ffffff"


def dag_svg(
    places: Mapping[str, Place], arrows: Sequence[tuple[str, str]], *, caption: str, ink: str = INK, bare: bool = False
) -> str:
    """Return the text of an SVG: every node with its whole name at its place, arrows from border to border.

    `caption` is below the picture, and is its title for screen readers. The picture is as wide as names and words need.
    A `bare` picture has no background and no caption.
    """
    words, paper = ([], "none") if bare else (caption.split(), PAPER)
    boxes = {name: _wide(name) / 2 for name in places}
    left = min((x - boxes[name] for name, (x, _) in places.items()), default=0.0) - EDGE
    right = max((x + boxes[name] for name, (x, _) in places.items()), default=0.0) + EDGE
    lines = _lines(words, (right - left - 2 * EDGE) / (0.8 * LETTER))
    top = min((y for _, y in places.values()), default=0.0) - TALL / 2 - EDGE
    foot = max((y for _, y in places.values()), default=0.0) + TALL / 2 + EDGE
    right = max(right, left + 2 * EDGE + 0.8 * LETTER * max(map(len, lines), default=0))
    height = foot - top + 20 * len(lines) + EDGE / 2
    box = f"{left:.1f} {top:.1f} {right - left:.1f} {height:.1f}"
    drawn = [
        *(_arrow(places[parent], places[child], boxes[parent], boxes[child], ink) for parent, child in arrows),
        *(_node(name, place, boxes[name], paper) for name, place in places.items()),
        *(
            f'<text x="{left + EDGE:.1f}" y="{foot + 20 * k + 6:.1f}" font-size="13">{escape(line)}</text>'
            for k, line in enumerate(lines)
        ),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{right - left:.0f}" height="{height:.0f}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT:g}" fill="{ink}">\n'
        f"<title>{escape(caption)}</title>\n"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{ink}"/></marker></defs>\n'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="100%" height="100%" fill="{paper}"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _wide(name: str) -> float:
    return max(TALL, LETTER * len(name) + 24)


def _node(name: str, place: Place, half: float, paper: str) -> str:
    x, y = place
    return (
        f'<g class="node"><rect x="{x - half:.1f}" y="{y - TALL / 2:.1f}" width="{2 * half:.1f}" height="{TALL:g}" '
        f'rx="{TALL / 2:g}" fill="{paper}" stroke="{EXACT}" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{y + FONT / 3:.1f}" text-anchor="middle">{escape(name)}</text></g>'
    )


def _arrow(start: Place, end: Place, half_start: float, half_end: float, ink: str) -> str:
    (x1, y1), (x2, y2) = _border(start, end, half_start), _border(end, start, half_end)
    return (
        f'<line class="arrow" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{ink}" '
        'stroke-width="1.5" marker-end="url(#tip)"/>'
    )


def _border(place: Place, towards: Place, half: float) -> Place:
    """Return where the way to another place leaves a node's box; the middle where the two lie on each other."""
    across, down = towards[0] - place[0], towards[1] - place[1]
    ways = [size / abs(step) for size, step in ((half, across), (TALL / 2, down)) if step]
    share = min([1.0, *ways]) if ways else 0.0
    return place[0] + share * across, place[1] + share * down


def _lines(words: Sequence[str], room: float) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= max(room, 40):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def dag_figure(places: Mapping[str, Place], arrows: Sequence[tuple[str, str]]) -> Figure:
    """Draw every node at its place with its name, and arrows from node to node; the pointer shows parents."""
    x, y = np.array(list(places.values())).T if places else np.empty((2, 0))
    parents = {name: ", ".join(plain(parent) for parent, child in arrows if child == name) for name in places}
    nodes = {
        "type": "scatter",
        "mode": "markers+text",
        "x": x,
        "y": y,
        "text": [plain(name) for name in places],
        "textposition": "middle right",
        "marker": {"color": EXACT, "size": 14},
        "customdata": [parents[name] or "none" for name in places],
        "hovertemplate": "%{text}<br>parents: %{customdata}<extra></extra>",
        "cliponaxis": False,
    }
    drawn = [
        {"x": places[child][0], "y": places[child][1], "ax": places[parent][0], "ay": places[parent][1]}
        | {"xref": "x", "yref": "y", "axref": "x", "ayref": "y", "showarrow": True, "text": ""}
        | {"arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": BOUND, "standoff": 9, "startstandoff": 9}
        for parent, child in arrows
    ]
    hidden: Axis = {"visible": False}
    layout = {"annotations": drawn, "showlegend": False, "plot_bgcolor": "rgba(0,0,0,0)"}
    return figure_of([nodes], x=hidden, y=hidden | {"autorange": "reversed"}, height=460, **layout)
