"""The audits that there are; the tuple AUDITS is the only registry."""

from typing import Any

from dpbayes.audit import consistent, exact, fourier, gaussian, laplace, regression, residual, sampler, weighted
from dpbayes.audit.die import hellinger
from dpbayes.audit.die import laplace as laplace_die
from dpbayes.audit.entry import Audit
from dpbayes.audit.map import exponential as map_exponential
from dpbayes.audit.map import printed as map_printed
from dpbayes.audit.report.types import AuditReport
from dpbayes.mechanisms.known import no_audit, oddity

AUDITS: tuple[Audit, ...] = (
    exact.AUDIT,
    laplace.AUDIT,
    fourier.AUDIT,
    sampler.AUDIT,
    map_exponential.AUDIT,
    consistent.AUDIT,
    weighted.AUDIT,
    gaussian.AUDIT,
    residual.AUDIT,
    *hellinger.AUDITS,
    laplace_die.CELLS,
    laplace_die.ONE,
    map_printed.AUDIT,
    regression.AUDIT,
)


def audit_of(mechanism: Any) -> Audit:
    """Return what is known of exactly this mechanism; UNKNOWN for a subclass, or one with a replaced part."""
    kind = type(mechanism)
    return next((audit for audit in AUDITS if audit.kind is kind and not oddity(mechanism, kind)), UNKNOWN)


def _refused(mechanism: Any, **numbers: Any) -> AuditReport:
    raise no_audit(mechanism)


UNKNOWN = Audit(kind=object, report=_refused)
"""What is known of a mechanism without an audit: nothing, but that releases of it can be counted."""
