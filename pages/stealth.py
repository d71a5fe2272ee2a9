"""Stealth: how much must be added so that a Fourier release does not look like one."""

import streamlit as st

from dpbayes.ui.pages.stealth.page import stealth_page
from dpbayes.ui.widgets.show import fragment

st.title("Stealth")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    stealth_page()


live()
