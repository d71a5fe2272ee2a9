"""Audit: what a mechanism claims, what is proved of it, and what the worst neighbours really lose."""

import streamlit as st

from dpbayes.ui.pages.audit.page import audit_page
from dpbayes.ui.widgets.show import fragment

st.title("Audit")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its charts at once."""
    audit_page()


live()
