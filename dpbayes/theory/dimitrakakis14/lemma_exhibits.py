"""The lemmas of [Dimitrakakis14] on the Bounds page.

In Lemmas 5 and 6 what is certified is the mass that the lemma speaks of. The core's `lemma_5` and `lemma_6` certify
another, without the binomial coefficient and for a prior of the precision: it is in the formulas.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.theory.claims.claim import Assumption, Bound, Claim
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, Fill, Says
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.truth import Measured, exactly
from dpbayes.theory.dimitrakakis14 import answers as distinguishability
from dpbayes.theory.dimitrakakis14 import families
from dpbayes.theory.dimitrakakis14 import lemma_formulas as formulas
from dpbayes.theory.dimitrakakis14.empirical import fair_error, largest_move, normal_variation
from dpbayes.theory.dimitrakakis14.game import NormalPair

MOST_THROWS, MOST_DRAWS = 40_000, 4_000
"""Cells that are simulated at one setting, and empirical laws."""


# Constants


def lemma_1(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 1."""
    return _flat(families.lemma_1(at.knobs.level, records=at.knobs.size))


def constant(subject: Subject, at: At, bound: Bound) -> Measured:
    """Two tables that differ in one record reach the certified constant."""
    return exactly(bound.certified, printed=bound.printed, name="exact constant")


