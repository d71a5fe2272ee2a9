"""Bounds: what the theorems say, what is proved, and what is true."""

import streamlit as st

from dpbayes.ui.pages.bounds.page import bounds_page
from dpbayes.ui.widgets.show import fragment

st.title("Bounds")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    bounds_page()


live()
