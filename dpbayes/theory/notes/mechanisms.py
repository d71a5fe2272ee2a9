"""The exponential mechanisms of [Notes] with global, local and smooth sensitivity, and their privacy losses.

Losses are maxima over all tables of the die's n throws; nothing depends on the throws themselves.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.finite import exact_epsilon, exact_pure_epsilon
from dpbayes.audit.loss.neighbours import die_neighbours
from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    global_sensitivity,
    log_pmf,
    smooth_guarantee,
    smooth_sensitivities,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, number
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, Fill, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.notes.dice import (
    DIE,
    NATS,
    checked_delta,
    checked_epsilon,
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
    law = log_pmf(all_distances(die), epsilon=checked_epsilon(epsilon), sensitivity=sensitivity)
    return exact_pure_epsilon(law, pairs=die_neighbours(die)).epsilon


def _loss_bound(claim: Claim, epsilon: float, exact: float, *assumptions: Assumption) -> Bound:
    return Bound(claim, np.asarray(epsilon), np.asarray(exact), NATS, 1.0, assumptions)


# Global sensitivity

GLOBAL = Claim(
    Reference("Notes", "Section 2.1, the mechanism"),
    "Global sensitivity gives ε-privacy",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_g)}",
    Verdict.LOOSE,
    "The loss is at least half of epsilon, and more with a strong prior. The weights of the candidates hardly differ, "
    "so the error tends to 1 as n grows.",
)


def global_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with global sensitivity: epsilon, and the exact loss. [Notes] Section 2.1, the mechanism."""
    largest = np.full(die.size, global_sensitivity(die))
    return _loss_bound(GLOBAL, epsilon, exact_die_loss(die, epsilon=epsilon, sensitivity=largest))


def global_mechanism_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Notes] Section 2.1, the mechanism."""
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
    "Local sensitivity does not give privacy",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_l(x))}",
    Verdict.AMENDED,
    "The mechanism does not guarantee epsilon: the loss exceeds epsilon for priors of about 0.3 and less. For larger "
    "priors, no audit found a loss above epsilon. Any finite distribution with full support has some finite loss.",
)


def local_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with local sensitivity: epsilon, as if it were global, and the exact loss. [Notes] Section 2.2.

    Certified is the exact loss, which is valid for this n and prior only. It can be below epsilon. Epsilon is proved if
    all tables have the same sensitivity.
    """
    local = die.local_sensitivities
    one = Assumption("The sensitivity is the same for all tables", bool(np.ptp(local) <= 1e-12 * local.max()))
    return _loss_bound(LOCAL, epsilon, exact_die_loss(die, epsilon=epsilon, sensitivity=local), one)


def counterexample_local(n: int = 200, *, prior: float = 0.1, epsilon: float = 1.0) -> Counterexample:
    """Return the exact loss with local sensitivity, above epsilon for small priors. [Notes] Section 2.2."""
    bound = local_mechanism(Die((prior, prior), n), epsilon=epsilon)
    setting = f"A coin with prior {prior:g}, {prior:g}, n = {n} throws, epsilon = {epsilon:g}"
    return Counterexample.of(bound, setting, truth=float(bound.certified))


def local_mechanism_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Notes] Section 2.2."""
    die = die_of(subject, at)
    low, high = (number(float(end)) for end in (die.local_sensitivities.min(), die.local_sensitivities.max()))
    return f"""
- {die_description(die)}: $|R| = {die.size}$ candidates, $\\Delta_l(x)$ from ${low}$ to ${high}$.
- **As stated**, there is no guarantee: $\\epsilon = {bound.stated}$ nats would be the largest loss of these weights if
  $\\Delta_l$ were the same for all tables.
- **Proved**: ${bound.proved}$ nats, the exact loss for this $n$ and prior. This loss may be below $\\epsilon$, but no
  proof guarantees this.
"""


# Smooth sensitivity

SMOOTH = Claim(
    Reference("Notes", "Section 2.3.1"),
    "Smooth sensitivity gives (ε, δ)-privacy",
    r"P[r] \propto e^{-\epsilon H / (2 S_\beta(x))}",
    Verdict.UNCLEAR,
    "The lemmas do not imply the claim: they omit the normaliser and the change from x to y. (1.5 epsilon, delta/2) "
    "is proved, and no violation of (epsilon, delta) was found.",
)


def smooth_mechanism(die: Die, *, epsilon: float, delta: float) -> Bound:
    """Return the epsilon of the mechanism with smooth sensitivity. [Notes] Section 2.3.1.

    Printed is epsilon with delta, which has no proof. Certified, with delta/2, is 1.5 epsilon or slightly more.
    """
    e, d = checked_epsilon(epsilon), checked_delta(delta)
    return Bound(SMOOTH, np.asarray(e), np.asarray(smooth_guarantee(die, epsilon=e, delta=d)), NATS, confidence=1 - d)


def smooth_loss(die: Die, *, epsilon: float, delta: float) -> float:
    """Return the exact pure loss of the mechanism for this n and prior. [Notes] Section 2.3.1."""
    beta = smoothing_rate(die, epsilon=checked_epsilon(epsilon), delta=checked_delta(delta))
    return exact_die_loss(die, epsilon=epsilon, sensitivity=smooth_sensitivities(die, beta=beta))


def smooth_loss_at_delta(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Compute the exact epsilon of the mechanism at delta, for this n and prior."""
    die, delta = small_die(subject, at), at.knobs.delta
    distance, pairs = all_distances(die), _distinct_neighbours(die)

    def loss(epsilon: float) -> float:
        smooth = smooth_sensitivities(die, beta=smoothing_rate(die, epsilon=epsilon, delta=delta))
        law = log_pmf(distance, epsilon=epsilon, sensitivity=smooth)
        return exact_epsilon(law, pairs=pairs, delta=delta)

    return np.array([loss(e) for e in at.epsilon])


def _distinct_neighbours(die: Die) -> IntArray:
    """Return the neighbours (N, 2) with a sorted first table; with one prior for all sides, these are enough."""
    pairs = die_neighbours(die)
    return pairs[(np.diff(die.candidates[pairs[:, 0]], axis=1) >= 0).all(axis=1)]


def smooth_mechanism_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Notes] Section 2.3.1."""
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


def _loss_exhibit(claim: Claim, bound: Callable[..., Bound], formula: Fill, amount: str) -> Exhibit:
    return Exhibit(
        claim,
        _at_every_epsilon(lambda die, at, epsilon: bound(die, epsilon=epsilon)),
        formula,
        (Axis.EPSILON, Axis.PRIOR),
        amount,
        LOSS_UNIT,
        also=DIE,
        measure=certified_as_exact("exact loss"),
        limit=small_die,
    )


EXHIBITS: dict[str, Exhibit] = {
    "NOTES_GLOBAL": _loss_exhibit(GLOBAL, global_mechanism, global_mechanism_text, "a privacy loss of at most {} nats"),
    "NOTES_LOCAL": _loss_exhibit(
        LOCAL, local_mechanism, local_mechanism_text, "no guarantee at a target loss of {} nats"
    ),
    "NOTES_SMOOTH": Exhibit(
        SMOOTH,
        _at_every_epsilon(lambda die, at, epsilon: smooth_mechanism(die, epsilon=epsilon, delta=at.knobs.delta)),
        smooth_mechanism_text,
        (Axis.EPSILON, Axis.DELTA, Axis.PRIOR),
        "a privacy loss, up to δ, of at most {} nats",
        LOSS_UNIT,
        also=DIE,
        measure=exact_value("exact loss at δ", smooth_loss_at_delta),
        limit=small_die,
    ),
}
