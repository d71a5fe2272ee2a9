"""The Audit page's one sentence: what is claimed, what is lost, and so whether the claim holds."""

import math

from dpbayes.audit.report.types import AuditReport, AuditVerdict, Exactness
from dpbayes.base.text import apart, escaped, numeral, whole_percent
from dpbayes.ui.pages.audit.subject import Audited


def without_audit(subject: Audited) -> str:
    """Return the sentence for a mechanism whose loss nobody has written down."""
    claim = escaped(str(subject.claimed))
    return f"{_begun(subject.name)} claims {claim}; there is no exact audit of it, so what it loses is not known."


def loss_text(report: AuditReport) -> str:
    """Return what the worst neighbours lose at the claim's delta, in words."""
    if math.isinf(report.needed):
        return "everything"
    least, most = report.needed_at_least, report.needed
    return _lost(report, most) if most - least <= 1e-6 * max(1.0, most) else f"at most {_lost(report, most)}"


def _lost(report: AuditReport, loss: float) -> str:
    """Return a loss in four digits, in more where they would make it just what is claimed."""
    return apart(loss, report.claimed.epsilon, most=4)[0]


def verdict(subject: Audited, report: AuditReport) -> str:
    """Return the page's sentence: what is claimed, what is lost, and so whether the claim holds."""
    name = _begun(subject.name)
    claim = escaped(str(report.claimed))
    delta = f" at δ = {numeral(report.claimed.delta)}" if report.claimed.delta else ""
    lost = loss_text(report)
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            return f"{name} promises nothing. {_run_at(subject, report, lost)}"
        case AuditVerdict.PROVED_AND_TIGHT:
            return f"{name} claims {claim}; {subject.where} lose just that: the claim holds, and is used up in full."
        case AuditVerdict.CLAIM_REFUTED:
            least = _lost(report, report.needed_at_least)
            shown = lost if not lost.startswith("at most") else f"{least}, if not {lost.removeprefix('at most ')}"
            return f"{name} claims {claim}; for {subject.where} it can lose {shown}{delta}: the claim is refuted."
        case AuditVerdict.HOLDS:
            return f"{name} claims {claim}; {subject.where} lose {lost}{delta}: the claim holds{_spare(report)}."
    return (
        f"{name} claims {claim}; {subject.where} lose {lost}{delta}: "
        "the claim is neither proved nor refuted, for this is no more than an upper value."
    )


def _run_at(subject: Audited, report: AuditReport, lost: str) -> str:
    asked = subject.promised.epsilon
    text = f"Run at ε = {numeral(asked, 6)}, {subject.where} lose {lost}: "
    if report.at_least > asked * (1 + 1e-9):
        return text + "more than that ε."
    return text + "no more than that ε, at this n and prior."


def _spare(report: AuditReport) -> str:
    spare = 1 - report.needed / report.claimed.epsilon if report.claimed.epsilon else 0.0
    if report.exactness is Exactness.EXACT and spare > 0.005:
        return f", with {whole_percent(spare)} to spare"
    return ""


def _begun(name: str) -> str:
    return name[0].upper() + name[1:]
