"""The privacy loss of simulated adaptive releases, exactly: ln P[o]/Q[o] of their outputs under two neighbours.

The computation uses only the two random steps of the process, and not the proof that its costs add up.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import special

from dpbayes.audit.draws import DOUBT
from dpbayes.audit.entry import Audit
from dpbayes.base.amounts import Amount, Rho
from dpbayes.base.privacy import Guarantee
from dpbayes.base.quadrature import turning_point
from dpbayes.base.randomness import generator
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.adaptive.draws import Draws, SimulatedDraws, choice_scale
from dpbayes.mechanisms.adaptive.mechanism import AdaptiveTables
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.adaptive.release import guarantee_of
from dpbayes.model.dataset import Dataset

LEAST_DRAWS, MOST_DRAWS = 4, 100_000


@dataclass(frozen=True, eq=False)
class AdaptiveAudit:
    """Privacy losses of simulated outputs: `first` (D,) are ln P/Q of outputs of P, `second` (D,) ln Q/P of those of Q.

    Args:
        claimed: The guarantee of the releases.
        first: Losses of outputs of the first table.
        second: Losses of outputs of the second table.

    Example:
        >>> audit = dp.AdaptiveAudit(dp.Guarantee(1.0), np.array([0.25, 0.5]), np.array([-0.25, 0.75]))
        >>> audit.largest, audit.is_refuted
        (0.75, False)
    """

    claimed: Guarantee
    first: FloatArray
    second: FloatArray

    @property
    def largest(self) -> float:
        """The largest loss of a simulated output. Every output is possible, so a pure epsilon is at least as large."""
        return float(max(np.abs(self.first).max(), np.abs(self.second).max()))

    def loss_bound(self, *, doubt: float = DOUBT) -> float:
        """Return a lower confidence bound on epsilon at the claimed delta, from the exact losses L of the outputs.

        (epsilon, delta) implies E[(1 - exp(epsilon - L))+] <= delta. This mean of numbers from 0 to 1 is tested by
        Hoeffding's inequality, P[mean >= x] <= exp(-D KL(x || delta)). At delta = 0, the bound is the largest loss. The
        losses use the stated distribution of the noise.

        Args:
            doubt: The probability with which the bound may be wrong.

        Returns:
            The bound, at least 0.

        Raises:
            InputError: The doubt is outside its range.
        """
        doubt = finite_number("doubt", doubt, low=1e-300, high=0.5)
        return max(_epsilon_of_losses(losses, self.claimed.delta, doubt / 2) for losses in (self.first, self.second))

    @property
    def is_refuted(self) -> bool:
        """Whether the lower bound contradicts the claim."""
        return self.loss_bound() > self.claimed.epsilon * (1 + 1e-9)


def _epsilon_of_losses(losses: FloatArray, delta: float, doubt: float) -> float:
    """Return the largest epsilon that the losses (D,) refute at delta with this doubt, by bisection; at least 0."""
    high = max(0.0, float(losses.max()))
    if not delta:
        return high

    def is_refuted(epsilon: float) -> bool:
        mean = float(-np.expm1(np.minimum(epsilon - losses, 0)).mean())
        distance = special.rel_entr(mean, delta) + special.rel_entr(1 - mean, 1 - delta)
        return bool(mean > delta and len(losses) * distance > -math.log(doubt))

    return float(turning_point(lambda epsilon: np.asarray(is_refuted(float(epsilon))), 0.0, high, halvings=50)[0])


def audit_adaptive(
    first: Dataset,
    second: Dataset,
    *,
    epsilon: float | Fraction | str,
    rng: np.random.Generator | int,
    delta: float | Fraction | str = 0,
    draws: int = 200,
) -> AdaptiveAudit:
    """Return the exact privacy losses of simulated adaptive releases of two neighbouring tables.

    Args:
        first: A table.
        second: A neighbour: the same columns and number of records, with one record replaced.
        epsilon: The epsilon of the releases.
        rng: A generator or a seed.
        delta: The delta of the releases; 0 for pure privacy.
        draws: The number of simulated releases of each table.

    Returns:
        The losses of the outputs, with the largest one and a lower bound on epsilon.

    Raises:
        InputError: The tables are no neighbours, a number is outside its range, or a table is too large.

    Example:
        >>> table = dp.Dataset(("a", "b"), (("x", "y"),) * 2, np.array([[0, 0], [0, 0], [1, 1]]))
        >>> rng = np.random.default_rng(1)
        >>> audit = dp.audit_adaptive(table, table.replace(0, (1, 1)), epsilon=1, rng=rng, draws=20)
        >>> 0 < audit.largest <= 1
        True
    """
    return _losses(plan_for(epsilon, delta), first, second, rng=generator(rng), draws=draws)


def _losses(
    plan: AdaptivePlan,
    first: Dataset,
    second: Dataset,
    *,
    rng: np.random.Generator,
    draws: int,
) -> AdaptiveAudit:
    draws = whole_number("The number of draws", draws, low=LEAST_DRAWS, high=MOST_DRAWS)
    if (first.names, first.states) != (second.names, second.states) or len(first.codes) != len(second.codes):
        raise InputError("The two tables must have the same columns and the same number of records.")
    if (first.codes != second.codes).any(axis=1).sum() > 1:
        raise InputError("The two tables must differ in at most one record.")
    losses = np.empty((2, draws))
    for k in range(draws):
        losses[0, k] = _loss(plan, first, second, SimulatedDraws(rng))
        losses[1, k] = _loss(plan, second, first, SimulatedDraws(rng))
    return AdaptiveAudit(guarantee_of(plan), losses[0], losses[1])


def _loss(plan: AdaptivePlan, table: Dataset, neighbour: Dataset, draws: Draws) -> float:
    """Return ln P[o]/Q[o] of one simulated output of the table."""
    recorded = _Recorded(draws)
    carried_out(plan, table, recorded)
    replayed = _Recorded(_Replayed(iter(recorded.results)))
    carried_out(plan, neighbour, replayed)
    if replayed.costs != recorded.costs:
        raise AssertionError("the cost of a step depends on the records")
    return recorded.log_p - replayed.log_p


@dataclass(eq=False)
class _Recorded:
    """Draws that record their results and costs, and ln of their probability up to what the costs determine."""

    draws: Draws
    results: list[IntArray | int] = field(default_factory=list)
    costs: list[tuple[Amount, ...]] = field(default_factory=list)
    log_p: float = 0.0

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        """Return whole numbers plus noise: P[z] ~ exp(-rho z^2), or exp(-epsilon |z|)."""
        noisy = self.draws.noisy(values, costs)
        self.results.append(noisy)
        self.costs.append(tuple(costs))
        moved = np.abs(noisy - values).astype(np.float64)
        for away, cost in zip(moved.tolist(), costs, strict=True):
            self.log_p -= float(cost.value) * away**2 if isinstance(cost, Rho) else float(cost) * away
        return noisy

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        """Return the place of a score: P[c] ~ exp(score_c / b)."""
        at = self.draws.chosen(scores, sensitivity, cost)
        self.results.append(at)
        self.costs.append((cost,))
        self.log_p += float(special.log_softmax(scores / float(choice_scale(sensitivity, cost)))[at])
        return at


@dataclass(eq=False)
class _Replayed:
    """Draws that return recorded results again, whatever the table is."""

    results: Iterator[IntArray | int]

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        """Return the recorded numbers."""
        return np.asarray(next(self.results))

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        """Return the recorded place."""
        return int(next(self.results))


AUDIT = Audit(
    kind=AdaptiveTables,
    outputs=lambda mechanism, first, second, **more: _losses(mechanism.plan, first, second, **more),
)
