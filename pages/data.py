"""Data: choose a ready table, synthesise one, or load your own; state public domains."""

import streamlit as st

from dpbayes.ui.pages.data.page import about, choose, look, shown_table
from dpbayes.ui.widgets.show import headline, sentence_instead

st.title("Data")
place = st.container()
choose()
with sentence_instead():
    data = shown_table()
    with place:
        headline(about(data))
    if data is not None:
        look(data)
