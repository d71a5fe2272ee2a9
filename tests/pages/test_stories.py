"""The stories walked through: what each step names is on its page, and its answer is what the page comes to."""

import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.ui.pages.stories.opened import STORIES, settings_at
from dpbayes.ui.pages.stories.quantities import AS_EPSILON, QUANTITIES
from dpbayes.ui.session.settings import Present, Seat, Settings
from tests.conftest import thorough
from tests.pages.conftest import (
    banner,
    banners,
    everything,
    fine,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    story_list,
)

pytestmark = pytest.mark.usefixtures("first_look")

COMES_AND_GOES = {"Stop"}
"""What is there only while long work goes on."""


def labels(at: AppTest) -> str:
    """Return what a person reads on the page but for the banner, with all controls and their options, as one text."""
    names = [everything(at)]
    for kind in ("segmented_control", "select_slider", "selectbox", "radio"):
        names += [f"{control.label} {' '.join(map(str, control.options))}" for control in getattr(at, kind)]
    (said,) = banners(at)
    assert said in names[0]
    whole, to_do = "\n".join(names), [m.value for m in at.markdown if m.value.startswith("**Do:**")]
    for text in (said, *to_do):  # what is to be done is said once more where the window is low
        whole = whole.replace(text, "")
    return whole


def named(text: str) -> list[str]:
    """Return what a sentence names on the page: it stands in quotation marks."""
    return re.findall("“([^”]+)”", text)


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["clinic", "exercise"]))
def test_a_story_is_walked_to_its_end_and_what_it_names_is_there(key: str) -> None:
    story = STORIES[key]
    at = open_page("pages/home.py", story=key)
    for number, step in enumerate(story.steps, start=1):
        assert f"{story.title} · {number} of {len(story.steps)}" in banner(at)
        assert settings_of(at) == replace(settings_at(story, number, Seat.CURATOR), story=key, step=number)
        assert not sentences(at)
        shown = labels(at)
        for name in named(step.do) + named(step.watch):
            assert name in shown or name in COMES_AND_GOES, (number, name)
        if step.guess is not None:
            guess(at, key, number, step.guess.quantity)
        press(at, "Next")
    assert story.learnt in banner(at)
    follower = STORIES[story.next]
    assert any(plain(button.label) == f"Next: {follower.title}" for button in at.button)
    press(at, "Leave")
    assert not banner(at)
    assert settings_of(at).story == ""


def guess(at: AppTest, key: str, number: int, name: str) -> None:
    """Guess, and check that the person is told how near that was."""
    quantity, place = QUANTITIES[name], f"story.guess.{key}.{number}"
    if quantity.options:
        fine(at.radio(key=place).set_value(quantity.options[0]).run())
        lines = [m.value for m in at.markdown if m.value.startswith(f"You guessed {quantity.options[0]}")]
        endings = (", which is correct.", *(f"the answer is **{option}**." for option in quantity.options))
        assert lines[0].endswith(endings)
    else:
        put(at, place, "12.5")
        lines = [plain(m.value) for m in at.markdown if m.value.startswith("You guessed 12.5")]
        after = {"%": "%", AS_EPSILON: ""}.get(quantity.unit, f" {quantity.unit}")
        assert re.fullmatch(rf"You guessed 12\.5{after}; the answer is \*\*[0-9.,]+{after}\*\*\.", lines[0])


def test_the_answer_follows_what_the_page_is_set_to() -> None:
    at = open_page("pages/network.py", story="votes", step="1", data="house_votes_84")
    put(at, "story.guess.votes.1", "33")
    assert any("which is correct" in m.value for m in at.markdown)
    at = open_page("pages/network.py", story="votes", step="1", data="house_votes_84", graph="chain:3")
    put(at, "story.guess.votes.1", "33")
    assert not any("which is correct" in m.value for m in at.markdown)


def test_a_guess_that_is_no_number_is_a_sentence_and_the_recipient_does_not_learn_what_the_records_say() -> None:
    at = open_page("pages/explore.py", story="clinic", step="2", target="dysp", evidence="smoke~yes")
    put(at, "story.guess.clinic.2", "many")
    assert any("must be a number" in plain(m.value) for m in at.markdown)
    at = open_page("pages/explore.py", seat="recipient", story="clinic", step="2", target="dysp", evidence="smoke~yes")
    put(at, "story.guess.clinic.2", "50")
    assert any("which the recipient does not see" in plain(m.value) for m in at.markdown)
    assert not any("You guessed" in m.value for m in at.markdown)


