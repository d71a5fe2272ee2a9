"""The table of claims as a person clicks it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from dpbayes.theory.index import CLAIMS
from dpbayes.ui.pages.papers.links import view_of
from dpbayes.ui.pages.papers.page import LINES, tells
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


PAINTED = """async () => {
  const table = document.querySelector("[data-testid=stDataFrame]"), scroller = table.querySelector(".dvn-scroller");
  const proto = CanvasRenderingContext2D.prototype, real = proto.fillText, painted = new Map();
  const canvas = table.querySelector("canvas[data-testid=data-grid-canvas]");
  const rest = () => new Promise((go) => setTimeout(go, 120));
  proto.fillText = function (text, x, y, ...more) {
    if (this.canvas === canvas) {
      const at = [text, x, y + scroller.scrollTop, this.measureText(text).width];
      painted.set(JSON.stringify([text, Math.round(x), Math.round(at[2])]), at);
    }
    return real.call(this, text, x, y, ...more);
  };
  scroller.scrollTop = scroller.scrollHeight;
  await rest();
  for (let top = scroller.scrollHeight; top > -80; top -= 80) {
    scroller.scrollTop = Math.max(top, 0);
    await rest();
  }
  proto.fillText = real;
  return [[...painted.values()], scroller.clientWidth];
}"""
"""What a table paints from its last row to its first one: each line of text, where it begins, its middle and its width.

A table is painted: no element holds a line of its texts. Also how wide the table is.
"""

HEAD, ROW, LINE = 36, 21 * LINES, 18.2
"""Heights of the table's head, of a row, and of a line."""


@pytest.mark.parametrize("width", [1440, 853])
def test_no_text_of_a_row_is_cut_off(visit: Any, width: int) -> None:
    screen = visit("papers", viewport={"width": width, "height": 900})
    table = screen.page.locator("[data-testid=stDataFrame]").first
    expect(table.locator("canvas").first).to_be_attached(timeout=SLOW_MS)
    table.scroll_into_view_if_needed()
    screen.settle()
    lines, wide = screen.page.evaluate(PAINTED)
    starts = sorted({round(x) for _, x, _, _ in lines})
    assert len(starts) == 5, "the columns"
    ends = [*starts[1:], wide]
    for row, claim in enumerate(CLAIMS):
        view, top = view_of(claim), HEAD + ROW * row
        texts = (str(claim.reference), claim.title, claim.verdict.value, view.title if view else "", claim.finding)
        for start, end, text in zip(starts, ends, texts, strict=True):
            own = sorted((y, said, x + long) for said, x, y, long in lines if round(x) == start and top < y < top + ROW)
            assert "".join("".join(said for _, said, _ in own).split()) == "".join(text.split()), "all of it is painted"
            for middle, _, right in own:
                assert top <= middle - LINE / 2
                assert middle + LINE / 2 <= top + ROW, f"no line of {text} leaves its row"
                assert right <= end + 1, f"nor its column: {text}"
