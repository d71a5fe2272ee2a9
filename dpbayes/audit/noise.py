"""The audits of mechanisms that add noise to numbers: all follow from the loss of the numbers that one record moves."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.normal import Loss
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    nothing_to_lose,
    pure_report,
)


def noise_audit(
    kind: type[Any],
    *,
    law: Callable[..., Loss],
    shown: Callable[..., tuple[WorstCase, str]],
    picture: Callable[[Any], TwoLaws],
) -> Audit:
    """Return the audit of a class of mechanisms that add noise.

    law(mechanism, n, releases) -> the loss of several releases for the worst pair of tables; shown(mechanism, law, n)
    -> this pair, and a sentence on what one record changes; picture(mechanism) -> the noise on one number.
    """

    def report(mechanism: Any, *, n: int, epsilons: ArrayLike) -> AuditReport:
        grid, loss = checked_grid(epsilons), law(mechanism, n=checked_records(n), releases=1)
        low, high = loss.deltas(np.append(0.0, grid))
        if not high[0]:
            return nothing_to_lose(mechanism, grid)
        worst, change = shown(mechanism, loss, n)
        delta = mechanism.claimed.delta
        at_least, exact = (math.inf, math.inf) if delta else loss.epsilon(0.0)
        curve, scope = DeltaCurve(grid, high[1:], low[1:]), f"{all_tables_text(n)} {change}"
        pure = pure_report(mechanism, exact=exact, at_least=at_least, curve=curve, worst=worst, scope=scope)
        needed_at_least, needed = loss.epsilon(delta)
        return replace(pure, needed=needed, needed_at_least=needed_at_least)

    def losses(mechanism: Any, *, n: int, releases: int) -> Loss:
        return law(mechanism, n=checked_records(n), releases=releases)

    return Audit(kind=kind, report=report, losses=losses, picture=lambda mechanism, worst, n: picture(mechanism))
