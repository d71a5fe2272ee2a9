"""The epsilons at which one curve of an accuracy study overtakes another, and the best proved curve at each epsilon."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbayes.base.estimates import standard_error
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT
from dpbayes.experiments.accuracy.study import AccuracyStudy
from dpbayes.mechanisms.parameters import Calibration

FAR = 3.0
"""Standard errors from which a difference is clear; more for few repeats, for the same probability of an error."""


@dataclass(frozen=True)
class Crossing:
    """The points of the grid between which one curve overtakes another.

    `behind` is the last epsilon at which the curve is clearly below, or None. `ahead` is the first larger epsilon at
    which it is clearly above; it is also clearly above at all points of the grid up to `until`.
    """

    behind: float | None
    ahead: float
    until: float


def overtakes(study: AccuracyStudy, method: Method, other: Method) -> Crossing | None:
    """Return where `method` becomes more accurate than `other`.

    None if it is nowhere clearly better, or nowhere above the last epsilon at which it is clearly worse.
    """
    return _crossing(study, lead_of(study, method, other))


def within(study: AccuracyStudy, method: Method, margin: float) -> Crossing | None:
    """Return where a method's accuracy is within `margin` of the exact posterior's; None as for `overtakes`."""
    return _crossing(study, margin - lead_of(study, EXACT, method))


def lead_of(study: AccuracyStudy, method: Method, other: Method) -> FloatArray:
    """Return the difference of two methods' accuracies in the repeats in which both are measured: (R, E)."""
    ours, theirs = study.measures[method].accuracy, study.measures[other].accuracy
    both = min(len(ours), len(theirs))
    return ours[:both] - theirs[:both]


def clear_signs(lead: FloatArray, *, step: float) -> NDArray[np.int8]:
    """Return 1 where the mean over the repeats (R, E) is clearly above zero, -1 where below, else 0: (E,).

    `step` is the effect of one test record. Values are multiples of half a step, so repeats that agree by chance are
    taken to have a spread of at least half a step. Repeats count as independent.
    """
    repeats = len(lead)
    mean = lead.mean(axis=0)
    if repeats < 2:
        return np.zeros(mean.shape, dtype=np.int8)
    spread = np.maximum(lead.std(axis=0, ddof=1), step / 2)
    doubt = -special.stdtrit(repeats - 1, special.ndtr(-FAR)) * spread / math.sqrt(repeats)
    return np.where(np.abs(mean) > doubt, np.sign(mean), 0).astype(np.int8)


def _crossing(study: AccuracyStudy, lead: FloatArray) -> Crossing | None:
    epsilons = study.plan.epsilons
    signs = np.broadcast_to(clear_signs(lead, step=1 / study.plan.testing), (len(epsilons),))
    behind = np.flatnonzero(signs < 0)
    start = int(behind[-1]) + 1 if len(behind) else 0
    ahead = np.flatnonzero(signs[start:] > 0)
    if not len(ahead):
        return None
    first = start + int(ahead[0])
    gaps = np.flatnonzero(signs[first:] <= 0)
    last = first + int(gaps[0]) - 1 if len(gaps) else len(epsilons) - 1
    return Crossing(epsilons[start - 1] if start else None, epsilons[first], epsilons[last])


_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Best:
    """The most accurate of the curves whose epsilon is proved.

    `behind` is the difference to the exact posterior's accuracy in the same repeats, and `error` its standard error.
    The curves in `beside` are not clearly worse.
    """

    epsilon: float
    method: Method
    accuracy: float
    behind: float
    error: float
    beside: tuple[Method, ...]


def best_proved(study: AccuracyStudy) -> tuple[Best, ...]:
    """Return the best curve at every epsilon of the grid where a curve with a proved epsilon was measured."""
    rows = (_best(study, k) for k in range(len(study.plan.epsilons)))
    return tuple(row for row in rows if row is not None)


def best_near(study: AccuracyStudy, epsilon: float) -> Best | None:
    """Return the best curve at the epsilon of the grid that is nearest to this one, on a logarithmic scale."""
    rows = best_proved(study)
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
