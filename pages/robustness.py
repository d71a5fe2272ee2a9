"""Robustness: how far one record moves a posterior as the prior concentrates."""

import streamlit as st

from dpbayes.ui.pages.robustness.page import robustness_page
from dpbayes.ui.widgets.show import fragment

st.title("Robustness")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    robustness_page()


live()
