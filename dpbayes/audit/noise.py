"""The audits of mechanisms that add noise to numbers: all follow from the loss of the numbers that one record moves."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.normal import BetweenLosses, GaussianLoss, Loss, WholeGaussianLoss
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
from dpbayes.mechanisms.exact_class import require_exact_class


def noise_audit(
    kind: type[Any],
    *,
    law: Callable[..., Loss],
    shown: Callable[..., tuple[WorstCase, str]],
    picture: Callable[[Any], TwoLaws],
    step: int = 1,
) -> Audit:
    """Return the audit of a class of mechanisms that add noise.

    law(mechanism, n, releases) -> the loss of several releases for the worst pair of tables; shown(mechanism, law, n)
    -> this pair, and a sentence on what one record changes; picture(mechanism) -> the noise on one number. `step` is by
    how much the numbers of moved values of other pairs are smaller.
    """

    def report(mechanism: Any, *, n: int, epsilons: ArrayLike) -> AuditReport:
        require_exact_class(mechanism, kind)
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

    def losses(mechanism: Any, *, n: int, releases: int) -> Losses:
        require_exact_class(mechanism, kind)
        loss = law(mechanism, n=checked_records(n), releases=releases)
        return Losses(loss, pairs_of(loss, step * releases))

    return Audit(kind=kind, report=report, losses=losses, picture=lambda mechanism, worst, n: picture(mechanism))


def pairs_of(loss: Loss, step: int) -> tuple[Loss, ...]:
    """Return the losses of all kinds of neighbours, the worst first; none if they are not known.

    Pairs that move fewer values are listed, where the law depends on their number. For real Gaussian noise, a smaller
    change exceeds every level more rarely.
    """
    if isinstance(loss, LaplaceNoise | WholeGaussianLoss):
        fewer = range(loss.moved - step, 0, -step)
        return (loss, *(replace(loss, moved=moved) for moved in fewer)) if loss.moved else ()
    worst = loss.most if isinstance(loss, BetweenLosses) else loss
    return (loss,) if isinstance(worst, GaussianLoss) else ()
