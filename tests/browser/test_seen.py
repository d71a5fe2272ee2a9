"""What people who see little, see other colours, or hear a page have of it: every page, in the light and in the dark.

axe-core looks at each page where it stands, without asking anybody; what it does not look at follows by hand: texts
inside pictures, names that two buttons share, formulas read aloud, and whether the keyboard's place can be seen.
"""

from collections import Counter
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_screen import title_of
from tests.browser.first_screen import WITH_A_SLIDER, hidden_on_the_first_screen
from tests.browser.serving import streamlit_server, usual_window
from tests.pages.conftest import PAGES

pytestmark = pytest.mark.browser

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
RULES = {"resultTypes": ["violations"], "preload": False, "rules": {"heading-order": {"enabled": True}}}
COLOURS = {"resultTypes": ["violations"], "preload": False, "runOnly": ["color-contrast"]}
GRAVE = ("serious", "critical")

SHARED_NAMES = {
    ":is([data-testid=stSelectbox], [data-testid=stMultiSelect]) button[aria-haspopup=listbox][tabindex='-1']": (
        "Streamlit calls the arrow of every list “Open”; the keyboard and a screen reader use the list itself"
    ),
}
"""Buttons of Streamlit's own whose names no option changes, by selector, with the reason."""

EVERY = """
  const within = (root, selector) => [...root.querySelectorAll("*")].flatMap((element) => [
    ...(element.shadowRoot ? within(element.shadowRoot, selector) : []),
    ...(element.matches(selector) ? [element] : []),
  ]);
  const every = (selector) => within(document, selector);
"""
"""What a page has that fits a selector, in the parts of our own components too."""

BUTTONS = (
    f"""(selectors) => {{{EVERY}"""
    + """
  const theirs = (element) => selectors.some((selector) => element.matches(selector));
  const name = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim();
  const open = every("button, [role=button]").filter((element) => !element.disabled);
  const seen = open.filter((element) => element.checkVisibility({ visibilityProperty: true }));
  return seen.map((element) => [name(element), theirs(element)]);
}"""
)

PALE_IN_CHARTS = (
    f"""() => {{{EVERY}"""
    + """
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c <= 10.3 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const pale = [];
  for (const chart of every(".dpbayes-board .chart")) {
    const ground = numbers(getComputedStyle(chart).backgroundColor);
    for (const text of chart.querySelectorAll("text")) {
      if (!text.textContent.trim() || !text.checkVisibility()) continue;
      const style = getComputedStyle(text);
      const [r, g, b, alpha = 1] = numbers(style.fill);
      const opacity = alpha * style.fillOpacity * style.opacity;
      const ink = [r, g, b].map((c, i) => c * opacity + ground[i] * (1 - opacity));
      const [low, high] = [light(ink), light(ground)].sort((a, b) => a - b);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) pale.push(`${text.textContent}: ${ratio.toFixed(2)}`);
    }
  }
  return pale;
}"""
)

UNSEEN_FOCUS = (
    f"""async () => {{{EVERY}"""
    + """
  const still = async () => {
    await new Promise((go) => setTimeout(go));  // some of Streamlit's parts draw their ring themselves
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  };
  const looks = ["outline", "outlineOffset", "boxShadow", "borderColor", "backgroundColor", "textDecorationLine"];
  const look = (element) => {
    const shown = [];
    for (let at = element, i = 0; at && i < 4; i += 1, at = at.parentElement ?? at.getRootNode().host) {
      for (const part of ["", "::before", "::after"]) {
        const style = getComputedStyle(at, part || null);
        shown.push(...looks.map((name) => style[name]));
      }
      const box = at.getBoundingClientRect();
      if (i === 0) shown.push(box.width, box.height);
    }
    for (const next of element.parentElement?.children ?? []) {
      const style = getComputedStyle(next);  // a bubble that shows the number, a switch beside its hidden box
      shown.push(style.boxShadow, style.outline, style.display);
    }
    for (const stroke of element.querySelectorAll(".ring, .hit")) {  // of what is drawn on the Network page
      shown.push(getComputedStyle(stroke).stroke, getComputedStyle(stroke).strokeOpacity);
    }
    return shown.join("|");
  };
  const open = every("a[href], button, input, select, textarea, summary, [tabindex]").filter((e) => !e.disabled);
  const reach = open.filter((e) => e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }));
  const unseen = [];
  for (const element of reach) {
    element.blur();
    await still();
    const before = look(element);
    element.focus({ preventScroll: true });
    if (element.matches("canvas")) continue;  // Streamlit's tables draw the ring around a cell themselves
    const focused = element.getRootNode().activeElement === element;
    await still();
    const shown = element.matches("button") ? element.checkVisibility({ opacityProperty: true }) : true;
    if (focused && (!shown || look(element) === before)) unseen.push(element.outerHTML.slice(0, 160));
    element.blur();
  }
  return unseen;
}"""
)


