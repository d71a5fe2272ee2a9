"""A page under a moving slider: picture and sentence follow at once, the rest of the page when the hand rests."""

import re
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import WebSocketRoute, expect

from tests.conftest import thorough

pytestmark = pytest.mark.browser

MOVE = """async () => {
  const root = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".number")).shadowRoot;
  const slider = root.querySelector("[type=range]"), seen = {headlines: new Set(), numbers: new Set()};
  const read = (selector) => document.querySelector(`[data-testid=stMain] ${selector}`).innerText;
  for (let turn = 0; turn < 65; turn++) {
    slider.value = Number(slider.value) + (turn % 20 < 10 ? 1 : -1);
    slider.dispatchEvent(new Event("input"));
    await new Promise((go) => setTimeout(go, 50));
    seen.headlines.add(read("h2"));
    seen.numbers.add(read("[data-testid=stMetricValue]"));
  }
  return [[...seen.headlines], [...seen.numbers]];
}"""
"""Moves the main slider for 3 s, never still for as long as a rest takes; returns what could be read meanwhile."""


ENDS = """() => [...document.querySelectorAll("*")].flatMap(({shadowRoot}) =>
  [...(shadowRoot?.querySelectorAll(".ends span") ?? [])].map((end) => end.textContent))"""


def test_a_sliders_large_ends_are_grouped_as_in_sentences(visit):
    ends = visit("accuracy").page.evaluate(ENDS)
    assert "10,000,000" in ends
    assert not [end for end in ends if "0000" in end and "." not in end]


STOP = """() => {
  const sign = document.createElement("div"), stop = document.createElement("button");
  sign.dataset.testid = "stStatusWidget";
  sign.append(stop);
  document.querySelector("header").append(sign);
  const {display} = getComputedStyle(stop);
  sign.remove();
  return display;
}"""
"""How the button is shown that Streamlit puts into its sign of a page that is being built."""


def test_only_a_pages_own_button_stops_its_work(visit):
    """Streamlit has one, too, which leaves half a page; its sign comes when a page takes long."""
    scripts = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("*.js")
    assert any('"stStatusWidget"' in text or "`stStatusWidget`" in text for text in map(Path.read_text, scripts))
    assert visit("hellinger").page.evaluate(STOP) == "none"


def test_the_numbers_wait_until_the_hand_rests_and_the_picture_does_not(visit):
    screen = visit("explore?source=sprinkler&epsilon=1")
    screen.unfold("Errors of the release")
    number = screen.main.get_by_test_id("stMetricValue").first
    expect(number).to_have_text(re.compile(r"\d"))  # it comes after the picture
    first, curves = number.inner_text(), screen.curves()
    headlines, numbers = screen.page.evaluate(MOVE)
    assert len(headlines) > 3
    screen.slider.first.scroll_into_view_if_needed()  # what is off the screen is drawn once it is seen
    screen.page.wait_for_timeout(200)
    assert screen.curves() != curves
    assert numbers == [first]
    expect(screen.main.get_by_text("belief about one person can rise to at most")).to_have_count(1)
    screen.slider.first.press("End")
    expect(number).not_to_have_text(first)
    screen.page.wait_for_url(f"**epsilon={screen.slider.first.get_attribute('aria-valuetext')}*")


SHADES = """() => {
  window.shades = [];
  const look = () => {
    const part = document.querySelector(".st-key-beside");
    if (part) window.shades.push(Number(getComputedStyle(part).opacity));
    requestAnimationFrame(look);
  };
  look();
}"""
"""Writes down how strongly what stands beside the picture is drawn, frame by frame."""


@pytest.mark.parametrize("place", thorough(["sampling", "which_epsilon"], sample=["sampling"]))
def test_what_belongs_to_a_former_position_is_faded_until_it_is_new(visit, place):
    screen = visit(place)
    screen.page.evaluate(SHADES)
    screen.slider.first.press("ArrowRight")
    screen.page.wait_for_function("() => window.shades.includes(0.35)")
    screen.settle()
    screen.page.wait_for_function("() => window.shades.at(-1) === 1")


def test_a_page_may_be_left_while_the_hand_still_moves(visit):
    """The slider tells of a rest a moment after the last move: by then another page may be there, or on its way."""
    screen = visit("explore")
    for wait_ms in thorough((0, 150, 250, 350), sample=(0, 250)):
        for title in ("Audit", "Explore"):
            for _ in range(6):
                screen.slider.first.press("ArrowRight")
                screen.page.wait_for_timeout(30)
            screen.page.wait_for_timeout(wait_ms)
            screen.go(title)
            expect(screen.warnings).to_have_count(0)
        screen.slider.first.press("Home")


ONE_STOP_ON = """() => {
  const root = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".number")).shadowRoot;
  const slider = root.querySelector("[type=range]");
  slider.value = Number(slider.value) + 1;
  slider.dispatchEvent(new Event("input"));
}"""


def test_what_a_left_page_sends_late_does_not_empty_the_next_one(visit):
    """A chart asks for its frames a moment after a page rests: by then the next page may be on its way."""
    screen = visit("explore")
    late: list[tuple[WebSocketRoute, str | bytes]] = []
    sent: list[str | bytes] = []
    is_slow = False

    def slow_line(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        line.on_message(lambda message: (sent.append(message), server.send(message)))
        server.on_message(lambda message: late.append((line, message)) if is_slow else line.send(message))

    screen.page.route_web_socket("**/_stcore/stream", slow_line)
    screen.page.reload()
    screen.arrived("Explore")
    screen.page.wait_for_timeout(1000)
    is_slow, before = True, len(sent)
    screen.page.get_by_test_id("stTopNavLink").filter(has_text="Home").click()
    screen.page.evaluate(ONE_STOP_ON)
    screen.page.wait_for_timeout(2000)
    assert len(sent) > before + 1, "the page, and the move of the page before"
    is_slow = False
    for line, message in late:
        line.send(message)
    screen.arrived("Home")
