"""Network: draw the DAG; see what the structure costs."""

import streamlit as st

from dpbayes.ui.network_page import arrows, costs, editor, exchange, headline_of
from dpbayes.ui.settings import current
from dpbayes.ui.show import sentence_instead
from dpbayes.ui.work import network

st.title("Network")
place = st.empty()
left, right = st.columns([5, 3], gap="medium")
with left:
    editor()
with sentence_instead():
    net = network(current())
    place.markdown(f"#### {headline_of(net)}")
    with right:
        costs(net)
    with left:
        arrows(net)
exchange()
