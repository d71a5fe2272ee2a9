"""What page files need: the run within the app, and the button to the next page."""

import streamlit as st

from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.show import is_guarded

_RERUN = "page.asked"


def within_app() -> None:
    """Rerun, once in a session, if this page was run without `app.py`: see dpbayes/ui/__init__.py."""
    if not st.session_state.setdefault(_RERUN, is_guarded()):
        st.session_state[_RERUN] = True
        st.rerun()


def next_page(title: str, file: str, **parameters: object) -> None:
    """Show the primary button that sets these parameters and opens the next page of the workflow."""
    if st.button(f"Next: {title}", type="primary", key="next", icon=":material/arrow_forward:", icon_position="right"):
        for name, value in parameters.items():
            set_parameter(name, value)
        turn_to(file)