def test_a_link_resumes_a_story_as_it_was_left_and_one_without_settings_takes_those_of_the_step() -> None:
    at = open_page("pages/explore.py", story="clinic", step="4", epsilon="3")
    assert settings_of(at).parameter("epsilon") == 3
    assert "4 of 5" in banner(at)
    alone = open_page("pages/home.py", story="clinic", step="4")
    assert alone.title[0].value == "Explore"
    assert settings_of(alone) == replace(settings_at(STORIES["clinic"], 4, Seat.CURATOR), story="clinic", step=4)


def test_a_story_stays_over_page_changes_and_leads_back_to_its_page() -> None:
    at = open_page("pages/home.py", story="clinic")
    fine(at.switch_page("pages/claims.py").run())
    assert "1 of 5" in banner(at)
    fine(at.button(key="story.here").click().run())
    assert at.title[0].value == "Network"


def seats(at: AppTest, *labels: str) -> list[str]:
    """Return the seat at the open step, and after each of these buttons."""
    return [settings_of(at).seat.value, *(settings_of(press(at, label)).seat.value for label in labels)]


@pytest.fixture
def least_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer a story's question at once, for what is not about the search for its answer."""
    quick = replace(QUANTITIES["least epsilon"], of=lambda _: 2.7)
    monkeypatch.setitem(QUANTITIES, "least epsilon", quick)


@pytest.mark.usefixtures("least_epsilon")
@pytest.mark.parametrize("own", thorough(["curator", "recipient"], sample=["curator"]))
def test_a_step_has_its_seat_and_the_persons_own_comes_back(own: str) -> None:
    at = open_page("pages/claims.py", seat=own)
    fine(story_list(at).set_value("board").run())
    assert seats(at, "Next", "Next", "Next", "Next") == ["curator", "curator", "curator", "recipient", "curator"]
    assert seats(at, "Back", "Leave") == ["curator", "recipient", own]
    fine(story_list(at).set_value("board").run())
    for _ in range(3):
        press(at, "Next")
    fine(story_list(at).set_value("game").run())
    assert settings_of(at).seat.value == own, "a story without a seat is seen from one's own"


def test_what_a_person_changes_at_a_step_without_a_seat_is_her_own_seat_from_then_on() -> None:
    at = open_page("pages/home.py", story="game", step="1")
    fine(at.segmented_control(key="segments.seat").set_value(Seat.RECIPIENT).run())
    assert seats(at, "Next", "Leave") == ["recipient"] * 3


@pytest.mark.usefixtures("least_epsilon")
def test_the_last_place_of_a_story_is_seen_from_ones_own_seat() -> None:
    at = open_page("pages/explore.py", story="board", step="5", seat="curator")
    assert seats(at, "Back", "Next", "Next") == ["curator", "recipient", "curator", "curator"]
    at = open_page("pages/claims.py", seat="recipient")
    fine(story_list(at).set_value("clinic").run())
    for _ in range(4):
        press(at, "Next")
    assert seats(at, "Next") == ["curator", "recipient"]


def test_the_board_goes_on_with_the_epsilon_that_it_found() -> None:
    at = open_page("pages/home.py", story="board")
    put(at, "story.guess.board.1", "12.5")
    (answer,) = (answer for m in at.markdown if (answer := re.search(r"the answer is \*\*([\d.]+)\*\*", m.value)))
    for _ in range(4):
        press(at, "Next")
        assert settings_of(at).parameter("epsilon") == float(answer[1]) != Settings().parameter("epsilon")
    assert settings_of(open_page("pages/home.py", story="board", step="3")).parameter("epsilon") == float(answer[1])


def test_present_is_in_the_link_and_stays_from_step_to_step() -> None:
    at = open_page("pages/explore.py", story="clinic", step="3", present="1")
    assert settings_of(at).present is Present.ON
    press(at, "Next")
    assert (settings_of(at).step, settings_of(at).present) == (4, Present.ON)
    assert not banner(at), "the sentence alone"
    assert any(plain(m.value) == STORIES["clinic"].steps[3].say for m in at.markdown)
    press(at, "End")
    assert settings_of(at).present is Present.OFF
    assert "4 of 5" in banner(at)


