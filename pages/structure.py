"""Structure: what privacy costs graphs of growing density."""

import streamlit as st

from dpbayes.ui.pages.structure.page import structure_page
from dpbayes.ui.widgets.page import live

st.title("Structure")
live(structure_page)
