"""Long computations, which continue over several runs of a page.

Each run computes for a moment, shows the result so far, and reruns the page. The first picture therefore appears
immediately, all controls work during the computation, and a button can stop it.

Streamlit interrupts a run when a control is used; a computation within one run would begin again.
"""

import threading
import time
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpbayes.base.steps import Partial, Work
from dpbayes.base.validation import InputError
from dpbayes.ui.session.host import host
from dpbayes.ui.session.run import has_browser, has_server, this_run

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

KEPT, UNFINISHED = 32, 2
"""The number of computations of one kind that a session keeps, and how many of them may be unfinished; these also keep
their inputs in memory."""

LOOK = 3.0
"""Seconds between two checks. Work is stopped after two checks in a row without a browser."""


@dataclass
class Running(Generic[Result]):
    """A computation that continues over several runs of a page.

    `share` of it is done in `taken` steps, and `result` is the result so far. If a step raises an InputError, its
    message is kept in `refused`, and each attempt to continue raises it again. After any other exception, the
    computation is `lost`. A computation in another program cannot pause there. It has a function `restart`: stopping
    closes its steps, and continuing begins new ones.

    Streamlit ends an outdated run only when this run shows something, so two runs may work at the same time. They hold
    the lock `at_work` in turn, and only the last `worker` continues.
    """

    steps: Work[Result]
    share: float = 0.0
    result: Result | None = None
    taken: int = 0
    seconds: float = 0.0
    done: bool = False
    stopped: bool = False
    refused: str = ""
    lost: bool = False
    restart: Callable[[], Work[Result]] | None = None
    at_work: threading.Lock = field(default_factory=threading.Lock, repr=False)
    worker: object = None

    @property
    def going(self) -> bool:
        """Whether the page must run again to continue."""
        return not (self.done or self.stopped)

    def stop(self) -> None:
        """Stop the computation until `go_on`. Errors: ValueError during a step of a computation in another program."""
        if self.restart is not None:
            self.steps.close()
            self.taken = max(1, self.taken)  # closed steps have no first picture
        self.stopped = True

    def go_on(self) -> None:
        """Continue a stopped computation; a computation in another program begins again."""
        self.stopped = False
        if self.restart is not None:
            self.steps, self.share, self.taken, self.seconds, self.refused = self.restart(), 0.0, 0, 0.0, ""

    def work(self) -> None:
        """Do steps for a moment, unless stopped. The first call does at least one step, for the picture.

        Errors: InputError of a step.
        """
        if self.refused:
            raise InputError(self.refused)
        moment = host().moment_s if self.taken else host().first_s
        end = time.perf_counter() + moment
        self.worker = run = object()
        while self.going or not self.taken:
            with self.at_work:
                if self.worker is not run and self.taken:
                    return
                start = time.perf_counter()
                self._step()
                self.seconds += time.perf_counter() - start
            if time.perf_counter() >= end:
                return

    def _step(self) -> None:
        try:
            step = next(self.steps)
        except StopIteration as end:
            self.share, self.result, self.done = 1.0, end.value, True
        except InputError as error:
            self.refused = str(error)
            raise
        except BaseException:  # Streamlit ends a run with a BaseException
            self.lost = True
            raise
        else:
            if isinstance(step, Partial):
                self.share, self.result = step.share, step.result
            else:
                self.share = step
        self.taken += 1


def running_elsewhere(kind: str, key: Hashable, start: Callable[[], Work[Result]]) -> Running[Result]:
    """Return a computation in another program. Stopping ends it there, and continuing begins it again.

    It also stops after the browser of this session has gone.
    """
    work = _kept(kind, key, lambda: Running(start(), restart=start))
    if work.going:
        end_when_gone(work)
    return work


def forget(kind: str, key: Hashable) -> None:
    """Drop a computation, so that the next request starts a new one."""
    st.session_state.get(f"{kind}.running", {}).pop(key, None)


def _kept(kind: str, key: Hashable, start: Callable[[], Running[Result]]) -> Running[Result]:
    kept: dict[Hashable, Running[Any]] = st.session_state.setdefault(f"{kind}.running", {})
    existing = kept.pop(key, None)
    kept[key] = work = start() if existing is None or existing.lost else existing
    unfinished = [old for old, other in kept.items() if not other.done]
    for old in {*list(kept)[:-KEPT], *unfinished[:-UNFINISHED]}:
        del kept[old]
    return work


def progress(work: Running[Any], finished: str, *, key: str) -> None:
    """Show in words what is `finished`, and a button that stops or continues this work."""

    def turn(*, stopped: bool) -> None:
        work.stop() if stopped else work.go_on()

    left, right = st.columns([4, 1], vertical_alignment="center")
    left.progress(work.share, f"Stopped after {finished}." if work.stopped else f"{finished} so far …")
    label = "Stop" if not work.stopped else "Continue" if work.restart is None else "Restart"
    right.button(label, key=key, on_click=turn, kwargs={"stopped": not work.stopped})


def run_again() -> None:
    """Rerun the page to continue, if the host goes on: the fragment if a fragment is running, else the whole page."""
    if not host().goes_on:
        return
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()


# Work in other programs, such as a query in an engine, is stopped after the browser of its session has gone. Streamlit
# keeps a session for minutes after its tab was closed, so that a lost connection can be restored. It runs no script in
# this time, but an engine would continue its query.


@dataclass
class _Watched:
    session: str
    work: "weakref.ref[Running[Any]]"
    missed: int = 0


_watched: dict[int, _Watched] = {}
_lock = threading.Lock()


def end_when_gone(work: Running[Any]) -> None:
    """Stop work of this session after its browser has gone. Without a server, as in a page test, do nothing."""
    run = this_run()
    if run is None or not has_server():
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
    gone: list[Running[Any]] = []
    with _lock:
        for key, watched in list(_watched.items()):
            work = watched.work()
            if work is None or not work.going:
                del _watched[key]
                continue
            watched.missed = 0 if has_browser(watched.session) else watched.missed + 1
            if watched.missed >= 2:
                gone.append(work)
        is_left = bool(_watched)
    for work in gone:  # outside the lock: an engine may take a moment to stop
        _end(work)
    return is_left


def _end(work: Running[Any]) -> None:
    try:
        work.stop()
    except ValueError:  # during a step; the next check stops it
        return
