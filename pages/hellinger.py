"""Hellinger: the exponential mechanism over a die's posteriors, beside Laplace noise."""

import streamlit as st

from dpbayes.ui.pages.hellinger.page import hellinger_page
from dpbayes.ui.widgets.page import live

st.title("Hellinger mechanism")
live(hellinger_page)
