"""The session of a visitor who left ends when its time is over, also if nobody else comes or leaves."""

import asyncio
import ctypes
import gc
import linecache
import sys
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.outside_container_wrapper import OutsideContainerWrapper
from streamlit.runtime.session_manager import SessionClient
from streamlit.runtime.state.common import WidgetMetadata

from dpbayes.ui.pages.explore.simulations import shared_simulations
from dpbayes.ui.pages.network.errors import shared_errors
from dpbayes.ui.server import departed, starting
from dpbayes.ui.server.departed import end_expired, limit_free_memory, return_memory
from dpbayes.ui.session.kept import clear_shared, shared_memo
from dpbayes.ui.widgets.frames import shared_frames

TTL_S = 120
PATIENCE_S = 60
SCRIPT = """
import streamlit as st
from tests.ui.test_departed import Table, alive


def main():
    if "table" not in st.session_state:
        st.session_state["table"] = Table()
        alive.add(st.session_state["table"])
    table = st.session_state["table"]

    place = st.container()

    @st.fragment
    def part():
        place.write(type(table).__name__)
        st.button("Look again", key="look")

    part()


main()
"""


class Table:
    """What a visitor has uploaded."""


alive: "weakref.WeakSet[Table]" = weakref.WeakSet()
"""The tables that exist."""


class Browser(SessionClient):
    """A browser that counts the runs of the script that have finished."""

    def __init__(self) -> None:
        self.runs = 0

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        self.runs += msg.WhichOneof("type") == "script_finished"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runtime(tmp_path: Path, clock: Clock) -> Iterator[Runtime]:
    """Streamlit's runtime with a script that keeps a table, and with the clock of the test."""
    storage = MemorySessionStorage(ttl_seconds=TTL_S)
    storage._cache._timer = clock  # type: ignore[attr-defined]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    yield Runtime(
        RuntimeConfig(
            script_path=str(script),
            media_file_storage=MemoryMediaFileStorage("/media"),
            uploaded_file_manager=MemoryUploadedFileManager("/upload"),
            session_storage=storage,
        )
    )
    Runtime._instance = None
    alive.clear()


def served(runtime: Runtime, visit: Callable[[], Awaitable[None]]) -> None:
    """Start the runtime, and stop it after the visit."""

    async def serve() -> None:
        await runtime.start()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await visit()
        finally:
            runtime.stop()
            await runtime.stopped

    asyncio.run(serve())


async def enter(runtime: Runtime) -> str:
    """Open the page in a browser, wait until it is drawn, and return the id of the session."""
    browser, message = Browser(), BackMsg()
    session = runtime.connect_session(client=browser, user_info={})
    message.rerun_script.query_string = ""
    runtime.handle_backmsg(session, message)
    while not browser.runs:
        await asyncio.sleep(0.01)
    return session


def tables() -> int:
    gc.collect()
    return len(alive)


def small_parts() -> "Counter[str]":
    """Count the descriptions of controls and of places of fragments that exist."""
    gc.collect()
    return Counter(
        type(item).__name__ for item in gc.get_objects() if type(item) in (WidgetMetadata, OutsideContainerWrapper)
    )


def test_sessions_that_nobody_comes_back_to_end_with_all_their_values(runtime: Runtime, clock: Clock) -> None:
    async def visit() -> None:
        sessions = [await enter(runtime) for _ in range(3)]
        for session in sessions:
            runtime.disconnect_session(session)
        clock.now = TTL_S - 1
        assert end_expired(runtime) == 0, "a browser may come back"
        assert tables() == 3
        assert small_parts() == {"WidgetMetadata": 3, "OutsideContainerWrapper": 3}
        clock.now = TTL_S + 1
        assert tables() == 3, "Streamlit removes nothing by itself"
        assert end_expired(runtime) == 3
        assert tables() == 0
        assert small_parts() == Counter(), "not even of the session that Streamlit's main loop refers to"
        assert end_expired(runtime) == 0

    served(runtime, visit)


