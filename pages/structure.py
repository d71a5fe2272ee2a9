"""Structure: what privacy costs graphs of growing density."""

import streamlit as st

from dpbayes.ui.show import linked, sentence_instead
from dpbayes.ui.structure_page import structure_page

st.title("Structure")


@st.fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    with linked(), sentence_instead():
        structure_page()


live()
