"""The drawing of a network by hand, with mouse, keys and fingers, in a real browser."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import chromium, streamlit_server

pytestmark = pytest.mark.browser
APP = Path(__file__).with_name("dag_editor_app.py")


class Screen:
    """What a person sees and does on the page of the editor, and what Python made of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.status = page.locator(".status")

    def python(self) -> dict[str, Any]:
        return json.loads(self.page.get_by_test_id("stCode").inner_text())

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for Python to see a graph of which `holds` is true, and return that graph."""
        for _ in range(200):
            graph = self.python()
            if holds(graph):
                return graph
            self.page.wait_for_timeout(50)
        raise AssertionError(f"still {graph}")

    def until_edges(self, *edges: str) -> None:
        wanted = sorted(edge.split(">") for edge in edges)
        self.until(lambda graph: sorted(graph["edges"]) == wanted)

    def until_names(self, *names: str) -> None:
        self.until(lambda graph: sorted(graph["places"]) == sorted(names))

    def settle(self) -> None:
        """Give a wrong message the time it would need to reach Python."""
        self.page.wait_for_timeout(500)

    def node(self, name: str) -> Locator:
        return self.page.locator(f'.node[aria-label^="node {name},"]')

    def arrow(self, start: str, end: str) -> Locator:
        return self.page.locator(f'.edge[aria-label^="arrow {start} to {end}"]')

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def centre(self, name: str) -> tuple[float, float]:
        return middle(self.node(name).locator(".pill"))

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, drop: bool = True) -> None:
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=6)
        if drop:
            self.page.mouse.up()

    def drag_arrow(self, start: str, end: str, *, drop: bool = True) -> None:
        self.drag(middle(self.node(start).locator(".port")), self.centre(end), drop=drop)

    def width(self, name: str) -> float:
        box = self.node(name).locator(".pill").bounding_box()
        assert box
        return box["width"]

    def touch(self, frames: list[list[tuple[float, float]]]) -> None:
        """Put fingers down at the first frame's points, move them through the others, and lift them."""
        wire = self.page.context.new_cdp_session(self.page)
        for kind, fingers in zip(["touchStart"] + ["touchMove"] * (len(frames) - 1), frames, strict=True):
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(fingers)]
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


