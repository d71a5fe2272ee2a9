"""Accuracy: how well does what is released predict, as epsilon grows?"""

import streamlit as st

from dpbayes.ui.accuracy_page import accuracy_page
from dpbayes.ui.show import linked, sentence_instead

st.title("Accuracy")


@st.fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    with linked(), sentence_instead():
        accuracy_page()


live()
