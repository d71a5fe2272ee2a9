"""The browser's Back goes to the page and the setting before, in one press; Forward goes there again."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.app_screen import AppScreen, place_of
from tests.conftest import thorough

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
    const places = [...Array(24).keys()].map((turn) => Number(slider.max) - 12 + Math.abs(12 - turn));
    for (const place of places) {
        slider.value = place;
        slider.dispatchEvent(new Event("input"));
        await new Promise((go) => setTimeout(go, 40));
    }
}"""
"""Moves a slider for a second to its end but one, never still for as long as a rest takes."""


HEIGHTS = """() => {
    window.heights = new Set();
    const look = () => {
        const headline = document.querySelector("[data-testid=stMain] h2");
        const written = document.querySelector(".st-key-address");
        if (headline && written) window.heights.add(headline.getBoundingClientRect().y);
        requestAnimationFrame(look);
    };
    look();
}"""
"""Notes where the headline stands whenever the browser is asked to write the address."""


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
    """Wait until the address says that this page is open with these settings, and the page is there.

    An address with any setting also states the prior, wherever the query does not.
    """
    place = place_of(title)
    parts = r"&(?:prior=[^&]+&)?".join(map(re.escape, query.split("&")))
    said = rf"\?(?:prior=[^&]+&)?{parts}(?:&prior=[^&]+)?" if query else ""
    address = re.compile(f"/{re.escape(place)}{said}$")
    expect(screen.page).to_have_url(address)
    screen.arrived(title)
    expect(screen.page).to_have_url(address)


def number(screen: AppScreen, name: str) -> Locator:
    return screen.page.get_by_role("textbox", name=f"{name} as a number")


def slider(screen: AppScreen, name: str) -> Locator:
    return screen.page.get_by_role("slider", name=name, exact=True)


def test_one_press_goes_back_over_a_page_with_the_settings_as_they_were_there(open_counted):
    screen = open_counted("claims?epsilon=2")
    screen.go("Compare mechanisms")
    at(screen, "Compare mechanisms", "epsilon=2")
    assert entries(screen) == 1
    screen.type_epsilon("5")
    at(screen, "Compare mechanisms", "epsilon=5")
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Compare mechanisms", "epsilon=2")
    expect(screen.epsilon_box).to_have_value("2")
    turn(screen, "back")
    at(screen, "Claims", "epsilon=2")
    turn(screen, "forward")
    at(screen, "Compare mechanisms", "epsilon=2")
    turn(screen, "forward")
    at(screen, "Compare mechanisms", "epsilon=5")
    expect(screen.epsilon_box).to_have_value("5")
    assert entries(screen) == 2
    screen.go("Claims")  # what is in the navigation keeps the settings
    at(screen, "Claims", "epsilon=5")


def test_two_presses_go_back_over_two_pages(open_counted):
    screen = open_counted("explore?epsilon=2")
    for title in ("Network", "Home"):
        screen.go(title)
        at(screen, title, "epsilon=2")
    assert entries(screen) == 2
    screen.page.evaluate("() => history.go(-2)")
    at(screen, "Explore", "epsilon=2")
    expect(screen.epsilon_box).to_have_value("2")


def test_pages_without_a_setting_are_an_entry_each(open_counted):
    screen = open_counted("")
    screen.go("Network")
    screen.go("Compare mechanisms")
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Network")
    turn(screen, "back")
    at(screen, "Home")


def test_one_press_goes_back_to_the_setting_before(open_counted):
    screen = open_counted("explore")
    for name, said in (("Fourier", "Fourier: no count is negative"), ("Recipient", "this release answers")):
        screen.option(name).click()
        expect(screen.page.locator(".dpbayes-board")).to_contain_text(said)
        screen.settle()  # pressed before the address is written, both would be one step
    assert entries(screen) == 2
    turn(screen, "back")
    at(screen, "Explore", "mechanism=LaplaceFourier")
    expect(screen.option("Curator")).to_be_checked()
    turn(screen, "back")
    at(screen, "Explore")
    expect(screen.option("Laplace")).to_be_checked()
    turn(screen, "forward")
    at(screen, "Explore", "mechanism=LaplaceFourier")
    expect(screen.option("Fourier")).to_be_checked()
    assert not screen.warnings.count()
    assert entries(screen) == 2


