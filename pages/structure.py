"""Structure: what privacy costs graphs of growing density."""

import streamlit as st

from dpbayes.ui.pages.structure.page import structure_page
from dpbayes.ui.widgets.show import fragment

st.title("Structure")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    structure_page()


live()