def test_a_visitor_who_stays_or_comes_back_in_time_keeps_the_session(runtime: Runtime, clock: Clock) -> None:
    async def visit() -> None:
        stays, returns = await enter(runtime), await enter(runtime)
        runtime.disconnect_session(returns)
        clock.now = TTL_S - 1
        assert end_expired(runtime) == 0
        assert runtime.connect_session(client=Browser(), user_info={}, existing_session_id=returns) == returns
        clock.now = 3 * TTL_S
        assert end_expired(runtime) == 0
        assert tables() == 2
        assert all(runtime.is_active_session(session) for session in (stays, returns))

    served(runtime, visit)


def test_a_session_whose_script_still_runs_keeps_its_values_until_the_script_ends() -> None:
    done: list[str] = []
    fragments = object()
    session = SimpleNamespace(
        shutdown=lambda: done.append("shut down"),
        session_state=SimpleNamespace(clear=lambda: done.append("values removed")),
        _fragment_storage=fragments,
        _scriptrunner=object(),
    )
    departed._end(session)  # type: ignore[arg-type]
    assert done == ["shut down"]
    assert session._fragment_storage is fragments
    session._scriptrunner = None
    departed._end(session)  # type: ignore[arg-type]
    assert done == ["shut down", "shut down", "values removed"]
    assert session._fragment_storage is not fragments


def test_a_server_ends_sessions_while_it_runs_and_frees_memory_after_the_last(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[int] = []
    shared: list[bool] = []
    monkeypatch.setattr(departed, "LOOK_S", 0.01)
    monkeypatch.setattr(departed, "return_memory", lambda: returned.append(len(alive)))
    monkeypatch.setattr(starting, "_import_pages", lambda: None)
    monkeypatch.setattr(starting, "limit_free_memory", lambda: shared.append(True))
    monkeypatch.setitem(linecache.cache, "script.py", (0, None, ["a line"], "script.py"))
    memo = shared_memo(30)
    for k in range(20):
        memo.once(k, str, k)

    async def visit() -> None:
        async with starting.starting(None):
            assert shared == [True]
            first, last = await enter(runtime), await enter(runtime)
            runtime.disconnect_session(first)
            clock.now = TTL_S + 1
            while [*with_values()] != [last]:
                await asyncio.sleep(0.01)
            assert returned == [], "somebody is still there"
            assert len(memo.results) == 20
            runtime.disconnect_session(last)
            clock.now = 2 * (TTL_S + 1)
            while not returned:
                await asyncio.sleep(0.01)
            assert returned == [0]
            gc.collect()
            assert not [item for item in gc.get_objects() if isinstance(item, AppSession | Browser)]
            again = await enter(runtime)
            assert [*with_values()] == [again], "the next visitor is served"
            assert memo.results == {}
            assert "script.py" not in linecache.cache
        while any("end_departed" in repr(task) for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)

    served(runtime, visit)


def test_every_memo_of_a_server_is_cleared() -> None:
    memos = shared_simulations(), shared_frames(), shared_errors()
    for memo in memos:
        memo.once("key", str, "value")
    clear_shared()
    assert [memo.results for memo in memos] == [{}, {}, {}]


def with_values() -> Iterator[str]:
    """Yield the ids of the sessions that have values."""
    for item in gc.get_objects():
        if isinstance(item, AppSession) and "table" in item.session_state:
            yield item.id


def test_only_glibc_has_arenas_and_returns_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, tuple[int, ...]]] = []
    library = SimpleNamespace(
        mallopt=lambda *values: calls.append(("mallopt", values)),
        malloc_trim=lambda *values: calls.append(("malloc_trim", values)),
    )
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in departed.LIMITS:
        monkeypatch.delenv(name, raising=False)
    limit_free_memory()
    return_memory()
    limits = [("mallopt", (-8, 2)), ("mallopt", (-3, 4 << 20)), ("mallopt", (-1, 8 << 20))]
    assert calls == [*limits, ("malloc_trim", (0,))]
    for name in departed.LIMITS:
        monkeypatch.setenv(name, "8")
    limit_free_memory()
    assert len(calls) == 4, "the owner of the server has chosen the limits"
    for name in departed.LIMITS:
        monkeypatch.delenv(name)
    del library.malloc_trim  # musl has none
    limit_free_memory()
    return_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    limit_free_memory()
    return_memory()
    assert len(calls) == 4
