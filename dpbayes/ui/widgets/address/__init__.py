"""The address in the browser contains the settings, and the browser's history has one entry for each step.

Streamlit makes one entry for each opened page and one for each new query, and reports the runs that Back or Forward
started. It does not restore settings from the address of such an entry.
"""

import time
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from dpbayes.ui.session.current import current, follow_address
from dpbayes.ui.session.drawings import revisit
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.run import this_run

_BEGUN, _TURNED, _IN_PLACE = "link.begun", "link.turned", "link.in_place"

_mount = st.components.v2.component(
    "dpbayes_address", js=(Path(__file__).parent / "address.js").read_text(encoding="utf-8")
)


def begin_with_address() -> None:
    """Take the settings from the address after Back or Forward; otherwise write the settings into the address.

    Call this before `st.navigation`, so that the entry that Streamlit makes for another page has the settings.
    """
    run, turned_from = this_run(), st.session_state.pop(_TURNED, None)
    if run is not None and run.is_history_navigation:
        follow_address(st.query_params.to_dict())
        revisit()
    if _BEGUN not in st.session_state or turned_from not in (None, shown_page()):
        st.session_state[_BEGUN] = True
        _ask_in_place()
    write_link()


def turn_to(page: str) -> None:
    """Open another page with the present settings, as one entry of the browser's history."""
    st.session_state[_TURNED] = shown_page()
    # With the browser's present query, because Streamlit makes another entry for a new or missing query.
    st.switch_page(page, query_params=st.query_params.to_dict())


def write_link() -> None:
    """Write the settings into the browser's address."""
    query = query_of(current())
    if _pending_query() == query:
        return
    st.session_state.pop(_IN_PLACE, None)
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def write_in_place(page: str) -> None:
    """Let the browser write the settings into its entry for this page, if `_ask_in_place` has requested this."""

    @st.fragment
    def until_written() -> None:
        query = _pending_query()
        if query is None:
            write_link()  # makes no entry now, but informs Streamlit of the address
        else:
            data = {"page": page, "query": urlencode(query), "order": f"{st.session_state[_IN_PLACE][1]} {page}"}
            _mount(key="address", data=data, on_written_change=lambda: st.session_state.pop(_IN_PLACE, None))

    if _pending_query() is not None:
        until_written()


def _ask_in_place() -> None:
    """Request that the browser writes the settings into its entry for this page, if the entry has other settings."""
    query = query_of(current())
    if st.query_params.to_dict() != query:
        st.session_state[_IN_PLACE] = query, time.time_ns()


def _pending_query() -> dict[str, str] | None:
    """Return the query that the browser must still write in place; None without one."""
    query: dict[str, str] | None = st.session_state.get(_IN_PLACE, (None, 0))[0]
    return query


def shown_page() -> str:
    """Return the page of this run, as Streamlit identifies it."""
    run = this_run()
    return str(run.page_script_hash) if run is not None else ""
