"""Stops work in other programs, such as a query in an engine, after the browser of its session has gone.

Streamlit keeps a session for minutes after its tab was closed, so that a lost connection can be restored. It runs no
script in this time, but an engine would continue its query.
"""

import threading
import time
import weakref
from dataclasses import dataclass
from typing import Protocol

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

LOOK = 3.0
"""Seconds between two checks. Work is stopped after two checks in a row without a browser."""


class Endable(Protocol):
    """Work that can be stopped in the other program."""

    @property
    def going(self) -> bool:
        """Whether the work is neither done nor stopped."""

    def stop(self) -> None:
        """Stop the work. Errors: ValueError during a step."""


@dataclass
class _Watched:
    session: str
    work: "weakref.ref[Endable]"
    missed: int = 0


_watched: dict[int, _Watched] = {}
_lock = threading.Lock()


def end_when_gone(work: Endable) -> None:
    """Stop work of this session after its browser has gone. Without a server, as in a page test, do nothing."""
    run = get_script_run_ctx()
    if run is None or not runtime.exists():
        return
    with _lock:
        is_first = not _watched
        watched = _watched.get(id(work))
        if watched is None or watched.work() is not work:  # Python reuses the id of a deleted object
            _watched[id(work)] = _Watched(run.session_id, weakref.ref(work))
    if is_first:
        threading.Thread(target=_watch, name="presence", daemon=True).start()


def _watch() -> None:
    """Check repeatedly while there is work to watch."""
    left = True
    while left:
        time.sleep(LOOK)
        left = check_browsers()


def check_browsers() -> bool:
    """Check once which browsers have gone, and stop their work; return whether there is still work to watch."""
    gone: list[Endable] = []
    with _lock:
        for key, watched in list(_watched.items()):
            work = watched.work()
            if work is None or not work.going:
                del _watched[key]
                continue
            watched.missed = 0 if _is_here(watched.session) else watched.missed + 1
            if watched.missed >= 2:
                gone.append(work)
        is_left = bool(_watched)
    for work in gone:  # outside the lock: an engine may take a moment to stop
        _end(work)
    return is_left


def _is_here(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def _end(work: Endable) -> None:
    try:
        work.stop()
    except ValueError:  # during a step; the next check stops it
        return
