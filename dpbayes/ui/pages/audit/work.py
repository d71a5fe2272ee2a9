"""Audits and recalibrations that take longer than a moment: they go on from run to run of the page, or stop."""

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpbayes.audit.entry import Recalibration
from dpbayes.audit.reports import AuditReport, recalibration_steps
from dpbayes.base.validation import InputError
from dpbayes.ui.pages.audit.subject import Audited, epsilons_up_to, report_of
from dpbayes.ui.widgets import running as runs
from dpbayes.ui.widgets.running import progress


@dataclass
class Stepped:
    """Work whose number of steps is not known: its parts are the shares that are done, and at the end what is found."""

    step: Callable[[int], Any]
    parts: list[Any] = field(default_factory=list)
    stopped: bool = False

    @property
    def going(self) -> bool:
        """Whether the page is to run again to go on."""
        return not (self.done or self.stopped)

    @property
    def taken(self) -> int:
        """How many steps were done."""
        return len(self.parts)

    @property
    def done(self) -> bool:
        """Whether the result is in."""
        return bool(self.parts) and not isinstance(self.parts[-1], float)

    @property
    def share(self) -> float:
        """How much is done, by the steps' own account."""
        return 1.0 if self.done else self.parts[-1] if self.parts else 0.0

    def work(self) -> None:
        """Go on for a moment, even at first: the page is drawn by then, and needs that long to be seen."""
        end = time.perf_counter() + runs.MOMENT
        while self.going:
            self.parts.append(self.step(len(self.parts)))
            if time.perf_counter() >= end:
                return

    @property
    def found(self) -> Any:
        """What was found. Only once it is done."""
        return self.parts[-1]


def stepped(steps: Iterator[Any]) -> Stepped:
    """Return work that takes these steps. A refusal is raised again when it is asked again."""
    refused: list[InputError] = []

    def step(number: int) -> Any:
        if refused:
            raise refused[0]
        try:
            return next(steps)
        except InputError as error:
            refused.append(error)
            raise

    return Stepped(step)


def _going(kind: str, key: Hashable, start: Callable[[], Iterator[Any]]) -> Stepped:
    """This session's work with this key. Others that were left half done are forgotten: what they hold is large."""
    kept: dict[Hashable, Stepped] = st.session_state.setdefault(f"{kind}.running", {})
    if key not in kept:
        for old in [name for name, work in kept.items() if not work.done]:
            del kept[old]
        kept[key] = stepped(start())
    return kept[key]


def audit_work(subject: Audited) -> Stepped | AuditReport:
    """Return the audit, or the work on it where it takes longer than a moment. Errors: InputError."""
    mechanism, steps = subject.mechanism, subject.known.steps
    if steps is None or not steps.are_needed(mechanism):
        return report_of(subject)

    def start() -> Iterator[Any]:
        return steps.steps(mechanism, epsilons=lambda exact: epsilons_up_to(subject, exact))

    work = _going("audit", subject.key, start)
    return work.found if work.done else work


def recalibration_work(subject: Audited, how: Recalibration, target: float) -> Stepped | float:
    """Return the setting of the knob that keeps to the target, or the work on it. Errors: InputError."""
    start, delta = how.start(subject.mechanism), subject.promised.delta
    work = _going(
        "audit.target",
        (subject.key, target),
        lambda: recalibration_steps(start, n=subject.n, target=target, delta=delta),
    )
    return how.knob.read(work.found) if work.done else work


def show_progress(work: Stepped, what: str, *, key: str) -> None:
    """Show how far the work is, and the button that stops it or goes on."""
    progress(work, min(work.share, 1.0), f"{100 * work.share:.0f} % of {what}", key=key)
    blank(3)


def blank(slots: int) -> None:
    """Put nothing where an earlier run left something: what is not drawn again stays until a run ends by itself."""
    for _ in range(slots):
        st.empty()
