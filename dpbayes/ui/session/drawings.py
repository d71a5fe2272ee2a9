"""The history of drawings in the session, so that Undo also restores a drawing that something else has replaced.

A stroke comes from the editor. A named network, a file, another table or a story changes the settings on some page.
At the start of each run, `remember` compares the drawing with the settings, and keeps the former drawing.
"""

import dataclasses
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.graphs import Graph, code_of, placed
from dpbayes.ui.session.settings import Settings

KEPT = 60
"""The largest number of drawings that Undo can restore."""

BY_HAND = "g:"
"""The prefix of the text of a graph that was drawn or read from a file."""

STEPS = {"undo": -1, "redo": 1}


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
    def text(self) -> str:
        """The text of the graph, also of a graph that comes with the table."""
        settings = self.settings
        return settings.graph or (settings.source if settings.data == "synthetic" else code_of(self.graph))

    @property
    def is_by_hand(self) -> bool:
        """Whether the graph was drawn or read from a file, so that only the drawing has it."""
        settings = self.settings
        own = settings.graph or (settings.source if settings.data == "synthetic" else "")
        return own.startswith(BY_HAND)


@dataclass(frozen=True)
class DrawingHistory:
    """The drawing in the editor, with the earlier and the later drawings.

    `rev` increases when Python replaces the drawing in the browser. Until the next step, `replaced` states what was
    replaced.
    """

    present: DrawnNetwork
    past: tuple[DrawnNetwork, ...] = ()
    future: tuple[DrawnNetwork, ...] = ()
    rev: int = 1
    replaced: str = ""

    @property
    def line(self) -> tuple[DrawnNetwork, ...]:
        """All drawings, in order."""
        return (*self.past, self.present, *self.future)

    @property
    def last_arrow(self) -> tuple[str, str] | None:
        """The arrow that was drawn or deleted last, if that alone separates the last two drawings."""
        before, now = (self.past or (self.present,))[-1].graph, self.present.graph
        changed = {*before.edges} ^ {*now.edges}
        return changed.pop() if len(changed) == 1 and {*before.names} == {*now.names} else None

    def followed_by(self, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the history with a new present drawing; undone drawings are dropped."""
        return DrawingHistory(shown, (*self.past, self.present)[-KEPT:], (), self.rev)

    def at(self, place: int, settings: Settings) -> "DrawingHistory":
        """Return the history with the drawing at an index of `line` as the present one, under these settings."""
        line = self.line
        return DrawingHistory(DrawnNetwork(line[place].graph, settings), line[:place], line[place + 1 :], self.rev)

    def over(self, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the history for another table with the same drawing; all drawings move to that table."""

        def moved(drawing: DrawnNetwork) -> DrawnNetwork:
            return DrawnNetwork(drawing.graph, dataclasses.replace(shown.settings, graph=drawing.text))

        if _table(shown.settings) == _table(self.present.settings):
            return dataclasses.replace(self, present=shown)
        past, future = tuple(map(moved, self.past)), tuple(map(moved, self.future))
        return dataclasses.replace(self, present=shown, past=past, future=future)

    def nearest(self, shown: DrawnNetwork) -> int | None:
        """Return the index in `line` of the nearest drawing that looks the same; None without one."""
        places = [place for place, drawing in enumerate(self.line) if drawing.look == shown.look]
        return min(places, key=lambda place: abs(place - len(self.past)), default=None)


def drawings() -> DrawingHistory:
    """Return the session's history of drawings."""
    if "drawings" not in st.session_state:
        st.session_state["drawings"] = DrawingHistory(_shown(current()))
    history = st.session_state["drawings"]
    assert isinstance(history, DrawingHistory)
    return history


def replace_drawing(by: str, **fields: object) -> None:
    """Change settings so that another network is drawn. `by` names the new network for the message; "" for none."""
    change(**fields)
    st.session_state["replaced_by"] = by


def forget_later() -> None:
    """Forget what Redo restores, here and in the browser: a story starts without it."""
    history = drawings()
    st.session_state["drawings"] = dataclasses.replace(history, future=(), rev=history.rev + 1)


def remember() -> str:
    """Keep the former drawing if the settings show another one; return the message about this, "" without one."""
    by = st.session_state.pop("replaced_by", None)
    with suppress(InputError):  # the page shows the error
        history, now = drawings(), current()
        if not _is_shown(history.present, now):
            st.session_state["drawings"] = after = _advanced(history, _shown(now), by)
            return after.replaced if after.rev != history.rev else ""
    return ""


def revisit() -> None:
    """Move in the history to the drawing that the settings show, as Undo and Redo do, if it was shown before."""
    with suppress(InputError):
        history, shown = drawings(), _shown(current())
        place = history.nearest(shown)
        if place is not None and place != len(history.past):
            st.session_state["drawings"] = dataclasses.replace(history.at(place, shown.settings), rev=history.rev + 1)


def _advanced(history: DrawingHistory, shown: DrawnNetwork, by: str | None) -> DrawingHistory:
    """Return the history after the settings show another drawing, or the same drawing for another table."""
    present = history.present
    if shown.look == present.look:
        return history.over(shown)
    history = dataclasses.replace(history, rev=history.rev + 1, replaced="")
    if by is None and not present.settings.graph and not present.is_by_hand:
        return dataclasses.replace(history, present=shown)  # nobody has drawn or chosen the former network
    whose = "your drawing" if present.is_by_hand else "the previous drawing"
    by = "The table's own network" if by is None else by
    return dataclasses.replace(history.followed_by(shown), replaced=f"{by} replaced {whose}" if by else "")


def draw(graph: Graph) -> None:
    """Fit the network that was drawn in the editor. An Undo in the editor also restores the settings of that drawing.

    Errors: InputError for a drawing that is too large to keep.
    """
    history = drawings()
    drawn = DrawnNetwork(placed(graph), current())
    place = history.nearest(drawn)
    if place is None:
        change(graph=code_of(graph))
        st.session_state["drawings"] = history.followed_by(DrawnNetwork(drawn.graph, current()))
    elif place != len(history.past):
        _turn_to(place)


def travel(direction: str) -> None:
    """Restore the drawing before the present one, or after it, if the editor has none."""
    history = drawings()
    place = len(history.past) + STEPS.get(direction, 0)
    if direction in STEPS and 0 <= place < len(history.line):
        _turn_to(place)
        st.session_state["drawings"] = dataclasses.replace(drawings(), rev=history.rev + 1)


def _turn_to(place: int) -> None:
    history = drawings()
    st.session_state["settings"] = _restored(history.line[place], current())
    st.session_state["drawings"] = history.at(place, current())


def _restored(then: DrawnNetwork, now: Settings) -> Settings:
    """Return the settings of now, changed to show this drawing, with its own source of records for the same table.

    A drawing that was its own source, perhaps with typed or loaded probabilities, becomes the source again.
    """
    old = then.settings
    was_source = old.data == "synthetic" and not old.graph and then.is_by_hand
    table = _table(old) if was_source or old.data == now.data == "synthetic" else {}
    settings = dataclasses.replace(now, graph=old.graph, **table)  # type: ignore[arg-type]
    return settings if _shown(settings).look == then.look else dataclasses.replace(settings, graph=then.text)


def _shown(settings: Settings) -> DrawnNetwork:
    return DrawnNetwork(placed(Chosen(settings).graph), settings)


def _is_shown(shown: DrawnNetwork, settings: Settings) -> bool:
    """Whether these settings show this drawing. Only the session's own table changes its network without settings."""
    same = _table(shown.settings) == _table(settings) and shown.settings.graph == settings.graph
    chosen = Chosen(settings)
    own_table = (settings.data == "upload" or chosen.is_connected) and not settings.graph
    return same and (not own_table or shown.graph.names == chosen.graph.names)


def _table(settings: Settings) -> dict[str, object]:
    return {"data": settings.data, "source": settings.source, "cpts": settings.cpts}
