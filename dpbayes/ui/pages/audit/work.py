"""Audits and recalibrations that take longer than a moment: they go on from run to run of the page, or stop."""

from typing import Any, TypeVar

from dpbayes.audit.entry import Recalibration
from dpbayes.audit.recalibration import recalibration_steps
from dpbayes.audit.report.types import AuditReport
from dpbayes.base.steps import Work
from dpbayes.base.text import done
from dpbayes.base.validation import InputError
from dpbayes.ui.pages.audit.subject import Audited, epsilons_up_to, report_of
from dpbayes.ui.widgets.running import Running, blank, progress, running

Result = TypeVar("Result")


def audit_work(subject: Audited) -> Running[AuditReport] | AuditReport:
    """Return the audit, or the work on it where it takes longer than a moment. Errors: InputError."""
    mechanism, steps = subject.mechanism, subject.entry.steps
    if steps is None or not steps.are_needed(mechanism):
        return report_of(subject)

    def start() -> Work[AuditReport]:
        return steps.steps(mechanism, epsilons=lambda exact: epsilons_up_to(subject, exact))

    return _result_or_work(running("audit", subject.key, start))


def recalibration_work(subject: Audited, how: Recalibration, target: float) -> Running[float] | float:
    """Return the setting of the knob that keeps to the target, or the work on it. Errors: InputError."""
    start, delta = how.start(subject.mechanism), subject.promised.delta

    def search() -> Work[float]:
        turned = yield from recalibration_steps(start, n=subject.n, target=target, delta=delta)
        return how.knob.read(turned)

    return _result_or_work(running("audit.target", (subject.key, target), search))


def _result_or_work(work: Running[Result]) -> Running[Result] | Result:
    """Return the result, or the work on it. Errors: InputError for what was refused while the page was not looking."""
    if work.refused:
        raise InputError(work.refused)
    return work.so_far if work.done else work


def show_progress(work: Running[Any], what: str, *, key: str) -> None:
    """Show how far the work is, and the button that stops it or goes on."""
    progress(work, f"{done(work.share)} of {what}", key=key)
    blank(3)
