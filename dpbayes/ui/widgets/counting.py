"""Counting a table where it lies, for the network as it is; then every page has its counts."""

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.scans import NOT_COUNTED, forget_scans, keep_scan, scan_key, scanned, scanning
from dpbayes.ui.widgets.scanning import forget_asking, scan_on_request

KIND = "connected"

PAGES_OF_COUNTS = frozenset({"network", "explore", "audit", "claims", "sampling"})
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
    """Return why there are no counts, "" where there are: those of a quick table are counted at once."""
    try:
        chosen.counts  # noqa: B018 - resolved here
    except InputError as error:
        return str(error)
    return ""


def count_again(label: str) -> None:
    """Offer to forget what was counted, and to scan the table anew."""
    if st.button(label, key="connected.again", help="Discards the counts and scans the table again."):
        forget_scans()
        forget_asking(KIND)
        st.rerun()
