"""The judgement of a printed bound at one setting, from the proved bound and the measured values."""

import enum
import math
from dataclasses import dataclass

from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.exhibit import BoundKind, Measured

TIGHT = 1.05
"""A printed bound is called tight up to this multiple of the bounded value."""


class Decision(enum.Enum):
    """The possible judgements of a printed bound at a setting."""

    NO_NUMBER = "not a number"
    EMPTY = "a probability of 1 or more, which is vacuous"
    REFUTED = "exceeded where all its conditions hold"
    UNFOUNDED = "exceeded where not all of its conditions hold"
    OURS_EXCEEDED = "exceeded with a constant of ours, which the paper leaves open"
    HOLDS = "not exceeded"
    TIGHT = "hardly above the value that it bounds"
    UNPROVED = "below the proved bound"
    UNCERTIFIED = "no proved bound to compare it with"


@dataclass(frozen=True)
class Judgement:
    """The decision on a printed bound, and whether it was compared with the proved bound, not with the true value."""

    decision: Decision
    by_proof: bool = False

    @property
    def is_exceeded(self) -> bool:
        return self.decision in (Decision.REFUTED, Decision.UNFOUNDED, Decision.OURS_EXCEEDED)


def judged(says: BoundKind, bound: Bound, measured: Measured) -> Judgement:
    """Return the judgement at the first setting of a bound; the rule depends on the kind of statement."""
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
        return _compared(printed, true)
    return _largest(printed, certified) if says is BoundKind.CERTAIN else _compared(printed, certified, by_proof=True)


def _reference(says: BoundKind, measured: Measured) -> float:
    """Return the value that the printed bound is compared with; NaN if no value is accurate enough."""
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    if says is BoundKind.QUANTILE:
        return simulated  # the exact value is that of the mean
    if says is BoundKind.CHANCE and not math.isfinite(exact):
        # A few simulated cases are not enough for a ratio.
        return simulated if float(measured.high[0] - measured.low[0]) < simulated else math.nan
    return exact


def _largest(printed: float, certified: float) -> Judgement:
    if not math.isfinite(certified):
        return Judgement(Decision.UNCERTIFIED, by_proof=True)
    if printed >= certified:
        return _compared(printed, certified, by_proof=True)
    return Judgement(Decision.UNPROVED, by_proof=True)


def _why_exceeded(bound: Bound) -> Decision:
    """Return the decision on an exceeded bound: refuted if its conditions hold and its constants are the paper's."""
    if bound.claim.ours:
        return Decision.OURS_EXCEEDED
    return Decision.REFUTED if bound.applies else Decision.UNFOUNDED


def _compared(printed: float, value: float, *, by_proof: bool = False) -> Judgement:
    """Return the judgement of a printed bound that is not exceeded."""
    return Judgement(Decision.TIGHT if printed <= TIGHT * value else Decision.HOLDS, by_proof)
