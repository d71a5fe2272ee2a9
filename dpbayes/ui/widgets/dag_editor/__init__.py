"""An editor in which a person draws a Bayesian network, with mouse, finger or keyboard.

Streamlit shows given graphs, but has no element for drawing a graph.
"""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base.validation import InputError
from dpbayes.ui.session.graphs import Graph, drawable

WIDTH, HEIGHT = 1000, 600
"""The size of the box of positions. The browser determines its size on screen."""

KEY = "dag"
"""The key of the only editor of a page."""

SHOWN_HEIGHT = 480
"""The largest height of the drawing on screen, in pixels."""


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


# The four scripts share one module scope, because a component takes a single script.
_mount = st.components.v2.component(
    "dpbayes_dag_editor",
    html=_asset("dag_editor.html"),
    css=_asset("dag_editor.css"),
    js="\n".join(_asset(name) for name in ("graph.js", "picture.js", "pointer.js", "dag_editor.js")),
)


def dag_editor(
    drawing: Graph,
    *,
    rev: int,
    notes: Mapping[str, str],
    meanings: Mapping[str, str],
    fixed: bool,
    beyond: Mapping[str, Callable[[Graph], None]],
) -> Graph:
    """Show the editor and return the present drawing.

    The browser controls the drawing until `rev` changes, and then takes `drawing`. `notes` and `meanings` (by node) are
    tooltips, which may change in every run. A node with a note has a dashed border. If the nodes are `fixed`, the
    browser adds and renames none. Undo and Redo first use the browser's own steps since the last `rev`, and then the
    function of "undo" or "redo" in `beyond`, if Python has a drawing there. It is called with the drawing on screen
    before the page runs, and must increase `rev`.

    Errors: InputError when `drawing`, or what the browser sends, is not a drawing.
    """
    read_drawing(_plain(drawing))  # the browser does not check it

    def last() -> Graph:
        state = st.session_state.get(KEY, {})
        try:
            return read_sent(state.get("graph"), rev=rev, given=drawing)
        except InputError:  # raised once, when the drawing is returned
            return drawing

    def turned() -> None:
        direction = str(st.session_state[KEY].get("turn"))
        if direction in beyond:
            beyond[direction](last())

    result = _mount(
        key=KEY,
        data={
            "rev": rev,
            "drawing": _plain(last()),  # a new editor in the browser starts from the last drawing
            "height": SHOWN_HEIGHT,
            "fixed": fixed,
            "beyond": dict.fromkeys(beyond, True),
            "notes": list(map(list, notes.items())),
            "meanings": list(map(list, meanings.items())),
        },
        default={"graph": {"rev": rev, "drawing": _plain(drawing)}},
        on_graph_change=lambda: None,
        on_turn_change=turned,
    )
    return read_sent(result.graph, rev=rev, given=drawing)


def read_sent(value: Any, *, rev: int, given: Graph) -> Graph:
    """Return the drawing that the browser sent; `given` if the browser sent it before it received this `rev`.

    Errors: InputError.
    """
    try:
        return read_drawing(value["drawing"]) if value["rev"] == rev else given
    except (TypeError, KeyError):
        return read_drawing(None)


def _plain(drawing: Graph) -> dict[str, Any]:
    return {
        "nodes": [{"name": name, "x": x, "y": y} for name, (x, y) in drawing.places.items()],
        "edges": [list(edge) for edge in drawing.edges],
    }


def read_drawing(value: Any) -> Graph:
    """Return the drawing in `value`, which comes from the browser and may have any form.

    Errors: InputError.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()  # raises for unpaired surrogates, which no page can show
        places = [(node["name"], _position(node["x"], WIDTH), _position(node["y"], HEIGHT)) for node in value["nodes"]]
        names, edges = tuple(name for name, *_ in places), tuple((start, end) for start, end in value["edges"])
        if len(edges) > len(names) ** 2 or not set(names).issuperset(end for edge in edges for end in edge):
            raise ValueError
        return drawable(Graph(names, edges, {name: (x, y) for name, x, y in places}))
    except InputError:
        raise
    except (TypeError, KeyError, ValueError, RecursionError):
        raise InputError("The browser sent what is not a drawing. The network is unchanged.") from None


def _position(value: float, limit: float) -> float:
    if not math.isfinite(value):
        raise ValueError
    return float(min(max(value, 0), limit))
