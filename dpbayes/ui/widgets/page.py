"""A page with a live picture: while its main slider moves, picture and sentence rerun alone; the rest follows later.

A fragment of Streamlit reruns alone. It does not know when a slider comes to rest, or what is outdated until then.
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
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.address import shown_page, turn_to, write_link
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.frames import Frame, Frames, charts_of, offer_frames, recording
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import guarded, headline, is_guarded
from dpbayes.ui.widgets.turns import TURNS

Result = TypeVar("Result")

HEAD_START = 0.4
"""Seconds that a browser gets for the picture of a page that was just opened: it would draw all that came meanwhile
first, and the picture two seconds later."""

MOVING = '<span class="moving"></span>'
"""What is on the page from a move of its main control until all of it is new: `style.css` fades what is of a former
one."""

_OPEN, _RERUN, _MARK, _CONTINUES = "page.open", "page.asked", "page.mark", "page.continues"
_FRAMES = "page.frames"


def within_app() -> None:
    """Run again, once in a session, if this page began without `app.py`: see dpbayes/ui/__init__.py."""
    if not st.session_state.setdefault(_RERUN, is_guarded()):
        st.session_state[_RERUN] = True
        st.rerun()


def live(part: Callable[[Chosen], bool | None], *, key: str = "") -> None:
    """Show a part that reruns alone, from the settings as they are then, and goes on as long as it returns True.

    `app.py` neither guards nor links such a rerun. A part without a key is the page as a whole.
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
    """Offer frames; the request of the browser reruns this part alone."""
    with guarded():
        offer()


def settle() -> None:
    """Show what follows the main control as it is again: it now belongs to the control's position.

    A page is settled at its end; one that works on after all is drawn settles before.
    """
    mark = st.session_state.pop(_MARK, None)
    if mark is not None:
        mark.empty()


def _whole_page() -> str:
    """Return the key of the page's fragment: each page has its own, because a page that is left is kept for a while."""
    return f"page {shown_page()}"


def give_head_start() -> None:
    """Wait before the rest of a page that was just opened: of one that is open already, the browser has the picture."""
    if st.session_state.get(_OPEN) != shown_page():
        st.session_state[_OPEN] = shown_page()
        with TURNS.others_turn():
            time.sleep(HEAD_START)


def _follow() -> None:
    """Have the page follow its main control, unless all runs anyway, or the page has been left."""
    run = get_script_run_ctx()
    if run is not None and run.fragment_ids_this_run:
        with suppress(StreamlitAPIException):
            st.rerun(_whole_page())


@dataclass(frozen=True)
class Places:
    """The places of a page, whatever is drawn first: its sentence, the control that matters, the picture, the others.

    On a narrow screen they stand below each other in this order, so that the picture is seen while it is moved.
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
        """Show what moves with the main slider, and return what `part` returns; None where it failed unforeseen.

        With the page it is of what is `chosen` there, worked out once for both. It reruns alone, from the settings as
        they are then, as long as the slider moves. What takes it a moment it computes outside the places: the word
        shown meanwhile would take that of the chart, which is then built anew.
        With `frames` the browser gets what the part shows at all stops once the page rests, and follows the hand alone.
        Errors: InputError, of `part`.
        """
        aside = st.container(key="aside")  # for what Streamlit shows on its own while something is computed
        results: list[Result] = []
        refusals: list[InputError] = []
        is_alone, continues = False, st.session_state.pop(_CONTINUES, False)

        @st.fragment
        @functools.wraps(part)
        def alone() -> None:
            with aside, guarded():
                # With the page, too: else Streamlit keeps no place for it, and refuses it to the part alone.
                mark = st.session_state[_MARK] = st.empty()
                if is_alone or not continues:
                    mark.html(MOVING)
                try:
                    now = Chosen.now() if is_alone else chosen
                    charts_of(now, frames)
                    results[:] = [part(self, now)]  # the last one alone: a drag has hundreds
                except InputError as error:
                    if is_alone:
                        raise
                    refusals.append(error)

        alone()
        is_alone = True
        if frames is not None and frames.name and not refusals:
            shown = functools.partial(_frame, part, frames)
            st.session_state[_FRAMES] = lambda: offer_frames(shown, chosen, frames)
        give_head_start()
        if refusals:  # the page as a whole says it, once
            raise refusals[0]
        return results[-1] if results else None

    def lead(self, name: str, **more: Any) -> None:
        """Show the main control; the whole page follows it when the hand rests."""
        with self.main:
            parameter_control(name, on_rest=_follow, **more)

    def beside(self) -> DeltaGenerator:
        """Return the place under the picture of what follows the main control when the hand rests."""
        return self.picture.container(key="beside")

    def say(self, sentence: str) -> None:
        """Show the page's sentence."""
        with self.top:
            headline(sentence)

    def add(self, sentence: str, *, to: Literal["headline", "picture"]) -> None:
        """Show a sentence in small type below the page's sentence, or below its picture."""
        with self.top if to == "headline" else self.picture:
            st.caption(sentence)


@dataclass(frozen=True)
class _Nowhere(Places):
    """Places that no browser shows: of what goes there, the sentences are kept."""

    sentences: dict[str, str] = field(default_factory=dict)

    def lead(self, name: str, **more: Any) -> None:
        """Show no control."""

    def say(self, sentence: str) -> None:
        """Keep the page's sentence."""
        self.sentences["headline h2"] = sentence

    def add(self, sentence: str, *, to: Literal["headline", "picture"]) -> None:
        """Keep a sentence in small type."""
        self.sentences[f"{to} p"] = sentence


def _frame(part: Callable[[Places, Chosen], object], frames: Frames, settings: Settings) -> Frame:
    """Return what a page shows with these settings while its slider moves, in a browser that has none of it."""
    nowhere = DeltaGenerator(root_container=None)
    page, chosen = _Nowhere(nowhere, nowhere, nowhere, nowhere), Chosen(settings)
    with recording() as figures, nowhere:
        part(page, chosen)
        beside = frames.beside(chosen)
    return Frame(figures | beside.figures, page.sentences | beside.sentences)


def places(between: Callable[[], None] | None = None, *, widths: tuple[int, int] = (2, 1)) -> Places:
    """Return the places of a page from here on, with a part `between` its sentence and the rest if it has one.

    `widths` are the shares of the picture and of the controls beside it.
    """
    top = st.container(key="headline")
    if between is not None:
        between()
    left, controls = st.columns(widths, gap="medium")
    main, picture = left.container(key="main"), left.container(key="picture")
    for part in (top, main):
        part.empty()  # a browser shows no container that has nothing in it: what comes last would move the picture
    return Places(top, main, picture, controls)


def next_page(title: str, file: str, **parameters: object) -> None:
    """Offer the next page of the workflow as the page's one primary button, and set these parameters for it."""
    if st.button(f"Next: {title}", type="primary", key="next", icon=":material/arrow_forward:", icon_position="right"):
        for name, value in parameters.items():
            set_parameter(name, value)
        turn_to(file)
