"""What only a browser shows of the slider: that Python hears it while it moves, and that nothing is lost."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.serving import chromium, streamlit_server

APP = Path(__file__).with_name("slider_app.py")


class Screen:
    """The page of the slider, and what Python made of it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.address}/{query}")
        self.slider.wait_for()

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Epsilon (ε)")

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
def screen(address: str) -> Iterator[Screen]:
    with chromium() as page:
        screen = Screen(page, address)
        screen.open()
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


def test_the_last_value_wins_however_slow_the_page_is(screen: Screen) -> None:
    screen.open("?slow=0.4")
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


@pytest.mark.parametrize(
    ("key", "epsilon"), [("ArrowRight", 1.3), ("ArrowLeft", 0.79), ("Home", 0.01), ("End", 100.0), ("ArrowUp", 1.3)]
)
def test_keys_move_it(screen: Screen, key: str, epsilon: float) -> None:
    screen.slider.focus()
    screen.page.keyboard.press(key)
    screen.until(lambda state: state["epsilon"] == epsilon)
    assert screen.shown() == f"{epsilon:g}"


def test_a_page_key_moves_it_further_than_an_arrow(screen: Screen) -> None:
    screen.slider.focus()
    screen.page.keyboard.press("PageUp")
    screen.until(lambda state: state["epsilon"] > 1.3)


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


def test_a_slider_that_is_off_does_not_move(screen: Screen) -> None:
    screen.open("?off=1")
    assert screen.slider.is_disabled()


def test_a_finger_moves_it(address: str) -> None:
    with chromium() as page:
        context = page.context.browser.new_context(has_touch=True, viewport={"width": 400, "height": 800})  # type: ignore[union-attr]
        try:
            screen = Screen(context.new_page(), address)
            screen.open()
            screen.page.touchscreen.tap(*screen.at(0.9))
            screen.until(lambda state: state["epsilon"] > 10)
        finally:
            context.close()
