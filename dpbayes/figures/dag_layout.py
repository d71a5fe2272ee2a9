"""Positions of the nodes of a DAG: parents above children, few crossings, all nodes inside the box."""

import math
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

WIDTH, HEIGHT = 1000.0, 600.0
MARGIN_X, MARGIN_Y = 80.0, 50.0
EDGE = 25.0
PER_LEVEL, MOST_LEVELS, STEP = 5, 4, 48.0
"""Most nodes of a layer at one height, most heights of a layer, and the largest distance of two heights."""


def layered_positions(
    nodes: Iterable[str], arrows: Iterable[tuple[str, str]], *, sweeps: int = 12
) -> dict[str, tuple[float, float]]:
    """Return (x, y) for every node of an acyclic graph: layers by longest path, ordered by neighbours' centres."""
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    children: dict[str, list[str]] = {node: [] for node in parents}
    for parent, child in arrows:
        parents[child].append(parent)
        children[parent].append(child)
    layers = _layers(parents, children)
    place = {node: (i + 0.5) / len(layer) for layer in layers for i, node in enumerate(layer)}
    for sweep in range(sweeps):
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
    top, foot = (MARGIN_Y if end == 1 else EDGE for end in (levels[0], levels[-1]))
    room = HEIGHT - top - foot
    step = min(STEP, room / max(1, sum(levels) - 1))
    steps = step * (sum(levels) - len(levels))
    gap = (room - steps) / max(1, len(levels) - 1)
    heights, y = [], top if len(sizes) > 1 else (HEIGHT - steps) / 2
    for count in levels:
        heights.append([y + step * level for level in range(count)])
        y = heights[-1][-1] + gap
    return heights


def _mean(values: list[float], default: float) -> float:
    return math.fsum(values) / len(values) if values else default  # the same for every order of the neighbours
