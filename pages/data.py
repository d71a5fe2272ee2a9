"""Data: choose a ready table, synthesise one, or load your own; state public domains."""

import streamlit as st

from dpbayes.ui.data_page import about, choose, look
from dpbayes.ui.settings import current
from dpbayes.ui.show import headline, sentence_instead
from dpbayes.ui.work import dataset

st.title("Data")
place = st.container()
choose()
with sentence_instead():
    data = dataset(current())
    with place:
        headline(about(data))
    look(data)
