"""The parts of Home for a person's own table and own story."""

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.ui.pages.stories.opened import KEYS, keep_own, open_step, shipped_text, story_called
from dpbayes.ui.pages.stories.reading import read_story
from dpbayes.ui.pages.stories.story import OWN
from dpbayes.ui.session.current import change
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.uploads import document_place
from dpbayes.ui.widgets.show import show_refusal

_TRIED = "story.tried"

EXAMPLE = "epsilon"
"""The shipped story that is offered as a start."""


def use_own_data() -> None:
    """Choose an uploaded table, which the page Data then requests."""
    change(data="upload", graph="", row="", target="", evidence=())


def own_story() -> None:
    """Read a story from a file and offer to open it, or show what is wrong with the file."""
    with st.expander("Your own story", key="story.own.part"):
        st.caption(
            "A story is a small TOML file: a title, a question, and steps with a page and its settings. "
            "`docs/stories.md` describes the format. The file stays in this session."
        )
        text = shipped_text(EXAMPLE)
        download_button("Example story (TOML)", text, "story.toml", "application/toml")
        file = document_place("Story (TOML)", key="story.file")
        if file is None:
            return
        if st.session_state.get(_TRIED, ("", None))[0] != file.file_id:
            st.session_state[_TRIED] = file.file_id, _read(file.getvalue())
        refused: InputError | None = st.session_state[_TRIED][1]
        if refused is not None:
            return show_refusal(refused)
        story = story_called(OWN)
        if story is not None:
            st.button(f"Open {escaped(story.title)}", key="open.own", on_click=open_step, args=(OWN,))


def _read(content: bytes) -> InputError | None:
    """Make a file the session's own story, or return what refuses it."""
    try:
        keep_own(read_story(content, KEYS))
    except InputError as error:
        return error
    return None