def middle(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with streamlit_server(APP) as address:
        yield address


@pytest.fixture
def start(url: str) -> Iterator[Callable[..., Screen]]:
    """Open the app with a drawing and browser options; afterwards nothing may have failed or left the machine."""
    pages: list[Page] = []
    with ExitStack() as stack:

        def open_app(drawing: str = "chain", **context: Any) -> Screen:
            page = stack.enter_context(chromium(**context))
            pages.append(page)
            page.goto(f"{url}?start={drawing}")
            page.get_by_test_id("stCode").wait_for()
            page.locator(".dag .world").wait_for()
            return Screen(page)

        yield open_app
    for page in pages:
        assert page.external == []
        assert page.errors == []


# Mouse


def test_an_arrow_is_drawn_by_dragging_the_handle(start):
    screen = start()
    screen.drag_arrow("lung", "xray")
    screen.until_edges("smoke>lung", "lung>xray")
    expect(screen.arrow("lung", "xray")).to_be_visible()
    expect(screen.node("xray")).to_have_attribute("aria-label", "node xray, parents lung")


def test_a_cycle_is_refused_at_once_with_a_sentence(start):
    screen = start()
    screen.drag_arrow("lung", "smoke", drop=False)
    expect(screen.page.locator(".draft.bad")).to_be_visible()
    screen.page.mouse.up()
    expect(screen.status).to_have_text("lung → smoke would close a cycle: smoke → lung")
    screen.settle()
    assert screen.python()["edges"] == [["smoke", "lung"]]


def test_a_second_arrow_between_two_nodes_is_refused(start):
    screen = start()
    screen.drag_arrow("smoke", "lung")
    expect(screen.status).to_have_text("smoke → lung is already there.")
    assert screen.page.locator(".edge").count() == 1


def test_a_double_click_renames_a_node_and_names_may_hold_the_letters_of_shortcuts(start):
    screen = start()
    screen.page.mouse.dblclick(*screen.centre("lung"))
    screen.page.keyboard.type("cancer can")
    screen.press("Enter")
    screen.until_names("smoke", "cancer can", "xray")
    screen.until_edges("smoke>cancer can")
    expect(screen.page.get_by_test_id("stDialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("xray", "There is already a node named xray; choose another name."), ("  ", "A node needs a name.")],
)
def test_a_duplicate_or_empty_name_is_refused_and_escape_keeps_the_old_one(start, name, sentence):
    screen = start()
    screen.page.mouse.dblclick(*screen.centre("lung"))
    screen.page.keyboard.type(name)
    screen.press("Enter")
    expect(screen.status).to_have_text(sentence)
    expect(screen.page.locator("input.rename")).to_be_focused()
    screen.press("Escape")
    expect(screen.page.locator("input.rename")).to_have_count(0)
    expect(screen.node("lung")).to_be_focused()
    screen.settle()
    assert sorted(screen.python()["places"]) == ["lung", "smoke", "xray"]


def test_a_double_click_on_empty_space_adds_a_node_there(start):
    screen = start()
    x, y = screen.centre("smoke")
    screen.page.mouse.dblclick(x, y + 200)
    graph = screen.until(lambda g: "X1" in g["places"])
    assert graph["places"]["X1"][0] == pytest.approx(200, abs=2)


def test_a_node_dragged_far_outside_stays_inside_the_box(start):
    screen = start()
    screen.drag(screen.centre("lung"), (5000, -3000))
    graph = screen.until(lambda g: g["places"]["lung"] != [500, 300])
    x, y = graph["places"]["lung"]
    assert 900 < x < 1000
    assert 0 < y < 60
    inner, outer = screen.node("lung").locator(".pill").bounding_box(), screen.page.locator(".stage").bounding_box()
    assert inner and outer
    assert inner["y"] >= outer["y"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]


def test_python_hears_of_a_move_only_when_it_ends(start):
    screen = start()
    x, y = screen.centre("lung")
    screen.drag((x, y), (x + 90, y + 40), drop=False)
    screen.settle()
    assert screen.python()["places"]["lung"] == [500, 300]
    screen.page.mouse.up()
    screen.until(lambda g: g["places"]["lung"][0] > 560)


def test_undo_and_redo_cover_a_move_an_arrow_and_a_deletion(start):
    screen = start()
    x, y = screen.centre("xray")
    screen.drag((x, y), (x - 100, y))
    moved = screen.until(lambda g: g["places"]["xray"] != [800, 450])["places"]["xray"]
    screen.drag_arrow("lung", "xray")
    screen.until_edges("smoke>lung", "lung>xray")
    screen.node("lung").focus()
    screen.press("Delete")
    screen.until_names("smoke", "xray")
    screen.button("Undo").click()
    screen.until_edges("smoke>lung", "lung>xray")
    screen.press("Control+z")
    screen.until_edges("smoke>lung")
    screen.press("Control+z")
    screen.until(lambda g: g["places"]["xray"] == [800, 450])
    expect(screen.button("Undo")).to_be_disabled()
    screen.press("Control+Shift+z")
    screen.until(lambda g: g["places"]["xray"] == moved)
    screen.press("Control+y")
    screen.until_edges("smoke>lung", "lung>xray")
    screen.button("Redo").click()
    screen.until_names("smoke", "xray")
    expect(screen.button("Redo")).to_be_disabled()


def test_zoom_pan_and_fit_change_the_view_and_not_the_drawing(start):
    screen = start()
    before = screen.centre("lung")
    screen.button("Zoom in").click()
    screen.button("Zoom in").click()
    x, y = screen.centre("lung")
    screen.drag((x + 150, y - 60), (x + 250, y - 30))
    assert screen.centre("lung") == pytest.approx((x + 100, y + 30), abs=2)
    screen.page.mouse.move(x, y)
    screen.button("Fit").click()
    for _ in range(4):
        if screen.button("Zoom out").is_enabled():
            screen.button("Zoom out").click()
    assert screen.centre("lung") == pytest.approx(before, abs=1)
    screen.settle()
    assert screen.python()["places"]["lung"] == [500, 300]


# Keys


def test_two_nodes_are_added_connected_and_deleted_by_keys_alone(start):
    screen = start("empty")
    screen.button("Add node").focus()
    screen.press("Enter", "n")
    screen.until_names("X1", "X2")
    expect(screen.node("X2")).to_be_focused()
    screen.press("a", "Shift+Tab")
    expect(screen.node("X1")).to_be_focused()
    screen.press("Enter")
    screen.until_edges("X2>X1")
    screen.press("a", "Tab", "Enter")
    expect(screen.status).to_have_text("X1 → X2 would close a cycle: X2 → X1")
    screen.node("X1").focus()
    screen.press("Delete")
    screen.until_names("X2")
    expect(screen.node("X2")).to_be_focused()
    screen.press("Backspace")
    screen.until_names()
    screen.press("Control+z")
    screen.until_names("X2")


def test_f2_renames_and_the_focus_returns_to_the_node(start):
    screen = start()
    screen.node("lung").focus()
    screen.press("F2")
    screen.page.keyboard.type("cancer")
    screen.press("Enter")
    screen.until_names("smoke", "cancer", "xray")
    expect(screen.node("cancer")).to_be_focused()


def test_an_arrow_is_deleted_by_key_and_the_focus_goes_to_its_source(start):
    screen = start()
    screen.arrow("smoke", "lung").focus()
    screen.press("Delete")
    screen.until_edges()
    expect(screen.node("smoke")).to_be_focused()


def test_arrow_keys_move_the_focused_node(start):
    screen = start()
    screen.node("lung").focus()
    screen.press("ArrowRight", "Shift+ArrowDown")
    screen.until(lambda g: g["places"]["lung"] == [510, 340])
    expect(screen.node("lung")).to_be_focused()


def test_escape_gives_up_an_arrow(start):
    screen = start()
    screen.node("lung").focus()
    screen.press("a")
    expect(screen.status).to_contain_text("Arrow from lung")
    screen.press("Escape", "Tab", "Enter")
    expect(screen.page.locator("input.rename")).to_be_focused()


# Fingers


def test_two_taps_draw_an_arrow(start):
    screen = start(has_touch=True)
    screen.button("Draw arrow").tap()
    screen.page.touchscreen.tap(*screen.centre("lung"))
    screen.page.touchscreen.tap(*screen.centre("xray"))
    screen.until_edges("smoke>lung", "lung>xray")


def test_a_double_tap_renames_and_a_tap_selects_an_arrow(start):
    screen = start(has_touch=True)
    for _ in range(2):
        screen.page.touchscreen.tap(*screen.centre("xray"))
    screen.page.keyboard.type("scan")
    screen.press("Enter")
    screen.until_names("smoke", "lung", "scan")
    screen.page.touchscreen.tap(*middle(screen.arrow("smoke", "lung").locator(".line")))
    screen.button("Delete").tap()
    screen.until_edges()


def test_a_finger_drags_a_node_and_an_arrow_and_two_fingers_zoom(start):
    screen = start(has_touch=True)
    x, y = screen.centre("xray")
    screen.touch([[(x, y)], [(x - 60, y)], [(x - 120, y)]])
    screen.until(lambda g: g["places"]["xray"][0] < 720)
    screen.touch([[middle(screen.node("lung").locator(".port"))], [(x - 200, y)], [screen.centre("xray")]])
    screen.until_edges("smoke>lung", "lung>xray")
    width = screen.width("lung")
    screen.touch([[(x - 100, y), (x - 140, y)], [(x - 60, y), (x - 180, y)]])
    assert screen.width("lung") > 1.5 * width
    screen.settle()
    assert screen.python()["places"]["lung"] == [500, 300]


# Python's side


def test_a_rerun_moves_nothing_and_keeps_the_focus(start):
    screen = start()
    x, y = screen.centre("lung")
    screen.drag((x, y), (x + 60, y - 50))
    moved = screen.until(lambda g: g["places"]["lung"] != [500, 300])["places"]
    before = screen.centre("lung")
    screen.page.get_by_role("slider").press("ArrowRight")
    assert screen.until(lambda g: g["epsilon"] == 2)["places"] == moved
    assert screen.centre("lung") == before
    screen.button("Undo").click()
    screen.until(lambda g: g["places"]["lung"] == [500, 300])


def test_notes_come_and_go_without_moving_anything(start):
    screen = start()
    x, y = screen.centre("lung")
    screen.drag((x, y), (x + 60, y - 50))
    screen.until(lambda g: g["places"]["lung"] != [500, 300])
    before = screen.centre("lung")
    screen.page.get_by_text("notes", exact=True).click()
    expect(screen.page.locator(".node.noted")).to_have_count(1)
    assert screen.node("lung").locator("title").text_content() == "lung: no column of this name in the data"
    assert screen.arrow("smoke", "lung").locator("title").text_content() == "smoke → lung: m = 2"
    assert screen.centre("lung") == before


def test_a_new_revision_replaces_the_drawing(start):
    screen = start()
    screen.node("lung").focus()
    screen.press("Delete")
    screen.until_names("smoke", "xray")
    screen.button("Preset").click()
    screen.until(lambda g: len(g["places"]) == 8 and len(g["edges"]) == 8)
    expect(screen.page.locator(".node")).to_have_count(8)
    expect(screen.button("Undo")).to_be_disabled()
    screen.drag_arrow("asia", "xray")
    screen.until(lambda g: ["asia", "xray"] in g["edges"])


def test_names_are_text_whatever_they_hold(start):
    screen = start("hostile")
    texts = screen.page.locator(".node text").all_text_contents()
    assert texts[:2] == ['<b>"x"</b>', "a,b"]
    assert texts[2].endswith("…")
    assert screen.page.locator(".node title").nth(2).text_content() == "long " * 15
    assert screen.page.locator(".node b").count() == 0
    screen.drag(middle(screen.page.locator(".port").nth(0)), middle(screen.page.locator(".pill").nth(2)))
    screen.until(lambda g: ['<b>"x"</b>', "long " * 15] in g["edges"])


def test_colours_follow_the_theme(start):
    screen = start()

    def ink() -> str:
        return screen.page.locator(".node text").first.evaluate("element => getComputedStyle(element).fill")

    light = ink()
    screen.page.emulate_media(color_scheme="dark")
    screen.page.reload()
    screen.page.locator(".node text").first.wait_for()
    assert ink() != light
