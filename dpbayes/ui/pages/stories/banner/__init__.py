"""The banner of the story that is open: above every page, outside the parts that run while a slider moves.

Streamlit has no tour over several pages.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.ui.pages.stories.opened import TITLES, OpenStory, leave, open_step, open_story, times_opened
from dpbayes.ui.pages.stories.story import FOLDED, OWN, PARTS, WITHOUT_PICTURE, Guess, Step, shown_alone
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.settings import Present
from dpbayes.ui.widgets.numbers import NUMBERS, number_shown
from dpbayes.ui.widgets.show import unfold

MOST_GUESSED = 1e12

_GUESSES, _UNFOLDED = "story.guesses", "story.unfolded"

DIGITS = 2
"""Digits of the comparison of a guess with a number of the page."""

DOWNLOADED = ("numbers-", "download-")
"""What the keys of the parts begin with that offer a page's numbers."""

_COVER = """<style>
{parts} {{ position: relative; }}
{parts} > * {{ visibility: hidden; opacity: 0; }}
{parts}::after {{
  content: "Guess first";
  position: absolute;
  inset: 0;
  display: grid;
  place-items: center;
  border-radius: 0.5rem;
  background: color-mix(in srgb, currentColor 7%, transparent);
}}
</style>"""
"""Parts of a page keep their place and show nothing, not even to who hears the page."""

_ALONE = """<style>
.stMainBlockContainer :has({part}) > :not({part}, :has({part}, .st-key-present)) {{ display: none; }}
.stMainBlockContainer:not(:has({part})) :has(> * .st-key-present) > :not(:has(.st-key-present)) {{ display: none; }}
</style>"""
"""The style that presents a part other than the main picture; nothing is shown until the part is there."""

_ALL = "<style></style>"
"""The style of a page that is not presented."""

_PRESENT = f"<style>{(Path(__file__).parent / 'present.css').read_text(encoding='utf-8')}</style>"
"""A page shown to a room. On any other page its rules would make each stroke of a chart slower."""

_mount = st.components.v2.component(
    "dpbayes_story", js=(Path(__file__).parent / "banner.js").read_text(encoding="utf-8")
)


def banner(page: str) -> None:
    """Show where in which story the person is; nothing while none is open. `page` is the one that is shown."""
    settings = current()
    is_presented = settings.present is Present.ON and page not in WITHOUT_PICTURE
    story = open_story() if settings.story else None
    if story is not None:
        _unfold(story, page)
    with st.container(key="present" if is_presented else "story"):
        if story is not None and is_presented:
            _presented(story, page)
        elif story is not None:
            _beside_the_page(story, page)
        elif settings.story:
            _unknown(settings.story)
    # Always one style element: the browser keeps a missing element until a run has ended, and a page that works
    # would stay covered after the guess.
    st.html(_seen(story, page) if story is not None else _ALL)


def _unfold(story: OpenStory, page: str) -> None:
    """Unfold the part of the page that the step shows, once each time the step is opened."""
    opened, step = (story.key, story.number, times_opened()), _shown_step(story)
    if step.page != page or st.session_state.get(_UNFOLDED) == opened:
        return
    st.session_state[_UNFOLDED] = opened
    if key := FOLDED.get(PARTS[page].get(step.at, "")):
        unfold(key)


def _shown_step(story: OpenStory) -> Step:
    """Return the step whose part is shown: the open one, and the last one beside the summary."""
    return story.step or story.story.steps[-1]


