"""Release: choose a mechanism and epsilon; see private beside exact."""

import streamlit as st

from dpbayes.ui.pages.release.page import release_page
from dpbayes.ui.widgets.show import fragment

st.title("Release")


@fragment
def live() -> None:
    """Rerun alone when one of its controls moves, so that a slider repaints its chart at once."""
    release_page()


live()
