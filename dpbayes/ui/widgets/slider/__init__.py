"""A number as a slider and a box with one value, which reaches Python while the hand is still moving it.

Streamlit's slider sends its value when the mouse button is released, and has no box beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dpbayes.base.validation import is_writable

MOST_MOVES = 2**53
"""Moves are numbered; a browser counts exactly up to here."""

MOST_TYPED = 100
"""Characters that the box takes; no number that is meant has more."""


@dataclass(frozen=True)
class Wording:
    """What a number is called on screen and read aloud, and a sentence about it for those who ask."""

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
    """Show a slider over rising `stops` and a box, both at `value`, one of the stops; all are numbers without spaces.

    The stop that the slider moves to, or whatever text was typed, is handed to `on_text` before the page runs; the
    page then decides what both show. The browser sends one text at a time and takes the next when the page has
    answered, so that a slow page repaints less often and the last text is never lost. What comes back and is no text
    that could be typed changes nothing. Without `on_text` neither can be moved. `on_rest` is called when the hand has
    been still for a moment after a move.
    """
    _mount(
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
    """Hear of a rest that nobody asked for."""


def _seen(key: str) -> str:
    return f"{key}.seen"


def _hear(key: str, on_text: Callable[[str], object] | None) -> None:
    """Answer the browser's last move, whatever becomes of it, and hand on its text, once however often it is told."""
    text, number = read_move(st.session_state.get(key))
    if number and number != st.session_state.get(_seen(key)):
        st.session_state[_seen(key)] = number
        if text is not None and on_text is not None:
            on_text(text)


def read_move(state: object) -> tuple[str | None, int]:
    """Return text and number of the move in a state that came from outside; None and 0 where it has none."""
    move = state.get("move") if isinstance(state, Mapping) else None
    if not isinstance(move, Mapping):
        return None, 0
    text, number = move.get("text"), move.get("number")
    could_be_typed = isinstance(text, str) and len(text) <= MOST_TYPED and is_writable(text)
    return text if could_be_typed else None, number if type(number) is int and 0 < number < MOST_MOVES else 0
