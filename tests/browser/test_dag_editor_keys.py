"""A network drawn without a mouse: by keys alone, and by fingers."""

import pytest
from playwright.sync_api import expect

from tests.browser.dag_editor_screen import middle

pytestmark = pytest.mark.browser


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
    screen.node("X2").focus()
    screen.press("Backspace")
    screen.until_names()
    screen.press("Control+z")
    screen.until_names("X2")


def test_an_arrow_is_deleted_by_key_and_then_nothing_is_selected(start):
    screen = start()
    screen.arrow("smoke", "lung").focus()
    screen.press("Delete")
    screen.until_edges()
    expect(screen.button("Delete")).to_be_disabled()


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


PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 400, "height": 500}}


def test_a_finger_moves_a_node_in_place_and_scrolls_the_page_over_empty_ground(start):
    screen = start(**PHONE)
    stage, (x, y) = screen.page.locator(".stage"), screen.centre("lung")
    top = stage.bounding_box()["y"]
    screen.touch([[(x, y)], [(x, y - 20)], [(x, y - 60)]])
    places = screen.until(lambda graph: graph["places"]["lung"] != [500, 300])["places"]
    assert stage.bounding_box()["y"] == top
    x, y = screen.centre("smoke")
    screen.touch([[(x, y + 100 - up)] for up in (0, 40, 80, 120)])
    assert stage.bounding_box()["y"] < top - 50
    assert screen.python()["places"] == places


def test_a_finger_finds_forty_pixels_of_each_node_and_handle(start):
    screen = start("asia", **PHONE)
    for part in ("reach", "grip"):
        boxes = [node.bounding_box() for node in screen.page.locator(f".node .{part}").all()]
        assert len(boxes) == 8
        assert min(min(box["width"], box["height"]) for box in boxes) >= 39.9
