"""The address in the browser says what is on the page, and the browser's history has one entry for each step.

Streamlit makes an entry for a page that is turned to, and one for each query that it is given. It tells which runs Back
or Forward began.

It does not turn the address of such an entry into settings.
"""

import time
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpbayes.ui.session.current import current, follow_address
from dpbayes.ui.session.drawings import revisit
from dpbayes.ui.session.link import query_of

_BEGUN, _TURNED, _IN_PLACE, _MOVING = "link.begun", "link.turned", "link.in_place", "link.moving"

_mount = st.components.v2.component(
    "dpbayes_address", js=(Path(__file__).parent / "address.js").read_text(encoding="utf-8")
)


def begin_with_address() -> None:
    """Take the settings from the address where Back or Forward led to it; else write it before the page is drawn.

    Before `st.navigation`, so that the entry which Streamlit then makes for another page has the settings at once.
    """
    run, turned_from = get_script_run_ctx(), st.session_state.pop(_TURNED, None)
    if run is not None and run.is_history_navigation:
        follow_address(st.query_params.to_dict())
        revisit()
    if _BEGUN not in st.session_state or turned_from not in (None, shown_page()):
        st.session_state[_BEGUN] = True
        _ask_in_place()
    write_link()


def turn_to(page: str) -> None:
    """Go to another page with the settings as they are now; both are one entry of the browser's history."""
    st.session_state[_TURNED] = shown_page()
    # With the query that the browser has: Streamlit makes an entry for any other one, and for none at all.
    st.switch_page(page, query_params=st.query_params.to_dict())


def become(page: str) -> None:
    """Make the browser's entry for this page one for another page, with the settings as they are now, and open that.

    Back then leads to what was before, and not here, from where it would only be sent on.
    """
    query, shown = query_of(current()), st.query_params.to_dict()
    _mount(key="become", data={"page": page, "query": urlencode(shown if shown == query else query), "become": True})


def write_link() -> None:
    """Make the address in the browser say what is on the page; while a hand moves a number, wait until it rests."""
    query = query_of(current())
    if _pending_query() == query:
        return
    st.session_state.pop(_IN_PLACE, None)
    if not hand_moves() and st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def write_in_place(page: str) -> None:
    """Have the browser write the settings into the entry that it has for this page, where that was asked for."""

    @st.fragment
    def until_written() -> None:
        query = _pending_query()
        if query is None:
            write_link()  # makes no entry by now, and Streamlit hears of the address
        else:
            data = {"page": page, "query": urlencode(query), "order": f"{st.session_state[_IN_PLACE][1]} {page}"}
            _mount(key="address", data=data, on_written_change=lambda: st.session_state.pop(_IN_PLACE, None))

    if _pending_query() is not None:
        until_written()


def hold_link() -> None:
    """Note that a hand moves a number: a whole drag is one step."""
    st.session_state[_MOVING] = current(), shown_page()


def release_link() -> None:
    """Note that the hand rests."""
    st.session_state.pop(_MOVING, None)


def hand_moves() -> bool:
    """Return whether a hand moves a number of this page, and nothing else has changed since."""
    settings, page = st.session_state.get(_MOVING, (None, ""))
    return (
        settings is current() and page == shown_page()
    )  # whatever else changes, and another page, is a step of its own


def _ask_in_place() -> None:
    """Note that the page's entry in the browser has another's query, where it has."""
    query = query_of(current())
    if st.query_params.to_dict() != query:
        st.session_state[_IN_PLACE] = query, time.time_ns()


def _pending_query() -> dict[str, str] | None:
    """Return what the browser was asked to write in place, as long as it has not said that it did."""
    query: dict[str, str] | None = st.session_state.get(_IN_PLACE, (None, 0))[0]
    return query


def shown_page() -> str:
    """Return what Streamlit calls the page that this run shows."""
    run = get_script_run_ctx()
    return run.page_script_hash if run is not None else ""
