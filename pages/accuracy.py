"""Accuracy: how well does what is released predict, as epsilon grows?"""

import streamlit as st

from dpbayes.ui.pages.accuracy.page import accuracy_page
from dpbayes.ui.widgets.show import fragment

st.title("Accuracy")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    accuracy_page()


live()
