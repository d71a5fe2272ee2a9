"""A sentence where a sign-in by OpenID Connect failed: Streamlit only leads the browser back to the first page."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

FAILED = (
    "The sign-in failed, and nobody was signed in. Open the dashboard again and choose Sign in. If the sign-in fails "
    "again, the log of the server contains the reason."
)
UNREACHABLE = (
    "The provider of the sign-in cannot be used at present. Nobody was signed in. Try again later. The log of the "
    "server contains the reason."
)

_CALLBACK, _LOGIN = "/oauth2callback", "/auth/login"
_COOKIE = b"_streamlit_user"
_OF_A_BODY = {b"location", b"content-length", b"content-type"}
_TEXT = (b"content-type", b"text/plain; charset=utf-8")


def with_reason(scope: Message, send: Send) -> Send:
    """Return a `send` that answers with a sentence if a sign-in failed. Other answers are unchanged.

    Args:
        scope: The request.
        send: What sends an answer.

    Returns:
        A function that sends an answer.
    """
    if not scope["path"].endswith((_CALLBACK, _LOGIN)):
        return send
    sentence = ""

    async def send_with_reason(message: Message) -> None:
        nonlocal sentence
        if message["type"] == "http.response.start":
            sentence = _reason(scope, message)
            if sentence:
                kept = [header for header in message["headers"] if header[0].lower() not in _OF_A_BODY]
                status = 403 if message["status"] < 400 else message["status"]
                message = {**message, "status": status, "headers": [*kept, _TEXT]}
        elif sentence:
            if message.get("more_body"):
                return
            message = {**message, "body": sentence.encode()}
        await send(message)

    return send_with_reason


def _reason(scope: Message, start: Message) -> str:
    """Return why nobody is signed in after an answer that begins so; "" if somebody is, or may become so."""
    if scope["path"].endswith(_LOGIN):
        return UNREACHABLE if start["status"] >= 400 else ""
    written = [value for name, value in start["headers"] if name.lower() == b"set-cookie"]
    own = [cookie for cookie in written if _name(cookie) == _COOKIE]
    if own:
        return FAILED if any(b"max-age=0" in cookie.lower() for cookie in own) else ""
    return "" if _COOKIE in _cookies(scope["headers"]) else FAILED


def _cookies(headers: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    return {_name(cookie) for name, value in headers if name.lower() == b"cookie" for cookie in value.split(b";")}


def _name(cookie: bytes) -> bytes:
    return cookie.partition(b"=")[0].strip()
