"""Proofs: one mechanism as stated, proved and computed, and the papers' claims with their verdicts."""

import streamlit as st

from dpbayes.ui.pages.proofs_claims import claims_part
from dpbayes.ui.pages.proofs_mechanism import mechanism_part
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options import ProofsView
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.show import next_page, within_app

# What each part of the page answers; Streamlit would show a string here.
ABOUT = {
    ProofsView.MECHANISM: "Does a mechanism keep the privacy loss that is stated for it?",
    ProofsView.CLAIMS: "Which claims hold as they are stated? A release uses only what is proved.",
}

within_app()
chosen = Chosen.now()
view = chosen.options("proofs").view
with st.container(horizontal=True, vertical_alignment="center"):
    with st.container(width="content"):
        parameter_control("proofs.view", label="collapsed")
    st.caption(ABOUT[view], width="content")
if view is ProofsView.CLAIMS:
    claims_part(chosen)
else:
    mechanism_part(chosen)
next_page("Lab", "pages/lab.py")
