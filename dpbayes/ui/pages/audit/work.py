"""Audits and recalibrations that take longer than a moment: they go on from run to run of the page, or stop."""

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpbayes.audit.die_steps import AT_ONCE
from dpbayes.audit.report_die import audit_die_steps
from dpbayes.audit.reports import AuditReport, recalibration_steps
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.ui.pages.audit.subject import Audited, epsilons_up_to, knob, report_of, to_recalibrate
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
    """Return the audit, or the work on it where the die is large. Errors: InputError."""
    made = subject.mechanism
    if not isinstance(made, HellingerGlobal | HellingerLocal | HellingerSmooth) or made.die.size <= AT_ONCE:
        return report_of(subject)
    work = _going(
        "audit", subject.key, lambda: audit_die_steps(made, epsilons=lambda exact: epsilons_up_to(subject, exact))
    )
    return work.found if work.done else work


def recalibration_work(subject: Audited, target: float) -> Stepped | float:
    """Return the epsilon (of a regression, B) that keeps to the target, or the work on it. Errors: InputError."""
    made, delta = to_recalibrate(subject), subject.promised.delta
    work = _going(
        "audit.target",
        (subject.key, target),
        lambda: recalibration_steps(made, n=subject.n, target=target, delta=delta),
    )
    return knob(work.found) if work.done else work


def show_progress(work: Stepped, what: str, *, key: str) -> None:
    """Show how far the work is, and the button that stops it or goes on."""
    progress(work, min(work.share, 1.0), f"{100 * work.share:.0f} % of {what}", key=key)
    blank(3)


def blank(slots: int) -> None:
    """Put nothing where an earlier run left something: what is not drawn again stays until a run ends by itself."""
    for _ in range(slots):
        st.empty()
