"""The exponential mechanism of [Notes] with smooth sensitivity in metric spaces, where its claimed guarantee fails."""

import math
from dataclasses import dataclass

import numpy as np

from dpbayes.audit.loss.finite import exact_curve, exact_epsilon
from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.hellinger import log_pmf
from dpbayes.theory.claims.claim import Claim, Counterexample, Verdict
from dpbayes.theory.notes.dice import NATS, checked_delta, checked_epsilon

METRIC = Claim(
    Reference("Notes", "Section 2.3.1, in any metric space"),
    "Smooth sensitivity gives (ε, δ)-privacy in any metric space",
    r"P[r] \propto e^{-\epsilon d(x, r) / (2 S_\beta(x))}",
    Verdict.FALSE,
    "A counterexample is a set of points on a line with many candidates beside one point. (1.5 epsilon, delta/2) "
    "holds in any metric space. A sharper proof must use properties of the distances between posteriors.",
)

CROWD, FAR_CROWD, WAY = 50, 300, 21
"""Candidates beside the one and at the far end, and how many steps of length one lead there."""

_SPACING = 1e-6
"""Between the candidates of a crowd, which are different points."""


@dataclass(frozen=True, eq=False)
class Line:
    """A sequence of tables, each a neighbour of the next, whose results are points on a line: (R,), from left to right.

    `first` is the index of the table next to the crowd; the next index is its neighbour on the other side.
    """

    points: FloatArray
    first: int

    @property
    def size(self) -> int:
        """|R|: every point is a candidate."""
        return len(self.points)

    @property
    def pairs(self) -> IntArray:
        """The places of all ordered pairs of neighbours: (N, 2)."""
        here = np.arange(self.size - 1)
        return np.concatenate([np.stack([here, here + 1], axis=-1), np.stack([here + 1, here], axis=-1)])


def crowded_line(*, beta: float) -> Line:
    """Return a crowd, a table beside it, its neighbour at distance 1, a step of e^beta, steps of 1, another crowd.

    At the neighbour the local sensitivity is e^beta, beside the crowd it is 1 and no smoother: [Notes] Section 2.3.1
    allows just that. The crowd moves the normaliser by nearly e^(epsilon/2), the distance to the far crowd moves its
    score by epsilon/2 and, as it is divided by another sensitivity, by up to epsilon/2 more.
    """
    crowd = -_SPACING * np.arange(CROWD, 0, -1)
    way = 1 + math.exp(beta) + np.arange(WAY)
    return Line(np.concatenate([crowd, [0.0, 1.0], way, way[-1] + 1 + _SPACING * np.arange(FAR_CROWD)]), CROWD)


def law_on_line(line: Line, *, epsilon: float, beta: float) -> FloatArray:
    """Return ln P[r | x] of the mechanism with smooth sensitivity on a line, by definition: (R, R)."""
    steps = np.diff(line.points)
    local = np.maximum(np.append(0.0, steps), np.append(steps, 0.0))
    replaced = np.abs(np.subtract.outer(np.arange(line.size), np.arange(line.size)))
    smooth = (local * np.exp(-beta * replaced)).max(axis=1)
    return log_pmf(np.abs(np.subtract.outer(line.points, line.points)), epsilon=epsilon, sensitivity=smooth)


def _proved_in_any_space(size: int, *, epsilon: float, delta: float, beta: float) -> float:
    """Return the epsilon that is proved with delta/2: `smooth_guarantee` uses the triangle inequality and |R| alone."""
    q = math.exp(-beta)
    normaliser = np.logaddexp(epsilon * q / 2, (1 - q) * math.log(size) + q * math.log(delta / 2))
    return float(max(1.5 * epsilon, epsilon + normaliser))


def counterexample_metric(epsilon: float = 1.0, *, delta: float = 1e-5) -> Counterexample:
    """Return the exact epsilon at delta on a crowded line, above the claimed one.

    [Notes] Section 2.3.1, in any metric space.
    """
    e, d = checked_epsilon(epsilon), checked_delta(delta)
    size = crowded_line(beta=0.0).size
    beta = math.log1p(e / (2 * math.log(2 * size / d)))
    line = crowded_line(beta=beta)
    law = law_on_line(line, epsilon=e, beta=beta)
    needed = float(exact_curve(law, pairs=line.pairs, epsilons=[e])[0])
    return Counterexample(
        METRIC,
        f"{CROWD} candidates beside one point, {FAR_CROWD} around a second point {WAY + 1} steps "
        f"away, epsilon = {e:g}, delta = {numeral(d)}; this epsilon needs a delta of {numeral(needed, 2)}",
        truth=exact_epsilon(law, pairs=line.pairs, delta=d),
        printed=e,
        certified=_proved_in_any_space(line.size, epsilon=e, delta=d, beta=beta),
        unit=NATS,
    )
