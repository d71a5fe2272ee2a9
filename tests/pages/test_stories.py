"""The stories walked through: each step opens its page, and a guess is compared with a number that the page shows."""

import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import numeral
from dpbayes.ui.pages.stories.banner import DIGITS, DOWNLOADED
from dpbayes.ui.pages.stories.opened import STORIES, settings_at
from dpbayes.ui.session.settings import Present, Seat
from dpbayes.ui.widgets.numbers import NUMBERS
from tests.conftest import thorough
from tests.pages.conftest import (
    banner,
    everything,
    fine,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    slide,
    story_list,
)

pytestmark = pytest.mark.usefixtures("first_look")


def named(text: str) -> list[str]:
    """Return what a sentence names on the page: it stands in quotation marks."""
    return re.findall("“([^”]+)”", text)


def labels(at: AppTest) -> str:
    names = [everything(at)]
    for kind in ("segmented_control", "select_slider", "selectbox", "radio"):
        names += [f"{control.label} {' '.join(map(str, control.options))}" for control in getattr(at, kind)]
    return "\n".join(names)


def judged(at: AppTest) -> str:
    return next(m.value for m in at.markdown if m.value.startswith("You guessed"))


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["epsilon", "refuted"]))
def test_a_story_is_walked_to_its_end_and_its_guesses_are_about_what_its_pages_show(key: str) -> None:
    story = STORIES[key]
    at = open_page("pages/home.py", story=key)
    for number, step in enumerate(story.steps, start=1):
        assert settings_of(at) == replace(settings_at(story, number, Seat.CURATOR), story=key, step=number)
        assert not sentences(at)
        shown = labels(at)
        for name in named(step.do) + named(step.watch):
            assert shown.count(name) > banner(at).count(name), (number, name)
        if step.guess is not None:
            covers = [html.proto.body for html in at.get("html") if "Guess first" in html.proto.body]
            assert all(f".st-key-{part}" in covers[0] for part in NUMBERS[step.guess.number].parts)
            assert all(part in covers[0] for part in DOWNLOADED)
            put(at, f"story.guess.{key}.{number}", "123456")
            answer = re.search(r"\*\*([\d.,]+)\*\*", judged(at))
            assert answer is not None
            assert answer[1] in labels(at).replace(banner(at), ""), "the page shows the number"
            assert not [html for html in at.get("html") if "Guess first" in html.proto.body]
        press(at, "Next")
    assert story.learnt in banner(at)
    assert any(plain(button.label) == f"Next: {STORIES[story.next].title}" for button in at.button)
    press(at, "Leave")
    assert not banner(at)
    assert settings_of(at).story == ""


def test_a_guess_of_the_pages_number_is_correct_and_one_of_another_setting_is_not() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="4", epsilon="0.1")
    error = at.session_state["page.numbers"]["error"]
    put(at, "story.guess.epsilon.4", numeral(error, DIGITS))
    assert judged(at).endswith("which is correct.")
    slide(at, "epsilon", 10.0)
    assert at.session_state["page.numbers"]["error"] < error / 2, "the number is that of the page now"


def test_a_guess_that_is_no_number_is_a_sentence_and_a_recipient_has_no_number_of_the_records() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="1")
    put(at, "story.guess.epsilon.1", "many")
    assert any("must be a number" in plain(m.value) for m in at.markdown)
    at = open_page("pages/explore.py", seat="recipient", story="epsilon", step="1")
    put(at, "story.guess.epsilon.1", "0.5")
    assert not any("You guessed" in m.value for m in at.markdown)
    assert set(at.session_state["page.numbers"]) == {"released probability"}


def test_a_link_resumes_a_story_as_it_was_left_and_one_without_settings_takes_those_of_the_step() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="4", epsilon="3")
    assert settings_of(at).parameter("epsilon") == 3
    assert "4 of 5" in banner(at)
    alone = open_page("pages/home.py", story="epsilon", step="4")
    assert settings_of(alone) == replace(settings_at(STORIES["epsilon"], 4, Seat.CURATOR), story="epsilon", step=4)


def test_a_story_stays_over_page_changes_and_leads_back_to_its_page() -> None:
    at = open_page("pages/home.py", story="mechanisms")
    fine(at.switch_page("pages/proofs.py").run())
    assert "1 of 4" in banner(at)
    fine(at.button(key="story.here").click().run())
    assert at.title[0].value == "Network"


def seats(at: AppTest, *labels: str) -> list[str]:
    """Return the seat at the open step, and after each of these buttons."""
    return [settings_of(at).seat.value, *(settings_of(press(at, label)).seat.value for label in labels)]


def test_a_step_has_its_seat_and_the_persons_own_comes_back() -> None:
    at = open_page("pages/proofs.py", seat="curator")
    fine(story_list(at).set_value("publish").run())
    assert seats(at, "Next", "Next", "Next", "Next") == ["curator", "curator", "curator", "recipient", "curator"]
    assert seats(at, "Back", "Leave") == ["curator", "recipient", "curator"]


def test_present_is_in_the_link_and_stays_from_step_to_step() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="3", present="1")
    assert settings_of(at).present is Present.ON
    press(at, "Next")
    assert (settings_of(at).step, settings_of(at).present) == (4, Present.ON)
    assert any(plain(m.value) == STORIES["epsilon"].steps[3].say for m in at.markdown)
    press(at, "End")
    assert settings_of(at).present is Present.OFF


@pytest.mark.parametrize(("query", "said"), [("nowhere", "no story called"), ("own", "load the file on Home")])
def test_a_link_into_a_story_that_is_not_here_says_so(query: str, said: str) -> None:
    at = open_page("pages/proofs.py", story=query)
    assert any(said in plain(caption.value) for caption in at.caption)
    press(at, "Leave")
    assert settings_of(at).story == ""


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
    drop(at, OWN.replace("explore", "cellar"))
    one_sentence(at, 'no page called "cellar"')
    drop(at, OWN)
    assert not sentences(at)
    fine(at.button(key="open.own").click().run())
    assert at.title[0].value == "Explore"
    raw = next(m.value for m in at.markdown if " · 1 of 1" in m.value)
    assert all(text in raw for text in ("\\<b\\>", "\\<script\\>", "\\*here\\*", "\\$x\\$"))


def test_a_story_to_change_is_offered_and_can_be_dropped_again(files: dict[str, Any]) -> None:
    at = open_page("pages/home.py")
    text = files["story.toml"].decode().replace("What is epsilon?", "A ward of mine")
    assert "Open A ward of mine" in [button.label for button in drop(at, text).button]
