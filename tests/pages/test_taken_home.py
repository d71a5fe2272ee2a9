"""What one takes home from any page is called by the page and what is set there, and says what it shows."""

from typing import Any

import pytest
import streamlit as st
from streamlit.elements.widgets.button import ButtonMixin

from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.from_python import network_in_python
from tests.pages.conftest import PAGES, fine, open_page, settings_of
from tests.pages.numbers import wrong_numbers

SMALL = {
    "source": "sprinkler",
    "records": "200",
    "prior": "2",
    "hellinger.n": "12",
    "sampling.answers": "3",
    "accuracy.training": "20",
    "accuracy.repeats": "2",
    "regression.repeats": "2",
}
"""What is quick to look at; the prior is told in the name of every file."""

READ_BACK = {"story.toml", "domains.json", "dpbayes.bib"}
"""What the code beside it reads by this name, and what is the same at all settings."""

WITHOUT_FILES = {"home", "data", "release"}
"""Pages that have a file of their own only once something is opened there."""


WITHOUT_FACTS = {"home", "data", "release", "network", "explore", "proofs", "lab"}
"""Pages whose pictures, if there are any, depend on nothing that is set elsewhere."""


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
def test_every_file_of_a_page_is_named_by_the_page_and_its_settings_and_every_number_can_be_read(
    path: str, offered: list[str]
) -> None:
    page = path.removeprefix("pages/").removesuffix(".py")
    at = open_page(path, **SMALL)
    at.session_state["share"] = True
    fine(at.run())
    assert not wrong_numbers(at)
    assert ("facts" in at.session_state and at.session_state["facts"][0] == page) == (page not in WITHOUT_FACTS)
    names = {name for name in offered if name not in READ_BACK}
    assert bool(names) == (page not in WITHOUT_FILES)
    for name in names:
        whole, _, end = name.removeprefix("curator-only-").rpartition(".")
        assert whole.startswith((f"{page}-", f"{page}.")), name
        assert "prior=2" in whole, name
        assert end.isalnum(), name


@pytest.mark.parametrize(("nodes", "is_read"), [(3, False), (61, True)])
def test_a_file_that_code_reads_keeps_the_name_that_the_code_has(nodes: int, is_read: bool, offered: list[str]) -> None:
    at = open_page("pages/network.py", source=f"chain:{nodes}")
    (name,) = [name for name in offered if name.endswith(".bif")]
    assert (name == "network.bif") == is_read
    assert ("network.bif" in network_in_python(Chosen(settings_of(at)).network)) == is_read
