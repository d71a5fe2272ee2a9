"""A page with every kind of coloured text that the app has, as its own style sheet and theme show it."""

from pathlib import Path

import streamlit as st

from dpbayes.ui.pages.proofs_claims import COLOURS

st.html(Path(__file__).parents[2] / "dpbayes" / "ui" / "style.css")
st.title("Colours")
colours = sorted({*COLOURS.values(), "red"})
for colour in colours:
    st.markdown(f":{colour}[**A verdict.**] :{colour}[A finding] and [a link](#colours), `code`.")
    st.caption(f":{colour}[A refusal.] Kept 1, and [a link](#colours).")
for alert in (st.info, st.success, st.warning, st.error):
    alert("A sentence with [a link](#colours) and `code`.")
st.multiselect("Several", ["one", "two"], ["one", "two"])
st.segmented_control("One", ["one", "two"], default="one")
st.metric("A number", "1", "2", delta_color="inverse")
st.text_input("Text", placeholder="what could stand here")
st.button("Turn", type="primary")
st.page_link("https://example.org", label="Elsewhere")
