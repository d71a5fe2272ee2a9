"""The drawings before the one in the editor, so that Undo reaches over whatever replaced it. Lives in the session.

A stroke comes from the editor. All else (a ready network, a file, another table, a story) changes the settings on some
page: `remember` finds at the start of each run that another network is to be drawn, and keeps the one before.
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
"""Most drawings that Undo goes back over."""

BY_HAND = "g:"
"""How the text of a graph begins that was drawn or came from a file."""

STEPS = {"undo": -1, "redo": 1}


@dataclass(frozen=True)
class DrawnNetwork:
    """A drawing with a place for every node, and the settings it was shown under."""

    graph: Graph
    settings: Settings

    @property
    def look(self) -> tuple[object, ...]:
        """What a person sees of it; places to a whole unit, as in the text of a graph."""
        places = {name: (round(x), round(y)) for name, (x, y) in self.graph.places.items()}
        return self.graph.names, sorted(self.graph.edges), places

    @property
    def text(self) -> str:
        """The graph as a text of its own, also where it came with the table."""
        settings = self.settings
        return settings.graph or (settings.source if settings.data == "synthetic" else code_of(self.graph))

    @property
    def is_by_hand(self) -> bool:
        """Whether it is nowhere else to be had: drawn, or read from a file."""
        settings = self.settings
        own = settings.graph or (settings.source if settings.data == "synthetic" else "")
        return own.startswith(BY_HAND)


@dataclass(frozen=True)
class DrawingHistory:
    """The drawing in the editor among those before and after it.

    `rev` moves on whenever Python brings a drawing; `replaced` then says what replaced which, until the next step.
    """

    present: DrawnNetwork
    past: tuple[DrawnNetwork, ...] = ()
    future: tuple[DrawnNetwork, ...] = ()
    rev: int = 1
    replaced: str = ""

    @property
    def line(self) -> tuple[DrawnNetwork, ...]:
        """All of them, in order."""
        return (*self.past, self.present, *self.future)

    def followed_by(self, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the drawings with a new one after the present; what was undone is gone."""
        return DrawingHistory(shown, (*self.past, self.present)[-KEPT:], (), self.rev)

    def at(self, place: int, settings: Settings) -> "DrawingHistory":
        """Return the drawings with the one at a place of the line as the present, shown under these settings."""
        line = self.line
        return DrawingHistory(DrawnNetwork(line[place].graph, settings), line[:place], line[place + 1 :], self.rev)

    def over(self, shown: DrawnNetwork) -> "DrawingHistory":
        """Return the drawings over another table, under the same drawing: those before and after move there too."""

        def moved(drawing: DrawnNetwork) -> DrawnNetwork:
            return DrawnNetwork(drawing.graph, dataclasses.replace(shown.settings, graph=drawing.text))

        if _table(shown.settings) == _table(self.present.settings):
            return dataclasses.replace(self, present=shown)
        past, future = tuple(map(moved, self.past)), tuple(map(moved, self.future))
        return dataclasses.replace(self, present=shown, past=past, future=future)

    def nearest(self, shown: DrawnNetwork) -> int | None:
        """Return the place in the line of the nearest drawing that looks the same, if there is one."""
        places = [place for place, drawing in enumerate(self.line) if drawing.look == shown.look]
        return min(places, key=lambda place: abs(place - len(self.past)), default=None)


def drawings() -> DrawingHistory:
    """Return the session's drawings."""
    if "drawings" not in st.session_state:
        st.session_state["drawings"] = DrawingHistory(_shown(current()))
    history = st.session_state["drawings"]
    assert isinstance(history, DrawingHistory)
    return history


def replace_drawing(by: str, **fields: object) -> None:
    """Change settings so that another network is drawn; `by` says in words which, empty if that needs no words."""
    change(**fields)
    st.session_state["replaced_by"] = by


def remember() -> str:
    """Keep the drawing that the settings no longer show; return the sentence about it, where there is one to say."""
    by = st.session_state.pop("replaced_by", None)
    with suppress(InputError):  # the page says why there is nothing to draw
        history, now = drawings(), current()
        if not _is_shown(history.present, now):
            st.session_state["drawings"] = after = _advanced(history, _shown(now), by)
            return after.replaced if after.rev != history.rev else ""
    return ""


def revisit() -> None:
    """Turn to the drawing that the settings show again, as Undo and Redo do, where it was shown before."""
    with suppress(InputError):
        history, shown = drawings(), _shown(current())
        place = history.nearest(shown)
        if place is not None and place != len(history.past):
            st.session_state["drawings"] = dataclasses.replace(history.at(place, shown.settings), rev=history.rev + 1)


def _advanced(history: DrawingHistory, shown: DrawnNetwork, by: str | None) -> DrawingHistory:
    """Return the drawings once the settings show another one, or the same one over another table."""
    present = history.present
    if shown.look == present.look:
        return history.over(shown)
    history = dataclasses.replace(history, rev=history.rev + 1, replaced="")
    if by is None and not present.settings.graph and not present.is_by_hand:
        return dataclasses.replace(history, present=shown)  # nobody chose or drew what is gone
    whose = "your drawing" if present.is_by_hand else "the drawing before"
    by = "The table's own network" if by is None else by
    return dataclasses.replace(history.followed_by(shown), replaced=f"{by} replaced {whose}" if by else "")


def draw(graph: Graph) -> None:
    """Make what was drawn in the editor the network to fit; a step that the editor took back brings its settings back.

    Errors: InputError for a drawing too large to keep.
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
    """Bring back the drawing before the present one, or after it, where the editor knows of none."""
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
    """Return the settings of now that show this drawing: with its own source of records, unless the table is another.

    A drawing that was its own source, perhaps with probabilities typed or read from a file, takes them along.
    """
    old = then.settings
    was_source = old.data == "synthetic" and not old.graph and then.is_by_hand
    table = _table(old) if was_source or old.data == now.data == "synthetic" else {}
    settings = dataclasses.replace(now, graph=old.graph, **table)  # type: ignore[arg-type]
    return settings if _shown(settings).look == then.look else dataclasses.replace(settings, graph=then.text)


def _shown(settings: Settings) -> DrawnNetwork:
    return DrawnNetwork(placed(Chosen(settings).graph), settings)


def _is_shown(shown: DrawnNetwork, settings: Settings) -> bool:
    """Whether these settings show nothing new: only the session's own table changes its network under the same ones."""
    same = _table(shown.settings) == _table(settings) and shown.settings.graph == settings.graph
    chosen = Chosen(settings)
    own_table = (settings.data == "upload" or chosen.is_connected) and not settings.graph
    return same and (not own_table or shown.graph.names == chosen.graph.names)


def _table(settings: Settings) -> dict[str, object]:
    return {"data": settings.data, "source": settings.source, "cpts": settings.cpts}
