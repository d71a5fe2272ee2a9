"""What page files need: the run within the app, a part that reruns alone, and the button to the next page."""

import functools
from collections.abc import Callable

import streamlit as st

from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.widgets.address import turn_to, write_link
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import guarded, is_guarded

_RERUN = "page.asked"


def within_app() -> None:
    """Rerun, once in a session, if this page was run without `app.py`: see dpbayes/ui/__init__.py."""
    if not st.session_state.setdefault(_RERUN, is_guarded()):
        st.session_state[_RERUN] = True
        st.rerun()


def live(part: Callable[[Chosen], bool | None], *, key: str) -> None:
    """Show a part that reruns alone with the present settings, and runs again as long as it returns True.

    Such a rerun does not run `app.py`, so this function guards the part and writes the link.
    """

    @st.fragment(key=key)
    @functools.wraps(part)
    def alone() -> None:
        goes_on = None
        with guarded():
            goes_on = part(Chosen.now())
        write_link()
        if goes_on:
            run_again()

    alone()


def next_page(title: str, file: str, **parameters: object) -> None:
    """Show the primary button that sets these parameters and opens the next page of the workflow."""
    if st.button(f"Next: {title}", type="primary", key="next", icon=":material/arrow_forward:", icon_position="right"):
        for name, value in parameters.items():
            set_parameter(name, value)
        turn_to(file)
