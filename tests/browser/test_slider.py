"""What only a browser shows of a number's slider and box: that Python hears them at once, and that nothing is lost."""

import json
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import CDPSession, Locator, Page, expect

from dpbayes.ui.widgets.slider import MOST_TYPED, live_slider
from tests.browser.serving import chromium, streamlit_server, usual_window

APP = Path(__file__).with_name("slider_app.py")


FOUR_MOVES = """(slider) => {
  for (let turn = 0; turn < 4; turn++) {
    slider.value = Number(slider.value) + 1;
    slider.dispatchEvent(new Event("input"));
  }
}"""
"""Without a moment between them, however busy the machine is."""


class Screen:
    """The page of the slider, and what Python made of it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.address}/{query}")
        self.slider.wait_for()

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Epsilon", exact=True)

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Epsilon as a number", exact=True)

    @property
    def help(self) -> Locator:
        return self.page.get_by_role("tooltip")

    def python(self) -> dict[str, Any]:
        return json.loads(self.page.get_by_test_id("stCode").inner_text())

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for _ in range(200):
            state = self.python()
            if holds(state):
                return state
            self.page.wait_for_timeout(25)
        raise AssertionError(f"still {state}")

    def shown(self) -> str:
        return str(self.slider.get_attribute("aria-valuetext"))

    def at(self, share: float) -> tuple[float, float]:
        box = self.slider.bounding_box()
        assert box
        return box["x"] + share * box["width"], box["y"] + box["height"] / 2


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with streamlit_server(APP) as root:
        yield root


@pytest.fixture
def screen(address: str, request: pytest.FixtureRequest) -> Iterator[Screen]:
    """The page, opened as the test's parameter says."""
    with usual_window() as page:
        screen = Screen(page, address)
        screen.open(getattr(request, "param", ""))
        yield screen


pytestmark = pytest.mark.browser


def test_python_hears_many_values_before_the_button_is_let_go(screen: Screen) -> None:
    screen.page.mouse.move(*screen.at(0.5))
    screen.page.mouse.down()
    seen = set()
    for step in range(60):
        screen.page.mouse.move(*screen.at(0.5 + 0.4 * step / 60))
        screen.page.wait_for_timeout(30)
        seen.add(screen.python()["epsilon"])
    assert len(seen) > 5
    screen.page.mouse.up()
    screen.until(lambda state: f"{state['epsilon']:g}" == screen.shown())


@pytest.mark.parametrize("screen", ["?slow=0.4"], indirect=True)
def test_the_last_value_wins_however_slow_the_page_is(screen: Screen) -> None:
    runs, start = screen.python()["runs"], time.monotonic()
    screen.page.mouse.move(*screen.at(0.2))
    screen.page.mouse.down()
    for step in range(80):
        screen.page.mouse.move(*screen.at(0.2 + 0.6 * step / 80))
        screen.page.wait_for_timeout(10)
    screen.page.mouse.up()
    last = screen.shown()
    state = screen.until(lambda state: f"{state['epsilon']:g}" == last)
    assert state["runs"] - runs <= (time.monotonic() - start) / 0.4 + 2, "a value at a time: none overtakes another"
    assert screen.shown() == last


KEYS = (
    *(("ArrowRight", 1.3), ("ArrowLeft", 1.0), ("ArrowLeft", 0.79), ("ArrowUp", 1.0)),
    *(("ArrowDown", 0.79), ("Home", 0.01), ("End", 100.0)),
)
"""What each key makes of what the one before left, first of 1."""


def test_keys_move_it(screen: Screen) -> None:
    screen.slider.focus()
    for key, epsilon in KEYS:
        screen.page.keyboard.press(key)
        screen.until(lambda state, wanted=epsilon: state["epsilon"] == wanted)
        assert screen.shown() == f"{epsilon:g}"


def test_a_page_key_moves_it_further_than_an_arrow(screen: Screen) -> None:
    screen.slider.focus()
    screen.page.keyboard.press("PageUp")
    screen.until(lambda state: state["epsilon"] > 1.3)
    screen.page.keyboard.press("PageDown")
    screen.until(lambda state: state["epsilon"] == 1)
    screen.page.keyboard.press("PageDown")
    screen.until(lambda state: state["epsilon"] < 0.79)


def test_a_bubble_over_the_thumb_has_the_value_while_it_is_moved(screen: Screen) -> None:
    bubble = screen.page.locator("output")
    assert bubble.is_hidden()
    screen.page.mouse.move(*screen.at(0.5))
    screen.page.mouse.down()
    screen.page.mouse.move(*screen.at(0.8))
    bubble.wait_for(state="visible")
    assert bubble.inner_text() == screen.shown() != "1"
    box = bubble.bounding_box()
    assert box
    assert abs(box["x"] + box["width"] / 2 - screen.at(0.8)[0]) < 20
    screen.page.mouse.up()


