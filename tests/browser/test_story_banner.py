"""A story walked in a browser: its banner stays, its parts are scrolled to, and a room sees one picture."""

import re

import pytest
from playwright.sync_api import Locator, expect

from dpbayes.ui.pages.stories.opened import STORIES
from dpbayes.ui.pages.stories.quantities import QUANTITIES
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
    screen.choose_story("A chest clinic")
    at_step(screen, "clinic", 1)
    expect(screen.page).to_have_url(re.compile("story=clinic"))
    press(screen, "Next")
    at_step(screen, "clinic", 2)
    expect(screen.page).to_have_url(re.compile("step=2"))
    seen(screen, screen.main.locator(".st-key-evidence"))
    assert scrolled(screen) > 0
    guess = banner(screen).get_by_role("textbox", name="Your guess")
    guess.fill("40")
    guess.press("Enter")
    expect(banner(screen)).to_contain_text("You guessed 40%")
    screen.settle()
    link = screen.page.url
    press(screen, "Next")
    at_step(screen, "clinic", 3)
    screen.page.evaluate("() => history.back()")
    at_step(screen, "clinic", 2)
    screen.page.evaluate("() => history.back()")
    at_step(screen, "clinic", 1)
    screen.page.evaluate("() => history.forward()")
    at_step(screen, "clinic", 2)
    resumed = visit(link)
    at_step(resumed, "clinic", 2)
    seen(resumed, resumed.main.locator(".st-key-evidence"))
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
    expect(banner(screen)).to_contain_text(STORIES["clinic"].steps[3].say)
    part = screen.main.locator(".st-key-question").first
    expect(part).to_be_attached()
    screen.page.evaluate(LATER)
    seen(screen, part)
    screen.page.wait_for_timeout(1500)  # what else comes above it has come, and the banner looks several times a second
    return scrolled(screen)


def test_a_step_is_scrolled_to_while_its_page_works_and_again_where_it_has_moved_at_the_end(visit):
    screen = visit("release?story=clinic&step=3&target=dysp&evidence=smoke~yes")
    part = screen.main.locator(".st-key-question").first
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
    screen = visit("release?story=clinic&step=3&target=dysp&evidence=smoke~yes")
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
    screen = visit("release?story=clinic&step=3&target=dysp&evidence=smoke~yes")
    said = banner(screen).locator("p").first
    said.evaluate("p => (p.dataset.kept = 'yes')")
    before = screen.curves()
    screen.slider.first.press("ArrowLeft")
    screen.until_curves_differ(before)
    screen.settle()
    assert said.get_attribute("data-kept") == "yes"


def test_keys_pressed_while_a_presented_page_loads_all_count(visit):
    screen = visit("release?story=clinic&step=1&target=dysp&evidence=smoke~yes")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    body = screen.page.locator("body")
    for key, step in ((("ArrowRight",) * 3, 4), (("ArrowLeft", "ArrowLeft", "ArrowRight"), 3), (("PageUp",) * 9, 1)):
        for pressed in key:
            body.press(pressed)
        said = STORIES["clinic"].steps[step - 1].say
        expect(banner(screen)).to_contain_text(said)
        screen.settle(1000)
        expect(banner(screen)).to_contain_text(said)
        expect(screen.page).to_have_url(re.compile(f"step={step}" if step > 1 else "story=clinic&"))


def test_a_room_sees_one_sentence_one_slider_and_one_picture_and_keys_turn_the_steps(visit):
    screen = visit("release?story=clinic&step=3&target=dysp&evidence=smoke~yes")
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    only_the_picture(screen)
    for number in (4, 5):
        screen.page.locator("body").press("ArrowRight")
        expect(banner(screen)).to_contain_text(STORIES["clinic"].steps[number - 1].say)
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
    expect(banner(screen)).to_contain_text(STORIES["clinic"].steps[3].say)
    screen.settle()
    screen.press("Escape")
    expect(screen.page).not_to_have_url(re.compile("present"))
    expect(screen.headline).to_be_visible()
    assert "story=clinic" in screen.page.url


@pytest.mark.parametrize("size", [(853, 480), (390, 844)], ids=["projector", "phone"])
def test_a_room_reads_the_sentence_on_a_small_screen_too(visit, size):
    width, height = size
    screen = visit("claims?story=refuted&step=4", viewport={"width": width, "height": height})
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


@pytest.mark.parametrize("size", [(853, 480), (390, 844)], ids=["projector", "phone"])
def test_a_room_reads_the_titles_of_axes_whole_on_a_small_screen_too(visit, size):
    width, height = size
    screen = visit("hellinger?story=dice&step=3&epsilon=0.1", viewport={"width": width, "height": height})
    press(screen, "Present")
    expect(screen.page).to_have_url(re.compile("present=1"))
    chart = screen.main.locator(".st-key-hellinger-throws .dpbayes-chart:visible").first
    expect(chart.locator(".ytitle")).to_be_attached()
    screen.settle()
    whole = chart.bounding_box()
    for title in (".xtitle", ".ytitle"):
        box = chart.locator(title).bounding_box()
        assert whole["x"] <= box["x"], title
        assert box["x"] + box["width"] <= whole["x"] + whole["width"], title
        assert whole["y"] <= box["y"], title
        assert box["y"] + box["height"] <= whole["y"] + whole["height"], title


