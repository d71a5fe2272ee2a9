"""Security of the server: headers and the origin of connections.

It also takes the token from an address and gives the browser a cookie with it (dpbayes/ui/session/roles.py).
"""

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpbayes.ui.server.uploads import forbidden
from dpbayes.ui.session.downloads import marked
from dpbayes.ui.session.roles import cookie_name, is_token

HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'self'"),  # no foreign page shows this one in a frame
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # an address carries the settings of a view
)
_BEGIN = ("http.response.start", "websocket.accept", "websocket.http.response.start")
FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-forwarded-host"}
"""Headers of which a proxy adds at least one."""

POLICY_VIOLATION = 1008
NOT_STORED = (b"cache-control", b"no-store")

WRONG_TOKEN = "This token is not valid here. Open the address that the server printed when it last started."
FOREIGN = (
    "This server accepts connections only from its own pages, under its own names. The owner of the server adds a name "
    "with --host."
)


def secured(app: ASGIApp) -> ASGIApp:
    """Return the ASGI application with security headers, refusing foreign connections.

    Streamlit accepts a WebSocket connection from a page of any port of this computer; here the origin must be the
    server itself, or one that `server.corsAllowedOrigins` names.

    Args:
        app: The application to wrap.

    Returns:
        An application for the same server.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        send_with_headers = _with_headers(send, is_open=scope["type"] == "http")
        if scope["type"] == "websocket" and (not _is_of_this_server(dict(scope["headers"])) or _is_rebound(scope)):
            await send_with_headers({"type": "websocket.close", "code": POLICY_VIOLATION})
        elif scope["type"] == "http" and scope["method"] == "GET" and (token := _token_in(scope)) is not None:
            for message in _answer_to(token, scope):
                await send_with_headers(message)
        else:
            await app(marked(scope) if scope["type"] == "websocket" else scope, receive, send_with_headers)

    return answer


def _with_headers(send: Send, *, is_open: bool) -> Send:
    """Return a `send` that adds the security headers to how an answer begins, also to that of a connection.

    A connection that is refused before it `is_open` gets status 403, as without this.
    """
    names = {name for name, _ in HEADERS}

    async def send_with_headers(message: Message) -> None:
        nonlocal is_open
        kind = message["type"]
        if kind == "websocket.close" and not is_open:
            start, message = forbidden(FOREIGN, of="websocket.http")
            await send_with_headers(start)
        elif kind in _BEGIN:
            is_open = True
            own = [header for header in message.get("headers", ()) if header[0].lower() not in names]
            message["headers"] = [*own, *HEADERS]
        await send(message)

    return send_with_headers


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _token_in(scope: Scope) -> str | None:
    """Return the token in an address; None where there is none."""
    return next((value for name, value in _query(scope) if name == "token"), None)


def _answer_to(token: str, scope: Scope) -> list[Message]:
    """Return the answer to an address with a token: a cookie with it and the same address without, or a refusal.

    The token leaves the address at once: a copied link does not contain it, and no page receives it as its referrer.
    """
    if not is_token(token):
        return forbidden(WRONG_TOKEN)
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    cookie = f"{cookie_name(host)}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
    rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
    # A path that begins with two slashes, or with a backslash, would name another server.
    place = "/" + scope.get("raw_path", scope["path"].encode()).decode("latin-1").lstrip("/\\")
    headers = [
        (b"location", (f"{place}?{rest}" if rest else place).encode("latin-1")),
        (b"set-cookie", cookie.encode("latin-1")),
        NOT_STORED,
    ]
    return [{"type": "http.response.start", "status": 303, "headers": headers}, {"type": "http.response.body"}]


def _is_of_this_server(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    if origin is None:  # no browser
        return True
    text = origin.decode("latin-1")
    return urlsplit(text).netloc == headers.get(b"host", b"").decode("latin-1") or text in st.get_option(
        "server.corsAllowedOrigins"
    )


def _is_rebound(scope: Scope) -> bool:
    """Whether a browser on this computer uses a foreign name for it (DNS rebinding).

    A server with `server.allowedHosts` checks the names itself. Elsewhere, a proxy on this computer may use any name;
    it adds a header that no page can add.
    """
    headers = dict(scope["headers"])
    if st.get_option("server.allowedHosts") or FORWARDED & headers.keys():
        return False
    name = urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or ""
    client = (scope.get("client") or ("",))[0]
    return _is_loopback(client) and name != "localhost" and not _is_loopback(name)


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        return ip_address(address.removeprefix("::ffff:")).is_loopback
    return False
