"""The button that counts a connected table."""

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import NOT_COUNTED, counts_of, scan, scan_key

PAGES_OF_COUNTS = frozenset({"network", "explore", "release", "proofs", "lab"})
"""Pages that show counts of the table. Data shows them in its own part."""


def count_connected(chosen: Chosen) -> None:
    """Offer to count a connected table for the present network.

    Nothing is shown to a recipient, if the counts exist, and if the page itself shows why there are none.
    """
    if not (chosen.is_connected and chosen.is_curator):
        return
    try:
        scan_key(chosen.connected, chosen.network)
    except InputError:
        return
    try:
        counts_of(chosen.connected, chosen.network)
        return
    except InputError as error:
        label = "Count the table" if str(error) == NOT_COUNTED else "Try again"
    with st.container(horizontal=True, vertical_alignment="center"):
        is_pressed = st.button(label, type="primary", key="connected.scan")
        st.caption(
            f"One scan of {escaped(chosen.connected.title)} counts the {chosen.network.cell_count:,} cells of this "
            "network. Nothing is written to the source, and no record leaves it."
        )
    if is_pressed:
        with st.spinner("Counting the table …"):
            scan(chosen.connected, chosen.network)
        st.rerun()