def test_a_tick_stands_at_every_power_of_ten(screen: Screen) -> None:
    ticks = [box["x"] for box in map(Locator.bounding_box, screen.page.locator(".ticks i").all()) if box]
    assert len(ticks) == len(["0.01", "0.1", "1", "10", "100"])
    assert max(abs(x - screen.at(share)[0]) for x, share in zip(ticks, (0, 0.25, 0.5, 0.75, 1), strict=True)) < 12


def test_a_value_from_elsewhere_moves_the_thumb(screen: Screen) -> None:
    screen.slider.focus()
    screen.page.keyboard.press("ArrowRight")
    screen.until(lambda state: state["epsilon"] == 1.3)
    screen.page.get_by_role("button", name="Ten").click()
    screen.until(lambda state: state["epsilon"] == 10)
    screen.page.wait_for_function("document.querySelector('[data-testid=stCode]') !== null")
    for _ in range(100):
        if screen.shown() == "10":
            break
        screen.page.wait_for_timeout(25)
    assert screen.shown() == "10"


@pytest.mark.parametrize("screen", ["?off=1"], indirect=True)
def test_a_slider_that_is_off_does_not_move(screen: Screen) -> None:
    assert screen.slider.is_disabled()
    assert screen.box.is_disabled()


@pytest.mark.parametrize("leave", ["Enter", "Tab"])
def test_what_is_typed_is_a_stop_of_the_slider_as_long_as_it_is_in_use(screen: Screen, leave: str) -> None:
    screen.box.fill("1.0625")
    assert screen.python()["texts"] == [], "not sent before it is finished"
    screen.box.press(leave)
    screen.until(lambda state: state["epsilon"] == 1.0625)
    expect(screen.slider).to_have_attribute("aria-valuetext", "1.0625")
    screen.slider.press("ArrowRight")
    screen.until(lambda state: state["epsilon"] == 1.3)
    expect(screen.box).to_have_value("1.3")
    screen.slider.press("ArrowLeft")
    screen.until(lambda state: state["epsilon"] == 1.0)
    assert screen.python()["texts"] == ["1.0625", "1.3", "1"], "each is said once"


def test_what_is_refused_leaves_the_box(screen: Screen) -> None:
    screen.box.fill("banana")
    screen.box.press("Enter")
    screen.until(lambda state: state["texts"] == ["banana"])
    expect(screen.box).to_have_value("1")
    screen.box.fill("9" * 10 * MOST_TYPED)
    screen.box.press("Enter")
    screen.until(lambda state: state["texts"][1:] == ["9" * MOST_TYPED])
    expect(screen.box).to_have_value("1")


@pytest.mark.parametrize("screen", ["", "?slow=0.4"], indirect=True)
def test_neither_is_lost_when_a_button_is_pressed_straight_from_the_box(screen: Screen) -> None:
    screen.box.fill("40")
    screen.page.get_by_role("button", name="Note").click()
    screen.until(lambda state: state["noted"] and state["epsilon"] == 40)
    expect(screen.box).to_have_value("40")
    screen.page.get_by_role("button", name="Note").click()
    screen.until(lambda state: state["noted"] == 40)
    assert screen.python()["texts"] == ["40"]


@pytest.mark.parametrize("screen", ["?slow=0.4"], indirect=True)
def test_who_is_typing_is_not_interrupted(screen: Screen) -> None:
    screen.slider.press("ArrowRight")
    screen.box.fill("7")
    screen.until(lambda state: state["epsilon"] == 1.3)
    expect(screen.slider).to_have_attribute("aria-valuetext", "1.3")
    expect(screen.box).to_have_value("7")
    screen.box.press("Enter")
    screen.until(lambda state: state["epsilon"] == 7)


@pytest.mark.parametrize("screen", ["?slow=0.4"], indirect=True)
def test_a_thousand_moves_in_a_moment_are_few_for_python(screen: Screen) -> None:
    runs = screen.python()["runs"]
    screen.slider.evaluate(
        """async (slider) => {
             for (let move = 1; move <= 1000; move += 1) {
               slider.value = move % 40;
               slider.dispatchEvent(new Event("input"));
               if (move % 50 === 0) await new Promise((go) => setTimeout(go));
             }
           }"""
    )
    state = screen.until(lambda state: f"{state['epsilon']:g}" == "0.01")
    assert len(state["texts"]) == state["runs"] - runs < 20


@pytest.mark.parametrize("screen", ["?alone=1"], indirect=True)
def test_a_move_in_a_part_that_reruns_alone_leaves_the_rest_of_the_page(screen: Screen) -> None:
    before = screen.python()
    screen.slider.press("ArrowRight")
    screen.until(lambda state: state["epsilon"] == 1.3)
    screen.box.fill("7")
    screen.box.press("Enter")
    after = screen.until(lambda state: state["epsilon"] == 7)
    assert (after["runs"], after["page_runs"]) == (before["runs"] + 2, before["page_runs"])


