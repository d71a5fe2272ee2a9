"""What one takes home from any page is named by the page, and its numbers can be read."""

from typing import Any

import pytest
import streamlit as st
from streamlit.elements.widgets.button import ButtonMixin

from tests.pages.conftest import PAGES, fine, open_page
from tests.pages.numbers import wrong_numbers

SMALL = {
    "source": "sprinkler",
    "records": "200",
    "hellinger.n": "12",
    "sampling.answers": "3",
    "accuracy.training": "20",
    "accuracy.repeats": "2",
    "regression.repeats": "2",
}
"""What is quick to look at."""

WITHOUT_FILES = {"home", "data", "release"}
"""Pages that have a file of their own only once something is opened there."""


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all files that a page offers, wherever on it; what opens on the page is open."""
    names: list[str] = []
    button, expander = ButtonMixin._download_button, st.expander

    def kept(self: Any, label: str, data: Any, file_name: str, *other: Any, **more: Any) -> bool:
        names.append(file_name)
        return bool(button(self, label, data, file_name, *other, **more))

    def opened(label: str, *other: Any, key: str = "", **more: Any) -> Any:
        if "on_change" in more:
            st.session_state[key] = True
        return expander(label, *other, key=key or None, **more)

    monkeypatch.setattr(ButtonMixin, "_download_button", kept)
    monkeypatch.setattr(st, "expander", opened)
    return names


@pytest.mark.parametrize("path", PAGES)
def test_every_file_of_a_page_is_named_by_the_page_and_every_number_can_be_read(path: str, offered: list[str]) -> None:
    page = path.removeprefix("pages/").removesuffix(".py")
    at = open_page(path, **SMALL)
    at.session_state["share"] = True
    fine(at.run())
    assert not wrong_numbers(at)
    assert bool(offered) == (page not in WITHOUT_FILES)
    for name in offered:
        whole, _, end = name.removeprefix("curator-only-").rpartition(".")
        assert whole.partition("-")[0] == page, name
        assert end.isalnum(), name


@pytest.mark.parametrize(("seat", "prefix"), [("curator", "curator-only-explore"), ("recipient", "explore")])
def test_a_file_that_is_not_private_says_so_in_its_name(seat: str, prefix: str, offered: list[str]) -> None:
    at = open_page("pages/explore.py", seat=seat, **SMALL)
    at.session_state["share"] = True
    fine(at.run())
    assert {name for name in offered if "simulation" in name} == {
        f"{prefix}-simulation.{end}" for end in ("csv", "html")
    }
