"""Nobody but the visitor gets what is theirs: foreign names, foreign origins, frames, guessed addresses."""

import http.client
import itertools
import socket
from collections.abc import Iterator, Mapping
from urllib.request import urlopen

import pytest
import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from dpbayes.__main__ import main
from dpbayes.ui.server import security, serve, uploads
from dpbayes.ui.session.roles import UPLOADS, cookie_name
from tests.browser.serving import CURATORS, ROOT, dashboard_process, free_port, streamlit_process
from tests.wire import connected, cookies, made_file, run, sent_file

NO_MORE: Mapping[str, str] = {}
COUNTS = b"smoke,count\nyes,481\nno,519\n"


@pytest.fixture(scope="module", params=["python -m dpbayes", "streamlit run app.py"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    is_own = request.param == "python -m dpbayes"
    with dashboard_process(free_port()) if is_own else streamlit_process(ROOT / "app.py") as (address, _):
        yield address


SECURITY = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
SCRIPT = "/app/static/plotly-cartesian.min.js"
PATHS = ["/", "/explore", "/explore/", "//", "/_stcore/health", SCRIPT, "/media/none.csv", "/_stcore/upload_file/a/b"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers_of_security(url: str, path: str, method: str) -> None:
    wire = http.client.HTTPConnection(url.removeprefix("http://"))
    wire.request(method, path)
    answer = wire.getresponse()
    assert {name: answer.headers.get_all(name) for name in SECURITY} == {name: [SECURITY[name]] for name in SECURITY}
    wire.close()


def stream(url: str, *, host: str = "", origin: str = "", more: Mapping[str, str] = NO_MORE) -> Headers:
    """Open a connection as a page would that the browser found under `host`, and that came from `origin`.

    Returns how the answer begins. Errors: InvalidStatus where the connection is refused.
    """
    name, _, port = url.removeprefix("http://").partition(":")
    address = f"ws://{host or name}:{port}/_stcore/stream"
    with (
        socket.create_connection((name, int(port))) as way,
        connect(
            address,
            sock=way,
            origin=Origin(origin or f"http://{host or name}:{port}"),
            additional_headers=more,
            open_timeout=10,
        ) as wire,
    ):
        assert wire.response is not None
        return wire.response.headers


def refused(url: str, *, host: str = "", origin: str = "", more: Mapping[str, str] = NO_MORE) -> Headers:
    """Check that a connection is refused, and return how the answer begins."""
    with pytest.raises(InvalidStatus, match="403") as error:
        stream(url, host=host, origin=origin, more=more)
    assert error.value.response.body.decode() == security.FOREIGN
    return error.value.response.headers


def test_a_page_of_the_server_itself_is_answered(url: str) -> None:
    answer = stream(url)
    assert all(answer[name] == value for name, value in SECURITY.items())
    stream(url, host="localhost")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_a_foreign_name_that_is_mapped_to_this_computer_is_refused(url: str, host: str) -> None:
    answer = refused(url, host=host)
    assert all(answer[name] == value for name, value in SECURITY.items())


def test_a_proxy_uses_any_name_unless_the_server_names_its_own(url: str, request: pytest.FixtureRequest) -> None:
    proxy = {"X-Forwarded-For": "192.0.2.7"}
    if "streamlit run" in request.node.callspec.id:
        stream(url, host="class.example", more=proxy)
    else:
        refused(url, host="class.example", more=proxy)


@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", ""])
def test_a_foreign_name_is_refused_only_to_this_computer(monkeypatch: pytest.MonkeyPatch, client: str) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: [])
    scope = {"headers": [(b"host", b"dpbayes.example:8501")], "client": (client, 4000)}
    assert security._is_rebound(scope) is (client in {"127.0.0.1", "::1", "::ffff:127.0.0.1"})
    for name in (b"localhost:8501", b"127.0.0.1", b"[::1]:8501"):
        assert not security._is_rebound({**scope, "headers": [(b"host", name)]})


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1", "http://localhost:8888", "https://evil.example", "null"])
def test_a_page_of_another_port_or_place_is_refused(url: str, origin: str) -> None:
    answer = refused(url, origin=origin)
    assert all(answer[name] == value for name, value in SECURITY.items())


def test_a_class_finds_the_server_under_its_address_and_the_names_that_were_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words: list[str] = []
    monkeypatch.setenv(UPLOADS, "")  # a class sets it, and servers of later tests would have it
    monkeypatch.setattr(serve, "serve", lambda port, where: words.extend(where))
    monkeypatch.setattr(serve, "checked_address", lambda: "10.1.2.3")
    port = str(free_port())
    assert main(["--class", "--port", port, "--host", "class.example"]) == 0
    allowed = [name for option, name in itertools.pairwise(words) if option == "--server.allowedHosts"]
    assert allowed == ["127.0.0.1", "localhost", "10.1.2.3", "class.example"]


def test_a_visitor_without_the_right_to_upload_sends_no_file(url: str) -> None:
    visitor = cookies(url)
    with connected(url, visitor) as wire:
        run(wire, "data")
        assert sent_file(url, wire, COUNTS, visitor)[0] == 403
        run(wire, "release")
        assert sent_file(url, wire, COUNTS, visitor)[0] == 204, "a release to check is a small file"
        assert sent_file(url, wire, bytes(uploads.MOST_DOCUMENT + 1), visitor)[0] == 403
    curator = {"Cookie": f"{visitor['Cookie']}; {cookie_name(url)}={CURATORS}"}
    with connected(url, curator) as wire:
        run(wire, "data")
        assert sent_file(url, wire, bytes(uploads.MOST_DOCUMENT + 1), curator)[0] == 204


def test_only_the_session_of_a_download_button_makes_its_file(url: str) -> None:
    def network_file(sent: list[ForwardMsg]) -> str:
        buttons = [message.delta.new_element.download_button for message in sent]
        return [button.deferred_file_id for button in buttons if "BIF" in button.label][-1]

    with connected(url) as mine, connected(url) as other:
        my_page, other_page = run(mine, "network"), run(other, "network")
        file = network_file(my_page)
        assert not made_file(other, other_page, file)
        address = made_file(mine, my_page, file)
        assert b"smoke" in urlopen(url + address).read(1000)
        assert address != made_file(other, other_page, network_file(other_page)), "guessing a content is no use"


def test_every_file_for_download_is_bound_to_its_session() -> None:
    places = [path for path in (ROOT / "dpbayes").rglob("*.py") if ".download_button(" in path.read_text()]
    assert [path.name for path in places] == ["downloads.py"]
