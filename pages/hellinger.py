"""Hellinger: the exponential mechanism over a die's posteriors, beside Laplace noise."""

import streamlit as st

from dpbayes.ui.pages.hellinger.page import hellinger_page
from dpbayes.ui.widgets.show import fragment

st.title("Hellinger mechanism")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    hellinger_page()


live()
