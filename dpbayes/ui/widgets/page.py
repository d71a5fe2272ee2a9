"""A page with a live picture: it reruns alone when a control moves, and draws first what a moving slider waits for."""

import functools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, repeat

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
    """The places of a page, whatever is drawn first: its sentence, the control that matters, the picture, the others.

    On a narrow screen they stand below each other in this order, so that the picture is seen while it is moved.
    """

    top: DeltaGenerator
    main: DeltaGenerator
    picture: DeltaGenerator
    controls: DeltaGenerator

    def offer(self, names: Iterable[str], control: Callable[[str], object]) -> None:
        """Show the control of each parameter: the first one matters most and stands with the picture."""
        for place, name in zip(chain([self.main], repeat(self.controls)), names, strict=False):
            with place:
                control(name)

    def say(self, sentence: str) -> None:
        """Show the page's sentence; the picture is painted before anything else arrives."""
        with self.top:
            headline(sentence)
        time.sleep(PAINT)


def places(between: Callable[[], None] | None = None) -> Places:
    """Return the places of a page from here on, with a part `between` its sentence and the rest if it has one."""
    top = st.container(key="headline")
    if between is not None:
        between()
    left, controls = st.columns([2, 1], gap="medium")
    return Places(top, left.container(key="main"), left.container(key="picture"), controls)
