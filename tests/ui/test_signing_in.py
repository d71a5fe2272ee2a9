"""A sign-in that failed is a sentence; a sign-in that succeeded, and every other answer, is unchanged."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Send

from dpbayes.ui.server import security
from dpbayes.ui.server.security import FAILED, UNREACHABLE

SET = (b"set-cookie", b"_streamlit_user=abc; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax")
OF_TOKENS = (b"set-cookie", b"_streamlit_user_tokens=abc; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax")
DELETED = (b"set-cookie", b'_streamlit_user=""; expires=Thu, 26 Nov 2026 00:00:00 GMT; Max-Age=0; Path=/; SameSite=lax')
BACK = (b"location", b"/")
SIGNED_IN = [(b"cookie", b"a=b; _streamlit_user=abc")]


def answered(
    path: str, status: int, headers: list[tuple[bytes, bytes]], request_headers: list[tuple[bytes, bytes]]
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return what a browser receives where Streamlit would answer with this status and these headers."""
    sent: list[Any] = []

    async def app(scope: object, receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"Streamlit's, ", "more_body": True})
        await send({"type": "http.response.body", "body": b"in two parts"})

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"code=1", "headers": request_headers}
    asyncio.run(security.secured(app)(scope, None, send))  # type: ignore[arg-type]
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


@pytest.mark.parametrize("path", ["/oauth2callback", "/base/oauth2callback"])
@pytest.mark.parametrize(
    ("headers", "request_headers"),
    [([], []), ([DELETED], []), ([DELETED], SIGNED_IN), ([OF_TOKENS], []), ([], [(b"cookie", b"a=b")])],
)
def test_a_callback_that_signs_nobody_in_is_a_sentence(
    path: str, headers: list[Any], request_headers: list[Any]
) -> None:
    status, given, body = answered(path, 302, [BACK, (b"content-length", b"0"), *headers], request_headers)
    assert (status, body.decode()) == (403, FAILED)
    assert not {b"location", b"content-length"} & given.keys()
    assert given[b"content-type"] == b"text/plain; charset=utf-8"
    assert all(given[name] == value for name, value in headers), "cookies are deleted all the same"
    assert set(dict(security.HEADERS)) <= set(given)


@pytest.mark.parametrize(
    ("path", "status", "headers", "request_headers"),
    [
        ("/oauth2callback", 302, [BACK, SET, OF_TOKENS], []),
        ("/oauth2callback", 302, [BACK], SIGNED_IN),
        ("/auth/login", 302, [(b"location", b"http://provider.example/")], []),
        ("/auth/logout", 302, [BACK, DELETED], SIGNED_IN),
        ("/", 200, [], []),
        ("/nowhere", 404, [], []),
    ],
)
def test_other_answers_are_unchanged(path: str, status: int, headers: list[Any], request_headers: list[Any]) -> None:
    received, given, body = answered(path, status, headers, request_headers)
    assert (received, body) == (status, b"Streamlit's, in two parts")
    assert set(headers) <= set(given.items()) or path.endswith("callback")
    assert given.get(b"location") == dict(headers).get(b"location")


def test_a_provider_that_cannot_be_used_is_a_sentence() -> None:
    status, _, body = answered("/auth/login", 400, [(b"content-length", b"20")], [])
    assert (status, body.decode()) == (400, UNREACHABLE)
