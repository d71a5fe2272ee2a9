"""An editor in which a person draws a Bayesian network, with mouse, finger or keyboard.

Streamlit shows given graphs, but has no element for drawing a graph.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st

from dpbayes.base.validation import InputError, brief, is_writable
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.ui.session.graphs import MAX_NAME, Graph, Place

WIDTH, HEIGHT = 1000, 600
"""The size of the box of positions. The browser determines its size on screen."""

SHOWN_HEIGHT = 480
"""The largest height of the drawing on screen, in pixels."""

_FAR = 1e9  # larger positions are refused; NaN and infinities fail the same comparison


class DrawingError(InputError):
    """The browser has sent something that is not a drawing; the message states the reason."""


@dataclass(frozen=True)
class Meaning:
    """A note about the meaning of a node, which is not a warning."""

    text: str


@dataclass(frozen=True)
class Beyond:
    """Whether Python has earlier and later drawings than the browser, and the function that restores them.

    `turn` is called with the drawing on screen and "undo" or "redo", before the page runs. It must increase `rev`.
    """

    earlier: bool = False
    later: bool = False
    turn: Callable[[Graph, str], None] = lambda drawing, direction: None


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


# The four scripts share one module scope, because a component takes a single script.
_mount = st.components.v2.component(
    "dpbayes_dag_editor",
    html=_asset("dag_editor.html"),
    css=_asset("dag_editor.css"),
    js="\n".join(_asset(name) for name in ("graph.js", "picture.js", "pointer.js", "dag_editor.js")),
)

_NO_NOTES: Mapping[Any, str] = MappingProxyType({})
_NOTHING_BEYOND = Beyond()


def dag_editor(
    drawing: Graph,
    *,
    rev: int,
    key: str,
    notes: Mapping[str, str | Meaning] = _NO_NOTES,
    edge_notes: Mapping[tuple[str, str], str] = _NO_NOTES,
    beyond: Beyond = _NOTHING_BEYOND,
) -> Graph:
    """Show the editor and return the present drawing.

    The browser controls the drawing until `rev` changes, and then takes `drawing`. `notes` (by node) and `edge_notes`
    (by arrow) are tooltips, which may change in every run. A node with a note has a dashed border, unless the note is
    its `Meaning`. Undo and Redo first use the browser's own steps since the last `rev`, and then the drawings
    `beyond` them.

    Errors: DrawingError when `drawing`, or what the browser sends, is not a drawing.
    """
    read_drawing(_plain(drawing))  # the browser does not check it

    def last() -> Graph:
        state = st.session_state.get(key, {})
        try:
            return read_sent(state.get("graph"), rev=rev, given=drawing)
        except DrawingError:  # raised once, when the drawing is returned
            return drawing

    result = _mount(
        key=key,
        data={
            "rev": rev,
            "drawing": _plain(last()),  # a new editor in the browser starts from the last drawing
            "height": SHOWN_HEIGHT,
            "beyond": {"undo": beyond.earlier, "redo": beyond.later},
            "notes": [[name, note] for name, note in notes.items() if isinstance(note, str)],
            "meanings": [[name, note.text] for name, note in notes.items() if isinstance(note, Meaning)],
            "edgeNotes": [[*edge, note] for edge, note in edge_notes.items()],
        },
        default={"graph": {"rev": rev, "drawing": _plain(drawing)}},
        on_graph_change=lambda: None,
        on_turn_change=lambda: beyond.turn(last(), str(st.session_state[key].get("turn"))),
    )
    return read_sent(result.graph, rev=rev, given=drawing)


def read_sent(value: object, *, rev: int, given: Graph) -> Graph:
    """Return the drawing that the browser sent; `given` if the browser sent it before it received this `rev`.

    Errors: DrawingError.
    """
    sent = _fields(value, ("rev", "drawing"), "The message of the editor")
    return read_drawing(sent["drawing"]) if sent["rev"] == rev else given


def _plain(drawing: Graph) -> dict[str, Any]:
    return {
        "nodes": [{"name": name, "x": x, "y": y} for name, (x, y) in drawing.places.items()],
        "edges": [list(edge) for edge in drawing.edges],
    }


def read_drawing(value: object) -> Graph:
    """Return the drawing in `value`, which comes from the browser and may have any form.

    Errors: DrawingError.
    """
    fields = _fields(value, ("nodes", "edges"), "A drawing")
    listed = _items(fields["nodes"], "nodes")
    if len(listed) > MAX_NODES:
        raise DrawingError(f"A drawing has at most {MAX_NODES:,} nodes; this one has {len(listed):,}.")
    nodes = [_node(node) for node in listed]
    names = tuple(name for name, _ in nodes)
    if len(set(names)) < len(nodes):
        raise DrawingError("Two nodes of the drawing have the same name; give each its own.")
    edges = _items(fields["edges"], "edges")
    if len(edges) > len(nodes) ** 2:
        raise DrawingError(f"A drawing of {len(nodes)} nodes must have fewer than {len(edges)} arrows; draw each once.")
    return Graph(names, tuple(_edge(edge, names) for edge in edges), dict(nodes))


def _fields(value: object, wanted: tuple[str, ...], what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or set(value) != set(wanted):
        raise DrawingError(f"{what} must have exactly the fields {', '.join(wanted)}; this one does not.")
    return value


def _items(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise DrawingError(f"The {what} of a drawing must be a list, not {brief(value)}.")
    return value


def _node(value: object) -> tuple[str, Place]:
    fields = _fields(value, ("name", "x", "y"), "A node of a drawing")
    name = fields["name"]
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not is_writable(name):
        raise DrawingError(f"A node's name must be 1 to {MAX_NAME} characters of text, not {brief(name)}.")
    return name, (_position(fields["x"], WIDTH), _position(fields["y"], HEIGHT))


def _position(value: object, limit: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_FAR < value < _FAR:
        raise DrawingError(f"A node's position must be two finite numbers; {brief(value)} is not.")
    return float(min(max(value, 0), limit))


def _edge(value: object, names: Collection[str]) -> tuple[str, str]:
    ends = _items(value, "ends of an arrow")
    if len(ends) != 2:
        raise DrawingError(f"An arrow of a drawing must have two ends; {brief(value)} does not.")
    start, end = ends
    for name in (start, end):
        if not isinstance(name, str) or name not in names:
            raise DrawingError(f"An arrow ends at {brief(name)}, which is not a node of the drawing.")
    return str(start), str(end)
