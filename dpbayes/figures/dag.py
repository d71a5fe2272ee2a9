"""A picture of a DAG: the places of its nodes, and an SVG for a page, or a figure for a notebook."""

import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from html import escape

import numpy as np

from dpbayes.base.looks import BOUND, EXACT
from dpbayes.figures.style import Axis, Figure, figure_of, plain

Place = tuple[float, float]

FONT, LETTER, TALL, EDGE = 16.0, 9.5, 30.0, 24.0
"""Height of letters, width of a letter, height of a node, and the margin, in units of the drawing."""

INK = "#1b1f24"


def dag_svg(places: Mapping[str, Place], arrows: Sequence[tuple[str, str]], *, caption: str) -> str:
    """Return the text of an SVG: every node with its whole name at its place, arrows from border to border.

    `caption` is its title for screen readers.
    """
    boxes = {name: _wide(name) / 2 for name in places}
    left = min((x - boxes[name] for name, (x, _) in places.items()), default=0.0) - EDGE
    right = max((x + boxes[name] for name, (x, _) in places.items()), default=0.0) + EDGE
    top = min((y for _, y in places.values()), default=0.0) - TALL / 2 - EDGE
    height = max((y for _, y in places.values()), default=0.0) + TALL / 2 + 1.5 * EDGE - top
    box = f"{left:.1f} {top:.1f} {right - left:.1f} {height:.1f}"
    drawn = [
        *(_arrow(places[parent], places[child], boxes[parent], boxes[child]) for parent, child in arrows),
        *(_node(name, place, boxes[name]) for name, place in places.items()),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{right - left:.0f}" height="{height:.0f}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT:g}" fill="{INK}">\n'
        f"<title>{escape(caption)}</title>\n"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{INK}"/></marker></defs>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def dag_mask(places: Mapping[str, Place], arrows: Sequence[tuple[str, str]], *, caption: str = "") -> str:
    """Return the drawing as a mask in CSS, which has the colour of the page's text in any theme of the browser."""
    svg = dag_svg(places, arrows, caption=caption)
    width, height = re.findall(r'(?:width|height)="([0-9]+)"', svg)[:2]
    code = b64encode(svg.encode()).decode()
    return f"aspect-ratio: {width} / {height}; mask-image: url(data:image/svg+xml;base64,{code})"


def _wide(name: str) -> float:
    return max(TALL, LETTER * len(name) + 24)


def _node(name: str, place: Place, half: float) -> str:
    x, y = place
    return (
        f'<g class="node"><rect x="{x - half:.1f}" y="{y - TALL / 2:.1f}" width="{2 * half:.1f}" height="{TALL:g}" '
        f'rx="{TALL / 2:g}" fill="none" stroke="{EXACT}" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{y + FONT / 3:.1f}" text-anchor="middle">{escape(name)}</text></g>'
    )


def _arrow(start: Place, end: Place, half_start: float, half_end: float) -> str:
    (x1, y1), (x2, y2) = _border(start, end, half_start), _border(end, start, half_end)
    return (
        f'<line class="arrow" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{INK}" '
        'stroke-width="1.5" marker-end="url(#tip)"/>'
    )


def _border(place: Place, towards: Place, half: float) -> Place:
    """Return where the way to another place leaves a node's box; the middle where the two lie on each other."""
    across, down = towards[0] - place[0], towards[1] - place[1]
    ways = [size / abs(step) for size, step in ((half, across), (TALL / 2, down)) if step]
    share = min([1.0, *ways]) if ways else 0.0
    return place[0] + share * across, place[1] + share * down


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


# The places of the nodes: parents above children, few crossings, all nodes inside the box


WIDTH, HEIGHT = 1000.0, 600.0
MARGIN_X, MARGIN_Y = 80.0, 50.0
BORDER = 25.0
PER_LEVEL, MOST_LEVELS, STEP = 5, 4, 48.0
"""Most nodes of a layer at one height, most heights of a layer, and the largest distance of two heights."""
RING = range(3, 13)
"""Numbers of nodes without arrows that are on an ellipse."""
_SWEEPS = 12
"""How often the layers are ordered, alternately from above and from below."""


