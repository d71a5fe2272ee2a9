"""Work that takes longer than a moment: it goes on from run to run of a page.

Each run works for a moment, shows what is in, and runs the page again. So the first picture comes at once, each control
answers meanwhile, and stopping is a button like any other.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

import streamlit as st
from streamlit.errors import StreamlitAPIException

Part = TypeVar("Part")

FIRST, MOMENT = 0.05, 0.4
"""Seconds of work before the first picture, and in each later run."""

KEPT = 32
"""Works of one kind that the session keeps, with all that they have found."""

NOTICED = 0.5
"""Seconds still to go from which on there is a progress bar and a button to stop."""


@dataclass
class Running(Generic[Part]):
    """Work in `total` steps: `step(k)` is the part k, `parts` are in. A step that raises is taken again when asked."""

    step: Callable[[int], Part]
    total: int
    parts: list[Part] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def done(self) -> bool:
        """Whether every part is in."""
        return len(self.parts) >= self.total

    @property
    def share(self) -> float:
        """How much of the work is done."""
        return len(self.parts) / self.total

    @property
    def going(self) -> bool:
        """Whether the page is to run again to go on."""
        return not (self.done or self.stopped)

    @property
    def is_long(self) -> bool:
        """Whether so much is still to do that a person wants to see how far it is, and a way to stop it."""
        if self.done or not self.parts:
            return False
        return self.stopped or self.seconds / len(self.parts) * (self.total - len(self.parts)) > NOTICED

    def work(self) -> None:
        """Do steps for a moment, unless the work is stopped; the first time one at least, which the picture needs."""
        end = time.perf_counter() + (MOMENT if self.parts else FIRST)
        while self.going or not self.parts:
            start = time.perf_counter()
            self.parts.append(self.step(len(self.parts)))
            self.seconds += time.perf_counter() - start
            if time.perf_counter() >= end:
                return


@dataclass
class Coming(Generic[Part]):
    """Work that yields ever better results and keeps the `last` one only. Work that raises an error has ended."""

    coming: Iterator[Part]
    last: Part | None = None
    done: bool = False
    stopped: bool = False

    @property
    def going(self) -> bool:
        """Whether the page is to run again to go on."""
        return not (self.done or self.stopped)

    def work(self) -> None:
        """Go on for a moment, at least one step, unless stopped; later for two, since pictures take time as well."""
        end = time.perf_counter() + (MOMENT if self.last is None else 2 * MOMENT)
        while self.going:
            found = next(self.coming, None)
            self.done, self.last = found is None, self.last if found is None else found
            if time.perf_counter() >= end:
                return


class Stoppable(Protocol):
    """What can be stopped and gone on with."""

    stopped: bool

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        ...


def running(kind: str, key: Hashable, start: Callable[[], Running[Part]]) -> Running[Part]:
    """Return this session's work with this key, started if it is new; the one not asked for longest is forgotten."""
    kept: dict[Hashable, Running[Any]] = st.session_state.setdefault(f"{kind}.running", {})
    found = kept.pop(key, None) or start()
    kept[key] = found
    while len(kept) > KEPT:
        kept.pop(next(iter(kept)))
    return cast("Running[Part]", found)


def progress(work: Stoppable, share: float, said: str, *, key: str, along: Sequence[Stoppable] = ()) -> None:
    """Show how far the work is, `said` in words, and the button that stops it or goes on: it, and what runs `along`."""

    def turn(*, stopped: bool) -> None:
        for each in (work, *along):
            each.stopped = stopped

    left, right = st.columns([4, 1], vertical_alignment="center")
    left.progress(share, f"Stopped after {said}." if work.stopped else f"{said} so far …")
    label = "Go on" if work.stopped else "Stop"
    right.button(label, key=key, on_click=turn, kwargs={"stopped": not work.stopped})


def run_again() -> None:
    """Run the page again to go on: its own part where that is what runs, else all of it."""
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()
