"""Bounds: what the theorems say, what is proved, and what is true."""

import streamlit as st

from dpbayes.ui.pages.bounds.page import bounds_page
from dpbayes.ui.widgets.page import live

st.title("Bounds")
live(bounds_page)
