"""Stealth: how much must be added so that a Fourier release does not look like one."""

import streamlit as st

from dpbayes.ui.show import linked, sentence_instead
from dpbayes.ui.stealth_page import stealth_page

st.title("Stealth")


@st.fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    with linked(), sentence_instead():
        stealth_page()


live()
