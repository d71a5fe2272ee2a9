"""Lab and Proofs in a browser: each board is drawn, follows its slider, and comes back by its link."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from dpbayes.ui.session.options import Experiment
from tests.browser.app_screen import AppScreen

pytestmark = pytest.mark.browser

SMALL = {"accuracy.repeats": "10", "regression.repeats": "3", "regression.n": "2000", "source": "sprinkler"}
PHONE = {"width": 390, "height": 844}
BETWEEN = """async (share) => {
  const slider = document.querySelector(".dpbayes-board [type=range]");
  slider.step = "any";
  slider.value = (slider.at ??= Number(slider.value)) + share;
  slider.dispatchEvent(new Event("input"));
  await new Promise((go) => setTimeout(go, 200));
  return [...document.querySelectorAll(".barlayer .point path")].map((bar) => bar.getAttribute("d")).join();
}"""
"""Moves the slider from where it was by a share of the way to the next stop; returns the outlines of the bars."""


def drawn(screen: AppScreen) -> None:
    """Check that every board has its curves, within the width of the window, and that nothing was refused."""
    boards = screen.page.locator(".dpbayes-board")
    for board in boards.all():
        expect(board.locator("h2")).not_to_be_empty()
        expect(board.locator(".scatterlayer .trace, .boxlayer .trace").first).to_be_attached()
    assert not screen.warnings.count()
    width = screen.page.viewport_size["width"]
    for box in (chart.bounding_box() for chart in screen.main.locator(".js-plotly-plot").all()):
        assert box is None or box["x"] + box["width"] <= width + 1, "a chart runs off the screen"


@pytest.mark.parametrize("experiment", Experiment, ids=lambda experiment: experiment.name)
def test_every_experiment_has_its_board_in_the_dark_on_a_phone(visit, experiment: Experiment) -> None:
    query = urlencode(SMALL | {"lab.experiment": experiment.value})
    drawn(visit(f"lab?{query}", color_scheme="dark", viewport=PHONE))


def test_the_board_follows_its_slider_and_a_link_reopens_it(visit) -> None:
    screen = visit(f"lab?{urlencode(SMALL | {'lab.experiment': Experiment.REGRESSION.value})}")
    before = screen.headline.inner_text()
    screen.settle(1000)
    screen.page.locator(".dpbayes-board [type=range]").first.press("ArrowRight")
    expect(screen.headline).not_to_have_text(before)
    expect(screen.page).to_have_url(re.compile(r"[?&]epsilon="))
    other = visit(screen.shared_link())
    expect(other.headline).to_have_text(screen.headline.inner_text())


def test_between_two_stops_a_bar_is_as_long_as_its_number(visit) -> None:
    screen = visit(f"lab?{urlencode(SMALL | {'lab.experiment': Experiment.COMPARISON.value})}")
    drawn(screen)
    screen.settle(1000)
    ends = [screen.page.evaluate(BETWEEN, share) for share in (0, 0.4, 1, 0)]
    assert ends[0] == ends[1] == ends[3] != ends[2]


def test_a_row_of_the_list_of_claims_opens_its_board(visit) -> None:
    screen = visit("proofs?proofs.view=the+papers%27+claims")
    drawn(screen)
    before = screen.headline.inner_text()
    rows = screen.main.get_by_test_id("stRadioOption")
    expect(rows.filter(has=screen.page.locator(":checked"))).to_be_in_viewport()
    rows.nth(3).click()
    expect(screen.headline).not_to_have_text(before)
    expect(screen.page).to_have_url(re.compile("proofs.claim="))
    drawn(screen)


def test_an_example_without_a_slider_replaces_a_board_with_one(visit) -> None:
    screen = visit("proofs")
    drawn(screen)
    before = screen.headline.inner_text()
    screen.main.get_by_role("button", name="May the noise depend on the data?").click()
    expect(screen.headline).not_to_have_text(before)
    expect(screen.headline).to_contain_text("a 10% belief about one person can rise to 25.3%")
    drawn(screen)