def test_every_page_with_a_slider_is_looked_at() -> None:
    assert set(WITH_A_SLIDER) <= {title_of(place) for place in places()}


def places() -> list[str]:
    """Return the address of every page."""
    return [page.removeprefix("pages/").removesuffix(".py").replace("home", "") for page in PAGES]


def grave(page: Page, options: dict[str, Any]) -> list[str]:
    """Return what axe finds on the page that keeps people from using it, and headings out of their order."""
    violations = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary']}"
        for rule in violations
        if rule["impact"] in GRAVE or rule["id"] == "heading-order"
        for node in rule["nodes"]
    ]


def darken(page: Page) -> None:
    """Turn the page's theme, and wait until its colours have changed and stand."""
    light = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    expect(page.locator(".stApp")).not_to_have_css("background-color", light)
    page.wait_for_function("() => document.getAnimations().every((one) => one.playState !== 'running')")


def button_names(page: Page, selectors: Collection[str]) -> list[tuple[str, bool]]:
    """Return the name of each button that is there, and whether a selector excepts it."""
    return [(name, excepted) for name, excepted in page.evaluate(BUTTONS, list(selectors))]


@pytest.mark.parametrize("place", places())
def test_a_page_can_be_read_heard_and_walked_by_everyone(visit, place: str) -> None:
    screen = visit(place)
    page = screen.page
    screen.settle()  # a button gets its name some time after it is there
    if title_of(place) in WITH_A_SLIDER:
        assert hidden_on_the_first_screen(screen) == [], "nothing has to be scrolled for"
    names = button_names(page, SHARED_NAMES)
    assert not any(name.startswith("Share chart") for name, _ in names), "no chart is sent to another machine"
    own = Counter(name for name, theirs in names if not theirs)
    assert [name for name, count in own.items() if count > 1 or not name] == []
    labels = page.locator("[aria-label]").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert [label for label in [*labels, *own] if "$" in label or "\\" in label] == []
    page.evaluate(AXE)
    assert grave(page, RULES) == []
    assert page.evaluate(PALE_IN_CHARTS) == []
    page.keyboard.press("Tab")
    assert page.evaluate(UNSEEN_FOCUS) == []
    darken(page)
    assert grave(page, COLOURS) == []
    assert page.evaluate(PALE_IN_CHARTS) == []


def test_streamlits_own_names_are_still_shared(visit) -> None:
    page = visit("data").page
    for selector in SHARED_NAMES:
        expect(page.locator(selector).nth(1)).to_be_attached()
        names = Counter(name for name, excepted in button_names(page, [selector]) if excepted)
        assert max(names.values()) > 1, "the exception is no longer needed"


def test_the_theme_is_chosen_in_the_menu_at_the_top(visit) -> None:
    page = visit("explore").page
    text = page.locator(".dpbayes-board .xtick text").first
    light = text.evaluate("node => node.style.fill")
    page.get_by_role("button", name="Main menu").click()
    for theme in ("System", "Light", "Dark"):
        expect(page.get_by_role("menuitemradio", name=theme)).to_be_visible()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(text).not_to_have_css("fill", light)


def test_coloured_text_and_sentences_on_coloured_ground_can_be_read() -> None:
    with streamlit_server(Path(__file__).with_name("seen_app.py")) as address, usual_window() as page:
        page.goto(address)
        page.get_by_role("link", name="Elsewhere").wait_for()
        page.evaluate(AXE)
        assert grave(page, COLOURS) == []
        darken(page)
        assert grave(page, COLOURS) == []
