"""Every story walked to its end: what a step asks for is done, and what its text promises is on the screen.

The texts are for people; what they ask for stands here once more as actions, by story and step. A step without an entry
fails. What stands in “ ” in a text is looked for on the page, and what tells a guess's answer is covered before it.
"""

import re
from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Locator, expect

from dpbayes.ui.pages.stories.opened import STORIES
from dpbayes.ui.pages.stories.quantities import QUANTITIES
from dpbayes.ui.pages.stories.story import FOLDED, Guess, Step
from tests.browser.app_screen import QUIET, SLOW_MS, AppScreen, title_of
from tests.conftest import thorough

pytestmark = pytest.mark.browser

Action = Callable[[AppScreen], None]
"""One thing that a person does or looks at; it fails where that cannot be done or is not there."""

HEADLINE = ".st-key-headline h2"
COMES_AND_GOES = {"Stop"}
"""What is there only while long work goes on."""

PART_OF_A_PICTURE = "path, text, rect, .pill, .edge"
"""What of a chart or of a drawing changes when it says something else."""

SHAPES = f"""parts => parts.map(part => {{
  const shapes = [...part.querySelectorAll("{PART_OF_A_PICTURE}")];
  return part.innerText + shapes.map(one => (one.getAttribute("d") ?? "") + one.textContent).join();
}}).join()"""


# Actions


def chart(key: str) -> str:
    return f".st-key-{key} .js-plotly-plot"


def metric(label: str) -> str:
    return f'[data-testid="stMetric"]:has-text("{label}") [data-testid="stMetricValue"]'


