"""A story walked in a browser: its banner stays, its parts are scrolled to, and a room sees one picture."""

import re

import pytest
from playwright.sync_api import Locator, expect

from dpbayes.ui.pages.stories.opened import STORIES
from dpbayes.ui.pages.stories.story import PARTS
from tests.browser.app_screen import SLOW_MS, TITLES, AppScreen
from tests.conftest import thorough

pytestmark = pytest.mark.browser


def banner(screen: AppScreen) -> Locator:
    return screen.page.locator(".st-key-story, .st-key-present")


def press(screen: AppScreen, name: str) -> None:
    banner(screen).get_by_role("button", name=name, exact=True).click()


def at_step(screen: AppScreen, key: str, number: int) -> None:
    """Wait until a step is there: its sentence, its page, its address."""
    step = STORIES[key].steps[number - 1]
    expect(banner(screen)).to_contain_text(step.say)
    expect(screen.page).to_have_url(re.compile(f"/{step.page}\\?"))
    screen.arrived(TITLES.get(step.page, step.page.replace("_", " ").capitalize()))


def seen(screen: AppScreen, part: Locator) -> None:
    """Wait until the top of a part is in the window, and not behind what stays above the page."""
    box, size = None, screen.page.viewport_size
    assert size
    for _ in range(SLOW_MS // 50):
        box, over = part.bounding_box(), banner(screen).bounding_box()
        if box and over and over["y"] + over["height"] <= box["y"] < size["height"]:
            return
        screen.page.wait_for_timeout(50)
    raise AssertionError(f"the part is at {box}")


def scrolled(screen: AppScreen) -> float:
    return float(screen.main.evaluate("main => main.scrollTop"))


def test_a_story_goes_over_pages_scrolls_to_its_parts_and_is_resumed_from_its_link(visit):
    screen = visit("")
    screen.choose_story("Laplace or Fourier?")
    at_step(screen, "mechanisms", 1)
    expect(screen.page).to_have_url(re.compile("story=mechanisms"))
    covered = screen.main.locator(".st-key-costs > :not(:has(> .stEmpty))").first
    expect(covered).to_have_css("visibility", "hidden")
    guess = banner(screen).get_by_role("textbox", name="Your guess")
    guess.fill("40")
    guess.press("Enter")
    expect(banner(screen)).to_contain_text("You guessed 40; the answer is 36.")
    expect(covered).to_have_css("visibility", "visible")
    press(screen, "Next")
    at_step(screen, "mechanisms", 2)
    expect(screen.page).to_have_url(re.compile("step=2"))
    seen(screen, screen.main.locator(".st-key-noise").first)
    assert scrolled(screen) > 0
    screen.settle()
    link = screen.page.url
    press(screen, "Next")
    at_step(screen, "mechanisms", 3)
    screen.page.evaluate("() => history.back()")
    at_step(screen, "mechanisms", 2)
    screen.page.evaluate("() => history.forward()")
    at_step(screen, "mechanisms", 3)
    resumed = visit(link)
    at_step(resumed, "mechanisms", 2)
    seen(resumed, resumed.main.locator(".st-key-noise").first)
    press(resumed, "Leave")
    expect(banner(resumed)).to_have_count(0)
    expect(resumed.page).not_to_have_url(re.compile("story="))


WORKS = """() => {
  const work = document.body.appendChild(document.createElement("i"));
  work.className = "work";
  work.dataset.testScriptState = "running";
}"""
LATER = "() => { const now = performance.now.bind(performance); performance.now = () => now() + 60_000; }"
DONE = "() => document.querySelector('.work').remove()"
"""Have a page that works, a minute that goes by, and a page that has come to rest, as the banner sees them."""


def working_for_a_minute(screen: AppScreen) -> float:
    """Turn to a step whose part is further down, while its page works for long; return how far it is scrolled then."""
    screen.page.evaluate(WORKS)
    press(screen, "Next")
    expect(banner(screen)).to_contain_text(STORIES["mechanisms"].steps[1].say)
    part = screen.main.locator(".st-key-noise").first
    expect(part).to_be_attached()
    screen.page.evaluate(LATER)
    seen(screen, part)
    screen.page.wait_for_timeout(1500)  # what else comes above it has come, and the banner looks several times a second
    return scrolled(screen)


def test_a_step_is_scrolled_to_while_its_page_works_and_again_where_it_has_moved_at_the_end(visit):
    screen = visit("network?story=mechanisms")
    part = screen.main.locator(".st-key-noise").first
    assert working_for_a_minute(screen) > 0
    screen.page.evaluate("""() => {
      const late = Object.assign(document.createElement("div"), {style: "min-height: 1500px; overflow-anchor: none"});
      document.querySelector("[data-testid=stMain]").style.overflowAnchor = "none";
      document.querySelector("[data-testid=stMainBlockContainer]").prepend(late);
    }""")
    assert part.bounding_box()["y"] > 900, "what came above has moved it"
    screen.page.evaluate(DONE)
    seen(screen, part)


def test_whoever_scrolls_while_a_page_works_stays_where_they_are(visit):
    screen = visit("network?story=mechanisms")
    before = working_for_a_minute(screen)
    screen.page.mouse.move(300, 500)
    screen.page.mouse.wheel(0, -60)
    screen.page.wait_for_function(
        "top => document.querySelector('[data-testid=stMain]').scrollTop === top", arg=before - 60
    )
    screen.page.evaluate(DONE)
    screen.settle(quiet_ms=1000)
    assert scrolled(screen) == before - 60


def test_a_slider_that_moves_leaves_the_banner_alone(visit):
    screen = visit("explore?story=epsilon&step=3&row=bronc+%7C+smoke%3Dyes")
    said = banner(screen).locator("p").first
    said.evaluate("p => (p.dataset.kept = 'yes')")
    before = screen.curves()
    screen.slider.first.press("ArrowLeft")
    screen.until_curves_differ(before)
    screen.settle()
    assert said.get_attribute("data-kept") == "yes"


def test_keys_pressed_while_a_presented_page_loads_all_count(visit):
    screen = visit("explore?story=epsilon&step=1&row=bronc+%7C+smoke%3Dyes")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    body = screen.page.locator("body")
    for key, step in ((("ArrowRight",) * 3, 4), (("ArrowLeft", "ArrowLeft", "ArrowRight"), 3), (("PageUp",) * 9, 1)):
        for pressed in key:
            body.press(pressed)
        said = STORIES["epsilon"].steps[step - 1].say
        expect(banner(screen)).to_contain_text(said)
        screen.settle(1000)
        expect(banner(screen)).to_contain_text(said)
        expect(screen.page).to_have_url(re.compile(f"step={step}" if step > 1 else "story=epsilon&"))


def test_a_room_sees_one_sentence_one_slider_and_one_picture_and_keys_turn_the_steps(visit):
    screen = visit("explore?story=epsilon&step=3&row=bronc+%7C+smoke%3Dyes")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    only_the_picture(screen)
    for number in (4, 5):
        screen.page.locator("body").press("ArrowRight")
        expect(banner(screen)).to_contain_text(STORIES["epsilon"].steps[number - 1].say)
        expect(screen.page).to_have_url(re.compile(f"step={number}"))
    screen.settle()
    only_the_picture(screen)
    before = screen.curves()
    screen.slider.first.press("ArrowRight")
    screen.until_curves_differ(before)
    screen.settle()
    expect(screen.page).to_have_url(re.compile("step=5"))  # of a slider the keys move the slider
    banner(screen).locator("p").first.click()
    screen.press("ArrowLeft")
    expect(banner(screen)).to_contain_text(STORIES["epsilon"].steps[3].say)
    screen.settle()
    screen.press("Escape")
    expect(screen.page).not_to_have_url(re.compile("present"))
    expect(screen.headline).to_be_visible()
    assert "story=epsilon" in screen.page.url


@pytest.mark.parametrize("size", [(853, 480), (390, 844)], ids=["projector", "phone"])
def test_a_room_reads_the_sentence_on_a_small_screen_too(visit, size):
    width, height = size
    screen = visit("proofs?story=refuted&step=4", viewport={"width": width, "height": height})
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    sentence = banner(screen).locator("p").first
    expect(sentence).to_have_text(STORIES["refuted"].steps[3].say)
    expect(sentence).to_be_in_viewport()
    screen.settle()
    inside(screen, ".dpbayes-chart:visible")
    curves, legend = (
        screen.main.locator(f".dpbayes-chart:visible {part}").bounding_box() for part in (".nsewdrag", ".legend")
    )
    assert legend["y"] + legend["height"] <= curves["y"], "names of curves leave the curves their place"
    assert curves["height"] > height / 5


def test_a_room_sees_a_drawing_alone_and_whoever_leaves_has_the_tools_back(visit):
    screen = visit("network?story=arrow&step=2")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    tools = screen.page.get_by_role("toolbar", name="Edit the network")
    expect(tools).to_be_hidden()
    expect(screen.page.get_by_text("Drag from a node's handle")).to_be_hidden()
    screen.settle()
    stage = screen.page.locator(".dag .stage").last.bounding_box()
    assert stage["height"] > 520
    assert stage["y"] + stage["height"] <= 900
    screen.press("Escape")
    expect(tools).to_be_visible()


def only_the_picture(screen: AppScreen) -> None:
    """Check what is in the window: the sentence, one slider and one chart, all of it, in large type."""
    size = screen.page.viewport_size
    assert size
    sentence, chart = banner(screen).locator("p").first, screen.chart("density")
    expect(screen.headline).to_be_hidden()
    expect(chart).to_be_visible()
    assert screen.main.locator("input[type=range]:visible").count() == 1
    assert screen.main.locator(".dpbayes-chart:visible").count() == 1
    assert screen.page.locator(".st-key-bar:visible, .stAppHeader:visible, .stExpander:visible").count() == 0
    assert float(sentence.evaluate("p => parseFloat(getComputedStyle(p).fontSize)")) >= 28
    box = chart.bounding_box()
    assert box
    assert box["height"] > size["height"] / 2
    assert box["y"] + box["height"] <= size["height"]


def test_the_picture_is_on_the_first_screen_below_a_banner_too(visit):
    screen = visit("explore?story=epsilon&step=3&row=bronc+%7C+smoke%3Dyes")
    for width, height in ((400, 800), (1440, 900)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.page.wait_for_timeout(150)
        box = screen.main.locator(".st-key-picture .dpbayes-chart").first.bounding_box()
        assert box
        assert box["y"] + box["height"] <= height, (width, height, box)


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["epsilon"]))
def test_in_a_low_window_slider_and_picture_are_on_the_screen_at_every_step_about_them(visit, key):
    screen = visit(f"{STORIES[key].steps[0].page}?story={key}", viewport={"width": 853, "height": 480})
    for number, step in enumerate(STORIES[key].steps, start=1):
        at_step(screen, key, number)
        if "picture" in PARTS[step.page] and not PARTS[step.page].get(step.at):
            inside(screen, ".st-key-main .number", ".st-key-picture .dpbayes-chart, .st-key-picture .stage")
        banner(screen).get_by_role("button", name="Do", exact=True).click()
        popover = screen.page.get_by_test_id("stPopoverBody")
        expect(popover).to_contain_text(step.do)
        expect(popover).to_contain_text(step.watch)
        screen.press("Escape")
        press(screen, "Next")


