"""Work that takes longer than a moment: it goes on from run to run of a page.

Each run works for a moment, shows what is in, and runs the page again. So the first picture comes at once, each control
answers meanwhile, and stopping is a button like any other.

Streamlit interrupts a run when a control is used. The work of this run is then lost.
"""

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpbayes.base.steps import Partial, Work
from dpbayes.base.validation import InputError
from dpbayes.ui.session.presence import end_when_gone
from dpbayes.ui.widgets.frames import is_recording
from dpbayes.ui.widgets.turns import TURNS

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

FIRST, MOMENT = 0.05, 0.5
"""Seconds of work before the first picture, and in each later run."""

KEPT, UNFINISHED = 32, 2
"""Works of one kind that the session keeps with what they have found, and of those the ones that are not done: these
hold what they work on."""

NOTICED = 0.5
"""Seconds still to go from which on there is a progress bar and a button to stop."""


BESIDE = ThreadPoolExecutor(1, thread_name_prefix="beside")
"""The thread of computations that are beside the sessions."""

LOOKED = 0.02
"""Seconds after which a session looks whether such a computation is done."""


@dataclass
class Running(Generic[Result]):
    """Work that goes on from run to run: `share` of it is done in `taken` steps, and `result` is what is in.

    What it refuses it refuses again whenever it is to go on; work that ends in another way is `lost`. What another
    program does would go on there while it is stopped here: where there is `anew`, stopping ends the steps, and going
    on begins others.

    A run of the page that makes room for the next one hears of that only when it shows something: meanwhile both may
    be `at_work`. They take turns, and only the last `worker` goes on.
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
    anew: Callable[[], Work[Result]] | None = None
    at_work: threading.Lock = field(default_factory=threading.Lock, repr=False)
    worker: object = None

    @property
    def going(self) -> bool:
        """Whether the page is to run again to go on."""
        return not (self.done or self.stopped)

    @property
    def is_long(self) -> bool:
        """Whether so much is still to do that a person wants to see how far it is, and a way to stop it."""
        if self.done or not self.taken:
            return False
        return self.stopped or self.seconds * (1 - self.share) > NOTICED * self.share

    @property
    def so_far(self) -> Result:
        """What is in, where every step brings something."""
        assert self.result is not None
        return self.result

    def stop(self) -> None:
        """Let nothing go on until `go_on`. Errors: ValueError while a step that is to be ended is being taken."""
        if self.anew is not None:
            self.steps.close()
            self.taken = max(1, self.taken)  # closed steps bring no first picture
        self.stopped = True

    def go_on(self) -> None:
        """Go on where it was stopped, or anew where nothing could wait there."""
        self.stopped = False
        if self.anew is not None:
            self.steps, self.share, self.taken, self.seconds, self.refused = self.anew(), 0.0, 0, 0.0, ""

    def work(self) -> None:
        """Do steps for a moment, unless stopped; the first time one at least, for the picture. Errors: InputError.

        For a figure that is recorded, nobody comes back for the rest: all steps are done at once.
        """
        if self.refused:
            raise InputError(self.refused)
        end = math.inf if is_recording() else time.perf_counter() + (MOMENT if self.taken else FIRST)
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
        except BaseException:  # Streamlit's own ways to end a run are no `Exception`
            self.lost = True
            raise
        else:
            if isinstance(step, Partial):
                self.share, self.result = step.share, step.result
            else:
                self.share = step
        self.taken += 1


def in_background(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Work[Result]:
    """Compute in a thread beside the sessions, one such computation at a time, and return what it returns.

    The session goes on meanwhile. Work that is given up before its computation began is not computed.
    """
    future = BESIDE.submit(function, *arguments, **named)
    try:
        while not future.done():
            with TURNS.others_turn():
                wait([future], LOOKED)
            yield 0.0
        return future.result()
    finally:
        future.cancel()


def running(kind: str, key: Hashable, start: Callable[[], Work[Result]]) -> Running[Result]:
    """Return this session's work with this key, started if it is new; those not asked for longest are forgotten."""
    return _kept(kind, key, lambda: Running(start()))


def running_elsewhere(kind: str, key: Hashable, start: Callable[[], Work[Result]]) -> Running[Result]:
    """Return work as `running` does that another program does: stopped, it is ended there too, and begins anew.

    It is stopped also once the browser of this session is gone.
    """
    work = _kept(kind, key, lambda: Running(start(), anew=start))
    if work.going:
        end_when_gone(work)
    return work


def forget(kind: str, key: Hashable) -> None:
    """Forget work, which would else be taken for what is asked for the next time."""
    st.session_state.get(f"{kind}.running", {}).pop(key, None)


def _kept(kind: str, key: Hashable, start: Callable[[], Running[Result]]) -> Running[Result]:
    kept: dict[Hashable, Running[Any]] = st.session_state.setdefault(f"{kind}.running", {})
    existing = kept.pop(key, None)
    kept[key] = work = start() if existing is None or existing.lost else existing
    unfinished = [old for old, other in kept.items() if not other.done]
    for old in {*list(kept)[:-KEPT], *unfinished[:-UNFINISHED]}:
        del kept[old]
    return work


def so_far(kind: str, key: Hashable) -> Any | None:
    """Return what is in of this session's work with this key, without starting or going on with it; None if nothing."""
    work = st.session_state.get(f"{kind}.running", {}).get(key)
    return None if work is None else work.result


def progress(work: Running[Any], said: str, *, key: str, along: Sequence[Running[Any]] = ()) -> None:
    """Show how far the work is, `said` in words, and the button that stops it or goes on: it, and what runs `along`."""

    def turn(*, stopped: bool) -> None:
        for task in (work, *along):
            task.stop() if stopped else task.go_on()

    left, right = st.columns([4, 1], vertical_alignment="center")
    left.progress(work.share, f"Stopped after {said}." if work.stopped else f"{said} so far …")
    label = "Stop" if not work.stopped else "Continue" if work.anew is None else "Restart"
    right.button(label, key=key, on_click=turn, kwargs={"stopped": not work.stopped})


def blank(slots: int) -> None:
    """Put nothing where an earlier run left something: what is not drawn again stays until a run ends by itself."""
    for _ in range(slots):
        st.empty()


def run_again() -> None:
    """Run the page again to go on: its own part where that is what runs, else all of it."""
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()
