"""From the settings to an accuracy study: what is asked for, and running it so that it can be watched and stopped."""

import functools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

import streamlit as st

from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.accuracy.command import Recipe
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.plan import (
    AccuracyPlan,
    Synthetic,
    default_target,
    epsilon_grid,
    methods_for,
)
from dpbayes.experiments.accuracy.reliability import ReliabilityProgress, reliability_steps
from dpbayes.experiments.accuracy.study import AccuracyStudy, Progress, accuracy_steps
from dpbayes.mechanisms import Calibration
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import NAMED, naive_bayes
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.chosen import data_title, dataset, network
from dpbayes.ui.session.options.accuracy import AccuracyOptions, Curves, Scene
from dpbayes.ui.session.settings import Settings, current
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.running import Coming

KEPT, UNFINISHED = 8, 2
"""Studies kept in the session, and of those that are not finished."""

CALIBRATIONS = {
    Curves.BOTH: tuple(Calibration),
    Curves.CERTIFIED: (Calibration.CERTIFIED,),
    Curves.AS_PRINTED: (Calibration.AS_PRINTED,),
}


def options_of(settings: Settings) -> AccuracyOptions:
    """Return the page's options."""
    found: AccuracyOptions = settings.options("accuracy")
    return found


def network_asked(settings: Settings) -> Network:
    """Return the network that predicts. Errors: InputError."""
    options = options_of(settings)
    return _naive_bayes(options.features) if options.scene is Scene.NAIVE_BAYES else network(settings)


_naive_bayes = functools.lru_cache(maxsize=8)(naive_bayes)


def methods_on_offer(options: AccuracyOptions, net: Network) -> tuple[Method, ...]:
    """Return the methods of the calibrations asked for that fit the network."""
    return methods_for(net, CALIBRATIONS[options.curves])


GIVING = {
    "accuracy.points": lowest("accuracy.points"),
    "accuracy.high": highest("accuracy.high"),
    "accuracy.low": lowest("accuracy.low"),
    "accuracy.training": lowest("accuracy.training"),
    "accuracy.draws": lowest("accuracy.draws"),
    "accuracy.cells": lowest("accuracy.cells"),
    "accuracy.testing": lowest("accuracy.testing"),
    "accuracy.repeats": lowest("accuracy.repeats"),
}
"""What gives way where an experiment cannot be run or takes too long, what matters most first."""


def possible(settings: Settings) -> Possible:
    """Return the settings of an experiment that can be run, nearest to those asked for. Errors: InputError."""
    return nearest(settings, GIVING, recipe_asked)


def recipe_asked(settings: Settings) -> Recipe:
    """Return the plan that the settings describe and where its parts come from. Errors: InputError."""
    options, net = options_of(settings), network_asked(settings)
    plan = AccuracyPlan(
        network=net,
        target=settings.target if settings.target in net.names else default_target(net),
        source=_source(settings, net),
        epsilons=epsilon_grid(options.low, options.high, points=options.points),
        methods=tuple(m for m in methods_on_offer(options, net) if m not in options.left_out),
        training=options.training,
        testing=options.testing,
        repeats=options.repeats,
        prior=settings.prior,
        stealth=options.stealth,
        draws=options.draws,
        cells=options.cells,
        seed=settings.seed,
    )
    if options.scene is Scene.NAIVE_BAYES:
        return Recipe(plan, features=options.features)
    if options.scene is Scene.TABLE:
        return Recipe(plan, table=settings.data if settings.data in SHIPPED else data_title(settings))
    if not settings.graph and settings.data == "synthetic" and settings.source in NAMED:
        return Recipe(plan, named=settings.source)
    return Recipe(plan)


def _source(settings: Settings, net: Network) -> Synthetic | Dataset:
    options = options_of(settings)
    if options.scene is not Scene.TABLE:
        return Synthetic(records=options.records, strength=options.strength)
    table = dataset(settings)
    missing = [name for name in net.names if name not in table.position]
    if missing:
        raise InputError(
            f"The node {brief(missing[0])} is not a column of the table. Rename or delete it on the Network page."
        )
    return table


# Running

Found = TypeVar("Found")


def study_run(plan: AccuracyPlan) -> Coming[Progress]:
    """Return this session's study of a plan after another moment of work. Errors: InputError."""
    return _worked("accuracy.runs", plan, lambda: accuracy_steps(plan))


def reliability_run(study: AccuracyStudy, epsilon: float) -> Coming[ReliabilityProgress]:
    """Return how reliable the predictions of the repeats of a study are, after a moment of work. Errors: InputError."""
    plan, repeats = study.plan, study.repeats
    steps = functools.partial(reliability_steps, plan, epsilon, repeats=repeats)
    return _worked("accuracy.reliability.runs", (plan, epsilon, repeats), steps)


def _worked(kind: str, key: Hashable, start: Callable[[], Iterator[Found]]) -> Coming[Found]:
    """Return a run of this session, a new one if it has none with this key, after it went on for a moment.

    What is not finished holds its work: few of those are kept.
    """
    runs: dict[Hashable, Coming[Any]] = st.session_state.setdefault(kind, {})
    found: Coming[Found] = runs.pop(key) if key in runs else Coming(start())
    found.work()  # one that raises is forgotten
    runs[key] = found
    for most, some in ((KEPT, list(runs)), (UNFINISHED, [old for old, run in runs.items() if not run.done])):
        for old in some[:-most]:
            runs.pop(old, None)
    return found


def table_is_asked() -> bool:
    """Whether the settings ask for predictions of true records, which only the curator may see."""
    return options_of(current()).scene is Scene.TABLE
