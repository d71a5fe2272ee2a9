"""Data: choose a ready table, synthesise one, or load your own; state public domains."""

import streamlit as st

from dpbayes.ui.pages.data.page import about, choose, look, shown_table
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import headline, sentence_instead

chosen, place = Chosen.now(), st.container()
choose(chosen)
with sentence_instead():
    data = shown_table(chosen)
    with place:
        headline(about(data, chosen))
    if data is not None:
        look(data, chosen)
