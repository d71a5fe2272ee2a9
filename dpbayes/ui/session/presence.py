"""Whether somebody still looks: what another program does for a session is ended once its browser is gone.

A session outlives its tab for minutes, so that a lost connection can come back to it, and takes no step meanwhile. An
engine would go on with its query.
"""

import threading
import time
import weakref
from dataclasses import dataclass
from typing import Protocol

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

LOOK = 3.0
"""Seconds between two looks; a browser that is gone at two looks in a row is gone."""


class Endable(Protocol):
    """Work that can be stopped where it goes on."""

    @property
    def going(self) -> bool:
        """Whether it is neither done nor stopped."""

    def stop(self) -> None:
        """Stop it. Errors: ValueError while a step is being taken."""


@dataclass
class _Watched:
    session: str
    work: "weakref.ref[Endable]"
    missed: int = 0


_watched: dict[int, _Watched] = {}
_lock = threading.Lock()


def end_when_gone(work: Endable) -> None:
    """Stop work of this session once its browser is gone; nothing where no server runs, as in a test of a page."""
    run = get_script_run_ctx()
    if run is None or not runtime.exists():
        return
    with _lock:
        is_first = not _watched
        watched = _watched.get(id(work))
        if watched is None or watched.work() is not work:  # a number is given again when its object is gone
            _watched[id(work)] = _Watched(run.session_id, weakref.ref(work))
    if is_first:
        threading.Thread(target=_watch, name="presence", daemon=True).start()


def _watch() -> None:
    """Look as long as there is something to look at."""
    left = True
    while left:
        time.sleep(LOOK)
        left = check_browsers()


def check_browsers() -> bool:
    """Look once at whose browser is gone; return whether there is still work to look after."""
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
    for work in gone:  # an engine may take a moment, for which no page waits
        _end(work)
    return is_left


def _is_here(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def _end(work: Endable) -> None:
    try:
        work.stop()
    except ValueError:  # a last step is on its way; the next look ends it
        return
