"""The list of claims as a person clicks it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from dpbayes.theory.index import CLAIMS
from dpbayes.ui.pages.claims.page import ROW, matches, place_of

pytestmark = pytest.mark.browser


def test_a_click_on_a_row_opens_its_claim(visit: Any) -> None:
    screen = visit("claims")
    search = screen.page.get_by_role("textbox", name="Search")
    for words, x in (("theorem 4", 12), ("lemma 1", 250)):  # on its paper, and on its verdict
        search.fill(words)
        search.press("Enter")
        screen.settle()
        table = screen.page.locator("[data-testid=stDataFrame]").first
        table.click(position={"x": x, "y": 38 + ROW + ROW // 2})  # the second row
        opened = [claim for claim in CLAIMS if matches(claim, words)][1]
        expect(screen.headline).to_contain_text(opened.reference.place.partition(",")[0])
        expect(screen.main.get_by_text(opened.title, exact=True).last).to_be_visible()


IN_VIEW = """([top, height]) => {
    const rows = document.querySelector(".st-key-claims-list .dvn-scroller");
    return rows && rows.scrollTop <= top && top + height <= rows.scrollTop + rows.clientHeight;
}"""
"""Whether a row, by its top and its height in the whole list, is in view."""


def test_the_list_scrolls_to_the_claim_that_is_shown(visit: Any) -> None:
    """It does so for a link, and for the box below the list. A click leaves the list where it is."""
    first, second = len(CLAIMS) - 4, len(CLAIMS) // 2
    screen = visit(f"claims?papers.claim={CLAIMS[first].reference}")
    screen.page.wait_for_function(IN_VIEW, arg=[first * ROW, ROW])
    screen.settle()
    box = screen.page.get_by_role("combobox", name="Claim")
    box.fill(place_of(CLAIMS[second]))
    box.press("Enter")
    screen.page.wait_for_function(IN_VIEW, arg=[second * ROW, ROW])
    rows = screen.page.locator(".st-key-claims-list .dvn-scroller")
    before = rows.evaluate("rows => rows.scrollTop")
    screen.page.get_by_test_id("stDataFrame").first.click(position={"x": 100, "y": 38 + 3 * ROW + ROW // 2})
    screen.settle()
    assert rows.evaluate("rows => rows.scrollTop") == before


@pytest.mark.parametrize("width", [1440, 853, 400])
def test_what_is_said_of_a_claim_is_wholly_on_the_page(visit: Any, width: int) -> None:
    """The claim with the longest finding, its statement and its formula run off the page nowhere."""
    claim = max(CLAIMS, key=lambda claim: len(claim.finding))
    screen = visit(f"claims?papers.claim={claim.reference}", viewport={"width": width, "height": 900})
    for text in (claim.title, claim.finding):
        part = screen.main.locator("p").filter(has_text=text).first
        expect(part).to_be_visible()
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth")