def test_its_help_is_read_shown_and_closed(screen: Screen) -> None:
    expect(screen.slider).to_have_accessible_description("How much is lost.")
    expect(screen.help).to_be_hidden()
    screen.page.get_by_role("button", name="What Epsilon means").focus()
    expect(screen.help).to_be_visible()
    expect(screen.help).to_have_text("How much is lost.")
    screen.page.keyboard.press("Escape")
    expect(screen.help).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whoever_uses_the_keyboard_sees_where_they_are(address: str, scheme: str) -> None:
    with chromium(color_scheme=scheme) as page:
        screen = Screen(page, address)
        screen.open()
        for place in (screen.slider, screen.box):
            before = pixels(page)
            place.focus()
            after = pixels(page)
            ring = (before != after).any(axis=-1)
            light, dark = np.maximum(before, after)[ring], np.minimum(before, after)[ring]
            clear = (luminance(light) + 0.05) / (luminance(dark) + 0.05) >= 3
            assert clear.sum() > 100, "too few points of the ring stand out by the 3 : 1 of WCAG 2"


def pixels(page: Page) -> np.ndarray:
    with Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide"))) as image:
        return np.asarray(image.convert("RGB"))


def luminance(colours: np.ndarray) -> np.ndarray:
    parts = colours / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def slide(wire: CDPSession, ways: list[tuple[float, float]]) -> None:
    """Move a finger over the screen."""
    for number, (x, y) in enumerate(ways):
        kind = "touchMove" if number else "touchStart"
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_moves_it(address: str) -> None:
    with chromium() as page:
        context = page.context.browser.new_context(has_touch=True, viewport={"width": 400, "height": 800})  # type: ignore[union-attr]
        try:
            screen = Screen(context.new_page(), address)
            screen.open()
            screen.page.touchscreen.tap(*screen.at(0.9))
            screen.until(lambda state: state["epsilon"] > 10)
            slide(context.new_cdp_session(screen.page), [screen.at(0.9 - 0.05 * step) for step in range(15)])
            screen.until(lambda state: state["epsilon"] < 0.1)
        finally:
            context.close()


@pytest.mark.parametrize("screen", ["?rests=1"], indirect=True)
def test_python_hears_once_that_the_hand_rests_and_of_no_rest_before_a_move(screen: Screen) -> None:
    assert screen.python()["rested"] is None
    screen.slider.evaluate(FOUR_MOVES)
    moved = screen.until(lambda state: state["rested"])
    assert moved["rested"] == [float(screen.shown())]
    screen.page.wait_for_timeout(600)
    assert screen.python()["rested"] == moved["rested"]


@pytest.mark.parametrize(("busy", "pause_ms"), [("slow=0.4", 0), ("alone=1&after=1", 500)])
def test_a_hand_that_goes_elsewhere_has_left_the_slider_with_its_last_value(
    screen: Screen, busy: str, pause_ms: int
) -> None:
    """It may be about to turn the page: nothing is left to be told afterwards.

    While the server is busy after an answer, the next move lies unread beside what the hand does elsewhere.
    """
    screen.open(f"?rests=1&{busy}")
    assert screen.python()["runs"] == 1, "the page is there in full"
    screen.slider.evaluate(FOUR_MOVES)
    screen.page.wait_for_timeout(pause_ms)
    last = float(screen.shown())
    screen.page.get_by_role("button", name="Note").click()
    noted = screen.until(lambda state: state["noted"])
    assert noted["noted"] == last
    assert noted["rested"] == [last], "it was told before what the hand did elsewhere"
    screen.page.wait_for_timeout(2000)
    assert screen.python()["rested"] == [last]


@pytest.mark.parametrize("screen", ["?rests=1&slow=0.4"], indirect=True)
def test_a_value_that_a_button_sets_stands_over_a_move_made_before(screen: Screen) -> None:
    """The page has heard of the move, the browser does not know it yet and tells it again as the hand goes."""
    screen.box.fill("40")
    screen.box.press("Enter")
    screen.page.get_by_role("button", name="Ten").click()
    screen.until(lambda state: state["epsilon"] == 10)
    screen.page.wait_for_timeout(2000)
    state = screen.python()
    assert (state["texts"], state["epsilon"]) == (["40"], 10)


def test_nothing_is_there_to_be_touched_before_it_has_its_name() -> None:
    """The browser may show a component's markup a while before its script has run."""
    folder = Path(live_slider.__code__.co_filename).parent
    markup, style = ((folder / name).read_text("utf-8") for name in ("slider.html", "slider.css"))
    with usual_window() as page:
        page.set_content(f"<style>{style}</style>{markup}")
        assert page.locator("input").count() == 2
        for role in ("slider", "textbox", "button"):
            expect(page.get_by_role(role)).to_have_count(0)