def test_a_room_sees_a_drawing_alone_and_whoever_leaves_has_the_tools_back(visit):
    screen = visit("network?story=votes&step=1")
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
    screen = visit("release?story=clinic&step=3&target=dysp&evidence=smoke~yes")
    for width, height in ((400, 800), (1440, 900)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.page.wait_for_timeout(150)
        box = screen.main.locator(".st-key-picture .dpbayes-chart").first.bounding_box()
        assert box
        assert box["y"] + box["height"] <= height, (width, height, box)


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["clinic"]))
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


@pytest.mark.parametrize("size", [(853, 480), (390, 844)], ids=["projector", "phone"])
def test_where_a_window_is_small_the_guess_stays_in_sight_of_the_part_that_it_is_about(visit, size):
    width, height = size
    screen = visit("network?story=clinic&step=1", viewport={"width": width, "height": height})
    press(screen, "Next")
    at_step(screen, "clinic", 2)
    seen(screen, screen.main.locator(".st-key-question").first)
    assert scrolled(screen) > height / 2
    guess, header = (
        screen.page.locator(selector).first.bounding_box() for selector in (".st-key-story-guess", ".stAppHeader")
    )
    assert header["y"] + header["height"] <= guess["y"] < height / 4
    expect(banner(screen).get_by_role("button", name="Next", exact=True)).to_be_in_viewport()


BESIDE_THE_PICTURE = [
    f"{key}-{number}"
    for key, story in sorted(STORIES.items())
    for number, step in enumerate(story.steps, start=1)
    if step.guess and "picture" in PARTS[step.page] and not PARTS[step.page].get(step.at)
]
"""Steps that ask for a guess where the picture is in view."""


@pytest.mark.parametrize("place", thorough(BESIDE_THE_PICTURE, sample=["dice-2"]))
def test_in_a_low_window_a_guess_moves_neither_slider_nor_picture(visit, place):
    key, _, number = place.partition("-")
    step = STORIES[key].steps[int(number) - 1]
    screen = visit(f"{step.page}?story={key}&step={number}", viewport={"width": 853, "height": 480})
    parts = ".st-key-main .number", ".st-key-picture .dpbayes-chart, .st-key-picture .stage"
    inside(screen, *parts)
    before = [screen.main.locator(part).first.bounding_box() for part in parts]
    options = QUANTITIES[step.guess.quantity].options
    if options:  # the longest is what takes most place
        banner(screen).get_by_role("radiogroup").get_by_text(max(options, key=len), exact=True).click()
    else:
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


ALONE_ON_A_SCREEN = {
    "census-1": "column-chart",
    "game-1": "game",
    "board-5": "ledger-shown",
    "dice-3": "hellinger-throws",
}
"""Steps about a picture that no main slider moves, and what a room sees of them."""


@pytest.mark.parametrize("place", thorough(ALONE_ON_A_SCREEN, sample=["game-1"]))
def test_a_room_sees_the_picture_of_the_step_where_no_main_slider_moves_it(visit, place):
    key, _, number = place.partition("-")
    step = STORIES[key].steps[int(number) - 1]
    screen = visit(f"{step.page}?story={key}&step={number}")
    press(screen, "Present")
    expect(banner(screen).locator("p").first).to_have_text(step.say)
    part = screen.main.locator(f".st-key-{ALONE_ON_A_SCREEN[place]}").first
    expect(part).to_be_visible()
    expect(screen.main.locator("input[type=range]:visible")).to_have_count(0)
    expect(screen.headline).to_be_hidden()
    charts = screen.main.locator(".dpbayes-chart:visible")
    assert charts.count() <= 1
    inside(screen, *([".dpbayes-chart:visible"] if charts.count() else []))
    assert not charts.count() or charts.first.bounding_box()["height"] > 450, "large"


def test_a_recipient_of_a_table_is_presented_its_domains_and_home_nothing(visit):
    screen = visit("data?story=census&step=1&data=adult&seat=recipient")
    press(screen, "Present")
    expect(screen.main.locator(".st-key-domains")).to_be_visible()
    expect(screen.headline).to_be_hidden()
    expect(screen.main.get_by_role("heading", name="Public domains")).to_be_hidden()
    home = visit("?story=census&step=1&data=adult&present=1")
    expect(banner(home).get_by_role("button", name="Next", exact=True)).to_be_visible()
    expect(banner(home).get_by_role("button", name="Present", exact=True)).to_have_count(0)
    expect(home.main.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["intervals"]))
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
