"""What a plan is said to cost; benchmarks compare that with what it takes."""

import tracemalloc
from itertools import islice

import pytest

from benchmarks.accuracy import UNLIKE, WIDE
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.cost import MOST_DRAWN
from dpbayes.experiments.accuracy.methods import METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic, epsilon_grid
from dpbayes.experiments.accuracy.study import accuracy_steps
from dpbayes.mechanisms import Calibration
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import full, naive_bayes

FITTING = methods_for(full(12), tuple(Calibration))


def plan_of(**more) -> AccuracyPlan:
    given = {"network": naive_bayes(16), "target": "class", "epsilons": epsilon_grid(0.1, 100, points=20)}
    return AccuracyPlan(**(given | more))


def said(plan: AccuracyPlan) -> float:
    return plan.cost.prepared_seconds + plan.repeats * plan.cost.seconds


@pytest.mark.parametrize(
    ("more", "times"),
    [
        ({"repeats": 200}, 1.7),
        ({"draws": 10_000}, 20),
        ({"cells": 1000}, 2),
        ({"epsilons": WIDE}, 7),
        ({"source": Synthetic(records=100_000)}, 5),
        ({"network": naive_bayes(200)}, 7),
    ],
)
def test_whatever_takes_longer_is_said_to(more, times):
    assert said(plan_of(**more)) > times * said(plan_of())


@pytest.mark.parametrize(
    ("more", "training", "most"),
    [
        ({"network": full(11), "target": "x1", "methods": (METHODS["laplace"],)}, 20, 60e6),
        ({"network": naive_bayes(200), "methods": (METHODS["sampler"],)}, 1000, 300e6),
    ],
    ids=["quick repeats of many cells", "slow repeats of many decisions"],
)
def test_memory_stays_small(more, training, most):
    """At 200 epsilons: as many repeats together as fit, or rows of one repeat."""
    source = Synthetic(records=2 * training)
    plan = plan_of(**more, source=source, training=training, epsilons=WIDE, repeats=12)
    tracemalloc.start()
    try:
        for _ in islice(accuracy_steps(plan, blocks=plan.cost.blocks()), 430):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most / 10 < peak < most


def test_steps_are_short():
    """A step of a heavy plan takes nothing like the half minute that the whole does."""
    plan = plan_of(draws=10_000, repeats=4, methods=(METHODS["sampler_many"],))
    steps = sum(1 for _ in accuracy_steps(plan))
    assert said(plan) / steps < 0.1
    assert steps > 50


def test_blocks_cover_the_repeats_and_the_first_is_small():
    for plan in UNLIKE.values():
        blocks = list(plan.cost.blocks())
        assert sum(blocks) == plan.repeats
        assert blocks[0] <= max(2, 0.2 / plan.cost.seconds)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"repeats": 10**9}, "days and 4.2 TB of memory; use at most"),
        ({"repeats": 10**5}, "GB of memory; use at most|MB of memory; use at most"),
        (
            {"network": full(12), "target": "x1", "draws": 10_000, "epsilons": WIDE, "methods": FITTING},
            "12 hours .* use fewer records, epsilons",
        ),
        ({"draws": 10_000, "epsilons": WIDE, "network": naive_bayes(200), "repeats": 1000}, "hours"),
    ],
)
def test_what_is_refused_says_what_it_would_take(more, said):
    with pytest.raises(InputError, match=said):
        plan_of(**more)


def test_what_is_advised_is_accepted():
    with pytest.raises(InputError) as error:
        plan_of(repeats=10**9)
    most = int(str(error.value).rpartition("at most ")[2].split()[0].replace(",", ""))
    assert plan_of(repeats=most).repeats == most
    with pytest.raises(InputError):
        plan_of(repeats=most + 1)


def test_records_that_no_step_could_draw_are_refused():
    """Before there is a picture, or a button to stop it, one step draws all records of a repeat."""
    with pytest.raises(InputError, match="have 2,010,000,000 values; the limit is 50,000,000"):
        plan_of(network=naive_bayes(200), source=Synthetic(records=10**7))
    assert plan_of(network=naive_bayes(4), source=Synthetic(records=10**7), repeats=2).size.drawn == MOST_DRAWN


def test_tables_too_large_to_hold_are_refused():
    parents = [f"p{i}" for i in range(18)]
    large = Network.from_edges([*parents, "y"], [(p, "y") for p in parents])
    with pytest.raises(InputError, match="not fit in memory"):
        AccuracyPlan(network=large, target="y", epsilons=(1.0,), methods=(METHODS["laplace"],))
