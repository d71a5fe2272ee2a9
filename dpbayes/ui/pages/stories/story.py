"""What a story is: a question, and steps that lead to its answer over the pages. The stories are files in `data`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpbayes.sources.data_files import read_data
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Settings


@dataclass(frozen=True)
class Guess:
    """What a person guesses: a question, the number of the board that answers it, why, and the range of guesses."""

    ask: str
    number: str
    why: str
    span: tuple[float, float] = (-1e12, 1e12)


@dataclass(frozen=True)
class Step:
    """A sentence, an action, and the page with the settings of a link, in which unnamed ones have their defaults."""

    say: str
    do: str
    page: str
    query: Mapping[str, str]
    guess: Guess | None

    @cached_property
    def settings(self) -> Settings:
        """The settings of the step."""
        return settings_from(self.query)[0]


@dataclass(frozen=True)
class Story:
    """A question, the steps to its answer, what was learnt, and the key of the story that may follow."""

    title: str
    question: str
    learnt: str
    next: str
    steps: tuple[Step, ...]

    @property
    def places(self) -> int:
        """The steps, and after them what was learnt."""
        return len(self.steps) + 1


def read_story(text: str) -> Story:
    """Return a story from TOML; the settings of the story are those of every step that does not set them itself."""
    whole = tomllib.loads(text)
    shared, steps = whole.pop("settings", {}), whole.pop("steps")
    return Story(**whole, steps=tuple(_step(step, shared) for step in steps))


def _step(step: dict[str, Any], shared: Mapping[str, object]) -> Step:
    query = {name: str(value) for name, value in {**shared, **step.pop("settings", {})}.items()}
    guess = step.pop("guess", None)
    return Step(**step, query=query, guess=guess and Guess(**guess))


GROUPS: dict[str, list[str]] = {
    "Learn": ["epsilon", "publish"],
    "Compare": ["mechanisms", "arrow"],
    "Examine": ["refuted", "exercise"],
}
"""The keys of the stories by what they are for, in the order of Home."""

STORIES: dict[str, Story] = {
    key: read_story(read_data(f"stories/{key}.toml").decode()) for keys in GROUPS.values() for key in keys
}
"""The stories by their keys in a link."""
