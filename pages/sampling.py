"""Posterior sampling: trim a prior, hand over draws, and count what an adversary learns from them."""

import streamlit as st

from dpbayes.ui.pages.sampling.draws import draws_section
from dpbayes.ui.pages.sampling.game import game_section
from dpbayes.ui.pages.sampling.page import trim_section
from dpbayes.ui.widgets.show import fragment

st.title("Posterior sampling")


@fragment
def trimmed() -> None:
    """Rerun alone when a control of the release moves."""
    if trim_section():
        draws_section()


@fragment
def played() -> None:
    """Rerun alone when a control of the game moves."""
    game_section()


trimmed()
st.divider()
played()
