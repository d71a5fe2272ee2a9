"""Stealth: how much must be added so that a Fourier release does not look like one."""

import streamlit as st

from dpbayes.ui.pages.stealth.page import stealth_page
from dpbayes.ui.widgets.page import live

st.title("Stealth")
live(stealth_page)
