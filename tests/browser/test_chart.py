"""The chart as a browser keeps it: the next figure changes it in place, its theme and its width follow the page's."""

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import SLOW_MS

pytestmark = pytest.mark.browser


def test_a_move_changes_the_chart_that_is_there_and_what_was_hidden_stays_so(visit):
    screen = visit("release")
    chart = screen.chart("density")
    chart.evaluate("plot => plot.dataset.mark = 'the same'")
    chart.locator(".legendtoggle").first.click()
    expect(chart.locator(".legend .traces").first).to_have_css("opacity", "0.5")
    before = screen.curves()
    screen.slider.first.press("ArrowRight")
    screen.until_curves_differ(before)
    screen.settle()
    assert chart.get_attribute("data-mark") == "the same"
    expect(chart.locator(".legend .traces").first).to_have_css("opacity", "0.5")


def test_a_chart_follows_the_theme_and_the_width_of_its_page(visit):
    screen = visit("release")
    text, drawing = screen.chart("density").locator(".xtick text").first, screen.chart("density").locator(".main-svg")
    light, width = text.evaluate("node => node.style.fill"), drawing.first.bounding_box()["width"]
    screen.page.emulate_media(color_scheme="dark")
    expect(text).not_to_have_css("fill", light, timeout=SLOW_MS)
    assert text.evaluate("node => node.style.fill") == screen.main.evaluate("node => getComputedStyle(node).color")
    screen.page.set_viewport_size({"width": 900, "height": 900})
    screen.page.wait_for_function(
        "([key, width]) => document.querySelector(key).getBoundingClientRect().width < width - 100",
        arg=[".st-key-density .main-svg", width],
    )


def test_a_finger_scrolls_the_page_over_a_chart_that_has_no_tools(visit):
    screen = visit("release")
    assert screen.chart("density").locator(".modebar-btn").count() > 0
    screen = visit("release", has_touch=True, is_mobile=True, viewport={"width": 400, "height": 800})
    assert screen.chart("density").locator(".modebar-btn").count() == 0
    drag = screen.chart("density").locator(".nsewdrag").first
    assert drag.evaluate("node => getComputedStyle(node).touchAction") == "pan-x pan-y"
    assert screen.chart("density").evaluate("plot => plot._fullLayout.dragmode") is False


def test_without_plotlys_script_a_sentence_stands_where_the_chart_would(visit):
    screen = visit("bounds")
    screen.page.context.route("**/plotly-*.js", lambda route: route.abort())
    screen.page.reload()
    sentence = screen.main.get_by_text("The chart cannot be drawn: the browser did not get Plotly’s script.")
    expect(sentence.first).to_be_visible(timeout=SLOW_MS)
    screen.page.context.unroute_all()
