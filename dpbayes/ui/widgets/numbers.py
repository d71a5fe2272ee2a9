"""The numbers that a page shows, by name, which a guess in a story can be about."""

from dataclasses import dataclass

import streamlit as st

from dpbayes.ui.widgets.frames import is_recording

_SHOWN = "page.numbers"

_LIVE, _BELOW = ("headline", "picture"), "below"


@dataclass(frozen=True)
class Number:
    """A number of a page: its meaning, and the keys of the parts that reveal it, which are covered until a guess."""

    page: str
    means: str
    parts: tuple[str, ...]


NUMBERS = {
    "released probability": Number("explore", "The answer of this release on Explore.", (*_LIVE, _BELOW)),
    "exact probability": Number("explore", "The table's own answer on Explore (curator view).", (*_LIVE, _BELOW)),
    "error": Number(
        "explore", "The mean absolute error below the picture of Explore (curator view).", (*_LIVE, _BELOW)
    ),
    "cells": Number("network", "The number of cells of all tables, “Cells K” on Network.", ("costs", "arrows")),
    "least epsilon": Number("which_epsilon", "The ε in the headline of Which epsilon.", (*_LIVE, _BELOW)),
    "exact loss": Number("proofs", "The measured privacy loss on Proofs, as an ε.", ("proofs-board", _BELOW)),
}
"""The numbers by the names that a story uses."""


def show_number(name: str, value: float) -> None:
    """Keep a number that the page shows in this run; in the frames of other stops, nothing is shown."""
    if not is_recording():
        st.session_state.setdefault(_SHOWN, {})[name] = value


def number_shown(name: str) -> float | None:
    """Return a number of the page as it was shown last; None if it was not shown."""
    value: float | None = st.session_state.get(_SHOWN, {}).get(name)
    return value


def forget_numbers() -> None:
    """Forget the numbers of the former run, as a page begins."""
    st.session_state.pop(_SHOWN, None)
