"""The stories that come with the app: files as anybody's, in the order of the menu."""

import tomllib
from collections.abc import Iterator, Mapping

from dpbayes.sources.data_files import read_data
from dpbayes.ui.pages.stories.reading import read_story
from dpbayes.ui.pages.stories.story import Story

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
