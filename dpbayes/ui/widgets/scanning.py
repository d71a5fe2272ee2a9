"""Scans of a connected table: a button starts them, a progress bar shows them, and their results are kept."""

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import Any, TypeVar

import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.text import done, escaped, numeral
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.scans import NOT_COUNTED, Scan, forget_scans, keep_scan, scan_key, scanned, scanning
from dpbayes.ui.widgets.running import Running, forget, progress, running_elsewhere
from dpbayes.ui.widgets.show import show_refusal

Result = TypeVar("Result")


def scan_on_request(
    kind: str,
    key: Hashable,
    start: Callable[[], Work[Result]],
    keep: Callable[[Scan[Result]], None],
    *,
    label: str,
    purpose: str,
) -> bool:
    """Show a button that starts a scan, then continue the scan and `keep` its result; return whether it continues.

    `purpose` is a sentence about the scan; a sentence after it states that the table stays unchanged.
    """
    if st.session_state.get(_request_key(kind)) != key:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(label, type="primary", key=f"{kind}.scan", on_click=_ask, args=(kind, key))
            st.caption(f"{purpose} Nothing is written to the source, and no record leaves it.")
        return False
    work = running_elsewhere(kind, key, start)
    scan = _after_a_moment(work)
    if scan is None:
        return _under_way(kind, work, of="the table")
    keep(scan)
    forget(kind, key)
    forget_request(kind)
    st.rerun()


def _after_a_moment(work: Running[Result]) -> Scan[Result] | None:
    """Work for a moment; return the scan if it is over."""
    opening = nullcontext() if work.taken else st.spinner("Opening the table …")  # a cluster may need seconds
    try:
        with opening:
            work.work()
    except InputError as error:
        return Scan(None, work.seconds, str(error))
    return Scan(work.result, work.seconds) if work.done else None


def done_on_request(
    kind: str, key: Hashable, start: Callable[[], Work[Result]], keep: Callable[[Result], None], *, of: str
) -> bool:
    """Continue a computation that a button has started, and `keep` its result; return whether it continues.

    The request is in the session's state under `kind` until the computation is done or refused.
    """
    work = running_elsewhere(kind, key, start)
    try:
        work.work()
        if not work.done or work.result is None:
            return _under_way(kind, work, of=of)
        keep(work.result)
    except InputError as error:
        show_refusal(error)
    forget(kind, key)
    del st.session_state[kind]
    if work.done:
        st.rerun()
    return False


def _under_way(kind: str, work: Running[Any], *, of: str) -> bool:
    """Show the progress and a button to stop; return whether the work continues."""
    so_far = f"{done(work.share)} of {of}" if work.share else f"{numeral(work.seconds, 2)} seconds"
    progress(work, so_far, key=f"{kind}.stop")
    return work.going


def forget_request(kind: str) -> None:
    """Drop the request for a scan, so that the button appears again."""
    st.session_state.pop(_request_key(kind), None)


def _ask(kind: str, key: Hashable) -> None:
    st.session_state[_request_key(kind)] = key


def _request_key(kind: str) -> str:
    return f"{kind}.asked"


# Counts


KIND = "connected"

PAGES_OF_COUNTS = frozenset({"network", "explore", "release", "proofs", "lab"})
"""Pages that show counts of the table. Data shows them in its own part."""


def count_connected(chosen: Chosen) -> bool:
    """Offer to count a connected table for the present network, or show the progress; return whether it continues.

    Nothing is shown to a recipient, if the counts exist, and if the page itself shows why there are none.
    """
    if not (chosen.is_connected and chosen.is_curator):
        return False
    try:
        key = scan_key(chosen.connected, chosen.network)
    except InputError:
        return False
    refused = _refused(chosen)
    if refused == NOT_COUNTED:
        return scan_on_request(
            KIND,
            key,
            lambda: scanning(chosen.connected, chosen.network),
            lambda scan: keep_scan(key, scan),
            label="Count the table",
            purpose=f"One scan of {escaped(chosen.connected.title)} counts the {chosen.network.cell_count:,} cells of "
            "this network.",
        )
    if refused and scanned(key) is not None:
        count_again("Try again")
    return False


def _refused(chosen: Chosen) -> str:
    """Return why there are no counts, else "". A table with quick scans is counted here."""
    try:
        chosen.counts  # noqa: B018 - resolved here
    except InputError as error:
        return str(error)
    return ""


def count_again(label: str) -> None:
    """Show a button that drops the counts and scans the table again."""
    if st.button(label, key="connected.again", help="Discards the counts and scans the table again."):
        forget_scans()
        forget_request(KIND)
        st.rerun()
