"""A slider whose value reaches Python while the hand is still moving it."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

MOST_MOVES = 2**53
"""Moves are numbered; a browser counts exactly up to here."""


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "dpbayes_slider", html=_asset("slider.html"), css=_asset("slider.css"), js=_asset("slider.js")
)


def live_slider(
    label: str,
    stops: Sequence[float],
    value: float,
    *,
    key: str,
    text: Callable[[float], str] = str,
    on_move: Callable[[float], object],
    disabled: bool = False,
) -> None:
    """Show a slider over rising `stops` that stands at `value`, one of them; a move calls `on_move` before the page runs.

    The browser sends a value at a time and takes the next one when the page has answered, so that a slow page repaints
    less often and the last value is never lost. Ticks stand at powers of ten where the stops pass some. What comes back
    and is no stop changes nothing.
    """
    _mount(
        key=key,
        data={
            "label": label,
            "stops": list(stops),
            "texts": [text(stop) for stop in stops],
            "ticks": [place for place, stop in enumerate(stops) if _is_power_of_ten(stop)],
            "value": value,
            "seen": read_move(st.session_state.get(key))[1],
            "disabled": disabled,
        },
        on_move_change=lambda: _hand_on(read_move(st.session_state.get(key))[0], stops, on_move),
    )


def _hand_on(value: float, stops: Sequence[float], on_move: Callable[[float], object]) -> None:
    for stop in stops:
        if stop == value:
            on_move(stop)


def read_move(state: object) -> tuple[float, int]:
    """Return the value and the number of the last move in a state that came from outside; NaN and 0 where it has none."""
    move = state.get("move") if isinstance(state, Mapping) else None
    if not isinstance(move, Mapping):
        return math.nan, 0
    value, number = move.get("value"), move.get("number")
    is_number = type(number) is int and 0 < number < MOST_MOVES
    return (value if type(value) in (int, float) else math.nan), (number if is_number else 0)


def _is_power_of_ten(stop: float) -> bool:
    return stop > 0 and f"{stop:e}".startswith("1.000000e")
