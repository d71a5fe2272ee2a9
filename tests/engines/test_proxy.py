"""Two processes of the dashboard behind nginx, with one ledger, as docs/serving.md describes them.

The last test kills a process and starts it again.
"""

import os
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from http.cookiejar import CookieJar

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from dpbayes.releases import ledger
from dpbayes.ui.pages.explore.make import UNSEEN
from dpbayes.ui.session.roles import REFUSALS, Act
from tests.browser.serving import ROOT, wait_for
from tests.engines.proxied import NGINX, Site, end, environment, proxied
from tests.wire import SILENCE_S, button, connected, run, sent_file, texts, widget

pytestmark = pytest.mark.engines

COOKIE = "dpbayes_process"
DATASET = "orchard-9"
NO_LEDGER = REFUSALS[Act.READ_LEDGER]
VISITORS = 6
MANY = 1000
"""More messages than a page sends after it is drawn."""


@dataclass
class Browser:
    """A browser of one person: it keeps cookies, and opens pages at an address."""

    url: str
    cookies: CookieJar = field(default_factory=CookieJar)

    def open(self, place: str = "/") -> str:
        """Open an address, follow where it leads, and return the text."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        with opener.open(f"{self.url}{place}", timeout=SILENCE_S) as answer:
            return str(answer.read().decode())

    def cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == name), "")

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.cookies)}

    @contextmanager
    def page(self) -> Iterator[ClientConnection]:
        """Connect as an open page does, which first waits for the server to answer."""
        self.open("/_stcore/health")
        with connected(self.url, self.headers) as wire:
            yield wire

    def upload(self, wire: ClientConnection) -> int:
        """Upload a file for the session of an open page, by a request of its own; return the status of the answer."""
        return sent_file(self.url, wire, b"a\n1\n", self.headers)[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if NGINX is None:
        pytest.skip("nginx is not installed: run `make engines` as root, or install the package nginx")
    folder = tmp_path_factory.mktemp("site")
    path = folder / "ledger.sqlite"
    ledger.open_dataset(path, DATASET, Fraction(1), reason="The board's decision of May.")
    with proxied(folder, path) as running:
        yield running


def opened_in(site: Site, process: str, place: str = "/") -> Browser:
    """Return a new browser whose cookie names this process."""
    for _ in range(4):
        browser = Browser(site.url)
        browser.open(place)
        if browser.cookie(COOKIE) == process:
            return browser
    raise AssertionError(f"No browser was sent to process {process}.")


def test_visitors_are_spread_and_each_stays_in_its_process(site: Site) -> None:
    with ExitStack() as stack:
        browsers = [Browser(site.url) for _ in range(VISITORS)]
        for browser in browsers:
            browser.open()
        first = [browser.cookie(COOKIE) for browser in browsers]
        assert Counter(first) == {"one": VISITORS // 2, "two": VISITORS // 2}
        wires = [stack.enter_context(browser.page()) for browser in browsers]
        for browser, wire in zip(browsers, wires, strict=True):
            assert "ε = 0.3" in texts(run(wire, "explore", {"epsilon": "0.3"}))
            assert browser.upload(wire) == 204, "the upload reached the process of the session"
        assert [browser.cookie(COOKIE) for browser in browsers] == first
        strayed = next(browser for browser in browsers if browser.cookie(COOKIE) == "one")
        for cookie in strayed.cookies:
            if cookie.name == COOKIE:
                cookie.value = "two"
        assert strayed.upload(wires[browsers.index(strayed)]) == 403, "the other process does not know the session"


@pytest.mark.parametrize("process", ["one", "two"])
def test_the_token_makes_a_curator_through_the_proxy(site: Site, process: str) -> None:
    curator = opened_in(site, process, f"/?token={site.token}")
    visitor = opened_in(site, process)
    with curator.page() as wire:
        assert f"{DATASET} has" in texts(run(wire, "ledger"))
    with visitor.page() as wire:
        sent = texts(run(wire, "ledger"))
    assert NO_LEDGER in sent
    assert DATASET not in sent
    with pytest.raises(urllib.error.HTTPError, match="403"):
        Browser(site.url).open("/?token=another-token-of-this-length")


@pytest.mark.parametrize(("host", "is_accepted"), [("class.example", True), ("other.example", False)])
def test_the_server_sees_the_name_under_which_it_is_reached(site: Site, host: str, *, is_accepted: bool) -> None:
    port = int(site.url.rpartition(":")[2])
    page, own = f"{host}:{port}", socket.create_connection(("127.0.0.1", port))
    expected = nullcontext() if is_accepted else pytest.raises(InvalidStatus, match="HTTP 4")
    with closing(own), expected, connect(f"ws://{page}/_stcore/stream", sock=own, origin=Origin(f"http://{page}")):
        pass


def test_the_last_epsilon_is_spent_once(site: Site) -> None:
    """Both curators press the button at the same time; each release fits alone, and both do not fit together."""
    amounts, said, start = {"one": "0.6", "two": "0.7"}, dict[str, str](), threading.Barrier(2)
    # One after the other: nginx takes turns, and two that come at once may each get the other's process every time.
    browsers = {process: opened_in(site, process, f"/?token={site.token}") for process in amounts}

    def spend(process: str) -> None:
        query = {"epsilon": amounts[process]}
        with browsers[process].page() as wire:
            opened = [widget(run(wire, "explore", query), "Make this release")]
            opened.append(widget(run(wire, "explore", query, checked=opened), UNSEEN))
            sent = run(wire, "explore", query, checked=opened)
            make = button(sent, f"Make release and spend ε = {amounts[process]}")
            start.wait(SILENCE_S)
            said[process] = texts(run(wire, "explore", query, checked=opened, pressed=make))

    threads = [threading.Thread(target=spend, args=(process,)) for process in amounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (charged,) = (process for process in amounts if "The release is valid" in said[process])
    (refused,) = amounts.keys() - {charged}
    assert f'The budget of "{DATASET}" has 0.' in said[refused]
    (spending,) = ledger.spendings(site.ledger, DATASET)
    assert spending.release is not None
    assert ledger.account_of(site.ledger, DATASET).spent == Fraction(amounts[charged])
    ledger.check(site.ledger)


def _listen(wire: ClientConnection) -> None:
    """Receive what the server still sends. Errors: ConnectionClosed where it ends the connection."""
    for _ in range(MANY):
        wire.recv(timeout=SILENCE_S)


def test_visitors_of_a_killed_process_go_on_in_the_other(site: Site) -> None:
    with ExitStack() as stack:
        lost, stays = opened_in(site, "one", f"/?token={site.token}"), opened_in(site, "two")
        broken, kept = (stack.enter_context(browser.page()) for browser in (lost, stays))
        for wire in (broken, kept):
            run(wire, "explore")
        os.kill(site.pids["one"], signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            _listen(broken)
        assert NO_LEDGER in texts(run(kept, "ledger"))
        again = stack.enter_context(lost.page())
        assert "ε = 0.3" in texts(run(again, "explore", {"epsilon": "0.3"}))
        assert f"{DATASET} has" in texts(run(again, "ledger"))
        assert lost.cookie(COOKIE) == "two"
        assert lost.upload(again) == 204
        command = site.commands["one"].removesuffix("&").split()
        back = subprocess.Popen(command, cwd=ROOT, env=environment() | site.environment, start_new_session=True)
        stack.callback(end, back)
        assert wait_for(back, site.urls["one"])
        assert lost.upload(again) == 204, "the browser stays where its session is"
        assert opened_in(site, "one").cookie(COOKIE) == "one", "new browsers get the process that is back"
