"""The chart as a browser keeps it: the next figure changes it in place, its theme and its width follow the page's."""

import re
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.app_screen import AppScreen
from tests.browser.dag_editor_screen import middle

pytestmark = pytest.mark.browser


def test_a_move_changes_the_chart_that_is_there_and_what_was_hidden_stays_so(visit):
    screen = visit("explore")
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
    screen = visit("explore")
    text, drawing = screen.chart("density").locator(".xtick text").first, screen.chart("density").locator(".main-svg")
    light, width = text.evaluate("node => node.style.fill"), drawing.first.bounding_box()["width"]
    screen.page.emulate_media(color_scheme="dark")
    expect(text).not_to_have_css("fill", light)
    assert text.evaluate("node => node.style.fill") == screen.main.evaluate("node => getComputedStyle(node).color")
    screen.page.set_viewport_size({"width": 900, "height": 900})
    screen.page.wait_for_function(
        "([key, width]) => document.querySelector(key).getBoundingClientRect().width < width - 100",
        arg=[".st-key-density .main-svg", width],
    )


def test_on_a_phone_names_of_curves_leave_them_most_of_the_picture_and_hide_them(visit: Any) -> None:
    """A saved picture has all names inside, on a phone too; its file is made of what is drawn there."""
    screen = visit("accuracy?accuracy.curves=both", viewport={"width": 400, "height": 800})
    picture = screen.page.locator(".st-key-picture .dpbayes-chart").first
    names, curves = picture.locator(".dpbayes-keys span"), picture.locator(".nsewdrag").first
    expect(names.first).to_be_visible()
    screen.settle()
    whole, part = picture.bounding_box(), curves.bounding_box()
    assert part["height"] >= 0.6 * whole["height"]
    assert whole["y"] + whole["height"] <= 800
    assert names.last.bounding_box()["y"] + names.last.bounding_box()["height"] <= part["y"]
    assert names.count() == len(set(names.all_inner_texts())) > 6
    lines = picture.locator(".scatterlayer .trace")
    drawn = lines.count()
    names.nth(2).click()
    expect(lines).to_have_count(drawn - 1)
    names.nth(2).click()
    expect(lines).to_have_count(drawn)
    tool, choices = picture.locator(".dpbayes-picture"), picture.get_by_role("menuitem")
    tool.click()
    _, content = download(choices.first)
    words = words_of(content)
    assert all(name in words for name in names.all_inner_texts())


def test_a_finger_scrolls_the_page_over_a_chart_that_has_no_tools(visit):
    screen = visit("explore")
    expect(screen.chart("density").locator(".modebar-btn").first).to_be_attached()
    screen = visit("explore", has_touch=True, is_mobile=True, viewport={"width": 400, "height": 800})
    chart = screen.chart("density")
    assert chart.locator(".modebar-btn").count() == 0
    ranges = chart.evaluate(RANGES)
    before = chart.bounding_box()["y"]
    swipe(screen, chart.locator(".nsewdrag").first, up=250)
    above = chart.bounding_box()["y"]
    assert before - above > 150, "the page went with the finger"
    assert chart.evaluate(RANGES) == ranges, "and the chart was not zoomed"
    swipe(screen, chart.locator(".nsewdrag").first, up=-250)
    assert chart.bounding_box()["y"] - above > 150, "and back with it"


RANGES = "plot => [plot._fullLayout.xaxis.range, plot._fullLayout.yaxis.range].flat()"
"""What of its axes a chart shows."""


def swipe(screen: AppScreen, part: Locator, *, up: float) -> None:
    """Put a finger on the middle of a part, move it up by so many pixels, or down, and lift it."""
    x, y = middle(part)
    screen.touch([[(x, y - up * step / 20)] for step in range(21)])
    screen.page.wait_for_timeout(300)


def test_without_plotlys_script_a_sentence_stands_where_the_chart_would(visit):
    screen = visit("hellinger")
    screen.page.context.route("**/plotly-*.js", lambda route: route.abort())
    screen.page.reload()
    sentence = screen.main.get_by_text("The chart cannot be drawn: the browser could not load Plotly’s script.")
    expect(sentence.first).to_be_visible()
    screen.page.context.unroute_all()


