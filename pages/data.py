"""Data: choose a sample table, a synthetic one or your own, and state public domains."""

import streamlit as st

from dpbayes.ui.pages.data.page import origin_controls, show_table
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.page import within_app
from dpbayes.ui.widgets.show import sentence_instead

within_app()
chosen, place = Chosen.now(), st.container()
origin_controls(chosen)
with sentence_instead():
    show_table(chosen, place)
