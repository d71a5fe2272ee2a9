"""What a file that is taken home is called, and what a chart says of itself there."""

from typing import Any

import pytest

from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import show_place
from dpbayes.ui.session.settings import Present, Seat, Settings
from dpbayes.ui.widgets.chart.saving import (
    EPSILON,
    LONGEST_NAME,
    MECHANISM,
    TABLE,
    Facts,
    N,
    facts_of,
    file_name,
    offered_name,
    pictures_tell,
    release_caption,
    settings_caption,
)


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


EXPLORE: Facts = MECHANISM | EPSILON | TABLE | N

FACTS: dict[str, Facts] = {
    "explore": EXPLORE,
}


def caption(page: str, *, simulates: bool = False, **fields: Any) -> str:
    chosen = Chosen(Settings(seat=Seat.RECIPIENT, **fields))
    return settings_caption(page, chosen, FACTS.get(page, {}), simulates=simulates)


def test_at_the_defaults_too_a_picture_says_mechanism_epsilon_table_and_n() -> None:
    facts = "mechanism = Laplace, epsilon = 1, table = 1,000 synthetic records from Asia, n = 1,000"
    assert caption("explore", simulates=True) == f"dpbayes, page explore: {facts}. A simulation, not a release."
    assert caption("release") == "dpbayes, page release. A picture, not a release."


def test_what_one_page_says_of_its_pictures_is_not_said_of_those_of_another() -> None:
    show_place("explore")
    pictures_tell(EXPLORE)
    assert facts_of("explore") == EXPLORE
    assert facts_of("compare") == {}


def test_a_picture_says_what_else_is_set_and_nothing_twice() -> None:
    line = caption("explore", simulates=True, records=500, target="dysp", parameters=(("epsilon", 2.5),))
    assert "epsilon = 2.5, table = 500 synthetic records from Asia, n = 500, target = dysp. A simulation" in line
    assert line.count("500") == 2
    assert line.count("2.5") == 1


@pytest.mark.parametrize(
    ("page", "n", "fields"),
    [
        ("explore", "435", {"data": "house_votes_84"}),
    ],
)
def test_the_n_of_a_picture_is_that_of_the_records_it_shows(page: str, n: str, fields: dict[str, Any]) -> None:
    line = caption(page, **fields)
    assert f"n = {n}." in line or f"n = {n}," in line
    assert line.count(" n = ") == 1


def test_a_table_that_is_not_here_leaves_out_n() -> None:
    line = caption("explore", data="upload")
    assert "table = an uploaded table. " in line
    assert " n = " not in line


def test_a_picture_says_for_whom_it_was_drawn_and_stays_short() -> None:
    curator = settings_caption("explore", Chosen(Settings(seat=Seat.CURATOR)), EXPLORE)
    assert curator.endswith("Curator view: may contain values that are not private.")
    assert "curator" not in caption("explore")
    assert len(caption("network", state="x" * 5000)) < 250


def test_a_picture_of_a_release_that_was_made_says_what_that_is_of() -> None:
    facts = {"mechanism": "Fourier", "epsilon": "1/2", "n": "40"}
    line = release_caption("explore", facts)
    assert line == "dpbayes, page explore: mechanism = Fourier, epsilon = 1/2, n = 40."
