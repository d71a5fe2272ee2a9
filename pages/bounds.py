"""Bounds: what the theorems say, what is proved, and what is true."""

import streamlit as st

from dpbayes.ui.bounds_page import bounds_page
from dpbayes.ui.show import linked, sentence_instead

st.title("Bounds")


@st.fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    with linked(), sentence_instead():
        bounds_page()


live()
