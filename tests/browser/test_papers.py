"""The table of claims as a person clicks it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from dpbayes.theory.index import CLAIMS
from dpbayes.ui.pages.papers.page import tells
from tests.browser.app_screen import SLOW_MS

pytestmark = pytest.mark.browser


def test_a_click_on_a_row_opens_its_claim(visit: Any) -> None:
    screen = visit("papers")
    table = screen.page.locator("[data-testid=stDataFrame]").first
    table.scroll_into_view_if_needed()
    search = screen.page.get_by_role("textbox", name="Search")
    for words, x in (("theorem 4", 12), ("lemma 1", 300)):  # at its left, and on a word
        search.fill(words)
        search.press("Enter")
        screen.settle()
        table.click(position={"x": x, "y": 38 + 84 + 40})  # the second row
        opened = [claim for claim in CLAIMS if tells(claim, words)][1]
        expect(screen.main.get_by_text(opened.title, exact=True).last).to_be_visible(timeout=SLOW_MS)
