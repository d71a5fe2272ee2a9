"""From which epsilon one curve is clearly ahead of another: no more than curves that wobble can show."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT
from dpbayes.experiments.accuracy.study import AccuracyStudy

FAR = 3.0
"""A difference is clear from so many standard errors on; from more where repeats are few, so that it is as rare."""


@dataclass(frozen=True)
class Crossing:
    """Where one curve gets ahead of another, in points of the grid; in between, nothing is claimed.

    `behind` is the last epsilon at which it is clearly behind, None where there is none. It is clearly ahead at
    `ahead`, the first such epsilon above, and at every point of the grid from there to `until`.
    """

    behind: float | None
    ahead: float
    until: float


def overtakes(study: AccuracyStudy, method: Method, other: Method) -> Crossing | None:
    """Return where `method` comes to predict better than `other`.

    None where it is clearly better nowhere on the grid, or nowhere above the last epsilon at which it is clearly worse.
    """
    return _crossing(study, lead_of(study, method, other))


def within(study: AccuracyStudy, method: Method, margin: float) -> Crossing | None:
    """Return where a method's accuracy comes within `margin` of the exact posterior's; None as for `overtakes`."""
    return _crossing(study, margin - lead_of(study, EXACT, method))


def lead_of(study: AccuracyStudy, method: Method, other: Method) -> FloatArray:
    """Return by how much a method predicts better than another in the repeats that both are measured in: (R, E)."""
    ours, theirs = study.measures[method].accuracy, study.measures[other].accuracy
    both = min(len(ours), len(theirs))
    return ours[:both] - theirs[:both]


def clear_signs(lead: FloatArray, *, step: float) -> NDArray[np.int8]:
    """Return 1 where the mean over the repeats (R, E) is clearly above zero, -1 where below, else 0: (E,).

    `step` is what one test record is worth: values are whole or half steps, so that repeats which happen to agree do
    not show a spread below half a step. Repeats count as independent.
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
