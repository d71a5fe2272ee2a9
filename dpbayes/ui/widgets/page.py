"""A page with a live picture: while its main slider moves, only the picture and the headline rerun.

A fragment of Streamlit reruns alone. Streamlit does not report that a slider has stopped, and does not mark the
content that is outdated until then.
"""

import functools
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.host import host
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.address import shown_page, turn_to, write_link
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.frames import Frames, PageFrame, charts_of, offer_frames, recording
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import guarded, headline, is_guarded
from dpbayes.ui.widgets.turns import TURNS

Result = TypeVar("Result")

MOVING = '<span class="moving"></span>'
"""An element that is on the page from a move of its main control until the whole page is updated. `style.css` greys the
outdated content."""

_OPEN, _RERUN, _MARK, _CONTINUES = "page.open", "page.asked", "page.mark", "page.continues"
_FRAMES = "page.frames"


def within_app() -> None:
    """Rerun, once in a session, if this page was run without `app.py`: see dpbayes/ui/__init__.py."""
    if not st.session_state.setdefault(_RERUN, is_guarded()):
        st.session_state[_RERUN] = True
        st.rerun()


def live(part: Callable[[Chosen], bool | None], *, key: str = "") -> None:
    """Show a part that reruns alone with the present settings, and runs again as long as it returns True.

    Such a rerun does not run `app.py`, so this function guards the part and writes the link. A part without a key is
    the whole page.
    """

    @st.fragment(key=key or _whole_page())
    @functools.wraps(part)
    def alone() -> None:
        goes_on = None
        with guarded():
            goes_on = part(Chosen.now())
        if not key:
            st.session_state[_OPEN] = shown_page()
            settle()
        write_link()
        if not key and not goes_on and (offer := st.session_state.pop(_FRAMES, None)):
            _offered(offer)
        if goes_on:
            st.session_state[_CONTINUES] = not key
            run_again()

    within_app()
    alone()


@st.fragment
def _offered(offer: Callable[[], None]) -> None:
    """Offer frames; a request of the browser reruns only this part."""
    with guarded():
        offer()


def settle() -> None:
    """Stop greying the content that depends on the main control, because it is now up to date.

    A page is settled at its end. A page that computes further after all is drawn calls this before.
    """
    mark = st.session_state.pop(_MARK, None)
    if mark is not None:
        mark.empty()


def _whole_page() -> str:
    """Return the key of the page's fragment, one for each page, because Streamlit keeps former pages for a while."""
    return f"page {shown_page()}"


def give_head_start() -> None:
    """Wait before the rest of a page that was just opened; a browser already has the picture of an open page."""
    if st.session_state.get(_OPEN) != shown_page():
        st.session_state[_OPEN] = shown_page()
        with TURNS.others_turn():
            time.sleep(host().head_start_s)


def _follow() -> None:
    """Rerun the page after its main control has stopped, unless the whole page runs, or it was left."""
    run = get_script_run_ctx()
    if run is not None and run.fragment_ids_this_run:
        with suppress(StreamlitAPIException):
            st.rerun(_whole_page())


