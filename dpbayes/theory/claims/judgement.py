"""What is decided of a printed bound at one setting, from its bound and what is measured beside it."""

import enum
import math
from dataclasses import dataclass

from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.exhibit import BoundKind, Measured

TIGHT = 1.05
"""A printed bound up to this many times the value that it bounds is called tight."""


class Decision(enum.Enum):
    """What a printed bound is worth at a setting."""

    NO_NUMBER = "not a number"
    EMPTY = "a probability of 1 or more, which is vacuous"
    REFUTED = "exceeded where all its conditions hold"
    UNFOUNDED = "exceeded where not all of its conditions hold"
    OURS_EXCEEDED = "exceeded with a constant of ours, which the paper leaves open"
    HOLDS = "not exceeded, and not compared"
    TIGHT = "hardly above the value that it bounds"
    LOOSE = "above the value that it bounds"
    FAR = "above a value that is zero"
    UNPROVED = "below the proved bound"
    UNCERTIFIED = "no proved bound to compare it with"


class ComparedWith(enum.Enum):
    """What a printed bound is compared with."""

    TRUE = "true"
    CERTIFIED = "certified"


@dataclass(frozen=True)
class Judgement:
    """What is decided of a printed bound, and beside what.

    `ratio` is the printed bound over that value where it is LOOSE, and that value over the printed bound where it is
    UNPROVED; else NaN.
    """

    decision: Decision
    beside: ComparedWith = ComparedWith.TRUE
    ratio: float = math.nan

    @property
    def is_exceeded(self) -> bool:
        return self.decision in (Decision.REFUTED, Decision.UNFOUNDED, Decision.OURS_EXCEEDED)


def judged(says: BoundKind, bound: Bound, measured: Measured) -> Judgement:
    """Return what is decided at the first of the settings of a bound: what kind of statement it is decides how."""
    printed, certified = float(bound.printed[0]), float(bound.certified[0])
    if math.isnan(printed) or (math.isinf(printed) and says is not BoundKind.CHANCE):
        return Judgement(Decision.NO_NUMBER)
    if says is BoundKind.CHANCE and printed >= 1:
        return Judgement(Decision.EMPTY)
    if measured.violated[0]:
        return Judgement(_why_exceeded(bound))
    if says is BoundKind.ENOUGH:
        return Judgement(Decision.HOLDS)
    true = _reference(says, measured)
    if math.isfinite(true):
        return _compared(printed, true, ComparedWith.TRUE)
    return (
        _largest(printed, certified)
        if says is BoundKind.CERTAIN
        else _compared(printed, certified, ComparedWith.CERTIFIED)
    )


def _reference(says: BoundKind, measured: Measured) -> float:
    """Return the value that the printed bound is compared with; NaN where none is known well enough."""
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    if says is BoundKind.QUANTILE:
        return simulated  # the exact value is the mean's
    if says is BoundKind.CHANCE and not math.isfinite(exact):
        # A handful of simulated cases is no basis for a ratio.
        return simulated if float(measured.high[0] - measured.low[0]) < simulated else math.nan
    return exact


def _largest(printed: float, certified: float) -> Judgement:
    if not math.isfinite(certified):
        return Judgement(Decision.UNCERTIFIED, ComparedWith.CERTIFIED)
    if printed >= certified:
        return _compared(printed, certified, ComparedWith.CERTIFIED)
    return Judgement(Decision.UNPROVED, ComparedWith.CERTIFIED, certified / printed)


def _why_exceeded(bound: Bound) -> Decision:
    """A bound that is exceeded is refuted only where its own conditions hold, and where it has no constants of ours."""
    if bound.claim.ours:
        return Decision.OURS_EXCEEDED
    return Decision.REFUTED if bound.applies else Decision.UNFOUNDED


def _compared(printed: float, value: float, beside: ComparedWith) -> Judgement:
    """Return how tight a printed bound is that is not exceeded."""
    if printed <= TIGHT * value:
        return Judgement(Decision.TIGHT, beside)
    if value <= 0:
        return Judgement(Decision.FAR, beside)
    return Judgement(Decision.LOOSE, beside, printed / value)
