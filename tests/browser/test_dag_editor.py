"""A network drawn with the mouse in a real browser, and what Python makes of it."""

import pytest
from playwright.sync_api import expect

from tests.browser.dag_editor_screen import middle

pytestmark = pytest.mark.browser


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
    assert inner
    assert outer
    assert inner["y"] >= outer["y"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]


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
    expect(screen.page.locator(".node text")).to_have_count(3)
    texts = screen.page.locator(".node text").all_text_contents()
    assert texts[:2] == ['<b>"x"</b>', "a,b"]
    assert texts[2].endswith("…")
    assert screen.page.locator(".node title").nth(2).text_content() == "long " * 15
    assert screen.page.locator(".node b").count() == 0
    screen.drag(middle(screen.page.locator(".port").nth(0)), middle(screen.page.locator(".pill").nth(2)))
    screen.until(lambda g: ['<b>"x"</b>', "long " * 15] in g["edges"])
