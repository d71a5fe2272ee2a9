"""Network: draw the DAG; see what the structure costs."""

import streamlit as st

from dpbayes.ui.pages.network.page import arrows, costs, editor, exchange, headline_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import headline, sentence_instead

chosen = Chosen.now()
place = st.empty()
left, right = st.columns([5, 3], gap="medium")
with left:
    editor(chosen)
net = None
with place.container(), sentence_instead():  # above the drawing that it is about
    net = chosen.network
    headline(headline_of(net, epsilon=chosen.epsilon))
if net is not None:
    with right, sentence_instead():
        costs(net, epsilon=chosen.epsilon)
    with left:
        arrows(net, epsilon=chosen.epsilon)
exchange(chosen)
