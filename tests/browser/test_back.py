"""The browser's Back goes to the page and the setting before, in one press; Forward goes there again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import AppScreen, place_of

pytestmark = pytest.mark.browser

COUNT = """() => {
    window.pushed = 0;
    const push = history.pushState;
    history.pushState = function (...entry) {
        window.pushed += 1;
        return push.apply(this, entry);
    };
}"""
"""Counts the entries that the browser's history gets from now on."""

MOVES = """async (slider) => {
    for (let turn = 0; turn < 12; turn++) {
        slider.value = Number(slider.value) - 1;
        slider.dispatchEvent(new Event("input"));
        await new Promise((go) => setTimeout(go, 40));
    }
    slider.dispatchEvent(new Event("change"));
}"""
"""Moves the slider of a board by 12 stops, and lets it go."""


@pytest.fixture
def open_counted(visit):
    def opened(path: str) -> AppScreen:
        screen = visit(path)
        screen.page.evaluate(COUNT)
        return screen

    return opened


def turn(screen: AppScreen, direction: str) -> None:
    """Press Back or Forward once."""
    screen.page.evaluate(f"() => history.{direction}()")


def entries(screen: AppScreen) -> int:
    screen.settle()
    return int(screen.page.evaluate("() => window.pushed"))


def at(screen: AppScreen, title: str, query: str = "") -> None:
    """Wait until the address says that this page is open with these settings, and the page is there."""
    address = re.compile(re.escape(f"/{place_of(title)}{f'?{query}' if query else ''}") + "$")
    expect(screen.page).to_have_url(address)
    screen.arrived(title)
    expect(screen.page).to_have_url(address)


def test_one_press_goes_back_over_a_page_with_the_settings_as_they_were_there(open_counted):
    screen = open_counted("lab?accuracy.repeats=2&epsilon=2")
    screen.go("Explore")
    at(screen, "Explore", "accuracy.repeats=2&epsilon=2")
    assert entries(screen) == 1
    screen.type_epsilon("5")
    at(screen, "Explore", "accuracy.repeats=2&epsilon=5")
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Explore", "accuracy.repeats=2&epsilon=2")
    expect(screen.epsilon_box).to_have_value("2")
    turn(screen, "back")
    at(screen, "Lab", "accuracy.repeats=2&epsilon=2")
    screen.page.evaluate("() => history.go(2)")
    at(screen, "Explore", "accuracy.repeats=2&epsilon=5")
    expect(screen.epsilon_box).to_have_value("5")
    assert entries(screen) == 2


def test_pages_without_a_setting_are_an_entry_each(open_counted):
    screen = open_counted("")
    screen.go("Network")
    screen.go("Explore")
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Network")
    turn(screen, "back")
    at(screen, "Home")


def test_one_press_goes_back_to_the_setting_before(open_counted):
    screen = open_counted("explore")
    fourier, recipient = screen.button("Fourier"), screen.option("Recipient")
    board = screen.page.locator(".dpbayes-board")
    for control, gone in ((fourier, "error: Laplace"), (recipient, "never published")):
        expect(board).to_contain_text(gone)
        control.click()
        expect(board).not_to_contain_text(gone)
        screen.settle()  # pressed before the address is written, both would be one step
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Explore", "mechanism=LaplaceFourier")
    expect(screen.option("Curator")).to_be_checked()
    turn(screen, "back")
    at(screen, "Explore")
    expect(board).to_contain_text("error: Laplace")
    screen.page.reload()
    at(screen, "Explore")
    turn(screen, "forward")
    at(screen, "Explore", "mechanism=LaplaceFourier")
    expect(board).not_to_contain_text("error: Laplace")
    assert not screen.warnings.count()


@pytest.mark.parametrize("place", ["explore", "proofs"])
def test_a_drag_is_one_step(open_counted, place):
    screen = open_counted(place)
    address, slider = screen.page.url, screen.page.locator(".dpbayes-board [type=range]").first
    screen.settle(1000)
    slider.evaluate(MOVES)
    expect(screen.page).to_have_url(re.compile("epsilon="))
    assert entries(screen) == 1
    turn(screen, "back")
    expect(screen.page).to_have_url(address)
    expect(screen.epsilon_box).to_have_value("1")


def test_one_press_goes_back_over_a_story(open_counted):
    screen = open_counted("?prior=2")
    screen.main.get_by_role("button", name="The price and worth of an arrow", exact=True).click()
    step = re.compile("/network.*story=arrow")
    expect(screen.page).to_have_url(step)
    screen.settle()
    assert entries(screen) == 1
    turn(screen, "back")
    at(screen, "Home", "prior=2")
    turn(screen, "forward")
    expect(screen.page).to_have_url(step)
    assert entries(screen) == 1


def test_a_link_from_a_claim_is_one_entry(open_counted):
    claim = "%5BZhang16%5D+Appendix+D%2C+the+gradient"
    screen = open_counted(f"proofs?proofs.view=the+papers%27+claims&proofs.claim={claim}")
    screen.main.get_by_role("button", name="Regression").click()
    screen.arrived("Lab")
    assert entries(screen) == 1
    turn(screen, "back")
    screen.arrived("Proofs")
    expect(screen.main.get_by_text("Appendix D (the gradient) fails")).to_be_visible()


def test_a_link_that_is_written_otherwise_takes_no_step_of_its_own(visit):
    screen = visit("")
    visited = screen.page.url
    screen.page.goto(f"{visited}explore?epsilon=2.0&nothing=1")
    at(screen, "Explore", "epsilon=2")
    turn(screen, "back")
    at(screen, "Home")


def test_back_takes_back_what_was_drawn_as_undo_does_and_undo_goes_on_from_there(open_counted):
    screen = open_counted("network")
    for end in ("xray", "dysp"):
        screen.drag_arrow("asia", end)
        expect(screen.arrow("asia", end)).to_be_visible()
        screen.settle()
    assert entries(screen) == 2
    turn(screen, "back")
    expect(screen.arrow("asia", "dysp")).to_have_count(0)
    screen.settle()
    expect(screen.arrow("asia", "xray")).to_be_visible()
    screen.button("Undo").click()
    expect(screen.arrow("asia", "xray")).to_have_count(0)
    screen.settle()
    for end in ("xray", "dysp"):
        screen.button("Redo").click()
        expect(screen.arrow("asia", end)).to_be_visible()
        screen.settle()


def test_a_control_that_two_pages_share_keeps_its_value_from_page_to_page(visit) -> None:
    screen = visit("explore?mechanism=GaussianUpdates&delta=0.001")
    for page in ("Proofs", "Explore", "Proofs"):
        screen.go(page)
        expect(screen.main.get_by_label("Delta as a number")).to_have_value("0.001")
        screen.settle()
