"""The banner of the story that is open, above every page: what the step says, its guess, and the way to the next."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base.text import escaped, in_hundred, numeral
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.ui.pages.stories.opened import OpenStory, open_step, open_story
from dpbayes.ui.pages.stories.story import STORIES, Guess
from dpbayes.ui.session.chosen import kind_called
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.settings import Present, Settings
from dpbayes.ui.widgets.board import number_shown
from dpbayes.ui.widgets.controls import plain_number

DIGITS = 2
"""Digits of the comparison of a guess with a number of the board."""

_BEFORE = "story.before"
"""The settings of the last run without a story."""

_FOLDER = Path(__file__).parent

_PRESENT = f"<style>{(_FOLDER / 'present.css').read_text(encoding='utf-8')}</style>"
"""A board shown to a room. On any other page its rules would make each stroke of a chart slower."""

_COVER = f"<style>{(_FOLDER / 'cover.css').read_text(encoding='utf-8')}</style>"
"""Boards keep their place and show nothing but the slider until a guess, not even to who hears the page."""

_mount = st.components.v2.component("dpbayes_story", js=(_FOLDER / "banner.js").read_text(encoding="utf-8"))


def banner(page: str) -> Callable[[], None]:
    """Show where in which story the person is; nothing while none is open. `page` is the one that is shown.

    Returns what compares a guess with the board, once the page has shown it.
    """
    compare: Callable[[], None] = nothing
    story, key = open_story(), current().story
    if page == "home" and story is not None:  # where stories are chosen
        return compare
    is_presented = story is not None and current().present is Present.ON
    style = _PRESENT if is_presented else ""
    if story is None and not key:
        st.session_state[_BEFORE] = current()
    with st.container(key="present" if is_presented else "story"):
        if story is not None:
            guess = story.step.guess if story.step is not None and story.step.page == page else None
            is_guessed = guess is None or (story.key, story.number) in _guesses()
            _line(story, page, is_presented=is_presented, is_guessed=is_guessed)
            if guess is not None:
                cover, compare = _guess(story, guess)
                style += cover
            elif story.step is None:
                compare = _summary(story)
            _keys(story, is_presented=is_presented)
        elif key:
            st.caption(f"There is no story called {escaped(brief(key))}. Home lists the stories.")
            st.button("Leave", key="story.leave", on_click=_leave)
    # Always one style element: the browser keeps a missing element until a run has ended, and a page that works
    # would stay covered after the guess.
    st.html(style or "<style></style>")
    return compare


def _leave() -> None:
    """Leave the story, and restore the settings from before it, or the usual ones if a link opened the story.

    An own table that was opened during the story stays.
    """
    before, now = st.session_state.get(_BEFORE, Settings()), replace(current(), story="", step=1, present=Present.OFF)
    st.session_state["settings"] = now if now.data == "upload" else before


def nothing() -> None:
    """Compare no guess."""


def _line(story: OpenStory, page: str, *, is_presented: bool, is_guessed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="story-line"):
        with st.container(key="story-said"):
            st.markdown(_said(story, is_presented=is_presented, is_guessed=is_guessed))
        with st.container(horizontal=True, width="content", gap="xxsmall", key="story-turn"):
            if story.step is not None and story.step.page != page:
                st.button("Go to the step’s page", key="story.here", on_click=open_step, args=(story.key, story.number))
            _turns(story, is_guessed=is_guessed)
            if is_presented:
                st.button("End", key="story.end", on_click=change, kwargs={"present": Present.OFF}, help="Escape")
                return
            st.button(
                "Present",
                key="story.present",
                on_click=change,
                kwargs={"present": Present.ON},
                help="Shows only the board, in large type. Press Escape to leave.",
            )
            st.button("Leave", key="story.leave", on_click=_leave, help="Restores the settings from before the story")


def _said(story: OpenStory, *, is_presented: bool, is_guessed: bool) -> str:
    """Return the sentence of the step, after the guess what to do, and outside a presentation the title."""
    step = story.step
    said = escaped(step.say if step is not None else story.story.learnt)
    place = "summary" if step is None else f"{story.number} of {len(story.story.steps)}"
    title = "" if is_presented else f"**{escaped(story.story.title)}** · {place}: "
    do = f" **{escaped(step.do)}**" if step is not None and is_guessed else ""
    return f"{title}{said}{do}"


def _turns(story: OpenStory, *, is_guessed: bool) -> None:
    """Offer the step before and the next one, after the guess; at the end the story that may follow."""
    key, number = story.key, story.number
    st.button("Back", key="story.back", disabled=number == 1, on_click=open_step, args=(key, number - 1))
    if number < story.story.places:
        # The button stays when it can be used: another in its place would move under the hand.
        label, place = "Next" if is_guessed else "Next (guess first)", (key, number + 1)
        st.button(label, key="story.next", type="primary", disabled=not is_guessed, on_click=open_step, args=place)
    else:
        follower = story.story.next
        label = f"Next: {escaped(STORIES[follower].title)}"
        st.button(label, key="story.follow", type="primary", on_click=open_step, args=(follower,))


def _summary(story: OpenStory) -> Callable[[], None]:
    """List the guesses of a story; return what adds the choice that Explore shows, to be defended."""
    place, steps = st.empty(), enumerate(story.story.steps, start=1)
    said = ((number, step.guess, _guesses().get((story.key, number))) for number, step in steps)
    lines = [f"{number}. {escaped(guess.ask)} {done.comparison}" for number, guess, done in said if guess and done]

    def collect() -> None:
        error, belief, last = number_shown("error"), number_shown("belief"), story.story.steps[-1].guess
        if error is not None and belief is not None and last is not None and last.number == "belief":
            choice = f"{kind_called(current().mechanism).label} at ε = {current().parameter('epsilon'):g}"
            limits = f"a mean absolute error of {numeral(error, DIGITS)}, and a 10% belief rises to at most"
            lines.append(f"\n**Your choice:** {choice}: {limits} {in_hundred(belief / 100)}%.")
        place.markdown("\n".join(lines))

    return collect


def _keys(story: OpenStory, *, is_presented: bool) -> None:
    """Let keys turn the steps of a presentation, and let each step begin at the top of its page."""

    def turn() -> None:
        _turn(st.session_state["story.keys"]["key"], story)

    data = {"story": story.key, "presents": is_presented, "step": story.number, "places": story.story.places}
    _mount(key="story.keys", data=data, on_key_change=turn)


def _turn(key: Any, story: OpenStory) -> None:
    """Open the step whose number a browser sends, or end the presentation."""
    if key == "Escape":
        change(present=Present.OFF)
    if type(key) is int and 1 <= key <= story.story.places and key != current().step:
        open_step(story.key, key)


# The guess


@dataclass
class _Guessed:
    """What a person guessed, None if she skipped the guess, and the comparison with the board once it is made."""

    given: float | None
    comparison: str = ""


def _guesses() -> dict[tuple[str, int], _Guessed]:
    """Return the guesses of the session by story and step."""
    guesses: dict[tuple[str, int], _Guessed] = st.session_state.setdefault("story.guesses", {})
    return guesses


def _key(place: tuple[str, int]) -> str:
    return f"story.guess.{place[0]}.{place[1]}"


def _take(place: tuple[str, int], span: tuple[float, float]) -> None:
    """Show the board of a step, and compare the typed guess with it. A text that is no guess stays, with a message."""
    given = str(st.session_state.get(_key(place)) or "")
    try:
        number = finite_number("A guess", plain_number(given, whole=True), low=span[0], high=span[1])
        _guesses()[place] = _Guessed(number)
    except InputError as error:
        message = str(error) if given else "Type a guess first, or skip it."
        st.session_state["story.refused"] = place, message


def _skip(place: tuple[str, int]) -> None:
    _guesses().setdefault(place, _Guessed(None))  # what was typed before the click has been taken


def _guess(story: OpenStory, guess: Guess) -> tuple[str, Callable[[], None]]:
    """Ask the question of the step; return the style that covers the board, and what compares the guess with it."""
    place = story.key, story.number
    guesses = _guesses()
    with st.container(horizontal=True, vertical_alignment="center", key="story-guess"):
        st.markdown(f"**Guess:** {escaped(guess.ask)}", width="content")
        if place not in guesses:
            of_box: dict[str, Any] = {"args": (place, guess.span), "width": 120}
            st.text_input("Your guess", key=_key(place), on_change=_take, label_visibility="collapsed", **of_box)
            st.button("Show", key="story.show", type="primary", on_click=_take, args=(place, guess.span))
            st.button("Skip the guess", key="story.skip", on_click=_skip, args=(place,))
            refused, message = st.session_state.get("story.refused", (None, ""))
            if refused == place:
                st.markdown(f":red[{escaped(message)}]", width="content")
            return _COVER, nothing
        answer, guessed = st.empty(), guesses[place]

    def compare() -> None:
        shown = number_shown(guess.number)
        if not guessed.comparison and shown is not None:
            guessed.comparison = f"{_judged(guessed.given, shown)} {escaped(guess.why)}"
        answer.markdown(guessed.comparison, width="content")

    return "", compare


def _judged(given: float | None, shown: float) -> str:
    """Return the comparison of a guess with the number of the board."""
    answer = numeral(shown, DIGITS + (abs(shown) >= 10))  # as on the screen, such as 45.1%
    if given is None:
        return f"The answer is **{answer}**."
    if numeral(given, DIGITS) == numeral(shown, DIGITS):
        return f"You guessed {numeral(given)}, which is correct."
    return f"You guessed {numeral(given)}; the answer is **{answer}**."
