"""While a hand moves the main slider, nothing of what is in view moves but the slider itself and the curves."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.app_screen import SLOW_MS, AppScreen, place_of
from tests.browser.first_screen import SCREENS, WITH_A_SLIDER
from tests.conftest import thorough

pytestmark = pytest.mark.browser

ONE_OF_A_KIND = ("Explore", "Network", "Claims")
"""One whose picture reruns alone, one with a drawing for a picture, and one that goes on working.

On a laptop, where there is room, these stand for all pages; a low window and a telephone are tried on every page.
"""

WATCH = """() => {
  window.moved = new Map();
  const add = (what, size) => moved.set(what, (moved.get(what) ?? 0) + size);
  const label = (node) => `${(node.closest?.("[class*=st-key-]") ?? node).className} ${node.textContent.slice(0, 40)}`;
  const seen = ({ previousRect: a, currentRect: b }) => a.width * a.height > 0 && b.width * b.height > 0;
  window.watch?.disconnect();
  window.watch = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      for (const source of entry.sources) if (source.node && seen(source)) add(label(source.node), entry.value);
  });
  window.watch.observe({ type: "layout-shift", buffered: false });

  const boxes = ".st-key-headline, .st-key-main, .st-key-picture .dpbayes-chart, .st-key-picture .nsewdrag";
  let last = new Map();
  const look = (mine) => {
    const now = new Map();
    for (const node of document.querySelectorAll(boxes)) {
      const { x, y, width, height } = node.getBoundingClientRect();
      if (y >= innerHeight || !width) continue;
      const before = last.get(node) ?? [x, y, width, height];
      const most = Math.max(...[x, y, width, height].map((value, k) => Math.abs(value - before[k])));
      if (most >= 1) add(`${node.className.baseVal ?? node.className}`, most);
      now.set(node, [x, y, width, height]);
    }
    last = now;
    if (window.looking === mine) requestAnimationFrame(() => look(mine));
  };
  window.looking = {};
  look(window.looking);
}"""
"""Keep what the browser paints elsewhere than before, and where the boxes of the picture are in each frame.

A browser does not count what moves within a drawing, such as the frame of a chart. What it cannot name is in the
slider: the number above its knob, which goes with it.
"""

STILL = """([quiet, most]) => new Promise((tell) => {
  const start = performance.now();
  const places = () => JSON.stringify([...document.querySelectorAll("[data-testid=stMain] *")].map((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return [x, y, width, height];
  }));
  let last = places(), since = start;
  const look = () => {
    const [now, seen] = [performance.now(), places()];
    if (seen !== last) [last, since] = [seen, now];
    if (now - since >= quiet || now - start >= most) tell(now - since >= quiet);
    else setTimeout(look, 50);
  };
  look();
})"""
"""Whether nothing has moved for `quiet` milliseconds on end, within `most`: all of the page has arrived."""

MOVED = "() => Object.fromEntries(moved)"


def shifts(screen: AppScreen) -> Iterator[str]:
    """Yield what moves under ten presses of a key, a drag, and the rest after it."""
    slider = screen.main.locator(".st-key-main [type=range]").first
    picture = screen.main.locator(".st-key-picture .nsewdrag, .st-key-picture .stage").first
    expect(picture).to_be_attached()
    screen.page.wait_for_load_state("networkidle")  # what draws a table is read late
    screen.settle()
    assert screen.page.evaluate(STILL, [500, SLOW_MS]), "the page never came to rest"
    screen.page.evaluate(WATCH)
    _press(screen, slider)
    _drag(screen, slider)
    screen.page.wait_for_timeout(300)  # the slider tells of the rest a moment after it
    screen.settle()
    for what, size in screen.page.evaluate(MOVED).items():
        yield f"{what} by {size:.4f}"


def _press(screen: AppScreen, slider: Locator) -> None:
    for _ in range(10):
        slider.press("ArrowRight")
        screen.page.wait_for_timeout(40)


def _drag(screen: AppScreen, slider: Locator) -> None:
    box, part = slider.bounding_box(), slider.evaluate("node => node.value / node.max")
    grip, y = 9, box["y"] + 10
    start = box["x"] + grip + (box["width"] - 2 * grip) * part
    step = (box["width"] - 2 * grip) * (0.03 if part < 0.5 else -0.03)
    screen.page.mouse.move(start, y)
    screen.page.mouse.down()
    for k in range(1, 11):
        screen.page.mouse.move(start + k * step, y)
        screen.page.wait_for_timeout(40)
    screen.page.mouse.up()


@pytest.mark.parametrize("title", WITH_A_SLIDER)
def test_moving_the_main_slider_shifts_nothing_that_is_in_view(visit, title):
    screen = visit(place_of(title))
    moved = []
    for width, height in SCREENS if title in thorough(WITH_A_SLIDER, sample=ONE_OF_A_KIND) else SCREENS[:-1]:
        screen.page.set_viewport_size({"width": width, "height": height})
        moved += [f"{width} x {height}: {what}" for what in shifts(screen)]
    assert not moved, "\n".join(moved)
