"""Papers: every claim, what became of it, and where it is checked."""

import streamlit as st

from dpbayes.ui.papers_page import papers_page
from dpbayes.ui.show import linked, sentence_instead

st.title("Papers")


@st.fragment
def live() -> None:
    """Rerun alone when a claim is chosen."""
    with linked(), sentence_instead():
        papers_page()


live()
