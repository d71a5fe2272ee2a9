"""Home leads to every page and to every story."""

from dataclasses import replace

import numpy as np
import pytest

from dpbayes.audit.risk import ceiling
from dpbayes.base.privacy import Guarantee
from dpbayes.ui.pages.stories.story import STORIES
from dpbayes.ui.session.graphs import graph_of
from dpbayes.ui.session.settings import Seat
from tests.pages.conftest import (
    PAGES,
    banner,
    boards,
    fine,
    frame_of,
    headline,
    open_page,
    press,
    sentences,
    settings_of,
)


@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_in_both_seats_with_a_headline(page: str, seat: Seat) -> None:
    at = open_page(page, seat=seat.value)
    assert at.get("progress") or boards(at) or headline(at), "before the first numbers are in there is nothing to say"
    assert not sentences(at)
    assert not at.error


@pytest.mark.parametrize("key", STORIES)
def test_a_story_opens_at_its_first_step(key: str) -> None:
    at = fine(open_page("pages/home.py", seat="recipient").button(key=f"open.{key}").click().run())
    assert settings_of(at) == replace(STORIES[key].steps[0].settings, story=key)
    assert f"{STORIES[key].title} · 1 of {len(STORIES[key].steps)}" in banner(at)
    assert not sentences(at)


def test_one_click_on_home_leads_to_the_pictures_and_to_ones_own_data() -> None:
    at = press(open_page("pages/home.py"), "Explore this example")
    assert at.title[0].value == "Explore"
    at = press(open_page("pages/home.py", graph="chain:3", seat="recipient"), "My own data")
    assert settings_of(at).seat.value == "curator"
    assert at.title[0].value == "Data"
    assert (settings_of(at).data, settings_of(at).graph) == ("upload", "")


def test_the_picture_of_home_is_the_large_one_of_explore_whatever_table_is_open() -> None:
    (explore,) = boards(open_page("pages/explore.py", epsilon="0.1"))
    for query in ({}, {"source": "alarm"}):
        (home,) = boards(open_page("pages/home.py", epsilon="0.1", **query))
        shown, large = frame_of(home), frame_of(explore)
        assert shown["headline"] == large["headline"]
        assert [panel["key"] for panel in home["panels"]] == ["posterior", "person"]
        person = shown["figures"]["person"]
        squares = np.array(person["data"][0]["z"]).clip(max=1)
        assert squares.sum() == pytest.approx(100 * ceiling(0.1, Guarantee(0.1)))
        assert person["layout"]["annotations"][0]["text"] == "<b>10% → at most 11.0%</b>"
        assert "at most 11.0%." in shown["notes"][0]
        for trace, other in zip(
            shown["figures"]["posterior"]["data"], large["figures"]["posterior"]["data"], strict=True
        ):
            assert np.array_equal(trace["y"], other["y"])


def test_a_table_can_be_drawn_from_the_drawn_network() -> None:
    at = open_page("pages/data.py", graph="chain:3")
    press(at, "Sample from the edited network")
    assert graph_of(settings_of(at).source).edges == graph_of("chain:3").edges
