"""The stories: what their files state, and each step on its page, where a guess is about a number of the board."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import dpbayes as dp
from dpbayes.base.text import numeral
from dpbayes.releases.document import read_document
from dpbayes.sources.data_files import read_data
from dpbayes.ui.pages.release_history import EXAMPLE_FILE
from dpbayes.ui.pages.stories.banner import DIGITS
from dpbayes.ui.pages.stories.story import STORIES, Step
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Present
from dpbayes.ui.widgets.address import turn_to
from tests.pages.conftest import (
    PAGES,
    banner,
    boards,
    everything,
    fine,
    frame_of,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
)

STEPS = {f"{key} {number}": step for key, story in STORIES.items() for number, step in enumerate(story.steps, 1)}

MOST_LETTERS = 300
"""Letters of one sentence of the banner, which leaves the board its place."""


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step_has_a_page_and_settings_that_a_link_can_have(step: Step) -> None:
    settings, problems = settings_from(step.query)
    assert problems == ()
    assert {"story", "step", "present"}.isdisjoint(step.query)
    assert settings.data == "synthetic", "a story needs nobody's table"
    assert f"pages/{step.page}.py" in PAGES
    assert max(map(len, (step.say, step.do))) <= MOST_LETTERS


def labels(at: AppTest) -> str:
    names = [everything(at)]
    for kind in ("segmented_control", "select_slider", "selectbox", "radio"):
        names += [f"{control.label} {' '.join(map(str, control.options))}" for control in getattr(at, kind)]
    for board in boards(at):
        traces = [trace for figure in frame_of(board)["figures"].values() for trace in figure["data"]]
        names += [str(board["panels"]), *(str(trace.get("name")) for trace in traces)]
    return "\n".join(names)


def judged(at: AppTest) -> str:
    return next(m.value for m in at.markdown if m.value.startswith("You guessed"))


def is_covered(at: AppTest) -> bool:
    return any("after your guess" in html.proto.body for html in at.get("html"))


@pytest.mark.parametrize("key", sorted(STORIES))
def test_a_story_is_walked_to_its_end_and_its_guesses_are_about_what_its_boards_show(key: str) -> None:
    story = STORIES[key]
    at = open_page("pages/home.py", story=key)
    for number, step in enumerate(story.steps, start=1):
        assert settings_of(at) == replace(step.settings, story=key, step=number)
        assert not sentences(at)
        shown = plain(labels(at))
        for name in re.findall("“([^”]+)”", f"{step.say} {step.do}"):
            assert shown.count(name) > banner(at).count(name), (number, name)
        assert is_covered(at) == (step.guess is not None)
        if step.guess is not None:
            answer = at.session_state["board.numbers"][step.guess.number]
            most = step.guess.span[1]
            put(at, f"story.guess.{key}.{number}", f"{2 * most}")
            assert is_covered(at)
            assert any("must be between" in plain(m.value) for m in at.markdown)
            put(at, f"story.guess.{key}.{number}", f"{0.98765 * most}")
            assert f"**{numeral(answer, DIGITS + (answer >= 10))}**" in judged(at)
            assert not is_covered(at)
        press(at, "Next")
    assert story.learnt in banner(at)
    collected = next(m.value for m in at.markdown if re.match(r"\d\. ", m.value))
    assert collected.count("You guessed") == sum(step.guess is not None for step in story.steps)
    assert ("Your choice" in collected) == (key == "exercise"), "the choice of the other stories is that of their steps"
    assert any(plain(button.label) == f"Next: {STORIES[story.next].title}" for button in at.button)
    press(at, "Leave")
    assert not banner(at)


def test_a_guess_of_the_boards_number_is_correct() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="2", epsilon="0.1")
    put(at, "story.guess.epsilon.2", numeral(at.session_state["board.numbers"]["error"], DIGITS))
    assert "which is correct." in judged(at)


@pytest.mark.parametrize("button", ["Show", "Skip the guess"])
def test_a_guess_that_was_typed_is_compared_whatever_is_pressed(button: str) -> None:
    at = open_page("pages/explore.py", story="epsilon", step="3", epsilon="0.1", records="100000")
    at.text_input(key="story.guess.epsilon.3").set_value("0.3")
    press(at, button)
    assert "0.3" in judged(at)


def test_a_guess_that_is_no_number_is_a_sentence_and_a_recipient_has_no_number_of_the_records() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="1")
    put(at, "story.guess.epsilon.1", "many")
    assert any("must be a number" in plain(m.value) for m in at.markdown)
    at = open_page("pages/explore.py", seat="recipient", story="epsilon", step="1")
    put(at, "story.guess.epsilon.1", "0.5")
    assert not any("You guessed" in m.value for m in at.markdown)
    assert set(at.session_state["board.numbers"]) <= {"released", "low", "high"}


def test_a_link_resumes_a_story_as_it_was_left_and_one_without_settings_takes_those_of_the_step() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="2", epsilon="3")
    assert settings_of(at).parameter("epsilon") == 3
    assert "2 of 3" in banner(at)
    alone = open_page("pages/home.py", story="epsilon", step="2")
    assert settings_of(alone) == replace(STORIES["epsilon"].steps[1].settings, story="epsilon", step=2)


def test_leaving_restores_the_settings_from_before_the_story() -> None:
    at = open_page("pages/home.py", data="house_votes_84", epsilon="7", seat="recipient")
    before = settings_of(at)
    fine(at.button(key="open.mechanisms").click().run())
    press(at, "Skip the guess")
    press(at, "Next")
    press(at, "Leave")
    assert settings_of(at) == before


def test_leaving_keeps_ones_own_table_that_was_opened_meanwhile() -> None:
    at = open_page("pages/lab.py", story="mechanisms")
    press(fine(at.switch_page("pages/home.py").run()), "My own data")
    press(at, "Leave")
    assert (settings_of(at).data, settings_of(at).story) == ("upload", "")


def test_a_story_stays_over_page_changes_and_leads_back_to_its_page() -> None:
    at = open_page("pages/home.py", story="mechanisms")
    fine(at.switch_page("pages/proofs.py").run())
    assert "1 of 3" in banner(at)
    fine(at.button(key="story.here").click().run())
    assert at.title[0].value == "Lab"


def test_present_is_in_the_link_and_stays_from_step_to_step() -> None:
    at = open_page("pages/explore.py", story="epsilon", step="1", present="1")
    press(at, "Show")
    assert is_covered(at), "nothing was guessed"
    press(at, "Skip the guess")
    press(at, "Next")
    assert (settings_of(at).step, settings_of(at).present) == (2, Present.ON)
    assert any(plain(m.value) == STORIES["epsilon"].steps[1].say for m in at.markdown)
    press(at, "End")
    assert settings_of(at).present is Present.OFF


def test_the_noise_of_laplace_and_fourier_and_the_interval_of_a_sample_are_as_stated() -> None:
    network, cpts = dp.load_named("asia")
    counts = dp.count(network, dp.sample_dataset(network, cpts, 100_000, np.random.default_rng(1)))
    kinds = dp.LaplaceUpdates(prior=network, epsilon=0.1), dp.LaplaceFourier(prior=network, epsilon=0.1, t=0.24)
    laplace, fourier = (kind.simulate(counts, np.random.default_rng(2), (4000,)).outcome.updates for kind in kinds)
    of_counts = (laplace, "bronc"), (fourier, "bronc"), (fourier, "dysp")
    noise = [network.table(np.abs(one - one.mean(axis=0)), node=network.index(name)).mean() for one, name in of_counts]
    assert noise == pytest.approx([160, 130, 100], rel=0.05)
    assert (network.cell_count, len(network.closure) - 1) == (36, 20)
    for number, size in (1, 100), (2, 130):
        query = STORIES["mechanisms"].steps[number - 1].query | {"story": "mechanisms", "step": f"{number}"}
        figures = frame_of(boards(open_page("pages/lab.py", **query))[0])["figures"]
        names = figures["noise"]["layout"]["annotations"]
        assert all(f"±{part}<" in str(names) for part in (160, 280, size)), "the simulated noise is that of releases"
    assert dp.PosteriorSampler(prior=network, epsilon=2).omega == pytest.approx(0.47, abs=0.005)


def test_the_example_of_a_release_answers_within_the_tolerance_of_its_story() -> None:
    _, which, _, last = STORIES["publish"].steps
    exact = open_page("pages/explore.py").session_state["board.numbers"]["exact"]
    answer = read_document(read_data(EXAMPLE_FILE)).tables.query("bronc", {"smoke": "yes"})["yes"]
    assert f"answers {answer:.2f}. The table’s answer is {exact:.2f}, so" in last.say
    assert abs(answer - exact) < float(which.query["explore.tolerance"])


STATED = ("arrow", 0, 1, "from 19.1 to 3.6"), ("exercise", 1, 0.05, "3.7"), ("exercise", 1, 0.2, "0.69")


def test_a_text_of_a_story_states_what_its_headline_states() -> None:
    for key, number, tolerance, said in STATED:
        step = STORIES[key].steps[number]
        at = open_page(f"pages/{step.page}.py", **step.query | {"explore.tolerance": f"{tolerance}"})
        assert f" {said} " in frame_of(boards(at)[0])["headline"]
        assert all(part in f"{STORIES[key].learnt} {step.guess.ask}" for part in re.findall(r"[\d.]+\d", said))
    step = STORIES["arrow"].steps[3]
    (figure,) = frame_of(boards(open_page("pages/network.py", **step.query | {"epsilon": "1"}))[0])["figures"].values()
    texts = (trace["text"] for trace in figure["data"] if trace.get("mode") == "text")
    assert ("smoke → lung", re.findall("too close to call", step.do)[0]) in zip(*texts, strict=True)


def test_a_link_into_a_story_that_there_is_not_says_so() -> None:
    at = open_page("pages/proofs.py", story="nowhere")
    assert any("no story called" in plain(caption.value) for caption in at.caption)
    press(at, "Leave")
    assert settings_of(at).story == ""


def test_a_run_that_ends_before_the_page_is_turned_leaves_the_turn_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = open_page("pages/home.py")
    with monkeypatch.context() as patch:  # as a message of the browser, which arrives at this moment
        patch.setattr("dpbayes.ui.app.turn_to", _once(st.rerun, turn_to))
        fine(at.button(key="open.epsilon").click().run())
    assert at.title[0].value == "Explore"
    assert settings_of(at) == replace(STORIES["epsilon"].steps[0].settings, story="epsilon")


def _once(first: Callable[[], None], then: Callable[[str], None]) -> Callable[[str], None]:
    calls = iter((lambda _: first(),))
    return lambda page: next(calls, then)(page)
