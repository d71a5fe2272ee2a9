"""Two processes of the dashboard behind nginx, with one ledger in PostgreSQL, as docs/serving.md describes them.

The commands and the configuration are read from the document. The tests replace the interpreter, the ports and the
address of the database, and nothing else. The last test kills a process and starts it again.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from http.client import HTTPConnection
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from dpbayes.releases import ledger
from dpbayes.ui.pages.explore.make import UNSEEN
from dpbayes.ui.session.roles import REFUSALS, Act
from tests.browser.serving import ROOT, free_port, wait_for
from tests.engines.servers import Postgres
from tests.releases.ledger.places import database
from tests.test_docs import TEXTS, blocks
from tests.wire import SILENCE_S, button, connected, run, texts

pytestmark = pytest.mark.engines

NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
SECTION = TEXTS["docs/serving.md"].partition("## More than one process")[2].partition("\n## ")[0]
PORTS = {"one": "8701", "two": "8702", "proxy": "8600"}
"""The ports in the document."""

COOKIE = "dpbayes_process"
DATASET = "orchard-9"
NO_LEDGER = REFUSALS[Act.READ_LEDGER]
VISITORS = 6
PATIENCE_S = 60
MANY = 1000
"""More messages than a page sends after it is drawn."""


@dataclass(frozen=True)
class Site:
    """The proxy and the processes behind it; `pids` changes when a process is started again."""

    url: str
    token: str
    ledger: Path
    commands: dict[str, str]
    environment: dict[str, str]
    urls: dict[str, str]
    pids: dict[str, int]


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
        message = BackMsg()
        message.file_urls_request.request_id = "upload"
        message.file_urls_request.file_names.append("a.csv")
        wire.send(message.SerializeToString())
        while True:
            content = wire.recv(timeout=SILENCE_S)
            assert isinstance(content, bytes)
            answer = ForwardMsg.FromString(content)
            if answer.WhichOneof("type") == "file_urls_response":
                (place,) = answer.file_urls_response.file_urls
                break
        body = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\na\n1\n\r\n--b--\r\n'
        headers = {"Content-Type": "multipart/form-data; boundary=b", "X-Xsrftoken": self.cookie("_streamlit_xsrf")}
        with closing(HTTPConnection(self.url.partition("//")[2], timeout=SILENCE_S)) as connection:
            connection.request("PUT", place.upload_url, body, headers | self.headers)
            return connection.getresponse().status


def as_in_the_document(text: str, ports: dict[str, str], address: str) -> str:
    """Return a text of the document with other ports, another database and this interpreter."""
    text = text.replace(f"listen {PORTS['proxy']}", f"listen 127.0.0.1:{ports['proxy']}")
    for name in ("one", "two"):
        assert PORTS[name] in text
        text = text.replace(PORTS[name], ports[name])
    text = re.sub(r"postgresql://\S+", lambda _: address, text)
    return text.replace(".venv/bin/python", sys.executable)


@pytest.fixture(scope="module")
def site(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if NGINX is None:
        pytest.skip("nginx is not installed: run `make engines` as root, or install the package nginx")
    folder, path = tmp_path_factory.mktemp("site"), database(server)
    ledger.open_dataset(path, DATASET, Fraction(1), reason="The board's decision of May.")
    ports = {name: str(free_port()) for name in PORTS}
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    (commands,) = (as_in_the_document(text, ports, ledger.place_text(path)) for text in blocks(SECTION, "sh"))
    (configuration,) = (as_in_the_document(text, ports, "") for text in blocks(SECTION, "nginx"))
    with ExitStack() as stack:
        token, pids = _started(folder, commands, stack)
        _start_nginx(folder, configuration, urls["proxy"], stack)
        lines = {name: line for name in pids for line in commands.splitlines() if ports[name] in line}
        environment = {"DPBAYES_TOKEN": token, "DPBAYES_LEDGER": ledger.place_text(path)}
        yield Site(urls.pop("proxy"), token, path, lines, environment, urls, pids)


def _started(folder: Path, commands: str, stack: ExitStack) -> tuple[str, dict[str, int]]:
    """Run the commands of the document in a shell; return the token and the ids of the processes."""
    say = f"jobs -p > {folder}/pids.part; printenv DPBAYES_TOKEN > {folder}/token; mv {folder}/pids.part {folder}/pids"
    log = stack.enter_context((folder / "log").open("w"))
    command = ["bash", "-c", f"{commands}\n{say}\nwait"]
    shell = subprocess.Popen(command, cwd=ROOT, env=_path(), stdout=log, stderr=log, start_new_session=True)
    stack.callback(_end, shell)
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "pids").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    pids = dict(zip(("one", "two"), map(int, (folder / "pids").read_text().split()), strict=True))
    ports = dict(zip(pids, re.findall(r"--port (\d+)", commands), strict=True))
    for name in pids:
        assert wait_for(shell, f"http://127.0.0.1:{ports[name]}"), (folder / "log").read_text()
    return (folder / "token").read_text().strip(), pids


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that began a session of its own, and what it has started."""
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(PATIENCE_S)


