"""A slider with a text box for one number. Python receives the values while the slider moves.

Streamlit's slider sends its value when the mouse button is released, and has no text box.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dpbayes.base.validation import is_writable
from dpbayes.ui.session.host import host

MOST_MOVES = 2**53
"""The largest number of a move: browsers represent integers exactly up to here."""

MOST_TYPED = 100
"""The largest number of characters in the box."""


@dataclass(frozen=True)
class Wording:
    """The name of a number on screen and for a screen reader, and the text of its tooltip."""

    label: str
    spoken: str
    help: str = ""


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "dpbayes_slider",
    html=_asset("slider.html").replace("MOST_TYPED", str(MOST_TYPED)),
    css=_asset("slider.css"),
    js=_asset("slider.js"),
)


def live_slider(
    wording: Wording,
    stops: Sequence[str],
    value: str,
    *,
    key: str,
    on_text: Callable[[str], object] | None,
    on_rest: Callable[[], None] | None = None,
) -> None:
    """Show a slider over increasing `stops` and a box, both at `value`, which is one of the stops.

    Stops are numbers as text without spaces. Before the page runs, `on_text` is called with the new stop or the typed
    text; the page then determines what both show. The browser sends one text at a time and waits for the answer of the
    page, so a slow page is drawn less often, and the last text always arrives. A text that cannot have been typed has
    no effect. Without `on_text`, slider and box are disabled. `on_rest` is called when the slider has not moved for a
    moment after a move.
    """
    mount = host().slider or _mount
    mount(
        key=key,
        data={
            "name": key,
            "label": wording.label,
            "spoken": wording.spoken,
            "help": wording.help,
            "stops": " ".join(stops),
            "value": value,
            "seen": st.session_state.get(_seen(key), 0),
            "disabled": on_text is None,
            "rests": on_rest is not None,
        },
        on_move_change=lambda: _hear(key, on_text),
        on_rest_change=on_rest or _nothing,
    )


def _nothing() -> None:
    """Ignore that the slider has stopped."""


def _seen(key: str) -> str:
    return f"{key}.seen"


def _hear(key: str, on_text: Callable[[str], object] | None) -> None:
    """Acknowledge the browser's last move, and call `on_text` with its text, once for each move."""
    text, number = read_move(st.session_state.get(key))
    if number and number != st.session_state.get(_seen(key)):
        st.session_state[_seen(key)] = number
        if text is not None and on_text is not None:
            on_text(text)


def read_move(state: object) -> tuple[str | None, int]:
    """Return text and number of the move in a state from the browser; None and 0 for an invalid state."""
    move = state.get("move") if isinstance(state, Mapping) else None
    if not isinstance(move, Mapping):
        return None, 0
    text, number = move.get("text"), move.get("number")
    could_be_typed = isinstance(text, str) and len(text) <= MOST_TYPED and is_writable(text)
    return text if could_be_typed else None, number if type(number) is int and 0 < number < MOST_MOVES else 0
