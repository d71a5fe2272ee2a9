"""Proofs: one mechanism as stated, proved and computed, and the papers' claims with their verdicts."""

import streamlit as st

from dpbayes.ui.pages.proofs_claims import SUMMARY, claims_part
from dpbayes.ui.pages.proofs_mechanism import mechanism_part
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options import ProofsView
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.show import next_page, within_app

within_app()
chosen = Chosen.now()
view = chosen.options("proofs").view
with st.container(horizontal=True, vertical_alignment="center"):
    with st.container(width="content"):
        parameter_control("proofs.view", label="collapsed")
    is_mechanism = view is ProofsView.MECHANISM
    with st.container(key="about"):
        st.caption("How much can one record change what is published, and is it proved?" if is_mechanism else SUMMARY)
(mechanism_part if is_mechanism else claims_part)(chosen)
next_page("Lab", "pages/lab.py")
