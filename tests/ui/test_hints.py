"""The page names Plotly's script, which the server has."""

import asyncio
from urllib.request import urlopen

import pytest
from starlette.types import Message, Send

from dpbayes.ui.server.hints import hinted, plotly_address
from tests.browser.serving import dashboard_process, free_port


def headers_of(content_type: bytes) -> dict[bytes, bytes]:
    """Return the headers of an answer of this type."""
    sent: list[Message] = []

    async def app(scope: object, receive: object, send: Send) -> None:
        headers = [(b"Content-Type", content_type), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(hinted(app)({"type": "http"}, None, send))  # type: ignore[arg-type]
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return dict(sent[0]["headers"])


def test_only_a_page_names_the_script() -> None:
    page, script = headers_of(b"text/html; charset=utf-8"), headers_of(b"text/javascript")
    assert page.pop(b"link") == b"</app/static/plotly-cartesian.min.js>; rel=preload; as=script"
    assert page.pop(b"Content-Type") != script.pop(b"Content-Type")
    assert page == script == {b"etag": b"1"}


def test_the_address_has_the_folder_of_a_server_behind_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.server.hints.get_option", {"server.baseUrlPath": "/dp/"}.__getitem__)
    assert plotly_address() == "/dp/app/static/plotly-cartesian.min.js"


def test_the_page_of_a_real_server_names_a_script_that_it_has() -> None:
    with dashboard_process(free_port()) as (url, _):
        link = urlopen(f"{url}/explore").headers["link"]
        address = link.partition("<")[2].partition(">")[0]
        answer = urlopen(url + address)
    assert answer.headers.get_content_type() in ("text/javascript", "application/javascript")
    assert b"plotly" in answer.read(2_000)
