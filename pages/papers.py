"""Papers: every claim, what became of it, and where it is checked."""

import streamlit as st

from dpbayes.ui.pages.papers.page import papers_page
from dpbayes.ui.widgets.show import fragment

st.title("Papers")


@fragment
def live() -> None:
    """Rerun alone when a claim is chosen."""
    papers_page()


live()