def changing(selector: str, *actions: Action) -> Action:
    """Each of these changes what the first part that fits shows."""

    def all_of_them(screen: AppScreen) -> None:
        part = screen.page.locator(selector).first
        for action in actions:
            expect(part).to_be_visible()
            rest(screen)
            before = part.evaluate_all(SHAPES)
            action(screen)
            for _ in range(SLOW_MS // 100):
                if part.evaluate_all(SHAPES) != before:
                    break
                screen.page.wait_for_timeout(100)
            else:
                raise AssertionError(f"{selector} never changed")

    return all_of_them


def rest(screen: AppScreen) -> None:
    """Let the page come to rest, if it does so soon: what changes later is to come of what is done."""
    screen.page.evaluate(QUIET, [250, 3000])


def moving(key: str, times: int = 6) -> Action:
    """Move the main slider by its keys."""

    def move(screen: AppScreen) -> None:
        slider = screen.page.locator(".st-key-main input[type=range]")
        for _ in range(times):
            slider.press(key)

    return move


def choosing(option: str) -> Action:
    return lambda screen: outside(screen, screen.main.get_by_role("radio", name=option, exact=True)).first.click()


def pressing(name: str) -> Action:
    return lambda screen: outside(screen, screen.main.get_by_role("button", name=name, exact=True)).first.click()


def chosen(option: str) -> Action:
    return lambda screen: expect(outside(screen, screen.option(option)).first).to_be_checked()


def opening(name: str) -> Action:
    """Open a part of the page, unless it is open since the step before."""

    def unfold(screen: AppScreen) -> None:
        rest(screen)
        part = screen.main.locator("details").filter(has=screen.page.locator("summary", has_text=name)).last
        if part.get_attribute("open") is None:
            part.locator("summary").first.click()

    return unfold


def another(label: str) -> Action:
    """Choose the last of a list that fits on the screen."""

    def choose(screen: AppScreen) -> None:
        screen.main.get_by_role("combobox", name=label).click()
        screen.page.get_by_role("option").last.click()

    return choose


def typing_epsilon(text: str) -> Action:
    return lambda screen: screen.type_epsilon(text)


def drawing(start: str, end: str) -> Action:
    return lambda screen: screen.drag_arrow(start, end)


def seeing(*selectors: str) -> Action:
    """Find parts of the page; a person scrolls to them."""

    def see(screen: AppScreen) -> None:
        for selector in selectors:
            part = screen.main.locator(selector).first
            part.scroll_into_view_if_needed()
            expect(part).to_be_visible()

    return see


def saying(selector: str, *patterns: str) -> Action:
    """Read all of these in a part of the page."""

    def read(screen: AppScreen) -> None:
        for pattern in patterns:
            expect(screen.main.locator(selector).first).to_contain_text(re.compile(pattern))

    return read


def arrows_into(node: str, *parents: str) -> Action:
    def see(screen: AppScreen) -> None:
        for parent in parents:
            expect(screen.arrow(parent, node).first).to_be_attached()

    return see


def columns(key: str, *names: str) -> Action:
    """Read the titles of a table, which is painted: only the browser's tree has them."""

    def read(screen: AppScreen) -> None:
        table = screen.main.locator(f".st-key-{key} [data-testid=stDataFrame]").first
        expect(table).to_be_attached()
        rest(screen)  # while it is counted there may be another in its place
        table.scroll_into_view_if_needed()
        for name in names:
            expect(table.locator("[role=columnheader]", has_text=name).first).to_be_attached()

    return read


def both_seats(first: str, other: str) -> Action:
    """From the first seat to the other and back; the recipient sees one release and nothing exact."""
    counts = {"Curator": 1, "Recipient": 0}

    def change(screen: AppScreen) -> None:
        exact = screen.chart("density").locator(".legendtext", has_text="exact")
        expect(screen.chart("density").locator(".legendtext").first).to_be_attached()
        expect(exact).to_have_count(counts[first])
        for seat in (other, first):
            changing(HEADLINE, choosing(seat))(screen)
            expect(exact).to_have_count(counts[seat])

    return change


COMPARED = (opening("Comparison of the mechanisms at this setting"), columns("comparison", r"mean error, all"))

DONE: dict[str, Sequence[Sequence[Action]]] = {
    "clinic": (
        [arrows_into("dysp", "bronc", "either")],
        [columns("answer", "private", "exact")],
        [changing(chart("density"), moving("ArrowLeft"), moving("ArrowRight"))],
        [columns("answer", "private")],
        [both_seats("Curator", "Recipient")],
    ),
    "sprinkler": (
        [arrows_into("wet", "rain", "sprinkler")],
        [seeing(chart("noise"))],
        [changing(metric("Cells K"), drawing("cloudy", "wet"), pressing("Undo"))],
        [*COMPARED],
    ),
    "votes": (
        [arrows_into("crime", "party")],
        [columns("answer", "private", "exact")],
        [changing(chart("density"), typing_epsilon("0.1"))],
        [seeing(metric("Stated"), metric("Measured"))],
    ),
    "census": (
        [changing(chart("column-chart"), another("Column"))],
        [saying('[data-testid="stCaptionContainer"]:has-text("Fourier needs binary nodes")', "age")],
        [changing(chart("density"), another("CPT row"))],
        [changing(HEADLINE, moving("ArrowRight"))],
    ),
    "board": (
        [changing(HEADLINE, moving("ArrowLeft"))],
        [columns("answer", "private", "exact")],
        [saying(HEADLINE, "holds and is tight")],
        [both_seats("Recipient", "Curator")],
        [seeing(*(f'input[aria-label="{label}"]' for label in ("Dataset name", "Total budget (ε)", "Justification")))],
    ),
    "intervals": (
        [seeing(chart("density"))],
        [saying(metric("Coverage of 95% intervals, this probability"), "%")],
        [changing(chart("density"), choosing("naive"), choosing("noise-aware"))],
        [saying(".st-key-measures", "Naive reading of the same")],
    ),
    "exercise": (
        [seeing(metric("Laplace noise per cell"), metric("Fourier noise per cell"))],
        [saying(chart("error-bars"), "Laplace", "Fourier")],
        [changing(HEADLINE, choosing("Fourier"), choosing("Laplace"))],
        [*COMPARED],
        [*COMPARED],
    ),
    "paper": (
        [arrows_into("x1", "class")],
        [lambda screen: screen.settle(), saying(chart("accuracy-curves"), "majority class")],
        [changing(chart("accuracy-curves"), *map(choosing, ("accuracy by stated ε", "accuracy by proved ε")))],
        [changing(HEADLINE, moving("ArrowLeft"), moving("ArrowRight"))],
    ),
    "regression": (
        [changing(HEADLINE, moving("ArrowRight"))],
        [saying(chart("regression-epsilons"), "proved", "paper", "chosen")],
        [saying(HEADLINE, "mean squared error"), saying(".st-key-picture", "b = 1,000", "proved ε")],
        [chosen("from a proved ε"), saying(".st-key-picture", r"proved ε is 0\.5")],
    ),
    "alarm": (
        [arrows_into("CATECHOL", "ARTCO2", "INSUFFANESTH", "SAO2", "TPR")],
        [moving("ArrowRight", 40), saying(".st-key-error-bars .js-plotly-plot", r"(?<!Consistent )Laplace: 0\.0")],
        [
            seeing(
                chart("errors-nodes"),
                '[data-testid="stCaptionContainer"]:has-text("has the largest mean absolute error")',
            )
        ],
        [changing(chart("density"), another("CPT row"))],
        [changing(HEADLINE, moving("ArrowRight"))],
    ),
    "refuted": (
        [saying(HEADLINE, r"the claim ε = \S+ is refuted"), seeing(metric("Measured"))],
        [saying(chart("audit-curve"), "proved", "stated"), chosen("proved")],
        [changing(chart("trim"), moving("ArrowRight"))],
        [changing(HEADLINE, moving("ArrowRight"))],
    ),
    "game": (
        [changing(chart("game"), pressing("Get one more answer"), pressing("Get one more answer"))],
        [seeing(metric("Simulated"))],
        [saying(chart("game"), "upper bound")],
        [seeing(metric("Simulated"))],
    ),
    "dice": (
        [seeing(chart("hellinger-errors"))],
        [changing(chart("hellinger-errors"), moving("ArrowLeft"), moving("ArrowRight"))],
        [seeing(chart("hellinger-throws"))],
        [changing(HEADLINE, choosing("balanced"), choosing("skewed"))],
    ),
}
"""What is done, and then seen, at each step of a story; a guess comes before it, wherever a step asks."""


# The walk


@pytest.mark.parametrize("key", thorough(sorted(STORIES), sample=["clinic"]))
def test_a_story_keeps_what_its_steps_promise_to_its_end(visit, key):
    story, done = STORIES[key], DONE[key]
    assert len(done) == len(story.steps), "each step has something to do"
    screen = visit(f"{story.steps[0].page}?story={key}")
    for step, actions in zip(story.steps, done, strict=True):
        came_to(screen, step)
        if step.guess is not None:
            guess(screen, step.guess)
        for action in actions:
            action(screen)
        for name in re.findall("“([^”]+)”", f"{step.do} {step.watch}"):
            if name not in COMES_AND_GOES:
                named = screen.main.get_by_text(name).or_(screen.main.get_by_label(name))
                expect(outside(screen, named.filter(visible=True)).first, name).to_be_attached()
        banner(screen).get_by_role("button", name="Next", exact=True).click()
    expect(banner(screen)).to_contain_text(story.learnt)
    expect(banner(screen).get_by_role("button", name=f"Next: {STORIES[story.next].title}")).to_be_visible()


def test_every_story_has_something_to_do_at_each_of_its_steps():
    assert {key: len(done) for key, done in DONE.items()} == {key: len(story.steps) for key, story in STORIES.items()}
    assert all(actions for done in DONE.values() for actions in done)


def banner(screen: AppScreen) -> Locator:
    return screen.page.locator(".st-key-story")


def outside(screen: AppScreen, parts: Locator) -> Locator:
    """Return those that are not in the banner, which names what is on the page."""
    return parts.locator("xpath=self::*[not(ancestor::*[contains(@class, 'st-key-over')])]")


def came_to(screen: AppScreen, step: Step) -> None:
    expect(banner(screen)).to_contain_text(step.say)
    title = screen.main.get_by_role("heading", level=1, name=title_of(step.page), exact=True)
    expect(title).to_be_attached()
    expect(screen.main.locator("h2").first).to_be_attached()


def guess(screen: AppScreen, question: Guess) -> None:
    """Guess; what tells the answer is covered until then, and seen from then on."""
    quantity = QUANTITIES[question.quantity]
    for key in [FOLDED[part].replace(".", "-") for part in quantity.answer_parts[:1] if part in FOLDED]:
        closed = screen.main.locator(f".st-key-{key} details:not([open]) > summary")
        if closed.count():
            closed.click()
    parts = [screen.main.locator(f".st-key-{part} > :not(:has(> .stEmpty))").first for part in quantity.answer_parts]
    expect(parts[0]).to_be_attached()
    covered = [part for part in parts if part.count()]  # what is further down is not there at every setting
    for part in covered:
        expect(part).to_have_css("visibility", "hidden")
    if quantity.options:
        banner(screen).get_by_role("radiogroup").get_by_text(quantity.options[0], exact=True).click()
    else:
        box = banner(screen).get_by_role("textbox", name="Your guess")
        box.fill("12.5")
        box.press("Enter")
    expect(banner(screen)).to_contain_text(re.compile("You guessed .*(answer is|is correct)"))
    for part in covered:
        expect(part).to_have_css("visibility", "visible")
    expect(screen.main.locator(f".st-key-{quantity.answer_parts[0]}").first).to_be_visible()
