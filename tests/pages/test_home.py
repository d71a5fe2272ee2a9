"""Home leads to every page and to every story."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from dpbayes.ui.pages.stories.miniature import EPSILONS, computed
from dpbayes.ui.pages.stories.opened import GROUPS, STORIES, settings_at
from dpbayes.ui.pages.stories.story import Story
from dpbayes.ui.session.settings import Seat, Settings
from tests.pages.conftest import (
    PAGES,
    banner,
    boards,
    charts,
    fine,
    headline,
    open_page,
    press,
    put,
    sentences,
    settings_of,
    story_list,
)

TITLES = {"sampling": "Posterior sampling", "hellinger": "Hellinger"}
"""Titles of pages whose file does not say them."""


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_in_both_seats_with_a_headline_and_charts_that_plotly_knows(page: str, seat: Seat) -> None:
    at = open_page(page, seat=seat.value)
    assert at.get("progress") or boards(at) or headline(at), "before the first numbers are in there is nothing to say"
    assert not sentences(at)
    assert not at.error
    for chart in charts(at):
        go.Figure(chart["figure"])


def title_of(story: Story) -> str:
    name = story.steps[0].page
    return TITLES.get(name, name.replace("_", " ").capitalize())


def first(key: str, seat: Seat = Seat.CURATOR) -> Settings:
    """Return the settings of a story's first step as a person has them who opens it from this seat."""
    return replace(settings_at(STORIES[key], 1, seat), story=key)


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("key", STORIES)
def test_a_story_opens_where_it_says(key: str) -> None:
    story = STORIES[key]
    at = fine(open_page("pages/home.py", seat="recipient").button(key=f"open.{key}").click().run())
    assert at.title[0].value == title_of(story)
    assert settings_of(at) == first(key, Seat.RECIPIENT)
    assert not sentences(at)


@pytest.mark.usefixtures("first_look")
def test_every_story_opens_from_the_bar_of_the_one_before() -> None:
    at = open_page("pages/explore.py")
    assert not banner(at)
    for key, story in STORIES.items():
        fine(story_list(at).set_value(key).run())
        assert settings_of(at) == first(key)
        assert at.title[0].value == title_of(story)
        assert f"{story.title} · 1 of {len(story.steps)}" in banner(at)
        assert story.steps[0].say in banner(at)
        assert not sentences(at)


def test_a_story_can_be_opened_again_after_the_settings_have_left_it() -> None:
    at = open_page("pages/proofs.py")
    for _ in range(2):
        fine(story_list(at).set_value("mechanisms").run())
        assert at.title[0].value == "Network"
        assert settings_of(at) == first("mechanisms")
        assert story_list(at).value is None
        put(at, "box.epsilon", "3")
        assert story_list(at).value is None
        assert settings_of(at) != first("mechanisms")
        fine(at.switch_page("pages/proofs.py").run())
    fine(at.switch_page("pages/home.py").run())
    fine(at.button(key="open.refuted").click().run())
    assert banner(at).startswith("A claim that fails · 1 of ")


def test_home_says_what_is_open() -> None:
    for size, query in (("8 nodes and 8 arrows", {}), ("37 nodes and 46 arrows", {"source": "alarm"})):
        at = open_page("pages/home.py", **query)
        assert any(size in caption.value for caption in at.caption)


def test_one_click_on_home_leads_to_the_pictures_to_ones_own_data_and_to_the_first_story() -> None:
    assert headline(open_page("pages/home.py")) == "Differentially private Bayesian networks"
    at = press(open_page("pages/home.py"), "Explore")
    assert at.title[0].value == "Explore"
    at = press(open_page("pages/home.py", graph="chain:3"), "Use my own data")
    assert at.title[0].value == "Data"
    assert (settings_of(at).data, settings_of(at).graph) == ("upload", "")
    at = fine(open_page("pages/home.py").button(key="first.story").click().run())
    assert settings_of(at) == first("epsilon")


def test_the_picture_of_home_comes_closer_to_the_exact_posterior_as_epsilon_grows() -> None:
    drawn = computed()
    away = [np.abs(np.subtract(heights, drawn.exact)).sum() for heights in drawn.private]
    assert len(away) == len(drawn.epsilons) == len(EPSILONS)
    assert away[-1] < 0.02 * away[0]
    assert away[EPSILONS.index(1.0)] < away[EPSILONS.index(0.1)]
    (picture,) = (
        component for component in open_page("pages/home.py").get("bidi_component") if "miniature" in component.proto.id
    )
    assert drawn.name in picture.proto.json


def test_every_story_is_in_one_group_of_home() -> None:
    assert sorted(key for keys in GROUPS.values() for key in keys) == sorted(STORIES)


@pytest.mark.usefixtures("first_look")
def test_the_seat_is_kept_from_page_to_page() -> None:
    at = open_page("pages/data.py")
    fine(at.segmented_control(key="segments.seat").set_value(Seat.RECIPIENT).run())
    for page in PAGES:
        fine(at.switch_page(page).run())
        assert settings_of(at).seat is Seat.RECIPIENT


def test_the_share_link_holds_what_was_chosen() -> None:
    at = open_page("pages/data.py")
    at.text_input(key="box.records").set_value("77").run()
    assert any("records=77" in code.value for code in at.code)


def test_a_table_can_be_drawn_from_the_drawn_network() -> None:
    at = open_page("pages/data.py", graph="chain:3")
    press(at, "Sample from the edited network")
    assert settings_of(at).source == "chain:3"
    assert "1,000 synthetic records from the drawn network with 3 columns." in headline(at)
