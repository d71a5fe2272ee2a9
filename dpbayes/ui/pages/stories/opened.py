"""The stories: those that come with the app, a session's own, and the step that is open.

A step is opened in the run that follows: a callback can turn to no page.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.sources.data_files import read_data
from dpbayes.ui.pages.stories.reading import read_story
from dpbayes.ui.pages.stories.story import OWN, Step, Story
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Present, Seat, Settings

FOLDER = "stories"

_INDEX = read_data(f"{FOLDER}/index.toml", lambda text: tomllib.loads(text.decode()))

KEYS: tuple[str, ...] = tuple(_INDEX["order"])
"""What the stories are called in a link, in the order of the menu."""

GROUPS: dict[str, list[str]] = _INDEX["groups"]
"""The same by what the stories are for, in the order of Home."""

TITLES: dict[str, str] = {
    key: read_data(f"{FOLDER}/{key}.toml", lambda text: str(tomllib.loads(text.decode())["title"])) for key in KEYS
}
"""The titles of the stories by their keys in a link."""


class Stories(Mapping[str, Story]):
    """Stories by their keys in a link. Each is read when it is first needed, which takes a moment."""

    def __init__(self) -> None:
        self._stories: dict[str, Story] = {}

    def __getitem__(self, key: str) -> Story:
        if key not in self._stories and key in KEYS:
            self._stories[key] = read_story(shipped_text(key), KEYS)
        return self._stories[key]

    def __contains__(self, key: object) -> bool:
        return key in KEYS

    def __iter__(self) -> Iterator[str]:
        return iter(KEYS)

    def __len__(self) -> int:
        return len(KEYS)


STORIES = Stories()
"""The stories by their keys in a link."""


def shipped_text(key: str) -> bytes:
    """Return the shipped file of a story."""
    return read_data(f"{FOLDER}/{key}.toml", bytes)


# Where in which story a person is


_TO_OPEN, _TIMES, _OWN, _SEAT = "story.to_open", "story.times", "story.own", "story.seat"

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


def story_called(key: str) -> Story | None:
    """Return the story with this key; None if it does not exist or is in another session."""
    own: Story | None = st.session_state.get(_OWN)
    return own if key == OWN else STORIES.get(key)


def keep_own(story: Story) -> None:
    """Keep this as the person's own story, in the session."""
    st.session_state[_OWN] = story


def open_story() -> OpenStory | None:
    """Return the open story of the settings; None without one."""
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
    """Leave the story: restore the person's own seat, and keep all other settings."""
    change(seat=own_seat(), story="", step=1, present=Present.OFF)


def own_seat() -> Seat:
    """Return the person's own seat, which a step may change; the curator's if the session began in such a step."""
    story = open_story()
    if story is None or story.step is None or story.step.seat is None:
        return current().seat
    seat: Seat = st.session_state.get(_SEAT, Seat.CURATOR)
    return seat


def settings_at(story: Story, number: int, seat: Seat) -> Settings:
    """Return the settings of a step for a person in this seat."""
    step = story.steps[number - 1]
    return replace(step.settings, seat=step.seat or seat)


def story_page() -> str | None:
    """Take the settings of the step that must be opened, and return its page; None without one.

    Uploads stay, and the seat unless the step has one. This runs after all callbacks, so that a simultaneous move of a
    slider does not replace the step's own value.
    """
    _from_link()
    pending = st.session_state.pop(_TO_OPEN, None)
    story = story_called(pending[0]) if pending is not None else None
    if story is None:
        return None
    key, number = pending
    before, seat = current(), own_seat()
    if number > len(story.steps):  # the summary is shown with the page of the last step
        change(seat=seat, story=key, step=story.places)
        return None
    step = story.steps[number - 1]
    present = before.present if before.story == key else Present.OFF
    st.session_state[_SEAT] = seat
    st.session_state["settings"] = replace(settings_at(story, number, seat), story=key, step=number, present=present)
    return step.file


def _from_link() -> None:
    """Open the step of a session's first link, if the link contains nothing else."""
    query = st.query_params.to_dict()
    if "settings" in st.session_state or "story" not in query or not set(query) <= ALONE:
        return
    linked: Settings = settings_from(query)[0]
    if story_called(linked.story) is not None:
        current()
        open_step(linked.story, linked.step)
