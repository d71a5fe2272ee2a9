"""What the server keeps to one visitor: security headers, the origin of connections, the addresses of downloads."""

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from streamlit.runtime import memory_media_file_storage
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.web.server.server_util import allowlisted_origins

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'self'"),  # no foreign page shows this one in a frame
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # an address carries the settings of a view
)
POLICY_VIOLATION = 1008

_hash_of_content = memory_media_file_storage._calculate_file_id
_KEY = secrets.token_bytes(32)


def secured(app: Application) -> Application:
    """Return the ASGI application with security headers, refusing WebSocket connections of another origin.

    Streamlit accepts a WebSocket connection from a page of any port of this computer; here the origin must be the
    server itself, or one that `server.corsAllowedOrigins` names.

    Args:
        app: The application to wrap.

    Returns:
        An application for the same server.
    """

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in HEADERS}
                own = [header for header in message.get("headers", ()) if header[0].lower() not in names]
                message["headers"] = [*own, *HEADERS]
            await send(message)

        if scope["type"] == "websocket" and not _is_of_this_server(dict(scope["headers"])):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await app(scope, receive, send_with_headers if scope["type"] == "http" else send)

    return answer


def _is_of_this_server(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    if origin is None:  # no browser
        return True
    text = origin.decode("latin-1")
    return urlsplit(text).netloc == headers.get(b"host", b"").decode("latin-1") or text in allowlisted_origins()


def hide_addresses() -> None:
    """Let the address of a file for download depend on a key of this process and on the session it was made for.

    Streamlit names a file by a hash of its content: whoever guesses the content, such as a table of exact counts, could
    confirm it by asking for the address.
    """
    memory_media_file_storage._calculate_file_id = _address


def _address(data: bytes, mimetype: str, filename: str | None = None) -> str:
    context = get_script_run_ctx(suppress_warning=True)
    session = context.session_id if context else ""
    return hmac.digest(_KEY, f"{session}:{_hash_of_content(data, mimetype, filename)}".encode(), "sha256").hex()
