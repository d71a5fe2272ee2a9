"""The whole app as the browser stories see and touch it."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.dag_editor_screen import Screen
from tests.browser.serving import ROOT, SLOW_MS, chromium, usual_window

APP = ROOT / "app.py"
TITLES = {"": "Home"}
"""The titles of pages by their place in the address, where the place does not say it."""


def title_of(place: str) -> str:
    """Return the title of the page at this place in the address."""
    return TITLES.get(place, place.replace("_", " ").capitalize())


def place_of(title: str) -> str:
    """Return the place in the address of the page with this title."""
    places = {name: place for place, name in TITLES.items()}
    return places.get(title, title.replace(" ", "_").lower())


QUIET = """([quiet, most]) => new Promise(tell => {
    const start = performance.now();
    let last = start;
    const look = () => {
        const now = performance.now();
        if (document.querySelector("[data-test-script-state=running]")) last = now;
        if (now - last >= quiet) tell(true);
        else if (now - start >= most) tell(false);
        else setTimeout(look, 10);
    };
    look();
})"""
"""Whether no script ran for `quiet` milliseconds on end, within `most`."""


DONE = """() => [...document.querySelectorAll("[role=progressbar]")].map(
    (bar) => bar.getAttribute("aria-valuenow")).join()"""
"""How far each piece of work is that goes on, as its bar says; empty without one."""

CHANGES = """() => new Promise(tell => {
    let changes = 0;
    const watch = new MutationObserver((all) => (changes += all.length));
    watch.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
    setTimeout(() => { watch.disconnect(); tell(changes); }, 2000);
})"""
"""How much changes in two seconds: a page that runs over and over changes, one that was forgotten does not."""


class AppScreen(Screen):
    """What a person sees and does in the app; the editor's gestures come from `Screen`."""

    def settle(self, quiet_ms: int = 250) -> None:
        """Wait until the server has had nothing to say for a while, as the browser itself sees it.

        Work that gets further within `SLOW_MS` is waited for: a busy machine takes minutes for some of it.
        """
        before = {""}
        while not self.page.evaluate(QUIET, [quiet_ms, SLOW_MS]):
            if (done := self.page.evaluate(DONE)) not in before:
                before.add(done)
                continue
            changes = self.page.evaluate(CHANGES)
            raise AssertionError(f"the page never came to rest: {changes} changes in two seconds at {self.page.url}")

    def go(self, title: str) -> None:
        """Turn to a page by its name in the navigation."""
        self.page.get_by_test_id("stTopNavLink").get_by_text(title, exact=True).click()
        self.arrived(title)

    def arrived(self, title: str) -> None:
        """Wait for a page to be there in full."""
        heading = "dpbayes" if title == "Home" else title
        expect(self.main.get_by_role("heading", level=1, name=heading, exact=True)).to_be_visible()
        expect(self.headline).to_be_visible()
        if title == "Explore":
            expect(self.page.locator(".dpbayes-board[data-stop]")).to_be_visible()
        if title == "Network":
            world = self.page.locator(".dag .world")
            expect(world.last).to_be_visible()
            expect(world).to_have_count(1)  # for a moment there may be two: the one before goes later
        self.settle()

    def unfold(self, title: str) -> None:
        """Open a part of the page that is closed, and wait for what is in it."""
        self.main.locator("summary").get_by_text(title, exact=True).click()
        self.settle()

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def headline(self) -> Locator:
        return self.main.get_by_role("heading", level=2).first

    @property
    def warnings(self) -> Locator:
        return self.main.get_by_test_id("stAlert")

    def chart(self, key: str) -> Locator:
        """Return a chart by its key; "density" is the large picture of a board."""
        place = ".panel:first-child" if key == "density" else f".st-key-{key}"
        return self.page.locator(f"{place} .js-plotly-plot")

    def curves(self, key: str = "density") -> list[str]:
        """Return the drawn paths of a chart's lines."""
        return self.chart(key).locator(".scatterlayer path.js-line").evaluate_all("all => all.map(p => p.outerHTML)")

    def until_curves_differ(self, before: list[str]) -> list[str]:
        for _ in range(SLOW_MS // 50):
            if (curves := self.curves()) and curves != before:
                return curves
            self.page.wait_for_timeout(50)
        raise AssertionError("the chart never changed")

    def legend(self, key: str = "density") -> list[str]:
        return self.chart(key).locator(".legendtext").all_text_contents()

    def metric(self, label: str) -> Locator:
        return self.page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")

    def option(self, name: str) -> Locator:
        """Return one of a few buttons of which one is down."""
        return self.page.get_by_role("radio", name=name, exact=True)

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider")

    @property
    def epsilon_box(self) -> Locator:
        return self.page.get_by_role("textbox", name=re.compile("^(epsilon|Privacy loss ε) as a number$"))

    def type_epsilon(self, text: str) -> None:
        self.epsilon_box.fill(text)
        self.epsilon_box.press("Enter")

    def shared_link(self) -> str:
        self.button("Share").click()
        code = self.page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first
        expect(code).to_be_visible()
        self.settle()
        text = code.inner_text().strip()
        self.press("Escape")
        return text

    def table_cells(self, place: int) -> list[str]:
        """Return the texts of one of the page's visible tables, which are painted: only the browser's tree has them."""
        table = self.main.locator("[data-testid=stDataFrame]:visible").nth(place)
        table.scroll_into_view_if_needed()
        cells = table.locator("[role=gridcell]")
        expect(cells.first).to_be_attached()
        return cells.all_text_contents()

    def load_own(self, name: str, content: str) -> None:
        """From the Data page, load a table of one's own; wait for it to be there."""
        self.option("Upload").click()
        expect(self.headline).to_have_text("Bring a table of your own.")
        self.upload(name, content.encode())
        expect(self.headline).to_contain_text(name)
        self.settle()

    def upload(self, name: str, content: bytes) -> None:
        self.main.locator("input[type=file]").first.set_input_files(
            [{"name": name, "mimeType": "text/csv", "buffer": content}]
        )


Visit = Callable[..., AppScreen]
"""Open an address of the app in a browser of its own: `visit("explore?epsilon=2", color_scheme="dark")`."""


@contextmanager
def visits(url: str) -> Iterator[Visit]:
    """Yield what opens the app at an address, from the second time on as another person would.

    In the end nothing has failed in the browser or left the machine.
    """
    pages: list[Page] = []
    with ExitStack() as stack:

        def visit(path: str, **context: Any) -> AppScreen:
            page = stack.enter_context(chromium(**context) if pages else usual_window(**context))
            pages.append(page)
            page.goto(path if path.startswith("http") else f"{url}/{path}")
            screen = AppScreen(page)
            name = page.url.removeprefix(url).strip("/").partition("?")[0]
            screen.arrived(title_of(name))
            return screen

        yield visit
        for page in pages:
            assert page.external == []
            assert page.errors == []