def alone(at: AppTest) -> str:
    """Return the key of what is presented of a page; empty where that is its main slider and picture."""
    rule = re.compile(r"<style>\s*\.stMainBlockContainer :has\(\.st-key-([\w-]+)\) >")
    return next((match[1] for html in at.get("html") if (match := rule.search(html.proto.body))), "")


def key_of(node: object) -> str:
    """Return the class that an element has by its key."""
    return re.sub(r"[^\w-]", "-", re.sub(r"^\$\$(ID|GENERATED)-\w{32}-", "", node.proto.id))


@pytest.mark.parametrize(("seat", "key"), [("curator", "column-chart"), ("recipient", "domains")])
def test_of_data_the_curator_presents_the_column_and_the_recipient_the_public_domains(seat: str, key: str) -> None:
    at = open_page("pages/data.py", story="census", step="1", data="adult", present="1", seat=seat)
    assert alone(at) == key
    assert not sentences(at)
    charts = [element for element in at.get("bidi_component") if key_of(element) == "column-chart"]
    assert bool(charts) == (seat == "curator"), "there is nothing else of the table for the recipient"
    tables = [box for box in at.get("flex_container") if getattr(box.proto, "id", "") and key_of(box) == "domains"]
    assert len(tables[0].dataframe) == 1


def test_home_has_no_picture_and_offers_no_presentation_of_it() -> None:
    at = open_page("pages/explore.py", story="clinic", step="3", present="1")
    fine(at.switch_page("pages/home.py").run())
    assert "3 of 5" in banner(at), "the banner with all that it offers, and not the sentence alone"
    assert not alone(at)
    assert not any(button.label in ("Present", "End") for button in at.button)
    fine(at.switch_page("pages/explore.py").run())
    assert settings_of(at).present is Present.ON
    assert any(button.label == "End" for button in at.button)


@pytest.mark.parametrize(("query", "said"), [("nowhere", "no story called"), ("own", "load the file on Home")])
def test_a_link_into_a_story_that_is_not_here_says_so(query: str, said: str) -> None:
    at = open_page("pages/claims.py", story=query)
    assert any(said in plain(caption.value) for caption in at.caption)
    press(at, "Leave")
    assert settings_of(at).story == ""


def test_a_step_beyond_the_last_is_what_was_learnt() -> None:
    at = open_page("pages/explore.py", story="clinic", step="99")
    assert STORIES["clinic"].learnt in banner(at)


OWN = """
title = "A <b>ward</b> [x](http://example.org)"
question = "What?"
field = "Nursing"
learnt = "All of it."
[[steps]]
say = "Look *here* <script>."
do = "Move it."
watch = "$x$"
page = "explore"
"""


def drop(at: AppTest, text: str) -> AppTest:
    return fine(at.file_uploader(key="story.file").set_value(("story.toml", text.encode(), "text/plain")).run())


def test_a_story_of_ones_own_is_dropped_on_home_and_its_text_is_shown_as_it_is() -> None:
    at = drop(open_page("pages/home.py"), OWN)
    fine(at.button(key="open.own").click().run())
    assert at.title[0].value == "Explore"
    assert settings_of(at).story == "own"
    assert "A <b>ward</b> [x](http:\u2060//example.org) · 1 of 1" in banner(at)
    raw = next(m.value for m in at.markdown if " · 1 of 1" in m.value)
    assert "\\<script\\>" in raw
    assert "\\*here\\*" in raw
    assert "\\$x\\$" in raw


def test_a_story_to_change_is_offered_and_can_be_dropped_again(files: dict[str, Any]) -> None:
    at = open_page("pages/home.py")
    text = files["story.toml"].decode().replace("A chest clinic", "A ward of mine")
    assert "Open A ward of mine" in [button.label for button in drop(at, text).button]


def test_a_file_that_is_no_story_is_refused_in_one_sentence_and_the_one_before_stays() -> None:
    at = drop(open_page("pages/home.py"), OWN)
    drop(at, OWN.replace("explore", "cellar"))
    one_sentence(at, 'no page called "cellar"')
    drop(at, OWN)
    assert not sentences(at)
