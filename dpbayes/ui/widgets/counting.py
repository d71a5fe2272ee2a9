"""Counting a table where it lies: asked for once, watched, stopped; then every page has its counts."""

from collections.abc import Hashable
from contextlib import nullcontext

import streamlit as st

from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import InputError
from dpbayes.model.counts import Counts
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.scans import NOT_COUNTED, Scan, forget_scans, keep_scan, scan_key, scanned, scanning
from dpbayes.ui.widgets.running import Running, forget, progress, running_elsewhere

KIND, ASKED = "connected", "connected.asked"

PAGES_OF_COUNTS = frozenset({"network", "release", "audit", "bounds", "stealth", "sampling"})
"""Pages that show what a table's counts say; Data has a place of its own for them."""


def count_connected(chosen: Chosen) -> bool:
    """Offer to count a connected table for the network as it is, or show how far that is; whether it goes on.

    Nothing is shown to the recipient, where the counts are there, and where the page says what stands in their way.
    """
    if not (chosen.is_connected and chosen.is_curator):
        return False
    try:
        key = scan_key(chosen.connected, chosen.network)
    except InputError:
        return False
    refused = _refused(chosen)
    if refused == NOT_COUNTED:
        return _counting(chosen, key)
    if refused and scanned(key) is not None:
        count_again("Try again")
    return False


def _refused(chosen: Chosen) -> str:
    """Return why there are no counts, "" where there are: those of a quick table are counted at once."""
    try:
        chosen.counts  # noqa: B018 - resolved here
    except InputError as error:
        return str(error)
    return ""


def count_again(label: str) -> None:
    """Offer to forget what was counted, and to scan the table anew."""
    if st.button(label, key="connected.again", help="Forgets what was counted and scans the table once more."):
        forget_scans()
        st.session_state.pop(ASKED, None)
        st.rerun()


def _counting(chosen: Chosen, key: Hashable) -> bool:
    if st.session_state.get(ASKED) != key:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Count the table", type="primary", key="connected.count", on_click=_ask, args=(key,))
            st.caption(
                f"One scan of {escaped(chosen.connected.title)} counts the {chosen.network.cell_count:,} cells of this "
                "network. Nothing is written there, and no record leaves it."
            )
        return False
    work = running_elsewhere(KIND, key, lambda: scanning(chosen.connected, chosen.network))
    _step(work, key)
    said = f"{work.share:.0%} of the table" if work.share else f"{numeral(work.seconds, 2)} seconds"
    progress(work, said, key="connected.stop")
    return work.going


def _ask(key: Hashable) -> None:
    st.session_state[ASKED] = key


def _step(work: Running[Counts], key: Hashable) -> None:
    """Work for a moment; once the scan is over, keep what it brought and have all of the page show it."""
    opening = nullcontext() if work.taken else st.spinner("Opening the table …")  # which may take a cluster seconds
    try:
        with opening:
            work.work()
    except InputError as error:
        keep_scan(key, Scan(None, work.seconds, str(error)))
    else:
        if not work.done:
            return
        keep_scan(key, Scan(work.result, work.seconds))
    forget(KIND, key)
    st.session_state.pop(ASKED, None)
    st.rerun()
