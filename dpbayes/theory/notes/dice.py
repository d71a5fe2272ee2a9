"""The dice for which the claims of the [Notes] are evaluated; all sides have the same prior.

Nothing depends on the current table. Losses are maxima over all tables of the die's n throws, and the local sensitivity
is that of the most even table.
"""

from collections.abc import Callable

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.base.validation import finite_number
from dpbayes.posteriors.hellinger import Die
from dpbayes.theory.claims.claim import Bound, flat, joined, number
from dpbayes.theory.claims.setting import EvaluationPoint, Subject

NATS = "nats of privacy loss"
DIE = ("bounds.size", "bounds.sides")


MOST_LAWS = 300
"""The largest number of candidates for comparing the distributions of all tables, some 0.03 seconds per epsilon."""


def die_of(subject: Subject, at: EvaluationPoint) -> Die:
    """Return the die: the same prior for every side. Errors: InputError for a prior out of range."""
    return Die((subject.concentration,) * at.knobs.sides, at.knobs.size)


def plain_die(at: EvaluationPoint) -> Die:
    """Return a die for claims that do not depend on the prior."""
    return Die((1.0,) * at.knobs.sides, at.knobs.size)


def small_die(subject: Subject, at: EvaluationPoint) -> Die:
    """Return the die. Errors: InputError for too many candidates; it states the largest number of throws."""
    die = die_of(subject, at)
    die.require_listable(MOST_LAWS)
    return die


def even_counts(die: Die) -> IntArray:
    """Return the counts (m,) of the most even table."""
    return die.n // die.sides + (np.arange(die.sides) < die.n % die.sides).astype(np.int64)


def die_description(die: Die) -> str:
    """Return a description of the die for a formula."""
    prior = f", prior ${number(die.prior[0])}$ for each,"
    return f"A die of $m = {die.sides}$ sides{prior} thrown $n = {number(die.n)}$ times"


def evaluate_over_epsilons(at: EvaluationPoint, bound: Callable[[float], Bound]) -> Bound:
    """Return a bound at every epsilon."""
    return joined([flat(bound(epsilon)) for epsilon in at.epsilon])


def checked_epsilon(epsilon: float) -> float:
    """Return epsilon. Errors: InputError unless it is from 1e-6 to 1000."""
    return finite_number("epsilon", epsilon, low=1e-6, high=1000.0)


def checked_delta(delta: float) -> float:
    """Return delta. Errors: InputError unless it is from 1e-300 to 1."""
    return finite_number("delta", delta, low=1e-300, high=1.0)
