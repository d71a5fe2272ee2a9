"""The files that all sessions send to a server stay within their bounds."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from starlette.types import Message, Receive, Scope, Send

from dpbayes.ui.server import uploads
from dpbayes.ui.session.roles import TOKEN, UPLOADS, cookie_name

HOST, TOKEN_HERE = "127.0.0.1:8501", "the-token-of-this-server"
OWNER = (b"cookie", f"a=b; {cookie_name(HOST)}={TOKEN_HERE}".encode())


@dataclass
class Store:
    """Streamlit's store of files, with the sessions that are open."""

    open: set[str] = field(default_factory=lambda: {f"s{number}" for number in range(9)})
    file_storage: dict[str, dict[str, SimpleNamespace]] = field(default_factory=dict)

    def is_active_session(self, session: str) -> bool:
        return session in self.open

    @property
    def uploaded_file_mgr(self) -> "Store":
        return self

    def remove_file(self, session: str, file: str) -> None:
        del self.file_storage[session][file]

    def remove_session_files(self, session: str) -> None:
        self.file_storage.pop(session, None)

    def sizes(self) -> dict[str, list[int]]:
        return {session: [len(file.data) for file in files.values()] for session, files in self.file_storage.items()}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store, with bounds of 100 bytes a session, 300 in all, and 10 for a document."""
    store = Store()
    monkeypatch.setattr(uploads, "uploaded_files", lambda: store)
    monkeypatch.setattr(uploads, "has_browser", store.is_active_session)
    monkeypatch.setattr(uploads, "takes_documents", {"s1", "s2"}.__contains__)
    for name, most in (("OF_SESSION", 100), ("OF_ALL", 300), ("OF_VISITORS", 150), ("DOCUMENT", 10)):
        monkeypatch.setattr(uploads, f"MOST_{name}", most)
    monkeypatch.setenv(TOKEN, TOKEN_HERE)
    monkeypatch.delenv(UPLOADS, raising=False)
    return store


def put(
    store: Store, size: int, *, session: str = "s1", name: str = "a", owner: bool = False, at_once: int = 1
) -> list[int]:
    """Return the status of each of several files of this size, sent at once. 204 is that of Streamlit."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)  # the others begin
        store.file_storage.setdefault(session, {})[scope["path"].rpartition("/")[2]] = SimpleNamespace(data=bytes(size))
        await send({"type": "http.response.start", "status": 204})

    statuses: list[int] = []

    async def send(message: Message) -> None:
        if "status" in message:
            statuses.append(message["status"])

    async def receive() -> Message:
        raise AssertionError("a refused file is not read")

    async def all_of_them() -> None:
        answer = uploads.bounded(app)
        headers = [(b"host", HOST.encode()), (b"content-length", str(size).encode()), *([OWNER] if owner else [])]
        scopes = [
            {"type": "http", "method": "PUT", "path": f"/b/_stcore/upload_file/{session}/{name}{k}", "headers": headers}
            for k in range(at_once)
        ]
        await asyncio.gather(*(answer(scope, receive, send) for scope in scopes))

    asyncio.run(all_of_them())
    return sorted(statuses)


def test_without_the_right_only_a_small_document_is_taken_where_a_page_asks_for_one(store: Store) -> None:
    assert put(store, 10) == [204]
    assert put(store, 11) == put(store, 1, session="s3") == [403]
    assert put(store, 6, name="b") == [204]
    assert store.sizes() == {"s1": [6]}, "and it replaces the former one"
    assert put(store, 100, owner=True, session="s3") == [204]


def test_visitors_with_the_right_fill_their_share_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UPLOADS, "visitors")
    assert [put(store, 50, session=f"s{number}") for number in range(4)] == [[204], [204], [204], [403]]
    assert put(store, 100, session="s5", owner=True) == [204]
    assert put(store, 51, session="s6", owner=True) == [403]
    assert put(store, 50, session="s6", owner=True) == [204]


def test_files_that_are_sent_at_once_count_before_they_have_come(store: Store) -> None:
    assert put(store, 90, owner=True, at_once=5) == [204, 204, 204, 403, 403]


def test_the_oldest_files_of_a_session_make_room(store: Store) -> None:
    for name in "abcd":
        assert put(store, 40, owner=True, name=name) == [204]
    assert list(store.file_storage["s1"]) == ["c0", "d0"]
    assert put(store, 101, owner=True, name="large") == [204]
    assert list(store.file_storage["s1"]) == ["large0"], "Streamlit bounds a single file"


def test_a_file_of_a_session_that_has_ended_meanwhile_is_not_kept(store: Store) -> None:
    store.open.clear()
    assert put(store, 5) == [204]
    assert store.sizes() == {}


def test_a_file_of_unknown_length_is_refused(store: Store) -> None:
    scope = {"method": "PUT", "path": "/_stcore/upload_file/s1/a", "headers": [(b"transfer-encoding", b"chunked")]}
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(uploads.bounded(None)(scope, None, send))  # type: ignore[arg-type]
    assert [message.get("status") for message in sent] == [403, None]


def test_files_of_visitors_who_left_make_room_for_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UPLOADS, "visitors")
    for number in range(3):
        put(store, 50, session=f"s{number}")
    store.open.remove("s1")
    assert put(store, 50, session="s5") == [204]
    assert set(store.sizes()) == {"s0", "s2", "s5"}
