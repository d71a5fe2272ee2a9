"""What a visitor sees until the first chart, of a server that has just started."""

import itertools
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.app_screen import APP, AppScreen, title_of
from tests.browser.serving import ROOT, chromium, dashboard_process, free_port, streamlit_process

pytestmark = pytest.mark.browser

WATCH = """() => {
  window.seen = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const look = () => {
    const main = all("[data-testid=stMain]")[0];
    const now = {
      frame: main !== undefined,
      names: all("[data-testid^=stTopNav], [data-testid^=stSidebar]").map((part) => part.innerText).join("\\n"),
      faults: all("[data-testid=stException], [data-testid=stAlert]").map((part) => part.innerText).join(" "),
      empty: !main?.innerText.trim() && !all("[data-testid=stAppSkeleton], [data-testid=stSkeleton], .coming").length,
    };
    if (JSON.stringify(window.seen.at(-1)) !== JSON.stringify(now)) window.seen.push(now);
  };
  setInterval(look, 50);
}"""


def opened(page: Page, address: str) -> None:
    """Open an address, and look at what is seen there from the first moment on."""
    page.add_init_script(f"({WATCH})()")
    page.goto(address, wait_until="commit")


def seen(page: Page, until: str = ".cartesianlayer path") -> list[dict[str, Any]]:
    """Return the different views until the first chart and a moment after."""
    page.locator(until).first.wait_for(state="attached")
    page.wait_for_timeout(200)
    views: list[dict[str, Any]] = page.evaluate("window.seen")
    return views


SERVERS: dict[str, Callable[[], AbstractContextManager[tuple[str, subprocess.Popen[bytes]]]]] = {
    "make run": lambda: dashboard_process(free_port()),
    "streamlit run app.py": lambda: streamlit_process(APP),
}
FILES = sorted(file.stem for file in (ROOT / "pages").glob("*.py"))


def names_of_files(views: Sequence[dict[str, Any]]) -> set[str]:
    """Return what a navigation lists that is a file's name: `app`, or a page's in small letters."""
    listed = {line.strip() for view in views for line in view["names"].splitlines()}
    return listed & {form for name in ("app", *FILES) for form in (name, name.replace("_", " "))}


@pytest.mark.parametrize(("how", "place"), [("make run", "lab"), ("streamlit run app.py", "")])
def test_the_first_visitor_sees_no_names_of_files_and_no_empty_page(how: str, place: str) -> None:
    """Streamlit's frame stands alone until the first thing comes; from then on there is always something in it."""
    with SERVERS[how]() as (url, _), chromium() as page:
        opened(page, f"{url}/{place}")
        views = seen(page, "h2")
    assert names_of_files(views) == set()
    assert "Release" in views[-1]["names"], "the navigation was read"
    shown = list(itertools.dropwhile(lambda view: not view["frame"] or view["empty"], views))
    assert shown
    assert not any(view["empty"] for view in shown)


EARLY = ("explore", "proofs?epsilon=2", "network", "lab")


@pytest.mark.parametrize("how", SERVERS)
def test_whoever_comes_in_a_servers_first_seconds_finds_the_whole_app(how: str) -> None:
    """Several come while the first one's page is still being imported."""
    with SERVERS[how]() as (url, _), ExitStack() as stack:
        pages = []
        for place in EARLY:
            pages.append(stack.enter_context(chromium()))
            opened(pages[-1], f"{url}/{place}")
            time.sleep(0.1)
        for page, place in zip(pages, EARLY, strict=True):
            views = seen(page)
            assert [view["faults"] for view in views if view["faults"]] == []
            assert names_of_files(views) == set()
            AppScreen(page).arrived(title_of(place.partition("?")[0]))
            assert page.url == f"{url}/{place}", "with the settings of its link"
            assert page.errors == []