def _start_nginx(folder: Path, configuration: str, url: str, stack: ExitStack) -> None:
    """Start nginx with the document's configuration, where Debian's main file includes it."""
    (folder / "dashboard.conf").write_text(configuration, encoding="utf-8")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    owner = "user root;\n" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{owner}daemon off;\npid {folder}/nginx.pid;\nevents {{}}\n"
        f"http {{\n  access_log off;\n{paths}  include {folder}/dashboard.conf;\n}}\n",
        encoding="utf-8",
    )
    assert NGINX is not None
    command = [NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    nginx = subprocess.Popen(command, start_new_session=True)
    stack.callback(_end, nginx)
    assert wait_for(nginx, url), (folder / "error.log").read_text()


def widget(messages: list[ForwardMsg], label: str) -> str:
    """Return the id of the box or of the expander whose label begins so."""
    parts: list[Message] = [message.delta.new_element.checkbox for message in messages]
    parts += [message.delta.add_block.expandable for message in messages]
    return next(str(part.id) for part in parts if part.label.startswith(label))


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


@pytest.mark.parametrize(("host", "is_known"), [("class.example", True), ("other.example", False)])
def test_the_server_sees_the_name_under_which_it_is_reached(site: Site, host: str, *, is_known: bool) -> None:
    port = int(site.url.rpartition(":")[2])
    page, own = f"{host}:{port}", socket.create_connection(("127.0.0.1", port))
    expected = nullcontext() if is_known else pytest.raises(InvalidStatus, match="HTTP 4")
    with closing(own), expected, connect(f"ws://{page}/_stcore/stream", sock=own, origin=Origin(f"http://{page}")):
        pass


def test_the_last_epsilon_is_spent_once(site: Site) -> None:
    """Both curators press the button at the same time; each release fits alone, and both do not fit together."""
    amounts, said, start = {"one": "0.6", "two": "0.7"}, dict[str, str](), threading.Barrier(2)

    def spend(process: str) -> None:
        query = {"epsilon": amounts[process]}
        with opened_in(site, process, f"/?token={site.token}").page() as wire:
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
    (made,) = (process for process in amounts if "The release is valid" in said[process])
    (refused,) = amounts.keys() - {made}
    assert f'The budget of "{DATASET}" has 0.' in said[refused]
    (spending,) = ledger.spendings(site.ledger, DATASET)
    assert spending.release is not None
    assert ledger.account_of(site.ledger, DATASET).spent == Fraction(amounts[made])
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
        back = subprocess.Popen(command, cwd=ROOT, env=_path() | site.environment, start_new_session=True)
        stack.callback(_end, back)
        assert wait_for(back, site.urls["one"])
        assert lost.upload(again) == 204, "the browser stays where its session is"
        assert opened_in(site, "one").cookie(COOKIE) == "one", "new browsers get the process that is back"
