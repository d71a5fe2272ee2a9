"""Nobody but the visitor gets what is theirs: foreign names, foreign origins, frames, guessed addresses."""

import asyncio
import http.client
import itertools
import socket
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

import pytest
from streamlit.runtime import memory_media_file_storage as storage
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from dpbayes.__main__ import main
from dpbayes.ui.server import security, serve
from tests.browser.serving import ROOT, dashboard_process, free_port, streamlit_process

NO_MORE: Mapping[str, str] = {}
COUNTS = b"smoke,count\nyes,481\nno,519\n"


@pytest.fixture(scope="module", params=["python -m dpbayes", "streamlit run app.py"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    is_own = request.param == "python -m dpbayes"
    with dashboard_process(free_port()) if is_own else streamlit_process(ROOT / "app.py") as (address, _):
        yield address


def address_of(content: bytes) -> str:
    return storage.MemoryMediaFileStorage("/media").load_and_get_id(
        content, "text/csv", MediaFileKind.DOWNLOADABLE, "counts.csv"
    )


def test_who_guesses_a_file_for_download_cannot_compute_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(session_id="curator")
    monkeypatch.setattr(security, "get_script_run_ctx", lambda **_: context)
    guesses = {address_of(COUNTS.replace(b"481", str(count).encode())): count for count in range(1001)}
    assert len(guesses) == 1001
    assert address_of(COUNTS) in guesses, "a run of the same session finds the file that it made before"
    context.session_id = "stranger"
    assert address_of(COUNTS) not in guesses, "of another session"
    context.session_id = "curator"
    monkeypatch.setattr(security, "_KEY", bytes(32))
    assert address_of(COUNTS) not in guesses, "of another process"


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
    monkeypatch.setattr(security, "get_option", lambda _: [])
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
    monkeypatch.setattr(serve, "serve", lambda port, where: words.extend(where))
    monkeypatch.setattr(serve, "checked_address", lambda: "10.1.2.3")
    port = str(free_port())
    assert main(["--class", "--port", port, "--host", "class.example"]) == 0
    allowed = [name for option, name in itertools.pairwise(words) if option == "--server.allowedHosts"]
    assert allowed == ["127.0.0.1", "localhost", "10.1.2.3", "class.example"]


def uploaded(manager: MemoryUploadedFileManager, session: str, sizes: Sequence[int]) -> list[str]:
    """Upload files as a browser does, which asks for all their addresses first."""
    names = [address.file_id for address in manager.get_upload_urls(session, ["table.csv"] * len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        manager.add_file(session, UploadedFileRec(name, "table.csv", "text/csv", bytes(size)))
    return names


def test_the_oldest_uploads_of_a_session_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MOST_UPLOADED", 100)
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    names = uploaded(manager, "mine", [40] * 10)
    other = uploaded(manager, "other", [90])
    assert list(manager.file_storage["mine"]) == names[-2:], "as many as fit"
    assert list(manager.file_storage["other"]) == other
    large = uploaded(manager, "mine", [101])
    assert list(manager.file_storage["mine"]) == large, "Streamlit bounds a single file"
    manager.remove_session_files("mine")
    assert set(manager.file_storage) == {"other"}
    assert "mine" not in security._issued


def put(path: str) -> list[int]:
    """Return the status that the dashboard gives to a file that a browser sends: 200 where Streamlit is to take it."""
    status: list[int] = []

    async def app(scope: object, receive: object, send: security.Send) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send(message: security.Message) -> None:
        if "status" in message:
            status.append(message["status"])

    async def receive() -> security.Message:
        raise AssertionError("the file is not read")

    asyncio.run(security.secured(app)({"type": "http", "method": "PUT", "path": path, "headers": []}, receive, send))
    return status


def test_a_file_that_no_session_requested_is_refused_unread() -> None:
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    (address,) = manager.get_upload_urls("mine", ["table.csv"])
    assert put(address.upload_url) == put(f"/base{address.upload_url}") == [200]
    assert put("/_stcore/upload_file/mine/of-my-own") == put(address.upload_url.replace("mine", "other")) == [403]
    manager.remove_session_files("mine")
    assert put(address.upload_url) == [403], "its session has ended"


def test_a_file_that_is_refused_is_answered_with_a_sentence(url: str) -> None:
    wire = http.client.HTTPConnection(url.removeprefix("http://"))
    wire.request("PUT", "/_stcore/upload_file/a/b", b"smoke,count")
    answer = wire.getresponse()
    assert (answer.status, answer.read().decode()) == (403, security.NOT_REQUESTED)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    wire.close()


def test_a_file_that_comes_after_its_session_has_ended_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    monkeypatch.setattr(security, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=manager))
    (address,) = manager.get_upload_urls("mine", ["table.csv"])

    async def app(*_: object) -> None:
        manager.remove_session_files("mine")
        manager.add_file("mine", UploadedFileRec(address.file_id, "table.csv", "text/csv", b"late"))

    scope = {"type": "http", "method": "PUT", "path": address.upload_url, "headers": []}
    asyncio.run(security.secured(app)(scope, None, None))  # type: ignore[arg-type]
    assert "mine" not in manager.file_storage
