"""Sessions of visitors who left: they end when their time is over, and their memory is free for others.

Streamlit keeps the session of a closed page for two minutes (`server.disconnectedSessionTTL`), so that a browser can
reconnect. A session whose time is over is removed only when another visitor leaves. Without this module, a server
without visitors keeps up to 128 sessions, with their uploaded tables and three open files each.
"""

import asyncio
import ctypes
import gc
import inspect
import linecache
import os
import sys
from typing import cast

from streamlit.runtime import Runtime, RuntimeState, get_instance
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state import SessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dpbayes.ui.session.kept import clear_shared

LOOK_S = 15.0
"""Seconds between two checks for sessions whose time is over."""

ARENAS = 2
"""Arenas of the C library for all threads."""

LARGE_BYTES = 4 << 20
"""The size from which a block of memory is returned to the system as soon as it is free."""

FREE_BYTES = 2 * LARGE_BYTES
"""The size from which free memory at the end of an arena is returned to the system."""

LIMITS = {
    "MALLOC_ARENA_MAX": (-8, ARENAS),
    "MALLOC_MMAP_THRESHOLD_": (-3, LARGE_BYTES),
    "MALLOC_TRIM_THRESHOLD_": (-1, FREE_BYTES),
}
"""Environment variables of glibc, with the number of the same limit in its malloc.h, and the value here."""


def limit_free_memory() -> None:
    """Let the C library keep less free memory, if this is glibc. Limits in the environment are left unchanged.

    Streamlit runs each script in a thread of its own. glibc gives the threads up to eight arenas per core, and each
    arena keeps memory that was freed in it. Python's lock lets one thread work at a time, so more arenas save no time.
    Measured on two cores after 150 visitors: 24 MB of free memory in 2 arenas, 46 MB in 16 arenas.

    glibc returns large blocks to the system by themselves. It raises the limit for their size to that of each such
    block that is freed, up to 32 MB. Large arrays then lie among small ones, which keep the memory around them. But
    memory that was returned takes long to allocate again: with a limit of 128 KB, the joint posterior of Alarm takes
    1.1 seconds instead of 0.43. With 4 MB, it takes 0.46 seconds, and thirty visitors do not use more memory.
    """
    library = _glibc()
    if library is not None:
        for name, (limit, value) in LIMITS.items():
            if name not in os.environ:
                library.mallopt(limit, value)


async def end_departed() -> None:
    """End sessions whose time is over, until this task is cancelled.

    When the last session has ended, forget the results that all sessions shared, collect garbage, and return free
    memory to the system. This takes some time, so a server with visitors leaves it out; Python's own collector runs
    there. The results also keep much free memory around them: their small parts are anywhere among those of sessions.
    """
    while True:
        await asyncio.sleep(LOOK_S)
        if end_expired(get_instance()) and not _sessions(get_instance()).list_sessions():
            clear_shared()
            forget_last(get_instance())
            linecache.clearcache()  # the source text of all functions whose results Streamlit keeps
            gc.collect()
            return_memory()


def end_expired(runtime: Runtime) -> int:
    """End the sessions whose time is over, in the thread of the server's event loop.

    Streamlit's main loop refers to the session that was served last until the next visitor comes. Therefore, the
    values of each session are removed, too.

    Args:
        runtime: Streamlit's runtime.

    Returns:
        The number of sessions that ended.
    """
    storage = cast("MemorySessionStorage", _sessions(runtime)._session_storage)
    expired = storage._cache.expire()  # type: ignore[attr-defined]
    for _, stored in expired:
        _end(stored.session)
    return len(expired)


def forget_last(runtime: Runtime) -> None:
    """Release the session and the connection that Streamlit's main loop served last, if no session is left.

    The loop refers to both until the next visitor comes. Their small objects are spread over the memory of all former
    sessions, and keep it from the system: 1 MB for each block in which one of them lies.
    """
    loop = runtime._loop_coroutine_task
    if runtime.state is not RuntimeState.NO_SESSIONS_CONNECTED or loop is None:
        return
    values = inspect.getcoroutinelocals(loop.get_coro())  # type: ignore[arg-type]  # a coroutine
    last, messages = values.get("active_session_info"), values.get("msg_list")
    if last is not None:
        last.client = last.session = None
    if messages is not None:
        messages.clear()


def _end(session: AppSession) -> None:
    """Release what a session has in the server, and remove its values unless its script still runs.

    Both stores are replaced, because a cleared one keeps the descriptions of controls and fragments.
    """
    session.shutdown()
    if session._scriptrunner is None:
        session.session_state.clear()
        session._session_state = SessionState()
        session._fragment_storage = MemoryFragmentStorage()


def _sessions(runtime: Runtime) -> WebsocketSessionManager:
    return cast("WebsocketSessionManager", runtime._session_mgr)


def return_memory() -> None:
    """Return free memory of the C library to the system, if this is glibc."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library of this process; None if it is not glibc."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None
