"""Network: draw the DAG; see what the structure costs."""

import streamlit as st

from dpbayes.ui.pages.network.page import arrows, costs, editor, exchange, headline_of
from dpbayes.ui.session.chosen import network
from dpbayes.ui.session.settings import current
from dpbayes.ui.widgets.show import headline, sentence_instead

st.title("Network")
place = st.empty()
left, right = st.columns([5, 3], gap="medium")
with left:
    editor()
net = None
with place.container(), sentence_instead():  # above the drawing that it is about
    net = network(current())
    headline(headline_of(net))
if net is not None:
    with right, sentence_instead():
        costs(net)
    with left:
        arrows(net)
exchange()
