"""The audit of the release of the exact posterior."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    nothing_to_lose,
    opposites,
    pure_report,
)
from dpbayes.mechanisms import Exact


def audit_exact(mechanism: Exact, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of the exact posterior: it distinguishes all tables with different counts."""
    grid = checked_grid(epsilons)
    if checked_records(n) == 0 or mechanism.prior.network.count_sensitivity == 0:
        return nothing_to_lose(mechanism, grid)
    ones = np.ones(len(grid))
    worst = WorstCase(*opposites(mechanism.prior.network, n), "the exact counts of the first table")
    return pure_report(
        mechanism,
        exact=np.inf,
        curve=DeltaCurve(grid, ones, ones),
        worst=worst,
        scope=all_tables_text(n),
    )


AUDIT = Audit(kind=Exact, report=audit_exact)
