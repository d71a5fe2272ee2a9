"""How far from non-private the best known curve is at each epsilon, and which it is."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.experiments.accuracy.crossings import clear_signs, lead_of
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT
from dpbayes.experiments.accuracy.study import AccuracyStudy
from dpbayes.mechanisms.parameters import Calibration

_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Best:
    """The most accurate of the curves whose epsilon is proved: `behind` the exact posterior, in the same repeats.

    `error` is the standard error of that difference. `beside` are the curves that are not clearly worse.
    """

    epsilon: float
    method: Method
    accuracy: float
    behind: float
    error: float
    beside: tuple[Method, ...]


def best_known(study: AccuracyStudy) -> tuple[Best, ...]:
    """Return the best known at every epsilon of the grid; none where nothing with a proof was measured."""
    rows = (_best(study, k) for k in range(len(study.plan.epsilons)))
    return tuple(row for row in rows if row is not None)


def best_near(study: AccuracyStudy, epsilon: float) -> Best | None:
    """Return the best known at the epsilon of the grid that is nearest to another, on a logarithmic scale."""
    rows = best_known(study)
    return min(rows, key=lambda row: abs(np.log(row.epsilon / epsilon)), default=None)


def _best(study: AccuracyStudy, k: int) -> Best | None:
    epsilon = study.plan.epsilons[k]
    behind = {
        method: lead_of(study, EXACT, method)[:, k]
        for method in study.plan.private
        if Calibration.CERTIFIED in method.calibrations and study.certified[method][k] <= epsilon * _ROUNDING
    }
    if not behind:
        return None
    # Differences in the same repeats, so that methods of fewer repeats are not favoured by their records.
    best = min(behind, key=lambda method: float(behind[method].mean()))
    step = 1 / study.plan.testing
    others = (method for method in behind if method is not best)
    beside = tuple(m for m in others if not clear_signs(lead_of(study, best, m)[:, [k]], step=step)[0])
    lost = behind[best]
    return Best(
        epsilon, best, float(study.mean(best)[k]), float(lost.mean()), float(standard_error(lost[:, None])[0]), beside
    )
