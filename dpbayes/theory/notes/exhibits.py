"""The claims of the [Notes] on the Bounds page, for dice whose sides all have the page's prior.

None depends on the table at hand: losses are the worst over all tables of the die's n throws, and the local sensitivity
is that of the most even table.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.audit.finite import exact_epsilon
from dpbayes.audit.neighbours import die_neighbours
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.compositions import is_listable
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    hellinger_between,
    local_sensitivity,
    log_pmf,
    smooth_sensitivities,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, flat, joined
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, Fill, Says
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.truth import Measured, exactly
from dpbayes.theory.notes import formulas
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms as notes
from dpbayes.theory.notes.formulas import die_of, even_counts, plain_die

MOST_LAWS = 300
"""Most candidates for which all tables' laws are compared: a few hundredths of a second at each epsilon."""

MOST_ENUMERATED = 6_000
"""Most candidates over which the local sensitivity is enumerated."""

MOST_EXPONENT = 700.0
"""A weight's ratio beyond e to this is no number."""


def _each(at: At, bound: Callable[[float], Bound]) -> Bound:
    """Return a bound at every epsilon."""
    return joined([flat(bound(epsilon)) for epsilon in at.epsilon])


def _small_die(subject: Subject, at: At) -> Die:
    """Return the die. Errors: InputError, which says how many throws are few enough, where its laws are too many."""
    die = die_of(subject, at)
    die.require_listable(MOST_LAWS)
    return die


def _exact_as(name: str) -> Callable[[Subject, At, Bound], Measured]:
    """Take what is certified for the truth, which it is, under this name."""
    return lambda subject, at, bound: exactly(bound.certified, printed=bound.printed, name=name)


# Candidates and sensitivities


def candidates(subject: Subject, at: At) -> Bound:
    """[Notes] Section 2.1, |R|."""
    return flat(notes.candidates(plain_die(at)))


