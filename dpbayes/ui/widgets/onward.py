"""The button at the end of each page of the workflow that leads to the next page."""

import streamlit as st

from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.widgets.address import turn_to


def next_page(title: str, file: str, **parameters: object) -> None:
    """Offer the next page of the workflow as the page's one primary button, and set these parameters for it."""
    if st.button(f"Next: {title}", type="primary", key="next", icon=":material/arrow_forward:", icon_position="right"):
        for name, value in parameters.items():
            set_parameter(name, value)
        turn_to(file)
