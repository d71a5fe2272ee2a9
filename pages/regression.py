"""Regression: how well private weights predict, and what they cost."""

import streamlit as st

from dpbayes.ui.pages.regression.page import regression_page
from dpbayes.ui.widgets.show import fragment

st.title("Regression")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, and while an experiment goes on."""
    regression_page()


live()
