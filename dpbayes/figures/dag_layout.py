"""Places for the nodes of a DAG: parents above children, few crossings, everything inside the box."""

import math

import networkx as nx

WIDTH, HEIGHT = 1000.0, 600.0
MARGIN_X, MARGIN_Y = 80.0, 50.0
EDGE = 25.0
MOST_LEVELS = 4
"""Heights, at most, at which the nodes of one layer stand."""


def layered_positions(graph: "nx.DiGraph[str]", *, sweeps: int = 12) -> dict[str, tuple[float, float]]:
    """Return (x, y) for every node of an acyclic graph: layers by longest path, ordered by neighbours' centres."""
    layers = _layers(graph)
    place = {node: (i + 0.5) / len(layer) for layer in layers for i, node in enumerate(layer)}
    for sweep in range(sweeps):
        downward = sweep % 2 == 0
        for layer in layers if downward else reversed(layers):
            around = graph.pred if downward else graph.succ
            wish = {v: _mean([place[u] for u in around[v]], place[v]) for v in layer}
            layer.sort(key=lambda v: (wish[v], place[v]))
            place.update({node: (i + 0.5) / len(layer) for i, node in enumerate(layer)})
    spread = (WIDTH - 2 * MARGIN_X) if len(graph) > 1 else 0
    gap = (HEIGHT - 2 * MARGIN_Y) / max(1, len(layers) - 1)
    return {
        # Neighbours in a crowded layer step down a little, so that long names do not touch.
        node: (
            MARGIN_X + spread * place[node] if spread else WIDTH / 2,
            _stagger(MARGIN_Y + depth * gap if len(layers) > 1 else HEIGHT / 2, i, len(layer), gap),
        )
        for depth, layer in enumerate(layers)
        for i, node in enumerate(layer)
    }


def _layers(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Layers by longest path, with each root moved down to just above its first child, so the top is not crowded."""
    depth = {node: d for d, layer in enumerate(nx.topological_generations(graph)) for node in layer}
    for node in graph:
        if not graph.pred[node] and graph.succ[node]:
            depth[node] = min(depth[child] for child in graph.succ[node]) - 1
    return [sorted(node for node in graph if depth[node] == d) for d in range(max(depth.values()) + 1)]


def _stagger(y: float, index: int, size: int, gap: float) -> float:
    """The height of one of `size` nodes of the layer at height `y`, kept off the edges of the box."""
    levels = min(math.ceil(size / 5), MOST_LEVELS) if size > 6 else 1
    drop = 0.36 * min(gap, 120.0 * (levels - 1))  # from the highest of the layer to its lowest
    middle = min(max(y, EDGE + drop / 2), HEIGHT - EDGE - drop / 2)
    return middle + drop * ((index % levels) / (levels - 1) - 0.5) if levels > 1 else y


def _mean(values: list[float], default: float) -> float:
    return math.fsum(values) / len(values) if values else default  # in whatever order neighbours are listed
