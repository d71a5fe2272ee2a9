"""A page with a live picture: it reruns alone when a control moves, and draws first what a moving slider waits for."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import write_link
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import guarded, headline

PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""


def live(part: Callable[[Chosen], bool | None]) -> None:
    """Show a part that reruns alone, from the settings as they are then, and goes on as long as it returns True.

    `app.py` neither guards nor links such a rerun.
    """

    @st.fragment
    @functools.wraps(part)
    def alone() -> None:
        goes_on = None
        with guarded():
            goes_on = part(Chosen.now())
        write_link()
        if goes_on:
            run_again()

    alone()


@dataclass(frozen=True)
class Places:
    """The places of a page, whatever is drawn first: its sentence on top, and the controls beside the picture."""

    top: DeltaGenerator
    controls: DeltaGenerator
    picture: DeltaGenerator

    def say(self, sentence: str) -> None:
        """Show the page's sentence; the picture is painted before anything else arrives."""
        with self.top:
            headline(sentence)
        time.sleep(PAINT)


def places(between: Callable[[], None] | None = None) -> Places:
    """Return the places of a page from here on, with a part `between` its sentence and the rest if it has one."""
    top = st.container()
    if between is not None:
        between()
    controls, picture = st.columns([1, 2], gap="medium")
    return Places(top, controls, picture)
