"""Which files a browser may send, and how much memory all files of all sessions may take.

Streamlit takes any file of any open session. Here, a file needs the right to upload, or a place for a small document
on a page of its session. The total over all sessions is bounded, with room that visitors cannot fill.
"""

import re
from http.cookies import SimpleCookie
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpbayes.ui.session.roles import Act, Person, of_cookies
from dpbayes.ui.session.run import has_browser, uploaded_files
from dpbayes.ui.session.uploads import MOST_DOCUMENT, takes_documents

MOST_OF_SESSION = 200 * 2**20
"""Bytes of the files of one session; the oldest make room, and one that is larger is kept alone."""

MOST_OF_ALL = 800 * 2**20
"""Bytes of the files of all sessions, including those that are being sent."""

MOST_OF_VISITORS = MOST_OF_ALL // 2
"""Visitors can upload while all files are at most so large. The rest is left for the curator."""

NOT_PERMITTED = (
    "You cannot upload this file here. A visitor without the right to upload tables can send a release or a network of "
    f"at most {MOST_DOCUMENT / 1e6:.0f} MB, on the page that offers it."
)
NO_ROOM = "The server has no room for this file at present. Try again later, or upload a smaller file."
NO_LENGTH = "The server needs the length of the file in advance (Content-Length)."

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)/?$")


def bounded(app: ASGIApp) -> ASGIApp:
    """Return the ASGI application that takes only permitted files, within the bounds.

    Args:
        app: The application to wrap.

    Returns:
        An application for the same server.
    """
    coming = 0

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal coming
        upload = _UPLOAD.search(scope.get("path", "")) if scope.get("method") == "PUT" else None
        if upload is None:
            await app(scope, receive, send)
            return
        size = _size(scope)
        refused = NO_LENGTH if size is None else _obstacle(scope, upload[1], size, coming)
        if refused or size is None:
            for message in forbidden(refused):
                await send(message)
            return
        coming += size
        try:
            await app(scope, receive, send)
        finally:
            coming -= size
            _make_room(upload[1], MOST_OF_SESSION if _may_upload(scope) else MOST_DOCUMENT)

    return answer


def forbidden(sentence: str, *, of: str = "http") -> list[Message]:
    """Return the messages of an answer with status 403 and a sentence, to a request or to a connection."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    return [
        {"type": f"{of}.response.start", "status": 403, "headers": headers},
        {"type": f"{of}.response.body", "body": sentence.encode()},
    ]


def _size(scope: Scope) -> int | None:
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() else None


def _sender(scope: Scope) -> Person:
    headers = dict(scope["headers"])
    host, cookies = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"cookie"))
    return of_cookies(host, {name: part.value for name, part in SimpleCookie(cookies).items()})


def _may_upload(scope: Scope) -> bool:
    return _sender(scope).may(Act.UPLOAD)


def _obstacle(scope: Scope, session: str, size: int, coming: int) -> str:
    """Return why a file of this size is refused; "" if it is permitted and there is room."""
    is_document = takes_documents(session) and size <= MOST_DOCUMENT
    if not _may_upload(scope) and not is_document:
        return NOT_PERMITTED
    room = (MOST_OF_ALL if _sender(scope).may(Act.RELEASE) else MOST_OF_VISITORS) - coming - size
    if _stored() > room:
        _forget_departed()
    return "" if _stored() <= room else NO_ROOM


def _files() -> dict[str, dict[str, Any]]:
    """Return the files of all sessions, by session and file, the oldest first."""
    files: dict[str, dict[str, Any]] = uploaded_files().file_storage
    return files


def _stored() -> int:
    return sum(len(file.data) for files in _files().values() for file in files.values())


def _forget_departed() -> None:
    """Remove the files of sessions without a browser, which Streamlit keeps until another visitor leaves."""
    for session in list(_files()):
        if not has_browser(session):
            uploaded_files().remove_session_files(session)


def _make_room(session: str, room: int) -> None:
    """Remove the oldest files of a session beyond its room, and all files if the session has ended meanwhile."""
    if not has_browser(session):
        uploaded_files().remove_session_files(session)
    for place, (name, file) in enumerate(reversed(list(_files().get(session, {}).items()))):
        room -= len(file.data)
        if room < 0 and place > 0:
            uploaded_files().remove_file(session, name)
