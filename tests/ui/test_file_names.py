"""What a file that is taken home is called."""

from typing import Any

import pytest

from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.ui.session.current import show_place
from dpbayes.ui.session.file_names import LONGEST_NAME, file_name, offered_name
from dpbayes.ui.session.settings import Present, Settings


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the session holds: nothing, or the settings that a test puts there."""
    state: dict[str, Any] = {"settings": Settings()}
    monkeypatch.setattr("streamlit.session_state", state)
    return state


def test_a_file_is_named_by_page_content_and_settings() -> None:
    settings = Settings(records=500, parameters=(("epsilon", 2.0),))
    assert file_name("explore", "density", settings) == "explore-density-records=500-epsilon=2"
    assert file_name("", "chart", Settings()) == "chart"


def test_a_name_says_the_page_once_and_nothing_of_stories_and_other_pages() -> None:
    parameters = (("audit.n", 12), ("hellinger.n", 30))
    settings = Settings(story="epsilon", step=3, present=Present.ON, parameters=parameters)
    assert file_name("audit", "audit.curve", settings) == "audit-curve-audit.n=12"


def test_the_name_of_a_file_says_that_it_simulates_and_that_it_is_not_to_be_handed_on(session: dict[str, Any]) -> None:
    show_place("explore")
    assert offered_name("density", "csv", simulates=True) == "explore-density-simulation.csv"
    session["settings"] = Settings(prior=PriorRule.symmetric(2))
    name = offered_name("density", "csv", simulates=True, curator_only=True)
    assert name == "curator-only-explore-density-simulation-prior=2.csv"


def test_no_setting_makes_a_name_that_a_disk_refuses_or_that_leaves_the_folder() -> None:
    hostile = Settings(target="../../etc/passwd<>:|?*\n", state="x" * 500)
    name = file_name("explore", "a/b", hostile)
    assert len(name) <= LONGEST_NAME
    assert not set(name) & set("/\\<>:|?*\n ")
    assert not name.startswith(".")
