"""The page that the session shows, by its place in the address."""

import streamlit as st

_PLACE = "place"


def show_place(place: str) -> None:
    """Remember which page is shown: the browser's address still is that of the page before, where a step turned it."""
    st.session_state[_PLACE] = place


def shown_place() -> str:
    """Return the place of the page that is shown, "" for Home."""
    return str(st.session_state.get(_PLACE, ""))
