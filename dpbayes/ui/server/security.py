"""Security of the server: headers, the origin of connections, the addresses of downloads, and refused sign-ins.

It also takes the token from an address and gives the browser a cookie with it (dpbayes/ui/session/roles.py).
"""

import functools
import hmac
import inspect
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamlit.config import get_option
from streamlit.runtime import get_instance, memory_media_file_storage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec, UploadFileUrlInfo
from streamlit.web.server.server_util import allowlisted_origins

from dpbayes.ui.session.roles import cookie_name, is_token

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

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
NOT_REQUESTED = "No open page of this server requested this file. Choose the file on the page again."
FOREIGN = (
    "This server accepts connections only from its own pages, under its own names. The owner of the server adds a name "
    "with --host."
)

MOST_UPLOADED = 200 * 2**20
"""Bytes of files that are kept of a session; the oldest make room, and one that is larger is kept alone."""

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)/?$")
_issued: dict[str, set[str]] = {}
"""The files that sessions have asked to upload, by session: Streamlit takes any file of any open session."""

_hash_of_content = memory_media_file_storage._calculate_file_id
_KEY = secrets.token_bytes(32)


def secured(app: Application) -> Application:
    """Return the ASGI application with security headers, refusing foreign connections and files nobody asked for.

    Streamlit accepts a WebSocket connection from a page of any port of this computer; here the origin must be the
    server itself, or one that `server.corsAllowedOrigins` names.

    Args:
        app: The application to wrap.

    Returns:
        An application for the same server.
    """

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        send_with_headers = _with_headers(send, is_open=scope["type"] == "http")
        if scope["type"] == "websocket" and (not _is_of_this_server(dict(scope["headers"])) or _is_rebound(scope)):
            await send_with_headers({"type": "websocket.close", "code": POLICY_VIOLATION})
        elif scope["type"] == "http" and scope["method"] == "PUT" and not _is_issued(scope["path"]):
            for message in _refusal(NOT_REQUESTED):
                await send_with_headers(message)
        elif scope["type"] == "http" and scope["method"] == "GET" and (token := _token_in(scope)) is not None:
            for message in _answer_to(token, scope):
                await send_with_headers(message)
        else:
            is_request = scope["type"] == "http"
            await app(scope, receive, with_reason(scope, send_with_headers) if is_request else send_with_headers)
            if scope["type"] == "http" and scope["method"] == "PUT" and not _is_issued(scope["path"]):
                _forget(scope["path"])  # its session ended while it came

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
            start, message = _refusal(FOREIGN, of="websocket.http")
            await send_with_headers(start)
        elif kind in _BEGIN:
            is_open = True
            own = [header for header in message.get("headers", ()) if header[0].lower() not in names]
            message["headers"] = [*own, *HEADERS]
        await send(message)

    return send_with_headers


def _query(scope: Message) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _token_in(scope: Message) -> str | None:
    """Return the token in an address; None where there is none."""
    return next((value for name, value in _query(scope) if name == "token"), None)


def _answer_to(token: str, scope: Message) -> list[Message]:
    """Return the answer to an address with a token: a cookie with it and the same address without, or a refusal.

    The token leaves the address at once: a copied link does not contain it, and no page receives it as its referrer.
    """
    if not is_token(token):
        return _refusal(WRONG_TOKEN)
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


def _refusal(sentence: str, *, of: str = "http") -> list[Message]:
    """Return the messages of an answer with status 403 and a sentence, to a request or to a connection."""
    text = (b"content-type", b"text/plain; charset=utf-8")
    return [
        {"type": f"{of}.response.start", "status": 403, "headers": [text, NOT_STORED]},
        {"type": f"{of}.response.body", "body": sentence.encode()},
    ]


def _is_of_this_server(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    if origin is None:  # no browser
        return True
    text = origin.decode("latin-1")
    return urlsplit(text).netloc == headers.get(b"host", b"").decode("latin-1") or text in allowlisted_origins()


def _is_rebound(scope: Message) -> bool:
    """Whether a browser on this computer uses a foreign name for it (DNS rebinding).

    A server with `server.allowedHosts` checks the names itself. Elsewhere, a proxy on this computer may use any name;
    it adds a header that no page can add.
    """
    headers = dict(scope["headers"])
    if get_option("server.allowedHosts") or FORWARDED & headers.keys():
        return False
    name = urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or ""
    client = (scope.get("client") or ("",))[0]
    return _is_loopback(client) and name != "localhost" and not _is_loopback(name)


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        return ip_address(address.removeprefix("::ffff:")).is_loopback
    return False


def _is_issued(path: str) -> bool:
    upload = _UPLOAD.search(path)
    return upload is not None and upload[2] in _issued.get(upload[1], ())


def _forget(path: str) -> None:
    upload = _UPLOAD.search(path)
    if upload is not None:
        get_instance().uploaded_file_mgr.remove_session_files(upload[1])


def bound_uploads() -> None:
    """Remember which files the browser of a session was told to upload, and forget them with the session.

    As a file comes, the oldest files of the session beyond MOST_UPLOADED bytes are removed.
    """
    urls = inspect.unwrap(MemoryUploadedFileManager.get_upload_urls)
    add = inspect.unwrap(MemoryUploadedFileManager.add_file)
    remove = inspect.unwrap(MemoryUploadedFileManager.remove_session_files)

    @functools.wraps(urls)
    def get_upload_urls(
        self: MemoryUploadedFileManager, session_id: str, file_names: Sequence[str]
    ) -> list[UploadFileUrlInfo]:
        addresses = urls(self, session_id, file_names)
        _issued.setdefault(session_id, set()).update(address.file_id for address in addresses)
        return addresses

    @functools.wraps(add)
    def add_file(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        room = MOST_UPLOADED - len(file.data)
        for other in reversed(list(self.file_storage.get(session_id, {}).values())):
            room -= len(other.data)
            if room < 0:
                self.remove_file(session_id, other.file_id)
        add(self, session_id, file)

    @functools.wraps(remove)
    def remove_session_files(self: MemoryUploadedFileManager, session_id: str) -> None:
        _issued.pop(session_id, None)
        remove(self, session_id)

    MemoryUploadedFileManager.get_upload_urls = get_upload_urls  # type: ignore[method-assign]
    MemoryUploadedFileManager.add_file = add_file  # type: ignore[method-assign]
    MemoryUploadedFileManager.remove_session_files = remove_session_files  # type: ignore[method-assign]


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


# A sentence where a sign-in by OpenID Connect failed: Streamlit only leads the browser back to the first page

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
