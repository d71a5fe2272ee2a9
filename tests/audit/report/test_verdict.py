"""The verdict on a claim, at the edges between one word and the next."""

import numpy as np

from dpbayes.audit.report.types import SLACK, AuditReport, AuditVerdict, DeltaCurve, Exactness
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference


def reported(needed_at_least: float, certified: float = 1.0) -> AuditReport:
    """A report on a claim of epsilon 1 of which this loss was found."""
    place = Reference("Zhang16", "Algorithm 1")
    return AuditReport(
        claimed=Guarantee(1.0, reference=place),
        certified=Guarantee(certified, reference=place),
        exact=1.0,
        at_least=needed_at_least,
        exactness=Exactness.UPPER,
        needed=1.0,
        needed_at_least=needed_at_least,
        curve=DeltaCurve(np.zeros(1), np.zeros(1), np.zeros(1)),
        worst=None,
        scope="",
    )


def test_tight_is_a_millionth_and_refuted_is_more_than_rounding():
    assert reported(1 - 0.9e-6).verdict is AuditVerdict.PROVED_AND_TIGHT
    assert reported(1 - 1.1e-6).verdict is AuditVerdict.HOLDS
    assert reported(1 + 0.9 * SLACK).verdict is AuditVerdict.PROVED_AND_TIGHT
    assert reported(1 + 1.1 * SLACK).verdict is AuditVerdict.CLAIM_REFUTED
    assert reported(1 - 0.9e-6, certified=1.1).verdict is AuditVerdict.HOLDS, "tight, but by no proof"