def download(button: Locator) -> tuple[str, bytes]:
    """Press, and return the name and the content of the file that comes."""
    with button.page.expect_download() as coming:
        button.click()
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def words_of(svg: bytes) -> str:
    return " ".join(" ".join(ElementTree.fromstring(svg).itertext()).split())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_taken_home_with_title_settings_and_whole_legend(visit: Any, scheme: str) -> None:
    screen = visit("explore?epsilon=2&target=dysp&prior=capped")
    screen.page.emulate_media(color_scheme=scheme)
    alt = screen.page.locator(".st-key-density .dpbayes-chart").get_attribute("aria-label")
    screen.page.locator(".st-key-density").first.scroll_into_view_if_needed()
    screen.main.get_by_text("Numbers and download").first.click()
    screen.settle()
    take = screen.page.locator(".st-key-take-density .dpbayes-take")
    for format, size, (width, height) in (
        ("svg", "page", (800, 500)),
        ("svg", "slide", (1280, 720)),
        ("png", "page", (1600, 1000)),
        ("png", "slide", (1920, 1080)),
    ):
        name, content = download(take.locator(f"[data-format={format}][data-size={size}]"))
        assert name == f"explore-density-simulation-target=dysp-epsilon=2-{size}.{format}"
        if format == "png":
            assert struct.unpack(">II", content[16:24]) == (width, height)
            continue
        root, words = ElementTree.fromstring(content), words_of(content)
        assert (int(root.get("width")), int(root.get("height"))) == (width, height)
        assert alt in words
        table = "1,000 synthetic records from Asia, n = 1,000"
        said = f"page explore: mechanism = Laplace, epsilon = 2, table = {table}, target = dysp."
        assert f"{said} A simulation, not a release." in words
        assert all(entry in words for entry in screen.legend()), "the whole legend is inside"
        fill = content.decode().partition('fill="')[2].partition('"')[0]
        assert (fill.lower() == "#ffffff") == (scheme == "light"), "the ground is the page's"


def own_tool(screen: AppScreen, key: str) -> tuple[Locator, Locator]:
    """Return the button in a chart's corner, and what it opens."""
    root = screen.page.locator(f".st-key-{key} .dpbayes-chart")
    root.scroll_into_view_if_needed()
    return root.locator(".dpbayes-picture"), root.get_by_role("menuitem")


CHOICES = ["SVG", "PNG", "SVG for a slide", "PNG for a slide"]


@pytest.mark.parametrize(("place", "key"), [("network", "noise"), ("network", "errors"), ("explore", "rows")])
def test_a_chart_without_numbers_is_taken_home_by_its_own_tool_as_all_others(visit: Any, place: str, key: str) -> None:
    screen = visit(place)
    if place == "explore":
        screen.unfold("All rows of the network")
        screen.page.mouse.move(0, 0)  # what was opened may have put the chart under the pointer
    tool, choices = own_tool(screen, key)
    expect(tool).to_have_css("opacity", "0")
    screen.page.locator(f".st-key-{key} .dpbayes-chart").hover()
    expect(tool).not_to_have_css("opacity", "0")
    words = [screen.page.locator(f".st-key-{key} .dpbayes-chart").get_attribute("aria-label"), *screen.legend(key)]
    for k, choice in enumerate(CHOICES):
        tool.click()
        expect(choices).to_have_text(CHOICES)
        name, content = download(choices.nth(k))
        size, end = "slide" if "slide" in choice else "page", choice[:3].lower()
        assert re.fullmatch(rf"{place}-{key}(-simulation)?-{size}\.{end}", name)
        assert content.startswith(b"\x89PNG" if end == "png" else b"<svg")
        assert end == "png" or all(word in words_of(content) for word in words)
        expect(choices).to_have_count(0)


def test_the_keyboard_takes_a_picture_home_and_escape_closes_the_list_alone(visit: Any) -> None:
    screen = visit("explore?story=epsilon&step=3")
    screen.page.locator(".st-key-story").get_by_role("button", name="Present", exact=True).click()
    expect(screen.page).to_have_url(re.compile("present=1"))
    screen.settle()
    tool, choices = own_tool(screen, "density")
    tool.focus()
    expect(tool).not_to_have_css("opacity", "0")
    screen.page.keyboard.press("Enter")
    expect(choices.first).to_be_focused()
    screen.page.keyboard.press("ArrowUp")
    expect(choices.last).to_be_focused()
    screen.page.keyboard.press("Escape")
    expect(choices).to_have_count(0)
    expect(tool).to_be_focused()
    screen.page.keyboard.press("Enter")
    screen.page.keyboard.press("ArrowDown")
    with screen.page.expect_download() as coming:
        screen.page.keyboard.press("Enter")
    assert coming.value.suggested_filename.endswith("-page.png")
    expect(screen.page).to_have_url(re.compile("step=3.*present=1"))
    tool.click()
    screen.page.keyboard.press("Tab")
    for _ in CHOICES:
        screen.page.keyboard.press("Tab")
    expect(choices).to_have_count(0)


def test_a_finger_takes_a_picture_home(visit: Any) -> None:
    visit("network")
    screen = visit("network", has_touch=True, is_mobile=True, viewport={"width": 400, "height": 800})
    tool, choices = own_tool(screen, "noise")
    expect(tool).not_to_have_css("opacity", "0")
    tool.click()
    expect(choices).to_have_text(CHOICES)
    for choice in choices.all():
        box = choice.bounding_box()
        assert box
        assert box["height"] >= 32
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 400
    with screen.page.expect_download() as coming:
        choices.nth(1).click()
    assert coming.value.suggested_filename == "network-noise-page.png"


def test_where_no_chart_stands_above_none_is_offered(visit: Any) -> None:
    screen = visit("compare")
    screen.page.evaluate("() => document.querySelectorAll('.dpbayes-chart').forEach(chart => chart.remove())")
    screen.main.get_by_text("Numbers and download").first.click()
    screen.settle()
    expect(screen.page.locator(".dpbayes-take").first).to_be_hidden()