@dataclass(frozen=True)
class Places:
    """The containers of a page: headline, main control, picture, and other controls.

    On a narrow screen they are below each other in this order, so that the picture is visible beside its slider.
    """

    top: DeltaGenerator
    main: DeltaGenerator
    picture: DeltaGenerator
    controls: DeltaGenerator

    def first(
        self,
        part: "Callable[[Places, Chosen], Result]",
        chosen: Chosen,
        *,
        frames: Frames | None = None,
    ) -> Result | None:
        """Show the live part of the page, and return the result of `part`; None after an unexpected error.

        In a run of the page, the part uses `chosen`, so that values are computed once for both. While the slider moves,
        the part reruns alone with the present settings. Streamlit's messages during a computation are shown outside the
        containers: inside, they would replace the chart, which would then be built again. With `frames`, the browser
        receives the frames of all stops when the page is complete. Errors: InputError of `part`.
        """
        aside = st.container(key="aside")  # for Streamlit's messages during a computation
        results: list[Result] = []
        refusals: list[InputError] = []
        is_alone, continues = False, st.session_state.pop(_CONTINUES, False)

        @st.fragment
        @functools.wraps(part)
        def alone() -> None:
            with aside, guarded():
                # In a run of the page, too: otherwise Streamlit has no container for it when the part runs alone.
                mark = st.session_state[_MARK] = st.empty()
                if is_alone or not continues:
                    mark.html(MOVING)
                try:
                    now = Chosen.now() if is_alone else chosen
                    charts_of(now, frames)
                    results[:] = [part(self, now)]  # only the last result: a drag has hundreds
                except InputError as error:
                    if is_alone:
                        raise
                    refusals.append(error)

        alone()
        is_alone = True
        if frames is not None and frames.name and not refusals and host().offers_frames:
            shown = functools.partial(_frame, part, frames)
            st.session_state[_FRAMES] = lambda: offer_frames(shown, chosen, frames)
        give_head_start()
        if refusals:  # the page shows it, once
            raise refusals[0]
        return results[-1] if results else None

    def lead(self, name: str, **more: Any) -> None:
        """Show the main control; the whole page is updated when it stops."""
        with self.main:
            parameter_control(name, on_rest=_follow, **more)

    def beside(self) -> DeltaGenerator:
        """Return the container below the picture for content that is updated when the main control stops."""
        return self.picture.container(key="beside")

    def inside(self, container: DeltaGenerator) -> DeltaGenerator:
        """Return a container of the page; in a frame, one that shows nothing."""
        return container

    def say(self, sentence: str) -> None:
        """Show the headline."""
        with self.top:
            headline(sentence)

    def add(self, sentence: str, *, to: Literal["headline", "picture"]) -> None:
        """Show a sentence in small type below the headline or below the picture."""
        with self.top if to == "headline" else self.picture:
            st.caption(sentence)


@dataclass(frozen=True)
class _Nowhere(Places):
    """Containers of a frame, which is not shown: only the sentences are kept."""

    sentences: dict[str, str] = field(default_factory=dict)

    def lead(self, name: str, **more: Any) -> None:
        """Show no control."""

    def inside(self, container: DeltaGenerator) -> DeltaGenerator:
        """Return a container that shows nothing."""
        return self.main

    def say(self, sentence: str) -> None:
        """Keep the headline."""
        self.sentences["headline h2"] = sentence

    def add(self, sentence: str, *, to: Literal["headline", "picture"]) -> None:
        """Keep a sentence in small type."""
        self.sentences[f"{to} p"] = sentence


def _frame(part: Callable[[Places, Chosen], object], frames: Frames, settings: Settings) -> PageFrame:
    """Return the frame of a page for these settings."""
    nowhere = DeltaGenerator(root_container=None)
    page, chosen = _Nowhere(nowhere, nowhere, nowhere, nowhere), Chosen(settings)
    with recording() as figures, nowhere:
        part(page, chosen)
        beside = frames.beside(chosen)
    return PageFrame(figures | beside.figures, page.sentences | beside.sentences)


def places(between: Callable[[], None] | None = None, *, widths: tuple[int, int] = (2, 1)) -> Places:
    """Create the containers of a page, with an optional part `between` the headline and the rest.

    `widths` are the shares of the picture and of the controls beside it.
    """
    top = st.container(key="headline")
    if between is not None:
        between()
    left, controls = st.columns(widths, gap="medium")
    main, picture = left.container(key="main"), left.container(key="picture")
    for part in (top, main):
        part.empty()  # a browser shows no empty container, and one that is filled later would move the picture
    return Places(top, main, picture, controls)


def next_page(title: str, file: str, **parameters: object) -> None:
    """Show the primary button that sets these parameters and opens the next page of the workflow."""
    if st.button(f"Next: {title}", type="primary", key="next", icon=":material/arrow_forward:", icon_position="right"):
        for name, value in parameters.items():
            set_parameter(name, value)
        turn_to(file)
