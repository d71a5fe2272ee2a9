"""Release: choose a mechanism and epsilon; see private beside exact."""

import streamlit as st

from dpbayes.ui.release_page import release_page
from dpbayes.ui.show import fragment

st.title("Release")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    release_page()


live()
