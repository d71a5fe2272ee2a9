"""Home leads to every page and to every story."""

import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.experiments.regression.scenario import NormBound
from dpbayes.ui.session.options.accuracy import Scene
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.session.stories import STORIES, Story
from tests.pages.conftest import (
    PAGES,
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

TITLES = {"sampling": "Posterior sampling", "hellinger": "Hellinger mechanism"}
"""Titles of pages whose file does not say them."""


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_in_both_seats_with_a_headline_and_charts_that_plotly_knows(page: str, seat: Seat) -> None:
    at = open_page(page, seat=seat.value)
    assert at.get("progress") or headline(at), "before the first numbers are in there is nothing to say"
    assert not sentences(at)
    assert not at.error
    for chart in charts(at):
        go.Figure(chart["figure"])


def title_of(story: Story) -> str:
    name = story.page.removeprefix("pages/").removesuffix(".py")
    return TITLES.get(name, name.capitalize())


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("key", STORIES)
def test_a_story_opens_where_it_says(key: str) -> None:
    story = STORIES[key]
    at = fine(open_page("pages/home.py", seat="recipient").button(key=f"open.{key}").click().run())
    assert at.title[0].value == title_of(story)
    assert settings_of(at).data == story.settings.data
    assert settings_of(at).source == story.settings.source
    assert settings_of(at).seat is Seat.RECIPIENT
    assert not sentences(at)


@pytest.mark.usefixtures("first_look")
def test_every_story_opens_from_the_bar_of_the_one_before() -> None:
    at = open_page("pages/release.py")
    assert not opened(at)
    for key, story in STORIES.items():
        fine(story_list(at).set_value(key).run())
        assert settings_of(at) == story.settings
        assert at.title[0].value == title_of(story)
        assert opened(at) == [f"Opened last: **{story.title}**. {story.question}"]
        assert not sentences(at)


def opened(at: AppTest) -> list[str]:
    return [caption.value for caption in at.caption if caption.value.startswith("Opened last")]


def test_a_story_can_be_opened_again_after_the_settings_have_left_it() -> None:
    at = open_page("pages/papers.py")
    for _ in range(2):
        fine(story_list(at).set_value("clinic").run())
        assert at.title[0].value == "Release"
        assert settings_of(at) == STORIES["clinic"].settings
        assert story_list(at).value is None
        put(at, "box.epsilon", "3")
        assert story_list(at).value is None
        assert settings_of(at) != STORIES["clinic"].settings
        fine(at.switch_page("pages/papers.py").run())
    fine(at.switch_page("pages/home.py").run())
    fine(at.button(key="open.votes").click().run())
    assert opened(at)[0].startswith("Opened last: **Sixteen votes**")


def test_the_story_of_the_arrow_promises_noise_and_leads_to_the_errors() -> None:
    question = next(story.question for story in STORIES.values() if story.title == "Draw an arrow, see its price")
    assert "noise" in question
    assert "Release" in question


def test_both_figures_of_the_paper_are_stories() -> None:
    paper, regression = STORIES["paper"], STORIES["regression"]
    assert (paper.page, regression.page) == ("pages/accuracy.py", "pages/regression.py")
    options = paper.settings.options("accuracy")
    assert (options.scene, options.features) == (Scene.NAIVE_BAYES, 16)
    assert (options.records, options.training, options.repeats) == (1000, 50, 100)
    scenario = regression.settings.options("regression")
    assert (scenario.n, scenario.features, scenario.train_share, scenario.repeats) == (370_000, 14, 0.1, 20)
    assert scenario.norm_bound is NormBound.PRINTED


def test_home_says_what_is_open() -> None:
    assert any("8 nodes and 8 arrows" in info.value for info in open_page("pages/home.py").info)
    assert any("37 nodes and 46 arrows" in info.value for info in open_page("pages/home.py", source="alarm").info)


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
    press(at, "Draw from the network on the Network page")
    assert settings_of(at).source == "chain:3"
    assert "1,000 records of 3 columns" in headline(at)