def lemma_7(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 7. The paper does not ask for independent nodes, so that is no condition of it here."""
    return replace(_flat(families.lemma_7(subject.network, least=at.knobs.omega)), assumptions=())


def move(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the largest move exactly."""
    exact = np.array([largest_move(subject.network, least=at.knobs.omega)])
    return exactly(exact, printed=bound.printed, name="exact largest move")


# Prior masses


def lemma_3(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 3."""
    return _flat(families.lemma_3(at.knobs.rate, at=at.knobs.level))


def lemma_4(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 4."""
    return _flat(families.lemma_4(at.knobs.rate, at=at.knobs.level))


def lemma_5(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 5, certified for the likelihood as printed: with its coefficient."""
    a, level, trials = at.knobs.shape, at.knobs.level, at.knobs.size
    # The coefficient adds ln n to the constant of every parameter.
    left = max(level - math.log(trials), 0.0)
    with np.errstate(over="ignore"):  # then the printed number is infinite, and says nothing
        bound = _flat(families.lemma_5(a, at=level, trials=trials))
        kept = families.lemma_5(a, at=left).certified
    return replace(bound, certified=np.atleast_1d(kept))


def lemma_6(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 6, certified for the prior as printed: of the variance, at mean 0."""
    bound = _flat(families.lemma_6(at.knobs.rate, at=at.knobs.level))
    mass = families.counterexample_lemma_6(at.knobs.level, rate=at.knobs.rate).certified
    return replace(bound, certified=np.array([mass]))


def mass(subject: Subject, at: At, bound: Bound) -> Measured:
    """What is certified is the mass itself."""
    return exactly(bound.certified, printed=bound.printed, name="exact mass")


# Draws


def lemma_2(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 2."""
    return _flat(distinguishability.lemma_2(at.knobs.samples, delta=at.knobs.delta, cells=at.knobs.cells))


def error(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the error of a fair die's empirical law."""
    return fair_error(
        stream(subject.seed, "bounds", "empirical law"),
        samples=at.knobs.samples,
        cells=at.knobs.cells,
        printed=bound.printed,
        delta=at.knobs.delta,
        draws=min(MOST_DRAWS, MOST_THROWS // at.knobs.cells),
    )


def posteriors(at: At) -> NormalPair:
    """Return two posteriors of a normal's mean under N(0, 1), variance 1, that are one record apart."""
    return NormalPair(np.zeros(1), np.array([1.0 + at.knobs.size]), at.knobs.apart)


def lemma_8(subject: Subject, at: At) -> Bound:
    """[Dimitrakakis14] Lemma 8, in total variation: printed for one answer, certified for k."""
    pair, answers = posteriors(at), at.knobs.answers
    return Bound(
        claim=distinguishability.LEMMA_8,
        printed=normal_variation(pair, answers=1),
        certified=1 - distinguishability.overlap_at_least(pair, answers=answers),
        unit="total variation distance",
        confidence=1.0,
        assumptions=(Assumption("One answer is given", answers == 1),),
        is_private=True,
    )


def variation(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the distance after k answers exactly."""
    exact = normal_variation(posteriors(at), answers=at.knobs.answers)
    return exactly(exact, printed=bound.printed, name="exact distance")


def _flat(bound: Bound) -> Bound:
    return replace(bound, printed=np.atleast_1d(bound.printed), certified=np.atleast_1d(bound.certified))


def _mass_exhibit(
    title: str, claim: Claim, bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]
) -> Exhibit:
    return Exhibit(
        title,
        claim,
        Says.CHANCE,
        bound,
        mass,
        formula,
        (Axis.LEVEL, Axis.RATE),
        "a prior mass of {} without constant L",
        "prior mass without constant L, a probability",
        ("bounds.level", "bounds.rate"),
        fails,
    )


EXHIBITS: dict[str, Exhibit] = {
    "ALT_LEMMA_1": Exhibit(
        "ALT-14 Lemma 1: constant of several records",
        families.LEMMA_1,
        Says.CERTAIN,
        lemma_1,
        constant,
        formulas.lemma_1,
        (Axis.SIZE, Axis.LEVEL),
        "asks for a constant of {} (nats per unit of distance)",
        "constant of n records, nats per unit of distance",
        ("bounds.size", "bounds.level"),
    ),
    "ALT_LEMMA_2": Exhibit(
        "ALT-14 Lemma 2: error of an empirical law",
        distinguishability.LEMMA_2,
        Says.QUANTILE,
        lemma_2,
        error,
        formulas.lemma_2,
        (Axis.SAMPLES, Axis.DELTA),
        "an L1 error of {}",
        "L1 distance of the empirical law from the true one",
        ("bounds.samples", "bounds.delta", "bounds.cells"),
        trials="empirical laws",
    ),
    "ALT_LEMMA_3": _mass_exhibit("ALT-14 Lemma 3: exponential records", families.LEMMA_3, lemma_3, formulas.lemma_3),
    "ALT_LEMMA_4": _mass_exhibit(
        "ALT-14 Lemma 4: Laplace records", families.LEMMA_4, lemma_4, formulas.lemma_4, families.counterexample_lemma_4
    ),
    "ALT_LEMMA_5": replace(
        _mass_exhibit(
            "ALT-14 Lemma 5: binomial records",
            families.LEMMA_5,
            lemma_5,
            formulas.lemma_5,
            families.counterexample_lemma_5,
        ),
        axes=(Axis.LEVEL,),
        knobs=("bounds.level", "bounds.shape", "bounds.size"),
    ),
    "ALT_LEMMA_6": _mass_exhibit(
        "ALT-14 Lemma 6: normal records", families.LEMMA_6, lemma_6, formulas.lemma_6, families.counterexample_lemma_6
    ),
    "ALT_LEMMA_7": Exhibit(
        "ALT-14 Lemma 7: discrete networks",
        families.LEMMA_7,
        Says.CERTAIN,
        lemma_7,
        move,
        formulas.lemma_7,
        (Axis.OMEGA,),
        "lets one changed value move the log-likelihood by {} nats",
        "move of the log-likelihood by one changed value, nats",
        ("bounds.omega",),
        (families.counterexample_lemma_7,),
        limit=lemma_7,
        gives=("bounds.omega",),
    ),
    "ALT_LEMMA_8": Exhibit(
        "ALT-14 Lemma 8: total variation after several answers",
        distinguishability.LEMMA_8,
        Says.CERTAIN,
        lemma_8,
        variation,
        formulas.lemma_8,
        (Axis.ANSWERS, Axis.APART, Axis.SIZE),
        "allows a total variation distance of {}",
        "total variation distance of the laws of all answers",
        ("bounds.answers", "bounds.apart", "bounds.size"),
    ),
}