def layered_positions(nodes: Iterable[str], arrows: Iterable[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Return (x, y) for every node of an acyclic graph: layers by longest path, ordered by neighbours' centres.

    A few nodes without arrows are on an ellipse, so that an arrow between any two passes no third one.
    """
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    children: dict[str, list[str]] = {node: [] for node in parents}
    for parent, child in arrows:
        parents[child].append(parent)
        children[parent].append(child)
    if len(parents) in RING and not any(parents.values()):
        turns = 2 * np.pi * (np.arange(len(parents)) + 0.5) / len(parents)
        x, y = WIDTH / 2 + (WIDTH / 2 - MARGIN_X) * np.sin(turns), HEIGHT / 2 - (HEIGHT / 2 - MARGIN_Y) * np.cos(turns)
        return dict(zip(parents, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    layers = _layers(parents, children)
    place = {node: (i + 0.5) / len(layer) for layer in layers for i, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        for layer in layers if downward else reversed(layers):
            around = parents if downward else children
            wish = {v: _mean([place[u] for u in around[v]], place[v]) for v in layer}
            layer.sort(key=lambda v: (wish[v], place[v]))
            place.update({node: (i + 0.5) / len(layer) for i, node in enumerate(layer)})
    spread = (WIDTH - 2 * MARGIN_X) if len(parents) > 1 else 0
    heights = _heights([len(layer) for layer in layers])
    return {
        # Neighbours in a crowded layer have different heights, so that long names do not touch.
        node: (MARGIN_X + spread * place[node] if spread else WIDTH / 2, levels[i % len(levels)])
        for layer, levels in zip(layers, heights, strict=True)
        for i, node in enumerate(layer)
    }


ROOM, ROW = 380.0, 56.0
"""The width of a small drawing, in which names are legible beside the pictures, and the distance of its rows."""


def places_in_rows(places: Mapping[str, Place], arrows: Iterable[tuple[str, str]]) -> dict[str, Place]:
    """Return (x, y) for a small drawing: nodes of one height in rows of the width ROOM, nodes without arrows last."""
    arrows = list(arrows)
    linked = {name for arrow in arrows for name in arrow}
    rows: list[list[str]] = []
    before = None
    for name in sorted(places, key=lambda name: (name not in linked, name in linked and places[name][1], places[name])):
        level = places[name][1] if name in linked else "without arrows"
        if level != before or sum(map(_wide, rows[-1])) + _wide(name) + EDGE * len(rows[-1]) > ROOM:
            rows.append([])
        rows[-1].append(name)
        before = level
    positions = {}
    for k, row in enumerate(rows):
        wide = list(map(_wide, row))
        gap = max(EDGE, (ROOM - sum(wide)) / (len(row) + 1))
        left = (ROOM - sum(wide) - gap * (len(row) - 1)) / 2
        for i, name in enumerate(row):
            positions[name] = (left + sum(wide[:i]) + gap * i + wide[i] / 2, ROW * k)
    for name in (row[0] for row in rows if len(row) == 1):
        x, y = positions[name]
        if any(abs(across - x) < _wide(name) / 2 for across in _crossings(positions, arrows, y)):
            positions[name] = (x + _wide(name), y)
    return positions


def _crossings(places: Mapping[str, Place], arrows: Iterable[tuple[str, str]], y: float) -> list[float]:
    """Return where arrows that begin above a height and end below it are at this height."""
    ends = [(places[parent], places[child]) for parent, child in arrows]
    return [x0 + (x1 - x0) * (y - y0) / (y1 - y0) for (x0, y0), (x1, y1) in ends if min(y0, y1) < y < max(y0, y1)]


def _layers(parents: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return layers by longest path; each root moves down to the layer above its first child."""
    depth: dict[str, int] = {}
    sorter = TopologicalSorter(parents)
    sorter.prepare()
    while sorter.is_active():
        layer = sorter.get_ready()
        depth.update(dict.fromkeys(layer, max(depth.values(), default=-1) + 1))
        sorter.done(*layer)
    for node in parents:
        if not parents[node] and children[node]:
            depth[node] = min(depth[child] for child in children[node]) - 1
    return [sorted(node for node in parents if depth[node] == d) for d in range(max(depth.values()) + 1)]


def _heights(sizes: list[int]) -> list[list[float]]:
    """Return the heights of the nodes of each layer, for layers of these sizes."""
    levels = [min(math.ceil(size / PER_LEVEL), MOST_LEVELS) for size in sizes]
    top, foot = (MARGIN_Y if end == 1 else BORDER for end in (levels[0], levels[-1]))
    room = HEIGHT - top - foot
    step = min(STEP, room / max(1, sum(levels) - 1))
    steps = step * (sum(levels) - len(levels))
    gap = (room - steps) / max(1, len(levels) - 1)
    if len(sizes) == 1:  # without arrows
        return [[HEIGHT * (level + 0.5) / levels[0] for level in range(levels[0])]]
    heights, y = [], top
    for count in levels:
        heights.append([y + step * level for level in range(count)])
        y = heights[-1][-1] + gap
    return heights


def _mean(values: list[float], default: float) -> float:
    return math.fsum(values) / len(values) if values else default  # the same for every order of the neighbours
