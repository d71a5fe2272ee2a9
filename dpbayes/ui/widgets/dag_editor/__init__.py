"""A Bayesian network drawn by hand in the browser, with mouse, finger or keyboard.

Streamlit draws graphs that are given to it, but has no element in which a person draws one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st

from dpbayes.base.validation import InputError, brief, is_writable
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.ui.session.graphs import MAX_NAME

WIDTH, HEIGHT = 1000, 600
"""The box in which nodes have their positions; how large it appears on screen is the browser's business."""

SHOWN_HEIGHT = 520
"""Most pixels that the drawing takes on screen from top to bottom."""

_FAR = 1e9  # beyond this a position is nonsense; NaN and infinities fail the same comparison


class DrawingError(InputError):
    """What came back from the browser is not a drawing; the message says why in one sentence."""


@dataclass(frozen=True)
class DrawnNode:
    """A named node and the position of its centre in the WIDTH x HEIGHT box."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """Nodes and the arrows (from, to) between them; it may hold a cycle, which `Network` will refuse."""

    nodes: tuple[DrawnNode, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Meaning:
    """What a node says of a record: a note that is no warning."""

    text: str


@dataclass(frozen=True)
class Beyond:
    """Whether Python keeps drawings before and after the one that the browser started from, and how to turn to them.

    `turn` is called with the drawing on screen and "undo" or "redo", before the page runs; it is to move `rev` on.
    """

    earlier: bool = False
    later: bool = False
    turn: Callable[[Drawing, str], None] = lambda drawing, direction: None


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
    drawing: Drawing,
    *,
    rev: int,
    key: str,
    notes: Mapping[str, str | Meaning] = _NO_NOTES,
    edge_notes: Mapping[tuple[str, str], str] = _NO_NOTES,
    beyond: Beyond = _NOTHING_BEYOND,
) -> Drawing:
    """Show the editor and return the drawing as the person has drawn it so far.

    The browser owns the drawing until `rev` changes; only then does it take up `drawing` again. `notes` (by
    node) and `edge_notes` (by arrow) become tooltips, and a node with a note is drawn dashed, unless that is its
    `Meaning`; they may change on every run. Undo and Redo go over the browser's own steps since then, and on to what
    lies `beyond` them.

    Errors: DrawingError when `drawing`, or what the browser sends, is not a drawing.
    """
    read_drawing(_plain(drawing))  # the browser trusts what it is given

    def last() -> Drawing:
        state = st.session_state.get(key, {})
        try:
            return read_sent(state.get("graph"), rev=rev, given=drawing)
        except DrawingError:  # said once, where the drawing is returned
            return drawing

    result = _mount(
        key=key,
        data={
            "rev": rev,
            "drawing": _plain(last()),  # if the browser builds the editor anew, it starts from what was drawn
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


def read_sent(value: object, *, rev: int, given: Drawing) -> Drawing:
    """Return the drawing in what the browser sent; `given` where it was drawn before Python brought that at `rev`.

    Errors: DrawingError.
    """
    sent = _fields(value, ("rev", "drawing"), "What the editor sends")
    return read_drawing(sent["drawing"]) if sent["rev"] == rev else given


def _plain(drawing: Drawing) -> dict[str, Any]:
    return {
        "nodes": [{"name": node.name, "x": node.x, "y": node.y} for node in drawing.nodes],
        "edges": [list(edge) for edge in drawing.edges],
    }


def read_drawing(value: object) -> Drawing:
    """Return the drawing in `value`, which came from outside and so may be anything.

    Errors: DrawingError.
    """
    fields = _fields(value, ("nodes", "edges"), "A drawing")
    listed = _items(fields["nodes"], "nodes")
    if len(listed) > MAX_NODES:
        raise DrawingError(f"A drawing has at most {MAX_NODES:,} nodes; this one has {len(listed):,}.")
    nodes = tuple(_node(node) for node in listed)
    names = {node.name for node in nodes}
    if len(names) < len(nodes):
        raise DrawingError("Two nodes of the drawing have the same name; give each its own.")
    edges = _items(fields["edges"], "edges")
    if len(edges) > len(nodes) ** 2:
        raise DrawingError(f"A drawing of {len(nodes)} nodes must have fewer than {len(edges)} arrows; draw each once.")
    return Drawing(nodes, tuple(_edge(edge, names) for edge in edges))


def _fields(value: object, wanted: tuple[str, ...], what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or set(value) != set(wanted):
        raise DrawingError(f"{what} must have exactly the fields {', '.join(wanted)}; this one does not.")
    return value


def _items(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise DrawingError(f"The {what} of a drawing must be a list, not {brief(value)}.")
    return value


def _node(value: object) -> DrawnNode:
    fields = _fields(value, ("name", "x", "y"), "A node of a drawing")
    name = fields["name"]
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not is_writable(name):
        raise DrawingError(f"A node's name must be 1 to {MAX_NAME} characters of text, not {brief(name)}.")
    return DrawnNode(name, _position(fields["x"], WIDTH), _position(fields["y"], HEIGHT))


def _position(value: object, limit: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_FAR < value < _FAR:
        raise DrawingError(f"A node's position must be two finite numbers; {brief(value)} is not.")
    return float(min(max(value, 0), limit))


def _edge(value: object, names: set[str]) -> tuple[str, str]:
    ends = _items(value, "ends of an arrow")
    if len(ends) != 2:
        raise DrawingError(f"An arrow of a drawing must have two ends; {brief(value)} does not.")
    start, end = ends
    for name in (start, end):
        if not isinstance(name, str) or name not in names:
            raise DrawingError(f"An arrow ends at {brief(name)}, which is not a node of the drawing.")
    return str(start), str(end)
