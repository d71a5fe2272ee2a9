"""The history of drawings in the session, so that Undo also restores a drawing that something else has replaced.

A stroke comes from the editor. A named network, a file, another table or a story changes the settings on some page.
At the start of each run, `remember` compares the drawing with the settings, and keeps the former drawing.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.graphs import Graph, code_of, placed
from dpbayes.ui.session.settings import Settings

KEPT = 60
"""The largest number of drawings that Undo can restore."""

STEPS = {"undo": -1, "redo": 1}
"""The directions in which a person can go over the drawings."""


@dataclass(frozen=True)
class DrawnNetwork:
    """A drawing with a position for each node, and the settings under which it was shown."""

    graph: Graph
    settings: Settings

    @property
    def look(self) -> tuple[object, ...]:
        """The visible part of the drawing, with positions in whole units as in the text of a graph."""
        places = {name: (round(x), round(y)) for name, (x, y) in self.graph.places.items()}
        return self.graph.names, sorted(self.graph.edges), places

    @property
    def origin(self) -> dict[str, object]:
        """The settings that name the drawing: the table that it was drawn for, and the graph."""
        settings = self.settings
        return {"data": settings.data, "source": settings.source, "cpts": settings.cpts, "graph": settings.graph}

    @property
    def is_chosen(self) -> bool:
        """Whether a person has drawn or chosen the network, which otherwise comes with the table."""
        return bool(self.settings.graph) or (self.settings.data == "synthetic" and self.settings.source[:2] == "g:")


@dataclass(frozen=True)
class DrawingHistory:
    """The drawings in order, and the index of the one in the editor.

    `rev` increases when Python replaces the drawing in the browser. Until the next step, `is_replaced` states whether
    the network before was one that a person drew or chose, and lost arrows.
    """

    line: tuple[DrawnNetwork, ...]
    place: int = 0
    rev: int = 1
    is_replaced: bool = False

    @property
    def present(self) -> DrawnNetwork:
        """The drawing in the editor."""
        return self.line[self.place]

    @property
    def beyond(self) -> tuple[str, ...]:
        """The directions in which there is a drawing."""
        return tuple(direction for direction, step in STEPS.items() if 0 <= self.place + step < len(self.line))

    @property
    def last_arrow(self) -> tuple[str, str] | None:
        """The arrow that was drawn or deleted last, if that alone separates the last two drawings."""
        before, now = self.line[max(self.place - 1, 0)].graph, self.present.graph
        changed = {*before.edges} ^ {*now.edges}
        return changed.pop() if len(changed) == 1 and {*before.names} == {*now.names} else None

    def followed_by(self, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the history with a new present drawing; undone drawings are dropped."""
        line = (*self.line[: self.place + 1], shown)[-KEPT - 1 :]
        return DrawingHistory(line, len(line) - 1, self.rev)

    def at(self, place: int, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the history with the drawing at an index as the present one, as it is shown now."""
        return DrawingHistory((*self.line[:place], shown, *self.line[place + 1 :]), place, self.rev)

    def nearest(self, shown: DrawnNetwork) -> int | None:
        """Return the index of the nearest drawing that looks the same; None without one."""
        places = [place for place, drawing in enumerate(self.line) if drawing.look == shown.look]
        return min(places, key=lambda place: abs(place - self.place), default=None)


def drawings() -> DrawingHistory:
    """Return the session's history of drawings."""
    if "drawings" not in st.session_state:
        st.session_state["drawings"] = DrawingHistory((_shown(current()),))
    history = st.session_state["drawings"]
    assert isinstance(history, DrawingHistory)
    return history


def remember() -> bool:
    """Keep the former drawing if the settings show another one; return whether arrows of a chosen network are lost."""
    with suppress(InputError):  # the page shows the error
        history, now = drawings(), current()
        before = history.present
        if not _is_shown(before, now):
            shown = _shown(now)
            is_other = shown.look != before.look
            is_kept = is_other and (before.is_chosen or shown.is_chosen)
            is_lost = before.is_chosen and not {*before.graph.edges} <= {*shown.graph.edges}
            after = history.followed_by(shown) if is_kept else history.at(history.place, shown)
            st.session_state["drawings"] = replace(after, rev=history.rev + is_other, is_replaced=is_lost)
            return is_lost
    return False


def forget_later() -> None:
    """Forget what Redo restores, here and in the browser: a story starts without it."""
    history = drawings()
    st.session_state["drawings"] = replace(history, line=history.line[: history.place + 1], rev=history.rev + 1)


def revisit() -> None:
    """Move in the history to the drawing that the settings show, as Undo and Redo do, if it was shown before."""
    with suppress(InputError):
        history, shown = drawings(), _shown(current())
        place = history.nearest(shown)
        if place is not None and place != history.place:
            st.session_state["drawings"] = replace(history.at(place, shown), rev=history.rev + 1)


def draw(graph: Graph) -> None:
    """Fit the network that was drawn in the editor. An Undo in the editor also restores the table of that drawing.

    Errors: InputError for a drawing that is too large to keep.
    """
    history, drawn = drawings(), placed(graph)
    place = history.nearest(DrawnNetwork(drawn, current()))
    if place is None:
        change(graph=code_of(graph))
        st.session_state["drawings"] = history.followed_by(DrawnNetwork(drawn, current()))
    else:
        _turn_to(place, history.rev)


def travel(direction: str) -> None:
    """Restore the drawing before the present one, or after it, with its table, if there is one."""
    history = drawings()
    if direction in history.beyond:
        _turn_to(history.place + STEPS[direction], history.rev + 1)


def _turn_to(place: int, rev: int) -> None:
    history = drawings()
    if place != history.place:
        then = history.line[place]
        change(**then.origin)
        st.session_state["drawings"] = replace(history.at(place, DrawnNetwork(then.graph, current())), rev=rev)


def _shown(settings: Settings) -> DrawnNetwork:
    return DrawnNetwork(placed(Chosen(settings).graph), settings)


def _is_shown(shown: DrawnNetwork, settings: Settings) -> bool:
    """Whether these settings show this drawing. Only the session's own table changes its network without settings."""
    chosen = Chosen(settings)
    is_own = (settings.data == "upload" or chosen.is_connected) and not settings.graph
    same = DrawnNetwork(shown.graph, settings).origin == shown.origin
    return same and (not is_own or shown.graph.names == chosen.graph.names)