def _unknown(key: str) -> None:
    why = (
        "This link opens a story from a file that is not in this session: load the file on Home."
        if key == OWN
        else f"There is no story called {escaped(brief(key))}: open one of the guided stories above."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(why)
        st.button("Leave", key="story.leave", on_click=leave)


def _beside_the_page(story: OpenStory, page: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="story-line"):
        with st.container(key="story-said"):
            st.markdown(_said(story))
        with st.container(horizontal=True, width="content", gap="xxsmall", key="story-turn"):
            if story.step is not None and story.step.page != page:
                st.button("Go to the step’s page", key="story.here", on_click=open_step, args=(story.key, story.number))
            if story.step is not None:
                with st.popover("Do", key="story-do"):  # style.css shows it where a window is too small for the text
                    st.markdown(_to_do(story.step))
            _turns(story)
            if page not in WITHOUT_PICTURE:
                st.button(
                    "Present",
                    key="story.present",
                    on_click=_present,
                    help="Shows one large picture. Press Escape to leave.",
                )
            st.button("Leave", key="story.leave", on_click=leave)
    _guess(story, page)
    _hands(story, page)


def _presented(story: OpenStory, page: str) -> None:
    sentence = story.step.say if story.step is not None else story.story.learnt
    alone = _alone(story, page)
    with st.container(horizontal=True, vertical_alignment="top", key="story-line"):
        with st.container(key="story-said"), st.container(key="present-part" if alone else "present-page"):
            st.markdown(escaped(sentence))
        with st.container(horizontal=True, width="content", gap="xxsmall", key="story-turn"):
            _turns(story)
            st.button("End", key="story.end", on_click=_end, help="Escape")
    _guess(story, page)
    _hands(story, page)


def _alone(story: OpenStory, page: str) -> str:
    """Return the key of the part that is presented instead of the page's main slider and picture."""
    step = _shown_step(story)
    return shown_alone(page, step.at if step.page == page else "", current().seat)


def _said(story: OpenStory) -> str:
    """Return the title, the place in the story, and the text of the step."""
    title, step = escaped(story.story.title), story.step
    if step is None:
        return f"**{title}** · summary\n\n{escaped(story.story.learnt)}"
    return f"**{title}** · {story.number} of {len(story.story.steps)}\n\n{escaped(step.say)}\n\n{_to_do(step)}"


def _to_do(step: Step) -> str:
    return f"**Do:** {escaped(step.do)} **Watch:** {escaped(step.watch)}"


def _turns(story: OpenStory) -> None:
    """Offer the step before and the next one; at the end the story that may follow."""
    key, number = story.key, story.number
    st.button("Back", key="story.back", disabled=number == 1, on_click=open_step, args=(key, number - 1))
    if number < story.story.places:
        st.button("Next", key="story.next", type="primary", on_click=open_step, args=(key, number + 1))
    elif story.story.next:
        label = f"Next: {escaped(TITLES[story.story.next])}"
        st.button(label, key="story.follow", type="primary", on_click=open_step, args=(story.story.next,))


def _present() -> None:
    change(present=Present.ON)


def _end() -> None:
    change(present=Present.OFF)


# What the browser does


def _hands(story: OpenStory, page: str) -> None:
    """Let the browser scroll to the step's part once, and send the keys that are pressed in a presentation.

    A shortcut of Streamlit's button is one key, and two presses during one run count once.
    """
    part = PARTS[page].get(story.step.at, "") if story.step is not None and story.step.page == page else ""

    def turn() -> None:
        _turn(st.session_state["story.hands"]["key"], story)

    presents = current().present is Present.ON
    _mount(
        key="story.hands",
        data={
            "at": part,
            "alone": _alone(story, page),
            "order": f"{story.key} {story.number} {times_opened()}",
            "presents": presents,
            "step": story.number,
            "places": story.story.places,
        },
        on_key_change=turn,
    )


def _turn(key: Any, story: OpenStory) -> None:
    """Turn to the step whose number a browser asks for, or end the presentation."""
    if key == "Escape":
        _end()
    if type(key) is int and 1 <= key <= story.story.places and key != current().step:
        open_step(story.key, key)


# The guess


def _asks(story: OpenStory, page: str) -> Guess | None:
    """Return the guess of the step, on the page of the step."""
    return story.step.guess if story.step is not None and story.step.page == page else None


def _guess(story: OpenStory, page: str) -> None:
    """Ask the question of the step, if any, and compare a guess with the number that the page shows."""
    guess = _asks(story, page)
    if guess is None:
        return
    place, guesses = (story.key, story.number), _guesses()
    with st.container(horizontal=True, vertical_alignment="center", key="story-guess"):
        st.markdown(f"**Guess:** {escaped(guess.ask)}", width="content")
        _guess_input(place, guess.number)
        if place not in guesses:
            st.button(
                "Show",
                key="story.show",
                on_click=guesses.__setitem__,
                args=(place, ""),
                help="Shows the answer without a guess.",
            )
        elif guesses[place]:
            with st.container(width="content", key="story-judged"):
                st.markdown(guesses[place], width="content")


def _guesses() -> dict[tuple[str, int], str]:
    """Return the reply to each guess, by story and step; "" after *Show*."""
    guesses: dict[tuple[str, int], str] = st.session_state.setdefault(_GUESSES, {})
    return guesses


def _seen(story: OpenStory, page: str) -> str:
    """Return the style of the page, which hides all but the presented part, and covers the answer of a guess."""
    is_presented = current().present is Present.ON and page not in WITHOUT_PICTURE
    alone = _alone(story, page) if is_presented else ""
    style = _PRESENT if is_presented else ""
    if alone:
        style += _ALONE.format(part=f".st-key-{alone}")
    guess = _asks(story, page)
    if guess is not None and (story.key, story.number) not in _guesses():
        style += _cover(NUMBERS[guess.number].parts)
    return style or _ALL


def _cover(revealing: tuple[str, ...]) -> str:
    """Return the style that covers the parts with the answer, and the downloads, until a guess is made."""
    parts = [f".st-key-{part}" for part in revealing]
    files = [f'[class*="st-key-{part}"]' for part in DOWNLOADED]
    return _COVER.format(parts=f":is({', '.join(parts + files)})")


def _guess_input(place: tuple[str, int], name: str) -> None:
    key = f"story.guess.{place[0]}.{place[1]}"

    def take() -> None:
        given = st.session_state.get(key)
        if given:
            st.session_state[_GUESSES][place] = _judged(str(given), number_shown(name))

    st.text_input("Your guess", key=key, on_change=take, label_visibility="collapsed", width=120)


def _judged(given: str, shown: float | None) -> str:
    """Return the comparison of a guess with the number of the page, or the message of an error."""
    if shown is None:
        return "This page shows no such number now. Wait until it is complete, or choose Curator above."
    try:
        text = given.strip().replace(",", "")
        number = finite_number("A guess", text, low=-MOST_GUESSED, high=MOST_GUESSED)
    except InputError as error:
        return escaped(str(error))
    answer = numeral(shown, DIGITS)
    if numeral(number, DIGITS) == answer:
        return f"You guessed {numeral(number)}, which is correct."
    return f"You guessed {numeral(number)}; the answer is **{answer}**."
