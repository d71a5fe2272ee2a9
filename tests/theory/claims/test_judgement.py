"""What is decided of a printed bound: every decision at numbers where it can be read off, and at its edges."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.references import Reference
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.exhibit import BoundKind, exactly, not_measured
from dpbayes.theory.claims.judgement import TIGHT, Decision, Judgement, judged

CLAIM = Claim(Reference("Zhang16", "Lemma 99"), "A claim that nobody made", "0", Verdict.HOLDS, "It is made up.")
NONE = not_measured(1)
NAN = math.nan


def bound(printed, certified, *, claim=CLAIM, holds=True):
    assumptions = (Assumption("The sky is blue", holds),)
    return Bound(claim, np.array([printed]), np.array([certified]), "nats", assumptions=assumptions)


def exact_of(exact, printed):
    return exactly(np.array([exact]), printed=np.array([printed]), name="exact value")


def simulated(value, low, high, *, violated=False, exact=NAN):
    value, low, high, exact = (np.array([x]) for x in (value, low, high, exact))
    return replace(NONE, exact=exact, value=value, low=low, high=high, violated=np.array([violated]))


@pytest.mark.parametrize("says", BoundKind)
def test_a_bound_that_is_no_number_is_worth_nothing(says):
    assert judged(says, bound(NAN, 2.0), NONE).decision is Decision.NO_NUMBER
    infinite = judged(says, bound(math.inf, 2.0), NONE).decision
    assert infinite is (Decision.EMPTY if says is BoundKind.CHANCE else Decision.NO_NUMBER)


@pytest.mark.parametrize("says", BoundKind)
def test_a_bound_that_is_exceeded_is_refuted_where_its_conditions_hold_and_nothing_in_it_is_ours(says):
    truth = exact_of(0.5, 0.25)
    assert judged(says, bound(0.25, 1.0), truth) == Judgement(Decision.REFUTED)
    assert judged(says, bound(0.25, 1.0, holds=False), truth) == Judgement(Decision.UNFOUNDED)
    ours = replace(CLAIM, ours="the constant 7")
    for holds in (True, False):
        assert judged(says, bound(0.25, 1.0, claim=ours, holds=holds), truth) == Judgement(Decision.OURS_EXCEEDED)


@pytest.mark.parametrize("says", [BoundKind.MEAN, BoundKind.CHANCE, BoundKind.CERTAIN])
def test_a_bound_up_to_a_twentieth_above_the_truth_is_tight(says):
    assert TIGHT == 1.05
    for factor, decision in ((1.0, Decision.TIGHT), (1.049, Decision.TIGHT), (1.051, Decision.HOLDS)):
        judgement = judged(says, bound(0.5 * factor, 9.0), exact_of(0.5, 0.5 * factor))
        assert judgement.decision is decision
        assert not judgement.by_proof
    assert judged(says, bound(0.75, 9.0), exact_of(0.0, 0.75)) == Judgement(Decision.HOLDS)


def test_a_quantile_is_compared_with_the_simulated_one_and_not_with_the_exact_mean():
    measured = simulated(2.0, 1.9, 2.1, exact=1.0)
    assert judged(BoundKind.QUANTILE, bound(3.0, 2.5), measured) == Judgement(Decision.HOLDS)
    too_few = simulated(NAN, NAN, NAN, exact=1.0)
    assert judged(BoundKind.QUANTILE, bound(3.0, 2.0), too_few) == Judgement(Decision.HOLDS, by_proof=True)
    assert judged(BoundKind.QUANTILE, bound(2.0, 2.0), too_few).decision is Decision.TIGHT


def test_a_probability_is_compared_with_a_simulated_one_only_if_that_is_sure():
    printed = bound(0.5, 0.125)
    sure, unsure = simulated(0.25, 0.2, 0.3), simulated(0.001, 0.0, 0.002)
    assert judged(BoundKind.CHANCE, printed, sure) == Judgement(Decision.HOLDS)
    assert judged(BoundKind.CHANCE, printed, unsure) == Judgement(Decision.HOLDS, by_proof=True)
    assert judged(BoundKind.CHANCE, printed, NONE) == Judgement(Decision.HOLDS, by_proof=True)
    exact = simulated(0.001, 0.0, 0.002, exact=0.25)
    assert judged(BoundKind.CHANCE, printed, exact) == Judgement(Decision.HOLDS)


@pytest.mark.parametrize(("printed", "empty"), [(0.999, False), (1.0, True), (3.0, True)])
def test_a_probability_of_1_or_more_says_nothing_even_where_it_is_exceeded(printed, empty):
    for violated in (False, True):
        judgement = judged(BoundKind.CHANCE, bound(printed, 0.5), simulated(0.9, 0.8, 1.0, violated=violated))
        assert (judgement.decision is Decision.EMPTY) == empty


def test_a_largest_value_that_is_not_known_is_compared_with_what_is_certified():
    for certified, judgement in (
        (2.0, Judgement(Decision.HOLDS, by_proof=True)),
        (4.0, Judgement(Decision.TIGHT, by_proof=True)),
        (6.0, Judgement(Decision.UNPROVED, by_proof=True)),
        (math.inf, Judgement(Decision.UNCERTIFIED, by_proof=True)),
        (NAN, Judgement(Decision.UNCERTIFIED, by_proof=True)),
    ):
        assert judged(BoundKind.CERTAIN, bound(4.0, certified), NONE) == judgement


def test_a_number_that_suffices_is_compared_with_nothing():
    assert judged(BoundKind.ENOUGH, bound(40.0, 20.0), exact_of(10.0, 40.0)).decision is Decision.HOLDS
