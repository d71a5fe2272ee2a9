"""The Audit page's one sentence: the stated guarantee, and whether it holds."""

import math

from dpbayes.audit.report.types import AuditReport, AuditVerdict, Exactness
from dpbayes.base.text import distinct_texts, escaped, numeral, whole_percent
from dpbayes.ui.pages.audit.subject import Audited


def without_audit(subject: Audited) -> str:
    """Return the sentence for a mechanism whose exact privacy loss is unknown."""
    return f"{_begun(subject.name)}: the worst-case privacy loss is not known."


def loss_text(report: AuditReport) -> str:
    """Return the worst-case privacy loss at the stated delta, in words."""
    if math.isinf(report.needed):
        return "unbounded"
    least, most = report.needed_at_least, report.needed
    return _loss(report, most) if most - least <= 1e-6 * max(1.0, most) else f"at most {_loss(report, most)}"


def _loss(report: AuditReport, loss: float) -> str:
    """Return a loss in four digits, in more where four would make it equal the stated epsilon."""
    return distinct_texts(loss, report.claimed.epsilon, most=4)[0]


def verdict(subject: Audited, report: AuditReport) -> str:
    """Return the page's sentence: the stated guarantee, and whether it holds."""
    name, claim = _begun(subject.name), f"the claim {escaped(str(report.claimed))}"
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            return f"{name} states no guarantee. {_run_at(subject, report)}"
        case AuditVerdict.PROVED_AND_TIGHT:
            return f"{name}: {claim} holds and is tight."
        case AuditVerdict.CLAIM_REFUTED:
            if math.isinf(report.needed_at_least):
                return f"{name}: {claim} is refuted. The worst-case privacy loss is unbounded."
            is_exact = report.needed_at_least >= report.needed * (1 - 1e-6)
            least = f"{'' if is_exact else 'at least '}{_loss(report, report.needed_at_least)}"
            return f"{name}: {claim} is refuted. The worst-case privacy loss is {least}."
        case AuditVerdict.HOLDS:
            return f"{name}: {claim} holds{_spare(report)}."
    return f"{name}: {claim} is neither proved nor refuted."


def _run_at(subject: Audited, report: AuditReport) -> str:
    epsilon = numeral(subject.promised.epsilon, 6)
    return f"At ε = {epsilon} the worst-case privacy loss is {loss_text(report)}."


def _spare(report: AuditReport) -> str:
    spare = 1 - report.needed / report.claimed.epsilon if report.claimed.epsilon else 0.0
    if report.exactness is Exactness.EXACT and spare > 0.005:
        return f" with {whole_percent(spare)} to spare"
    return ""


def _begun(name: str) -> str:
    return name[0].upper() + name[1:]
