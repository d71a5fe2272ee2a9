"""Nothing that a person is to read is cut off, in a wide window and in a low one."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SIZES = [(1440, 900), (853, 480)]

CUT = """part => {
  const texts = part.querySelectorAll("p, text");
  const holds = (outer, inner) => inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1
    && inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  const isCut = text => {
    for (let around = text.parentElement; around; around = around.parentElement) {
      const hides = getComputedStyle(around).overflow !== "visible" && !around.matches("[data-testid=stMain]");
      if (hides && !holds(around.getBoundingClientRect(), text.getBoundingClientRect())) return true;
      if (around === part) return text instanceof HTMLElement && text.scrollWidth > text.clientWidth + 1;
    }
  };
  return [...texts].filter(text => text.textContent.trim() && isCut(text)).map(text => text.textContent);
}"""
"""Texts of a part that are not wholly in all that is around them, or wider than their own place."""


@pytest.mark.parametrize("size", SIZES, ids=["laptop", "projector"])
def test_the_names_of_arrows_are_read_whole(visit, size):
    width, height = size
    screen = visit("network", viewport={"width": width, "height": height})
    part = screen.main.locator(".st-key-worth .panel")
    expect(part.get_by_text("bronc → dysp", exact=True)).to_be_attached()
    part.scroll_into_view_if_needed()
    screen.settle()
    assert part.evaluate(CUT) == []


COVERED = """() => {
  const stage = [...document.querySelectorAll("*")].map(node => node.shadowRoot?.querySelector(".stage")).find(Boolean);
  const names = [...stage.querySelectorAll(".node text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;  // lines have room above and below their letters
  const before = ([, a], k) => names.slice(0, k).filter(([, b]) => over(a, b));
  return names.flatMap((one, k) => before(one, k).map(other => [one[0], other[0]]));
}"""
"""Names of nodes that lie on each other."""


@pytest.mark.parametrize("size", [(400, 800), (853, 480)], ids=["telephone", "projector"])
@pytest.mark.parametrize("network", ["child", "insurance", "alarm"])
def test_names_of_a_crowded_network_do_not_cover_each_other(visit, network, size):
    width, height = size
    screen = visit(f"network?source={network}", viewport={"width": width, "height": height})
    assert screen.page.evaluate(COVERED) == []


def test_names_that_lie_on_each_other_come_apart_when_one_zooms_in(visit):
    screen = visit("network?source=win95pts", viewport={"width": 400, "height": 800})
    screen.button("Zoom in").click(click_count=6)
    assert screen.page.evaluate(COVERED) == []


def test_the_tools_of_a_table_come_on_a_telephone_when_the_table_is_touched(visit):
    address = "data"
    visit(address)
    screen = visit(address, viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    table = screen.main.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    screen.settle()  # a touch before the page is complete loses the focus
    tools = screen.main.get_by_test_id("stElementToolbar").first
    expect(tools).to_be_hidden()
    for _ in range(3):  # a touch just before the page is drawn again loses the focus
        table.locator(".dvn-scroller").first.tap(position={"x": 180, "y": 100})
        screen.page.wait_for_timeout(1_000)
        if tools.is_visible():
            break
    expect(tools).to_be_visible()
