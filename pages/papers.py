"""Papers: every claim, what became of it, and where it is checked."""

import streamlit as st

from dpbayes.ui.pages.papers.page import papers_page
from dpbayes.ui.widgets.page import live

st.title("Papers")
live(papers_page)