BESIDE_THE_PICTURE = [
    f"{key}-{number}"
    for key, story in sorted(STORIES.items())
    for number, step in enumerate(story.steps, start=1)
    if step.guess and "picture" in PARTS[step.page] and not PARTS[step.page].get(step.at)
]
"""Steps that ask for a guess where the picture is in view."""


@pytest.mark.parametrize("place", thorough(BESIDE_THE_PICTURE, sample=["epsilon-2"]))
def test_in_a_low_window_a_guess_moves_neither_slider_nor_picture(visit, place):
    key, _, number = place.partition("-")
    step = STORIES[key].steps[int(number) - 1]
    screen = visit(f"{step.page}?story={key}&step={number}", viewport={"width": 853, "height": 480})
    parts = ".st-key-main .number", ".st-key-picture .dpbayes-chart, .st-key-picture .stage"
    inside(screen, *parts)
    before = [screen.main.locator(part).first.bounding_box() for part in parts]
    box = banner(screen).get_by_role("textbox", name="Your guess")
    box.fill("12.345")
    box.press("Enter")
    expect(banner(screen)).to_contain_text("You guessed")
    screen.settle()
    assert [screen.main.locator(part).first.bounding_box() for part in parts] == before


def inside(screen: AppScreen, *selectors: str) -> None:
    """Wait until these are wholly in the window, below what stays above the page."""
    boxes, size = {}, screen.page.viewport_size
    assert size
    for _ in range(SLOW_MS // 100):
        boxes = {name: screen.main.locator(name).first.bounding_box() for name in selectors}
        if all(box and box["y"] >= 44 and box["y"] + box["height"] <= size["height"] for box in boxes.values()):
            return
        screen.page.wait_for_timeout(100)
    raise AssertionError(f"{boxes} are not in {size}")


def test_a_recipient_of_a_table_is_presented_its_domains_and_home_nothing(visit):
    screen = visit("data?story=epsilon&step=1&data=adult&seat=recipient")
    press(screen, "Present")
    expect(screen.main.locator(".st-key-domains")).to_be_visible()
    expect(screen.headline).to_be_hidden()
    expect(screen.main.get_by_role("heading", name="Public domains")).to_be_hidden()
    home = visit("?story=epsilon&step=1&data=adult&present=1")
    expect(banner(home).get_by_role("button", name="Next", exact=True)).to_be_visible()
    expect(banner(home).get_by_role("button", name="Present", exact=True)).to_have_count(0)
    expect(home.main.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["mechanisms"]))
def test_every_part_that_a_story_scrolls_to_is_there_to_the_storys_end(visit, key):
    screen = visit(f"{STORIES[key].steps[0].page}?story={key}")
    for step in STORIES[key].steps:
        expect(banner(screen)).to_contain_text(step.say)
        title = TITLES.get(step.page, step.page.replace("_", " ").capitalize())
        expect(screen.main.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
        if part := PARTS[step.page].get(step.at):
            seen(screen, screen.main.locator(f".st-key-{part}").first)
        press(screen, "Next")
    expect(banner(screen)).to_contain_text(STORIES[key].learnt)
