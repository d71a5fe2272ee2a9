"""The meaning of a guarantee for one person: the success of guessing their record, and the limit of a belief.

The attacker knows all other records, and has prior odds of two values of the remaining one. Several releases of the
same table have independent noise. If j records are linked, the loss is j times epsilon.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.loss.law import LossLaw, PromisedLoss, loss_rarely_passed
from dpbayes.audit.registry import audit, audit_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred, percent
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number

SUSPICION = 0.1
"""The default prior belief about one person."""

RARE = 0.01
"""The probability with which a belief exceeds the usual limit in pictures."""

LINKED = (
    "Limits of beliefs hold for an attacker who knows all other records, and for a record independent of the others. "
    "For linked records, such as those of one household, multiply ε by their number. The ε of several releases add up."
)
"""The conditions of the sentences."""


@dataclass(frozen=True)
class Between:
    """A number that lies between two certified values."""

    low: float
    high: float


@dataclass(frozen=True)
class Risk:
    """The risk of one person from several releases of one mechanism.

    `guess` is the success of the best guesser at even odds, `promised` the largest success that the guarantee allows,
    for one release 1/2 + (e^epsilon - 1 + 2 delta) / (2 (e^epsilon + 1)) ([Kairouz15] Theorem 3.3). `ceiling` is the
    limit of the belief `suspicion`, which is certain if delta is 0. `rare` is a loss that is exceeded with probability
    at most RARE, for all neighbours. It `is_audited` if `guess` and `rare` follow from the distribution of the
    mechanism's noise, and not from the guarantee alone.
    """

    guarantee: Guarantee
    releases: int
    guess: Between
    promised: float
    suspicion: float
    ceiling: float
    rare: float
    is_audited: bool = True

    def __str__(self) -> str:
        """Return the meaning of the risk; "at most" rounds up."""
        them = "it" if self.releases == 1 else f"{self.releases:,} releases"
        allowed = (
            f", by the distribution of the noise; other noise with this ε could allow {in_hundred(self.promised)}."
            if self.is_audited
            else ", by the guarantee alone. The risk of the mechanism, dp.risk(mechanism, n=...), may be lower."
        )
        return (
            "Consider an attacker who knows all other records and finds two values of one record equally likely. "
            f"Without the release, the attacker guesses right 50 times in 100; with {them}, at most "
            f"{in_hundred(self.guess.high)} times{allowed} {_belief(self)}"
        )

    def usual(self, beliefs: ArrayLike) -> FloatArray:
        """Return levels that true beliefs (...) exceed with probability at most RARE: (...)."""
        return _raised(beliefs, self.rare)


def risk(mechanism: Any, *, n: int | None = None, releases: int = 1, suspicion: float = SUSPICION) -> Risk:
    """Return the risk of one person from several releases of one table of n records.

    Args:
        mechanism: The mechanism, whose noise is audited; or a release, whose guarantee alone is used.
        n: The public number of records, which a mechanism needs and a release does not.
        releases: The number of releases of the table.
        suspicion: An attacker's belief about one person before the releases.

    Returns:
        The risk; `print` shows it in sentences.

    Raises:
        InputError: The mechanism has no guarantee or no audit, n is missing, the suspicion is not between 0 and 1, or
            there are more than 10,000 releases.

    Example:
        >>> round(dp.risk(dp.LaplaceUpdates(prior=dp.chain(3), epsilon=1), n=100).ceiling, 3)
        0.232
    """
    promise, law = _promise_of(mechanism), losses_of(mechanism, n=n, releases=releases)
    most = releases * promise.epsilon
    rare = loss_rarely_passed(law, RARE, most) if most else 0.0
    return Risk(
        guarantee=promise,
        releases=releases,
        guess=best_guess(law),
        promised=best_guess(PromisedLoss(promise.epsilon, promise.delta, releases)).high,
        suspicion=suspicion,
        ceiling=ceiling(suspicion, promise, releases=releases),
        rare=rare if promise.delta else min(rare, most),
        is_audited=not isinstance(law, PromisedLoss),
    )


def _raised(beliefs: ArrayLike, loss: float) -> FloatArray:
    return np.asarray(special.expit(special.logit(np.asarray(beliefs, dtype=np.float64)) + loss))


# From the promise alone


def ceiling(suspicion: float, promise: Guarantee, *, releases: int = 1) -> float:
    """Return p e^(k epsilon) / (1 - p + p e^(k epsilon)): the limit of the belief p after k releases.

    With delta = 0, no release exceeds the limit. Errors: InputError for a belief out of (0, 1).
    """
    odds = special.logit(finite_number("suspicion", suspicion, low=1e-12, high=1 - 1e-12))
    return float(special.expit(odds + releases * promise.epsilon))


# From the audit


def _promise_of(mechanism: Any) -> Guarantee:
    promise = getattr(mechanism, "certified", None) or getattr(mechanism, "guarantee", None)
    if not isinstance(promise, Guarantee):
        raise InputError(f"mechanism must be a mechanism or a release, not {brief(type(mechanism).__name__)}.")
    return promise


def losses_of(mechanism: Any, *, n: int | None, releases: int = 1) -> LossLaw:
    """Return the privacy loss of several releases of one table of n records, the largest of all neighbours.

    Errors: InputError without a guarantee or an audit, and for an invalid number of releases.
    """
    entry, promise = audit_of(mechanism), _promise_of(mechanism)
    worst = PromisedLoss(promise.epsilon, promise.delta, releases)
    if not promise.is_private:
        raise InputError(f"{brief(type(mechanism).__name__)} has no guarantee, so a release may reveal every record.")
    if hasattr(mechanism, "guarantee"):
        return worst
    if n is None:
        raise InputError("The risk of a mechanism depends on the number of records. Pass it, for example n=1000.")
    if entry.losses is None:
        return _LossOfCurve(mechanism, n, worst)
    return entry.losses(mechanism, n=n, releases=releases)


@dataclass(frozen=True, eq=False)
class _LossOfCurve:
    """The loss of releases by the audit's curve and the guarantee; several releases lose no less than one."""

    mechanism: Any
    n: int
    worst: PromisedLoss

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the lower bound of one release, and the smallest known upper bound of all."""
        levels = np.asarray(epsilons, dtype=np.float64)
        curve = audit(self.mechanism, n=self.n, epsilons=levels.ravel()).curve
        _, worst = self.worst.deltas(levels)
        upper = curve.deltas.reshape(levels.shape) if self.worst.releases == 1 else worst
        return curve.lower.reshape(levels.shape), np.minimum(worst, upper)


def best_guess(law: LossLaw, belief: float = 0.5) -> Between:
    """Return the largest success of guessing between two values, one with this belief, by the distribution of the loss.

    Errors: InputError for a belief out of (0, 1).
    """
    odds = float(special.logit(finite_number("The belief", belief, low=1e-9, high=1 - 1e-9)))
    smaller = float(special.expit(-abs(odds)))
    return Between(*(1 - smaller + smaller * float(delta) for delta in law.deltas(abs(odds))))


# In words


def belief_sentence(promise: Guarantee, *, suspicion: float = SUSPICION, releases: int = 1) -> str:
    """Return the limit of a suspicion after several releases with a guarantee, as one sentence; the number rounds up.

    Errors: those of `ceiling`.
    """
    begun = "An" if releases == 1 else f"After {releases:,} releases, an"
    belief = f"{begun} attacker’s {percent(suspicion)} belief that a statement about one person is true can rise to"
    if not promise.is_private:
        return f"{belief} certainty: there is no guarantee."
    return f"{belief} {belief_limit(ceiling(suspicion, promise, releases=releases), promise)}."


def belief_limit(most: float, promise: Guarantee) -> str:
    """Return the limit of a belief in words."""
    apart = ", apart from rare cases (δ)" if promise.delta else ""
    return "near certainty" if in_hundred(most) == "100" else f"at most {in_hundred(most)}%{apart}"


def _belief(risk: Risk) -> str:
    """Return the ceiling of the belief, and the limit that it rarely exceeds."""
    most, usual = in_hundred(risk.ceiling), in_hundred(float(risk.usual(risk.suspicion)))
    often = f"; in {1 - RARE:.0%} of cases it rises to at most {usual}%, even if it is true"
    often = "" if usual == most or not np.isfinite(risk.rare) else often
    limit = belief_limit(risk.ceiling, risk.guarantee)
    return f"The attacker’s {percent(risk.suspicion)} belief can rise to {limit}{often}."
