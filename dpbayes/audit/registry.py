"""The audits that there are; the tuple AUDITS is the only registry."""

from typing import Any

from dpbayes.audit import exact, fourier, hellinger, laplace, laplace_die, map, printed_map, regression, sampler
from dpbayes.audit.entry import Audit
from dpbayes.mechanisms.known import oddity

AUDITS: tuple[Audit, ...] = (
    exact.AUDIT,
    laplace.AUDIT,
    fourier.AUDIT,
    sampler.AUDIT,
    map.AUDIT,
    *hellinger.AUDITS,
    laplace_die.CELLS,
    laplace_die.ONE,
    printed_map.AUDIT,
    regression.AUDIT,
)


def audit_of(mechanism: Any) -> Audit | None:
    """Return what is known of exactly this mechanism, if anything is: not of a subclass, nor with a replaced part."""
    kind = type(mechanism)
    return next((audit for audit in AUDITS if audit.kind is kind and not oddity(mechanism, kind)), None)
