"""Hellinger: the exponential mechanism over a die's posteriors, beside Laplace noise."""

import streamlit as st

from dpbayes.ui.hellinger_page import hellinger_page
from dpbayes.ui.show import fragment

st.title("Hellinger mechanism")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    hellinger_page()


live()
