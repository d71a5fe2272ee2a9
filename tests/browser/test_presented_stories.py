"""Every story shown to a room with a projector: sentence, picture and buttons are in the window at each step."""

import re

import pytest
from playwright.sync_api import Locator, expect

from dpbayes.ui.pages.stories.opened import STORIES
from dpbayes.ui.pages.stories.story import Step, shown_alone
from dpbayes.ui.session.settings import Seat
from tests.browser.app_screen import SLOW_MS, AppScreen

pytestmark = pytest.mark.browser

PROJECTOR = {"width": 853, "height": 480}

PICTURES = (".dpbayes-chart", ".stage", "[data-testid=stDataFrame]", "[data-testid=stMetric]", "input[type=text]")
"""What a step shows: a chart, a drawing, a table, numbers, or a form."""


@pytest.mark.parametrize("key", sorted(STORIES))
def test_sentence_picture_and_buttons_are_in_a_low_window_at_every_step(visit, key):
    steps = STORIES[key].steps
    screen = visit(f"{steps[0].page}?story={key}", viewport=PROJECTOR)
    screen.main.evaluate("main => main.scrollTo({ top: main.scrollHeight })")
    screen.page.locator(".st-key-story").get_by_role("button", name="Present", exact=True).click()
    line = screen.page.locator(".st-key-present")
    for number, step in enumerate(steps, start=1):
        expect(line.locator("p").first).to_have_text(step.say)
        expect(screen.page).to_have_url(re.compile(f"/{step.page}\\?"))
        screen.settle()
        if step.guess is not None:
            line.get_by_role("button", name="Show", exact=True).click()
            expect(line.get_by_role("button", name="Show", exact=True)).to_have_count(0)
        last = line.get_by_role("button", name="Next", exact=True)
        buttons = [last, *(line.get_by_role("button", name=name, exact=True) for name in ("Back", "End"))]
        inside(screen, line.locator("p").first, picture_of(screen, step), *buttons)
        assert screen.main.locator(".dpbayes-chart:visible").count() <= 1, (number, "one picture")
        assert not screen.headline.is_visible(), (number, "and nothing else")
        last.click()
    expect(line.locator("p").first).to_have_text(STORIES[key].learnt)
    picture_of(screen, steps[-1])


def picture_of(screen: AppScreen, step: Step) -> Locator:
    """Return what the step is about: the part that it names, or the page's picture."""
    part = screen.main.locator(
        f".st-key-{shown_alone(step.page, step.at, step.seat or Seat.CURATOR) or 'picture'}"
    ).first
    expect(part).to_be_visible()
    shown = [part.locator(f"{kind}:visible").first for kind in PICTURES]
    expect(part.locator(", ".join(f"{kind}:visible" for kind in PICTURES)).first).to_be_attached()
    return next(picture for picture in shown if picture.count())


def inside(screen: AppScreen, *parts: Locator) -> None:
    """Wait until all of these are wholly in the window."""
    boxes = []
    for _ in range(SLOW_MS // 100):
        boxes = [part.bounding_box() for part in parts]
        if all(box and _is_inside(box) for box in boxes):
            return
        screen.page.wait_for_timeout(100)
    raise AssertionError(f"{boxes} are not all in {PROJECTOR}")


def _is_inside(box: dict[str, float]) -> bool:
    ends = box["x"] + box["width"] <= PROJECTOR["width"] and box["y"] + box["height"] <= PROJECTOR["height"]
    return ends and box["x"] >= 0 and box["y"] >= 0