def reduction(subject: Subject, at: At) -> Bound:
    """[Notes] Section 3.1, at the most even table.

    Where there are too many candidates to enumerate, what is certified are the distances to the neighbours one by one:
    by the triangle inequality no candidate moves its score by more.
    """
    die = die_of(subject, at)
    counts = even_counts(die)
    if is_listable(die.n, sides=die.sides, most=MOST_ENUMERATED):
        return flat(notes.reduction(die, counts=counts))
    unit = np.eye(die.sides, dtype=np.int64)
    near = counts + (unit[:, None] - unit)[unit == 0]  # every side holds a throw here
    return Bound(
        claim=notes.REDUCTION,
        printed=np.array([local_sensitivity(die, counts=counts)]),
        certified=np.array([hellinger_between(die, first=counts, second=near).max()]),
        unit="Hellinger distance",
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


def enumerated(subject: Subject, at: At, bound: Bound) -> Measured:
    """Take the largest change of a score over all candidates, where they are few enough to enumerate."""
    few = is_listable(at.knobs.size, sides=at.knobs.sides, most=MOST_ENUMERATED)
    exact = bound.certified if few else np.full(bound.certified.shape, np.nan)
    return exactly(exact, printed=bound.printed, name="largest change over all candidates")


def smoothing(subject: Subject, at: At) -> Bound:
    """[Notes] Section 2.3.1, beta."""
    return _each(at, lambda epsilon: notes.smoothing(plain_die(at), epsilon=epsilon, delta=at.knobs.delta))


def largest_rate(subject: Subject, at: At, bound: Bound) -> Measured:
    """Take the largest rate that is proved: the printed one fails above it."""
    found = exactly(bound.certified, printed=bound.printed, name="largest that is proved")
    return replace(found, violated=bound.printed > bound.certified * (1 + 1e-9))


# Mechanisms


def global_mechanism(subject: Subject, at: At) -> Bound:
    """[Notes] Section 2.1, the mechanism. Errors: InputError for more than MOST_LAWS candidates."""
    die = _small_die(subject, at)
    return _each(at, lambda epsilon: notes.global_mechanism(die, epsilon=epsilon))


def local_mechanism(subject: Subject, at: At) -> Bound:
    """[Notes] Section 2.2, with what epsilon would need. Errors: InputError for more than MOST_LAWS candidates."""
    die = _small_die(subject, at)
    local = die.local_sensitivities
    one = Assumption("The sensitivity is the same for all tables", bool(np.ptp(local) <= 1e-12 * local.max()))
    found = _each(at, lambda epsilon: notes.local_mechanism(die, epsilon=epsilon))
    return replace(found, assumptions=(*found.assumptions, one))


def smooth_mechanism(subject: Subject, at: At) -> Bound:
    """[Notes] Section 2.3.1. Errors: InputError for more than MOST_LAWS candidates."""
    die = _small_die(subject, at)
    return _each(at, lambda epsilon: notes.smooth_mechanism(die, epsilon=epsilon, delta=at.knobs.delta))


def smooth_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Audit the mechanism: the least epsilon with which this n and prior have that delta."""
    die, delta = _small_die(subject, at), at.knobs.delta
    distance, pairs = all_distances(die), _distinct_neighbours(die)

    def loss(epsilon: float) -> float:
        smooth = smooth_sensitivities(die, beta=smoothing_rate(die, epsilon=epsilon, delta=delta))
        law = log_pmf(distance, epsilon=epsilon, sensitivity=smooth)
        return exact_epsilon(law, pairs=pairs, delta=delta).epsilon

    return exactly(np.array([loss(e) for e in at.epsilon]), printed=bound.printed, name="exact loss at δ")


def _distinct_neighbours(die: Die) -> IntArray:
    """Return the neighbours (N, 2) whose first table is sorted: with one prior for all sides the rest lose as much."""
    pairs = die_neighbours(die)
    return pairs[(np.diff(die.candidates[pairs[:, 0]], axis=1) >= 0).all(axis=1)]


# Lemmas


def sliding(subject: Subject, at: At) -> Bound:
    """[Notes] Lemma 2.1, for the weights of one table. Errors: InputError where they are no numbers any more."""
    shift = at.knobs.shift
    if max(at.epsilon) * max(shift, 1.0) / 2 > MOST_EXPONENT:
        raise InputError("The weights differ by more than can be written as a number; choose a smaller epsilon.")
    return _each(at, lambda epsilon: notes_lemmas.sliding(epsilon, shift=np.array([shift])))


def dilation(subject: Subject, at: At) -> Bound:
    """[Notes] Lemma 2.2, its exceptional event. Errors: InputError for more than MOST_LAWS candidates."""
    die = _small_die(subject, at)
    return _each(at, lambda epsilon: notes_lemmas.dilation(die, epsilon=epsilon, rate=np.array([at.knobs.rate])))


def too_low(subject: Subject, at: At, bound: Bound) -> Measured:
    """Add up the law of every table over the scores that are too low, with the sensitivity smoothed at this rate."""
    die, rate = _small_die(subject, at), at.knobs.rate
    distance, smooth = all_distances(die), smooth_sensitivities(die, beta=rate)
    low = distance > smooth[:, None] / math.expm1(rate)

    def worst(epsilon: float) -> float:
        law: FloatArray = np.exp(log_pmf(distance, epsilon=epsilon, sensitivity=smooth))
        return float((law * low).sum(axis=1).max())

    exact = np.array([worst(epsilon) for epsilon in at.epsilon])
    return exactly(exact, printed=bound.printed, name="exact probability")


DIE = ("bounds.size", "bounds.sides")

FEW_CANDIDATES: dict[str, Any] = {"limit": _small_die, "gives": ("bounds.size",)}
"""Where all tables' laws are compared, throws give way to sides."""
LOSS_UNIT = "privacy loss of one record, nats"


def _loss_exhibit(
    title: str,
    claim: Claim,
    bound: Evaluate,
    formula: Fill,
    amount: str,
    fails: Sequence[Callable[[], Counterexample]] = (),
) -> Exhibit:
    return Exhibit(
        title,
        claim,
        Says.CERTAIN,
        bound,
        _exact_as("exact loss"),
        formula,
        (Axis.EPSILON, Axis.PRIOR),
        amount,
        LOSS_UNIT,
        ("epsilon", *DIE, "prior"),
        tuple(fails),
        **FEW_CANDIDATES,
    )


EXHIBITS: dict[str, Exhibit] = {
    "NOTES_CANDIDATES": Exhibit(
        "Notes, Section 2.1: number of candidates",
        notes.CANDIDATES,
        Says.CERTAIN,
        candidates,
        _exact_as("exact number"),
        formulas.candidates,
        (Axis.SIZE,),
        "counts {} candidates",
        "candidates, distinct posteriors",
        DIE,
    ),
    "NOTES_REDUCTION": Exhibit(
        "Notes, Section 3.1: local sensitivity by its neighbours",
        notes.REDUCTION,
        Says.CERTAIN,
        reduction,
        enumerated,
        formulas.reduction,
        (Axis.SIZE, Axis.PRIOR),
        "gives the most even table a local sensitivity of {}",
        "local sensitivity, Hellinger distance",
        (*DIE, "prior"),
    ),
    "NOTES_BETA": Exhibit(
        "Notes, Section 2.3.1: smoothing parameter",
        notes.BETA,
        Says.CERTAIN,
        smoothing,
        largest_rate,
        formulas.smoothing,
        (Axis.EPSILON, Axis.DELTA, Axis.SIZE),
        "takes a smoothing parameter of {}",
        "smoothing parameter β, per replaced record",
        ("epsilon", "bounds.delta", *DIE),
    ),
    "NOTES_GLOBAL": _loss_exhibit(
        "Notes, Section 2.1: privacy with global sensitivity",
        notes.GLOBAL,
        global_mechanism,
        formulas.global_mechanism,
        "promises a privacy loss of {} nats",
    ),
    "NOTES_LOCAL": _loss_exhibit(
        "Notes, Section 2.2: privacy with local sensitivity",
        notes.LOCAL,
        local_mechanism,
        formulas.local_mechanism,
        "calls a mechanism not private whose weights aim at a loss of {} nats",
        (notes.counterexample_local,),
    ),
    "NOTES_SMOOTH": Exhibit(
        "Notes, Section 2.3.1: privacy with smooth sensitivity",
        notes.SMOOTH,
        Says.CERTAIN,
        smooth_mechanism,
        smooth_loss,
        formulas.smooth_mechanism,
        (Axis.EPSILON, Axis.DELTA, Axis.PRIOR),
        "promises, up to δ, a privacy loss of {} nats",
        LOSS_UNIT,
        ("epsilon", "bounds.delta", *DIE, "prior"),
        **FEW_CANDIDATES,
    ),
    "NOTES_LEMMA_2_1": Exhibit(
        "Notes, Lemma 2.1: sliding",
        notes_lemmas.SLIDING,
        Says.CERTAIN,
        sliding,
        _exact_as("exact ratio of weights"),
        formulas.sliding,
        (Axis.SHIFT,),
        "lets the weights of one table differ by a factor of {}",
        "ratio of the weights of two scores",
        ("bounds.shift", "epsilon"),
        (notes_lemmas.counterexample_lemma_2_1,),
    ),
    "NOTES_LEMMA_2_2": Exhibit(
        "Notes, Lemma 2.2: dilation",
        notes_lemmas.DILATION,
        Says.CHANCE,
        dilation,
        too_low,
        formulas.dilation,
        (Axis.RATE, Axis.PRIOR),
        "a score too low to be dilated in {} of releases",
        "probability of a score too low to be dilated",
        ("bounds.rate", "epsilon", *DIE, "prior"),
        (notes_lemmas.counterexample_lemma_2_2,),
        **FEW_CANDIDATES,
    ),
}
