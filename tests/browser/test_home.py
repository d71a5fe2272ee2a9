"""Home in a browser: its board, the two ways in, and the stories."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_board_stories_and_ways_in_are_on_the_first_screen(visit) -> None:
    screen = visit("", viewport={"width": 1440, "height": 900})
    for title in (
        "What is epsilon?",
        "What may we publish?",
        "Laplace or Fourier?",
        "A claim that fails",
        "My own data",
    ):
        expect(screen.main.get_by_role("button", name=title, exact=True)).to_be_in_viewport(ratio=1)
    for panel in screen.page.locator(".dpbayes-board .panel").all():
        expect(panel).to_be_in_viewport(ratio=1)
    screen.main.get_by_role("button", name="Explore this example", exact=True).click()
    screen.arrived("Explore")


def test_the_board_moves_by_keys_and_draws_another_release(visit) -> None:
    screen = visit("")
    board = screen.page.locator(".dpbayes-board")
    caption = board.locator("figcaption").first
    before = screen.curves()
    board.get_by_role("button", name="Draw another").click()
    screen.until_curves_differ(before)
    screen.settle(1000)
    board.get_by_role("slider").press("Home")
    expect(board.locator("h2")).to_contain_text("ε = 0.01:")
    expect(caption).to_contain_text("Only the prior answers")
    board.get_by_role("slider").press("End")
    expect(board.locator("h2")).to_contain_text("ε = 100:")
    expect(caption).to_contain_text("0.00002")