DRAGGED = [("explore", "Epsilon"), ("network", "Epsilon")]


@pytest.mark.parametrize(("path", "name"), thorough(DRAGGED, sample=DRAGGED[:1]))
def test_a_drag_is_one_step(open_counted, path, name):
    """A move reruns the picture alone, the whole page, or the page's fragment."""
    screen = open_counted(path)
    before, address = number(screen, name).input_value(), screen.page.url
    slider(screen, name).evaluate(MOVES)
    expect(screen.page).not_to_have_url(address)
    assert entries(screen) == 1
    after = number(screen, name).input_value()
    expect(screen.page).to_have_url(re.compile(f"={after}(&|$)"))
    turn(screen, "back")
    expect(number(screen, name)).to_have_value(before)
    expect(screen.page).to_have_url(address)
    expect(slider(screen, name)).to_have_attribute("aria-valuetext", before)
    turn(screen, "forward")
    expect(number(screen, name)).to_have_value(after)
    assert entries(screen) == 1


def test_a_page_turned_to_in_the_middle_of_a_drag_is_back_where_the_hand_left_it(open_counted):
    screen = open_counted("explore?epsilon=2")
    slider(screen, "Epsilon").press("ArrowRight")
    screen.go("Compare mechanisms")
    left = screen.epsilon_box.input_value()
    assert left != "2"
    turn(screen, "back")
    at(screen, "Explore", f"epsilon={left}")
    turn(screen, "back")
    at(screen, "Explore", "epsilon=2")


@pytest.mark.parametrize("start", thorough(["data?prior=2", "network?prior=2"], sample=["network?prior=2"]))
def test_one_press_goes_back_over_a_story(open_counted, start):
    screen = open_counted(start)
    title = start.partition("?")[0].replace("_", " ").capitalize()
    screen.choose_story("The price and worth of an arrow")
    at(screen, "Network", "source=sprinkler&records=500&story=arrow")
    assert entries(screen) == 1
    turn(screen, "back")
    at(screen, title, "prior=2")
    turn(screen, "forward")
    at(screen, "Network", "source=sprinkler&records=500&story=arrow")
    assert entries(screen) == 1


def test_the_page_does_not_move_when_its_address_is_written(open_counted):
    screen = open_counted("data?prior=2")
    screen.page.evaluate(HEIGHTS)
    screen.choose_story("The price and worth of an arrow")
    at(screen, "Network", "source=sprinkler&records=500&story=arrow")
    expect(screen.page.locator(".st-key-address")).to_have_count(0)
    heights = screen.page.evaluate("() => [...window.heights]")
    assert set(heights) <= {screen.headline.evaluate("(headline) => headline.getBoundingClientRect().y")}


def test_a_page_that_goes_on_working_after_a_story_is_one_entry(open_counted):
    screen = open_counted("")
    screen.choose_story("A claim that fails")
    screen.arrived("Proofs")
    assert entries(screen) == 1
    turn(screen, "back")
    at(screen, "Home")


def test_a_link_from_a_claim_is_one_entry(open_counted):
    screen = open_counted(
        "proofs?proofs.view=the+papers%27+claims&proofs.claim=%5BZhang16%5D+Appendix+D%2C+the+gradient"
    )
    screen.main.get_by_role("button", name="Regression").click()
    screen.arrived("Regression")
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


def test_a_page_read_anew_after_back_is_the_same(open_counted):
    screen = open_counted("explore?epsilon=2")
    screen.option("Fourier").click()
    expect(screen.headline).to_contain_text("Fourier")
    screen.settle()
    turn(screen, "back")
    at(screen, "Explore", "epsilon=2")
    screen.page.reload()
    at(screen, "Explore", "epsilon=2")
    expect(screen.option("Laplace")).to_be_checked()
    turn(screen, "forward")
    at(screen, "Explore", "mechanism=LaplaceFourier&epsilon=2")
    expect(screen.option("Fourier")).to_be_checked()


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
