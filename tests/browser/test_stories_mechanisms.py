"""Stories on the pages about one mechanism or one promise."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import TITLES, AppScreen
from tests.conftest import thorough

pytestmark = pytest.mark.browser

CHARTS = {"sampling": 2, "hellinger": 2, "compare": 2}
"""How many charts a page shows at the least."""


@pytest.mark.parametrize("path", thorough(list(CHARTS), sample=["compare"]))
def test_a_page_opens_from_the_navigation_and_its_headline_follows_the_slider_and_the_link(visit, path):
    screen = visit("")
    screen.go(TITLES.get(path, path.replace("_", " ").capitalize()))
    has_its_pictures(screen, path)
    before = screen.headline.inner_text()
    screen.slider.first.focus()
    screen.press("ArrowRight", "ArrowRight")
    expect(screen.headline).not_to_have_text(before)
    screen.settle(2000)  # a busy page is said to rest later
    expect(screen.page).to_have_url(re.compile(rf"/{path}\?.*epsilon=1\.6"))
    after = screen.headline.inner_text()
    other = visit(screen.shared_link())
    expect(other.headline).to_have_text(after)


@pytest.mark.parametrize("path", CHARTS)
def test_a_page_has_its_pictures_in_the_dark_on_a_phone(visit, path):
    has_its_pictures(visit(path, color_scheme="dark", viewport={"width": 390, "height": 844}), path)


def has_its_pictures(screen: AppScreen, path: str) -> None:
    assert screen.warnings.count() == 0
    charts = screen.main.locator(".js-plotly-plot")
    expect(charts.nth(CHARTS[path] - 1)).to_be_attached()
    width = screen.page.viewport_size["width"]
    for box in (chart.bounding_box() for chart in charts.all()):
        assert box is None or box["x"] + box["width"] <= width + 1, "a chart runs off the screen"


def test_a_release_of_draws_is_shown_and_compared(visit):
    screen = visit("explore?epsilon=30")
    screen.option("Posterior sampling").click()
    expect(screen.headline).to_contain_text("a posterior sampling release")
    screen.settle()
    assert "samples of all possible releases" in screen.legend()
    screen.option("Private MAP").click()
    expect(screen.headline).to_contain_text("a private MAP release")
    for name in ("Laplace", "Fourier", "Posterior sampling", "Private MAP"):
        expect(screen.option(name)).to_be_in_viewport()
