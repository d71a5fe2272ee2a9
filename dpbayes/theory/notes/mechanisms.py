"""The exponential mechanisms of [Notes] with global, local and smooth sensitivity, and their privacy losses.

Losses are maxima over all tables of the die's n throws; nothing depends on the throws themselves.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    global_sensitivity,
    log_pmf,
    neighbours_up_to_symmetry,
    smooth_guarantee,
    smooth_sensitivities,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.notes.sensitivities import (
    DIE,
    NATS,
    die_description,
    die_of,
    evaluate_over_epsilons,
    small_die,
)

LOSS_UNIT = "privacy loss of one record, nats"


MOST_EXACT = 1000
"""The largest number of candidates for exact losses."""


def exact_die_loss(die: Die, *, epsilon: float, sensitivity: FloatArray) -> float:
    """Return the exact pure loss over all tables, for sensitivities (R,). Errors: InputError for too many tables."""
    die.require_listable(MOST_EXACT)
    law = log_pmf(all_distances(die), epsilon=epsilon, sensitivity=sensitivity)
    return exact_pure_epsilon(law, pairs=neighbours_up_to_symmetry(die)).epsilon


def _loss_bound(claim: Claim, epsilon: float, exact: float, *assumptions: Assumption) -> Bound:
    return Bound(claim, np.asarray(epsilon), np.asarray(exact), NATS, 1.0, assumptions)


# Global sensitivity

GLOBAL = Claim(
    Reference("Notes", "Section 2.1, the mechanism"),
    "A posterior chosen with global sensitivity is ε-private",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_g)}",
    Verdict.LOOSE,
    "The loss is at least half of ε, and more with a strong prior. The weights of the candidates hardly differ, "
    "so the error tends to 1 as n grows.",
)


def global_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with global sensitivity: epsilon, and the exact loss. [Notes] Section 2.1, the mechanism."""
    largest = np.full(die.size, global_sensitivity(die))
    return _loss_bound(GLOBAL, epsilon, exact_die_loss(die, epsilon=epsilon, sensitivity=largest))


def _global_mechanism_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    die = die_of(subject, at)
    return f"""
- {die_description(die)}: $|R| = {die.size}$ candidates, $\\Delta_g = {number(global_sensitivity(die))}$.
- **As stated**: $\\epsilon = {bound.stated}$ nats.
- **Proved**: ${bound.proved}$ nats, the exact loss: the largest $|\\ln P_x[r] - \\ln P_y[r]|$ over all neighbours and
  all candidates. This loss holds for this $n$ and prior only.
"""


# Local sensitivity

LOCAL = Claim(
    Reference("Notes", "Section 2.2"),
    "A posterior chosen with local sensitivity is not private",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_l(x))}",
    Verdict.AMENDED,
    "The mechanism does not guarantee ε: the loss is 1.02 for ε = 1, a prior of 0.1 for each side and 200 throws of a "
    "coin. For priors above 0.3, no audit found a loss above ε. But some finite loss is guaranteed for these tables.",
)


def local_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with local sensitivity: epsilon, as if it were global, and the exact loss. [Notes] Section 2.2.

    Certified is the exact loss, which is valid for this n and prior only. It can be below epsilon. Epsilon is proved if
    all tables have the same sensitivity.
    """
    local = die.local_sensitivities
    one = Assumption("The sensitivity is the same for all tables", bool(np.ptp(local) <= 1e-12 * local.max()))
    return _loss_bound(LOCAL, epsilon, exact_die_loss(die, epsilon=epsilon, sensitivity=local), one)


# Smooth sensitivity

SMOOTH = Claim(
    Reference("Notes", "Section 2.3.1"),
    "A posterior chosen with smooth sensitivity is (ε, δ)-private",
    r"P[r] \propto e^{-\epsilon H / (2 S_\beta(x))}",
    Verdict.UNCLEAR,
    "The lemmas do not imply the claim: they omit the normaliser and the change from x to y. (1.5 ε, δ/2) "
    "is proved, and no violation of (ε, δ) was found.",
)


def smooth_mechanism(die: Die, *, epsilon: float, delta: float) -> Bound:
    """Return the epsilon of the mechanism with smooth sensitivity. [Notes] Section 2.3.1.

    Printed is epsilon with delta, which has no proof. Certified, with delta/2, is 1.5 epsilon or slightly more.
    """
    proved = np.asarray(smooth_guarantee(die, epsilon=epsilon, delta=delta))
    return Bound(SMOOTH, np.asarray(epsilon), proved, NATS, confidence=1 - delta)


def smooth_loss(die: Die, *, epsilon: float, delta: float) -> float:
    """Return the exact pure loss of the mechanism for this n and prior. [Notes] Section 2.3.1."""
    beta = smoothing_rate(die, epsilon=epsilon, delta=delta)
    return exact_die_loss(die, epsilon=epsilon, sensitivity=smooth_sensitivities(die, beta=beta))


def _smooth_loss_at_delta(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Compute the exact epsilon of the mechanism at delta, for this n and prior."""
    die, delta = small_die(subject, at), at.knobs.delta
    distance, pairs = all_distances(die), neighbours_up_to_symmetry(die)

    def loss(epsilon: float) -> float:
        smooth = smooth_sensitivities(die, beta=smoothing_rate(die, epsilon=epsilon, delta=delta))
        law = log_pmf(distance, epsilon=epsilon, sensitivity=smooth)
        return exact_epsilon(law, pairs=pairs, delta=delta)

    return np.array([loss(e) for e in at.epsilon])


