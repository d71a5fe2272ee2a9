"""Where in which story a person is. A step is opened in the run that follows: a callback can turn to no page."""

from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.base.validation import InputError
from dpbayes.ui.pages.stories.quantities import QUANTITIES
from dpbayes.ui.pages.stories.shipped import STORIES
from dpbayes.ui.pages.stories.story import OWN, Step, Story
from dpbayes.ui.pages.which_epsilon.page import epsilon_rounded_up
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Present, Seat, Settings

_TO_OPEN, _TIMES, _OWN, _SEAT = "story.to_open", "story.times", "story.own", "story.seat"

ALONE = {"story", "step", "present"}
"""A link of these alone, as one types it, takes the settings from its step."""


@dataclass(frozen=True)
class OpenStory:
    """A story that is open at one of its steps, or behind the last one, where it says what was learnt."""

    key: str
    story: Story
    number: int

    @property
    def step(self) -> Step | None:
        """The step; None at what was learnt."""
        return self.story.steps[self.number - 1] if self.number <= len(self.story.steps) else None


def story_called(key: str) -> Story | None:
    """Return the story of this key; None where there is none, or another session has it."""
    own: Story | None = st.session_state.get(_OWN)
    return own if key == OWN else STORIES.get(key)


def keep_own(story: Story) -> None:
    """Make this the person's own story; it stays in the session."""
    st.session_state[_OWN] = story


def open_story() -> OpenStory | None:
    """Return what the settings say is open; None where there is no such story."""
    settings = current()
    story = story_called(settings.story) if settings.story else None
    return OpenStory(settings.story, story, min(settings.step, story.places)) if story is not None else None


def open_step(key: str, number: int = 1) -> None:
    """Open a step of a story in the run that follows."""
    st.session_state[_TO_OPEN] = key, number
    st.session_state[_TIMES] = times_opened() + 1


def times_opened() -> int:
    """Return how often this session has opened a step."""
    times: int = st.session_state.get(_TIMES, 0)
    return times


def leave() -> None:
    """Leave the story: the person's own seat comes back, everything else stays as it is."""
    change(seat=own_seat(), story="", step=1, present=Present.OFF)


def own_seat() -> Seat:
    """Return the person's own seat, from which a step may differ: in a session that began there, the curator's."""
    story = open_story()
    if story is None or story.step is None or story.step.seat is None:
        return current().seat
    seat: Seat = st.session_state.get(_SEAT, Seat.CURATOR)
    return seat


def settings_at(story: Story, number: int, seat: Seat) -> Settings:
    """Return the settings of a step for a person in this seat, with the epsilons that it takes from earlier steps.

    Such an epsilon is rounded up to two digits. Where it is unknown, as may be to the recipient, the default stays.
    """
    step = story.steps[number - 1]
    settings = replace(step.settings, seat=step.seat or seat)
    for carried in step.carried:
        with suppress(InputError):
            answer = QUANTITIES[carried.quantity].answer(Chosen(settings_at(story, carried.step, seat)))
            settings = settings.with_parameter(carried.name, epsilon_rounded_up(float(answer)))
    return settings


def story_page() -> str | None:
    """Take the settings of a step that is to be opened, and return its page; None where there is none.

    The person keeps her uploads, and her seat unless the step has one. All callbacks have been called by then: a move
    of a slider that was told in the same moment as the step is not set on top of the step's own value.
    """
    _from_link()
    pending = st.session_state.pop(_TO_OPEN, None)
    story = story_called(pending[0]) if pending is not None else None
    if story is None:
        return None
    key, number = pending
    before, seat = current(), own_seat()
    if number > len(story.steps):  # what was learnt stands beside what was seen last
        change(seat=seat, story=key, step=story.places)
        return None
    step = story.steps[number - 1]
    present = before.present if before.story == key else Present.OFF
    st.session_state[_SEAT] = seat
    st.session_state["settings"] = replace(settings_at(story, number, seat), story=key, step=number, present=present)
    return step.file


def _from_link() -> None:
    """Open the step that a session's first link names, where it names nothing else."""
    query = st.query_params.to_dict()
    if "settings" in st.session_state or "story" not in query or not set(query) <= ALONE:
        return
    linked: Settings = settings_from(query)[0]
    if story_called(linked.story) is not None:
        current()
        open_step(linked.story, linked.step)
