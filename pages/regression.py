"""Regression: how well private weights predict, and what they cost."""

import streamlit as st

from dpbayes.ui.pages.regression.page import regression_page
from dpbayes.ui.widgets.page import live

st.title("Regression")
live(regression_page)
