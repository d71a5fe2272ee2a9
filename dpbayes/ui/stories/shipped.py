"""The stories that come with the app: files as anybody's, in the order of the menu."""

import tomllib

from dpbayes.sources.data_files import read_data
from dpbayes.ui.stories.reading import read_story
from dpbayes.ui.stories.story import Story

FOLDER = "stories"

KEYS: tuple[str, ...] = tuple(read_data(f"{FOLDER}/index.toml", lambda text: tomllib.loads(text.decode()))["order"])
"""What the stories are called in a link, in the order of the menu."""

STORIES: dict[str, Story] = {
    key: read_data(f"{FOLDER}/{key}.toml", lambda content: read_story(content, KEYS)) for key in KEYS
}
"""The stories by what they are called in a link."""


def shipped_text(key: str) -> bytes:
    """Return the file of a story as it is shipped."""
    return read_data(f"{FOLDER}/{key}.toml", bytes)
