"""A story that is shown to a room in the light or in the dark: the theme is switched without leaving the picture."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_theme_is_switched_while_a_story_is_presented_and_the_step_and_its_picture_stay(visit) -> None:
    page = visit("explore?story=epsilon&step=3").page
    page.locator(".st-key-story").get_by_role("button", name="Present", exact=True).click()
    line = page.locator(".st-key-present")
    end = line.get_by_role("button", name="End", exact=True)
    expect(end).to_be_visible()
    said, chart = line.locator("p").first.inner_text(), page.locator(".st-key-density .dpbayes-chart")
    chart.evaluate("chart => (chart.dataset.kept = 'yes')")
    text = chart.locator(".xtick text").first
    light = text.evaluate("node => node.style.fill")
    menu = page.get_by_role("button", name="Main menu")
    corner, last = menu.bounding_box(), end.bounding_box()
    assert corner
    assert last
    assert last["x"] + last["width"] <= corner["x"], "the menu covers no button of the line"
    assert page.locator(".stAppHeader a:visible").count() == 0, "the pages are not in sight"
    menu.click()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(text).not_to_have_css("fill", light)
    page.keyboard.press("ArrowRight")  # in the menu, not in the story
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitemradio", name="Dark")).to_have_count(0)
    page.wait_for_timeout(500)
    expect(page).to_have_url(re.compile(r"step=3.*present=1"))
    assert line.locator("p").first.inner_text() == said
    assert chart.get_attribute("data-kept") == "yes"
    menu.click()
    page.get_by_role("menuitemradio", name="Light").click()
    expect(text).to_have_css("fill", light)
    page.keyboard.press("Escape")
    line.locator("p").first.click()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present"))
