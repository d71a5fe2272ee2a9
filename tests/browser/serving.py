"""Start a Streamlit app on a free port, and open pages in Chromium that remember what they asked for."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from dpbayes.ui.session.roles import TOKEN, cookie_name

ROOT = Path(__file__).parents[2]
CHROMIUMS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
"""Debian's, the cheapest first: the same engine without what a window needs."""

CHROMIUM = os.environ.get("CHROMIUM") or next((path for path in CHROMIUMS if Path(path).exists()), CHROMIUMS[-1])
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
PATIENCE_S = 90
SLOW_MS = 60_000
"""Longest wait for anything that a page is to show: a machine that tests other things too takes its time."""

CURATORS = "the-token-of-all-servers-of-tests"
"""The token that the tests' servers have; the browsers of the tests know it, unless they are to be visitors."""


@contextmanager
def streamlit_server(app: Path | str, *args: str) -> Iterator[str]:
    """Serve `app` for as long as the block lasts and yield its address."""
    with streamlit_process(app, *args) as (url, _):
        yield url


@contextmanager
def streamlit_process(app: Path | str, *args: str, cwd: Path = ROOT) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve `app` with the configuration of folder `cwd`; yield its address and its process."""
    port = str(free_port())
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", port, "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1"]
    command += ["--browser.gatherUsageStats", "false", *args]
    with server_process(command, f"http://127.0.0.1:{port}", cwd=cwd, path=ROOT) as server:
        yield f"http://127.0.0.1:{port}", server


@contextmanager
def dashboard_process(port: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve the dashboard as `make run` does; yield its address and its process."""
    command = [sys.executable, "-m", "dpbayes", "--port", str(port)]
    with server_process(command, f"http://127.0.0.1:{port}", cwd=ROOT, path=ROOT) as server:
        yield f"http://127.0.0.1:{port}", server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server_process(command: list[str], url: str, *, cwd: Path, path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server from folder `cwd`, with Python's modules of folder `path`, and yield its process once it answers."""
    # Streamlit puts the app's own folder on the path; an app among the tests also needs the project's.
    environment = {**os.environ, "PYTHONPATH": str(path), TOKEN: CURATORS}
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=cwd, env=environment)
        try:
            if not wait_for(server, url):
                log.seek(0)
                raise RuntimeError(log.read())
            _addresses.append(url)
            for context in (context for browser in _running for context in browser.contexts):
                become_curator(context)
            yield server
        finally:
            _addresses[:] = [address for address in _addresses if address != url]
            _stop(server)


_addresses: list[str] = []
"""The servers that run."""

VISITORS: set[BrowserContext] = set()
"""Browsers whose person has not got the token."""


def become_curator(context: BrowserContext) -> None:
    """Give a browser the cookies by which its person is the curator of all servers that run."""
    if context not in VISITORS:
        for url in _addresses:
            name = cookie_name(url.rpartition("/")[2])
            context.add_cookies([{"name": name, "value": CURATORS, "url": url, "httpOnly": True, "sameSite": "Strict"}])


def wait_for(server: subprocess.Popen[Any], url: str) -> bool:
    """Wait until a server answers; return False where it has ended instead."""
    deadline = time.monotonic() + PATIENCE_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.02)
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


_running: list[Browser] = []
_usual: list[Page] = []
SIZE: ViewportSize = {"width": 1440, "height": 900}


@contextmanager
def one_browser() -> Iterator[Browser]:
    """Start Chromium, or take the one that an outer block has started: a start takes longer than a page."""
    if _running:
        yield _running[0]
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        _running.append(browser)
        expect.set_options(timeout=SLOW_MS)
        try:
            yield browser
        finally:
            _running.clear()
            _usual.clear()
            browser.close()


@contextmanager
def chromium(**context: Any) -> Iterator[Page]:
    """Yield a page; `page.external` lists requests that left this machine, `page.errors` script errors."""
    with one_browser() as browser:
        page = watched_page(browser, **context)
        try:
            yield page
        finally:
            page.context.close()


@contextmanager
def usual_window(*, viewport: ViewportSize = SIZE, color_scheme: Literal["light", "dark"] = "light") -> Iterator[Page]:
    """Yield a page as `chromium` does, but the one page for all: it has the app's scripts, and nothing else is left.

    Reading the scripts anew takes a browser longer than most pages take, and so does compiling them in a new window.
    Its person wants little motion: else the sign that the server works is painted sixty times a second.
    """
    with one_browser() as browser:
        page = _usual.pop() if _usual else watched_page(browser)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")
        page.external, page.errors = [], []
        become_curator(page.context)
        try:
            yield page
        finally:
            forget(page)
            page.goto("about:blank")
            _usual.append(page)


def forget(page: Page) -> None:
    """Remove all that the page's origin has stored in the browser, but for what it has read."""
    stored = {"origin": "/".join(page.url.split("/")[:3]), "storageTypes": "cookies,local_storage,indexeddb"}
    wire = page.context.new_cdp_session(page)
    wire.send("Storage.clearDataForOrigin", stored)
    wire.detach()
    if page.url.startswith("http"):  # what lasts as long as the window
        page.evaluate("() => sessionStorage.clear()")


def watched_page(browser: Browser, **context: Any) -> Page:
    """Return a page in a context of its own, as another person's browser would have, that remembers what it asked."""
    context.setdefault("viewport", SIZE)
    is_curator = context.pop("is_curator", True)
    opened = browser.new_context(**context)
    opened.set_default_timeout(SLOW_MS)
    if is_curator:
        become_curator(opened)
    else:
        VISITORS.add(opened)
    return watched(opened.new_page())


def watched(page: Page) -> Page:
    """Return the page, which from now on remembers what it asks of others, and what fails."""
    page.external, page.errors = [], []
    page.on("request", lambda r: None if r.url.startswith(LOCAL) else page.external.append(r.url))
    page.on("websocket", lambda s: None if s.url.startswith(LOCAL) else page.external.append(s.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page
