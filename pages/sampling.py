"""Posterior sampling: trim a prior, hand over draws, and count what an adversary learns from them."""

import streamlit as st

from dpbayes.ui.pages.sampling.game import game_section
from dpbayes.ui.pages.sampling.page import sampling_page
from dpbayes.ui.widgets.page import live

live(sampling_page)
st.divider()
live(game_section, key="game")
