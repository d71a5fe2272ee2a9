"""Accuracy: how well does what is released predict, as epsilon grows?"""

import streamlit as st

from dpbayes.ui.pages.accuracy.page import accuracy_page
from dpbayes.ui.widgets.page import live

st.title("Accuracy")
live(accuracy_page)
