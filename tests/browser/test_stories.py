"""The stories walked in a browser: from Home to the summary, with their guesses, and shown to a room."""

import re

import pytest
from playwright.sync_api import Locator, expect

from dpbayes.ui.pages.stories.story import STORIES
from tests.browser.app_screen import AppScreen

pytestmark = pytest.mark.browser

SCREENS = {"wide": {"width": 1440, "height": 900}, "projector": {"width": 853, "height": 480}}


def banner(screen: AppScreen) -> Locator:
    return screen.page.locator(".st-key-story, .st-key-present")


def press(screen: AppScreen, name: str) -> None:
    banner(screen).get_by_role("button", name=name, exact=True).click()


def board(screen: AppScreen) -> Locator:
    return screen.page.locator(".dpbayes-board").first


def opened(visit, key: str, **more) -> AppScreen:
    """Open a story from Home, and wait for its first step."""
    screen = visit("", **more)
    screen.main.get_by_role("button", name=STORIES[key].title, exact=True).click()
    expect(banner(screen)).to_contain_text(STORIES[key].steps[0].say)
    return screen


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("key", STORIES)
def test_a_story_is_walked_from_home_to_its_summary(visit, key: str, size: str) -> None:
    story = STORIES[key]
    screen = opened(visit, key, viewport=SCREENS[size])
    for step in story.steps:
        expect(banner(screen)).to_contain_text(step.say)
        expect(screen.page).to_have_url(re.compile(rf"/{step.page}\?.*story={key}"))
        for name in ("Back", "Next", "Present", "Leave"):
            expect(banner(screen).get_by_role("button", name=re.compile(f"^{name}"))).to_be_in_viewport(ratio=1)
        if step.guess is not None:
            panels = board(screen).locator(".panels")
            expect(panels).to_have_css("visibility", "hidden")
            guess = banner(screen).get_by_role("textbox", name="Your guess")
            guess.fill(f"{max(0.987, step.guess.span[0]):g}")
            guess.press("Enter")
            expect(banner(screen)).to_contain_text("the answer is")
            expect(panels).to_have_css("visibility", "visible")
            expect(board(screen).locator(".panel g.trace").first).to_be_attached()
        expect(banner(screen)).to_contain_text(step.do)
        expect(screen.main.get_by_test_id("stAlertContentWarning")).to_have_count(0)
        press(screen, "Next")
    expect(banner(screen)).to_contain_text(story.learnt)
    press(screen, "Leave")
    expect(banner(screen)).to_have_count(0)


REQUEST_AFTER_A_CLICK = """
const send = WebSocket.prototype.send;
let request = null;
WebSocket.prototype.send = function (data) {
  if (window.isHeld && /-board\\.explore.*"wanted"/s.test(new TextDecoder("latin1").decode(data))) {
    request = data;
    window.isHeld = false;
    return;
  }
  send.call(this, data);
  if (request === null || window.delay === undefined) return;
  const end = performance.now() + window.delay;
  while (performance.now() < end);
  send.call(this, request);
  request = null;
};
window.isHeld = true;
"""
"""Sends the request of Explore's board for its stops shortly after the click that follows, with which it competes."""


def requesting(visit, delay_ms: float) -> AppScreen:
    """Open a story whose board sends its request a moment after the click that follows."""
    screen = visit("")
    screen.page.evaluate(REQUEST_AFTER_A_CLICK)
    screen.main.get_by_role("button", name=STORIES["epsilon"].title, exact=True).click()
    screen.page.wait_for_function("() => !window.isHeld")
    screen.page.evaluate("delay => { window.delay = delay; }", delay_ms)
    return screen


@pytest.mark.parametrize("delay_ms", [0, 1, 2, 3])
def test_a_click_counts_while_a_board_requests_its_stops(visit, delay_ms: float) -> None:
    screen = requesting(visit, delay_ms)
    press(screen, "Skip the guess")
    expect(banner(screen)).to_contain_text(STORIES["epsilon"].steps[0].do)


@pytest.mark.parametrize("delay_ms", [0, 5, 50, 100])
def test_a_page_stays_though_the_board_of_the_former_page_requests_its_stops(visit, delay_ms: float) -> None:
    screen = requesting(visit, delay_ms)
    screen.go("Network")
    expect(board(screen)).to_have_attribute("data-stop", "2")


@pytest.mark.parametrize("size", SCREENS)
def test_a_room_sees_the_sentence_and_the_board_and_keys_turn_the_steps(visit, size: str) -> None:
    steps = STORIES["epsilon"].steps
    screen = opened(visit, "epsilon", viewport=SCREENS[size])
    press(screen, "Skip the guess")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    expect(banner(screen).locator("p").first).to_contain_text(steps[0].say)
    hidden = screen.page.locator(".stAppHeader a:visible, .st-key-bar:visible, .st-key-rail:visible")
    expect(hidden).to_have_count(0)
    expect(board(screen).locator(".panel").first).to_be_in_viewport(ratio=0.99)
    body = screen.page.locator("body")
    body.press("ArrowRight")
    body.press("ArrowRight")
    expect(banner(screen)).to_contain_text(steps[2].say)
    screen.settle()
    press(screen, "Skip the guess")
    screen.settle()
    board(screen).get_by_role("slider").press("ArrowRight")  # of a slider, keys move the slider
    expect(board(screen).locator("h2")).to_contain_text("ε = 0.13:")
    expect(screen.page).to_have_url(re.compile("step=3"))
    banner(screen).locator("p").first.click()
    body.press("PageUp")
    expect(banner(screen)).to_contain_text(steps[1].say)
    body.press("Escape")
    expect(screen.page).not_to_have_url(re.compile("present"))
    expect(screen.page.locator(".stAppHeader a").first).to_be_visible()


def test_the_theme_is_switched_in_a_presentation_and_the_step_stays(visit) -> None:
    screen = opened(visit, "epsilon")
    press(screen, "Skip the guess")
    press(screen, "Present")
    text = board(screen).locator(".xtick text").first
    light = text.evaluate("node => node.style.fill")
    menu = screen.page.get_by_role("button", name="Main menu")
    menu.click()
    screen.page.get_by_role("menuitemradio", name="Dark").click()
    expect(text).not_to_have_css("fill", light)
    screen.page.keyboard.press("ArrowRight")  # in the menu, not in the story
    screen.page.keyboard.press("Escape")
    expect(screen.page.get_by_role("menuitemradio", name="Dark")).to_have_count(0)
    expect(screen.page).to_have_url(re.compile("present=1"))
    expect(banner(screen).locator("p").first).to_contain_text(STORIES["epsilon"].steps[0].say)


def test_back_goes_back_one_step_of_a_story(visit) -> None:
    screen = opened(visit, "epsilon")
    press(screen, "Skip the guess")
    press(screen, "Next")
    expect(screen.page).to_have_url(re.compile("step=2"))
    screen.settle()
    screen.page.evaluate("() => history.back()")
    expect(banner(screen)).to_contain_text(STORIES["epsilon"].steps[0].say)
