"""Robustness: how far one record moves a posterior as the prior concentrates."""

import streamlit as st

from dpbayes.ui.pages.robustness.page import robustness_page
from dpbayes.ui.widgets.page import live

st.title("Robustness")
live(robustness_page)
