"""The story that is open, and its step. A step is opened in the run that follows: a callback can turn to no page."""

from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.ui.pages.stories.story import STORIES, Step, Story
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.drawings import forget_later
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Present
from dpbayes.ui.widgets.address import shown_page

_TO_OPEN, _TO_TURN_TO = "story.to_open", "story.to_turn_to"

ALONE = {"story", "step", "present"}
"""A link with only these settings, as a person types it, takes the others from the step."""


@dataclass(frozen=True)
class OpenStory:
    """A story that is open at one of its steps, or at its summary after the last step."""

    key: str
    story: Story
    number: int

    @property
    def step(self) -> Step | None:
        """The step; None at what was learnt."""
        return self.story.steps[self.number - 1] if self.number <= len(self.story.steps) else None


def open_story() -> OpenStory | None:
    """Return the open story of the settings; None without one, and for a key that there is not."""
    settings = current()
    story = STORIES.get(settings.story)
    return OpenStory(settings.story, story, min(settings.step, story.places)) if story is not None else None


def open_step(key: str, number: int = 1) -> None:
    """Open a step of a story in the run that follows."""
    st.session_state[_TO_OPEN] = key, number


def story_page() -> str | None:
    """Take the settings of the step that must be opened, and return its page; None without one.

    This runs after all callbacks, so that a simultaneous move of a slider does not replace the step's own value. The
    summary is shown with the page of the last step. A message of the browser may end the run before the page is turned:
    the next run returns the page again, until another page is shown.
    """
    _from_link()
    key, number = st.session_state.get(_TO_OPEN, ("", 1))
    if (story := STORIES.get(key)) is not None:
        _take(key, story, number)
        del st.session_state[_TO_OPEN]  # at last: a message may end the run at each access to the state
    page, before = st.session_state.get(_TO_TURN_TO, (None, ""))
    if page is not None and shown_page() != before:
        turned()
        return None
    return page


def _take(key: str, story: Story, number: int) -> None:
    """Take the settings of a step, and its page unless it is the summary."""
    if number > len(story.steps):
        change(story=key, step=story.places)
        return
    step, before = story.steps[number - 1], current()
    present = before.present if before.story == key else Present.OFF
    if number == 1:
        forget_later()
    st.session_state["settings"] = replace(step.settings, story=key, step=number, present=present)
    st.session_state[_TO_TURN_TO] = step.page, shown_page()


def turned() -> None:
    """Note that the page of the step is shown."""
    st.session_state.pop(_TO_TURN_TO, None)


def _from_link() -> None:
    """Open the step of a session's first link, if the link contains nothing else."""
    query = st.query_params.to_dict()
    if "settings" not in st.session_state and "story" in query and set(query) <= ALONE:
        linked, _ = settings_from(query)
        open_step(linked.story, linked.step)