def _smooth_mechanism_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    die, epsilon, delta = die_of(subject, at), at.epsilon[0], at.knobs.delta
    beta = smoothing_rate(die, epsilon=epsilon, delta=delta)
    smooth = smooth_sensitivities(die, beta=beta)
    pure = number(smooth_loss(die, epsilon=epsilon, delta=delta))
    return f"""
- {die_description(die)}: $|R| = {die.size}$ candidates, $\\beta = {number(beta)}$, $S_\\beta(x)$ from
  ${number(float(smooth.min()))}$ to ${number(float(smooth.max()))}$.
- **As stated**: $\\epsilon = {bound.stated}$ nats with $\\delta = {number(delta)}$.
- **Proved**: ${bound.proved}$ nats with $\\delta/2 = {number(delta / 2)}$.
- The exact loss at $\\delta$ is the least $\\epsilon'$ with which no neighbours exceed $\\delta$, for this $n$ and
  prior. At $\\delta = 0$, the exact loss is ${pure}$ nats.
"""


def _at_every_epsilon(bound: Callable[[Die, EvaluationPoint, float], Bound]) -> Evaluate:
    """Evaluate a mechanism's bound. Errors: InputError for more than MOST_LAWS candidates."""

    def evaluate(subject: Subject, at: EvaluationPoint) -> Bound:
        die = small_die(subject, at)
        return evaluate_over_epsilons(at, lambda epsilon: bound(die, at, epsilon))

    return evaluate


# In metric spaces, where the claimed guarantee fails


METRIC = Claim(
    Reference("Notes", "Section 2.3.1, in any metric space"),
    "A choice with smooth sensitivity is private in any metric space",
    r"P[r] \propto e^{-\epsilon d(x, r) / (2 S_\beta(x))}",
    Verdict.FALSE,
    "A counterexample is a set of points on a line with many candidates beside one point. (1.5 ε, δ/2) "
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
    size = crowded_line(beta=0.0).size
    beta = math.log1p(epsilon / (2 * math.log(2 * size / delta)))
    line = crowded_line(beta=beta)
    law = law_on_line(line, epsilon=epsilon, beta=beta)
    needed = float(exact_curve(law, pairs=line.pairs, epsilons=[epsilon])[0])
    return Counterexample(
        METRIC,
        f"{CROWD} candidates beside one point, {FAR_CROWD} around a second point {WAY + 1} steps "
        f"away, epsilon = {epsilon:g}, delta = {numeral(delta)}; this epsilon needs a delta of {numeral(needed, 2)}",
        truth=exact_epsilon(law, pairs=line.pairs, delta=delta),
        printed=epsilon,
        certified=_proved_in_any_space(line.size, epsilon=epsilon, delta=delta, beta=beta),
        unit=NATS,
    )


EXHIBITS: dict[str, Exhibit] = {
    "NOTES_GLOBAL": Exhibit(
        GLOBAL,
        _at_every_epsilon(lambda die, at, epsilon: global_mechanism(die, epsilon=epsilon)),
        _global_mechanism_text,
        (Axis.EPSILON, Axis.PRIOR),
        "a privacy loss of at most {} nats",
        LOSS_UNIT,
        also=DIE,
        measure=certified_as_exact("exact loss"),
        limit=small_die,
    ),
    "NOTES_SMOOTH": Exhibit(
        SMOOTH,
        _at_every_epsilon(lambda die, at, epsilon: smooth_mechanism(die, epsilon=epsilon, delta=at.knobs.delta)),
        _smooth_mechanism_text,
        (Axis.EPSILON, Axis.DELTA, Axis.PRIOR),
        "a privacy loss, up to δ, of at most {} nats",
        LOSS_UNIT,
        also=DIE,
        measure=exact_value("exact loss at δ", _smooth_loss_at_delta),
        limit=small_die,
    ),
}
