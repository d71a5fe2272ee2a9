"""From the settings to an accuracy study: what is asked for, and running it so that it can be watched and stopped."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.dataset import Dataset
from dpbayes.experiments.accuracy import AccuracyStudy, accuracy_blocks
from dpbayes.experiments.accuracy_command import Recipe
from dpbayes.experiments.accuracy_plan import (
    AccuracyPlan,
    Synthetic,
    default_target,
    epsilon_grid,
    methods_for,
)
from dpbayes.mechanisms import Calibration
from dpbayes.network import Network
from dpbayes.networks import NAMED, naive_bayes
from dpbayes.shipped import SHIPPED
from dpbayes.ui.accuracy_options import AccuracyOptions, Curves, Scene
from dpbayes.ui.settings import Settings, current
from dpbayes.ui.work import dataset, network
from dpbayes.validation import InputError, brief

KEPT = 8
"""Studies kept in the session."""

PATIENCE = 1.0
"""Seconds after which a progress bar and a button to stop appear, and between partial pictures."""

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
    return naive_bayes(options.features) if options.scene is Scene.NAIVE_BAYES else network(settings)


def recipe_asked(settings: Settings) -> Recipe:
    """Return the plan that the settings describe and where its parts come from. Errors: InputError."""
    options, net = options_of(settings), network_asked(settings)
    plan = AccuracyPlan(
        network=net,
        target=settings.target if settings.target in net.names else default_target(net),
        source=_source(settings, net),
        epsilons=epsilon_grid(options.low, options.high, points=options.points),
        methods=methods_for(net, CALIBRATIONS[options.curves]),
        training=options.training,
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
        return Recipe(plan, table=settings.data if settings.data in SHIPPED else "")
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


@dataclass
class Run:
    """A study under way: the blocks still to come, what there is so far, and whether it was stopped."""

    blocks: Iterator[AccuracyStudy]
    study: AccuracyStudy | None = None
    stopped: bool = False

    @property
    def done(self) -> bool:
        """Whether all repeats are measured."""
        return self.study is not None and self.study.repeats == self.study.plan.repeats


def study_asked(plan: AccuracyPlan, show: Callable[[AccuracyStudy], None]) -> AccuracyStudy:
    """Return the study of a plan; while a long one is on its way, show progress, a button to stop, and `show` it.

    A control that moves interrupts the work after a block; what is done is kept, and is gone on with if asked again.
    """
    run = _run(plan)
    place = st.empty()
    started = time.monotonic()
    shown = started
    bar = None
    while not run.done and not (run.stopped and run.study is not None):
        try:
            run.study = next(run.blocks)
        except InputError:
            del st.session_state["accuracy.runs"][plan]  # a generator that has raised is over
            raise
        now = time.monotonic()
        if now - shown > PATIENCE and not run.done:
            shown = now
            if bar is None:
                bar = _progress(place, run)
            share = run.study.repeats / plan.repeats
            left = (now - started) * (1 - share) / max(share, 1e-9)
            bar.progress(share, f"{run.study.repeats:,} of {plan.repeats:,} repeats; about {left:,.0f} s to go")
            show(run.study)
    place.empty()
    assert run.study is not None
    if not run.done:
        st.button(
            f"Go on ({run.study.repeats:,} of {plan.repeats:,} repeats are done)",
            key="accuracy.go_on",
            on_click=lambda: setattr(run, "stopped", False),
        )
    return run.study


def _run(plan: AccuracyPlan) -> Run:
    """Return the session's run of this plan, or a new one; the oldest is forgotten."""
    runs: dict[AccuracyPlan, Run] = st.session_state.setdefault("accuracy.runs", {})
    run = runs.pop(plan, None) or Run(accuracy_blocks(plan))
    runs[plan] = run
    while len(runs) > KEPT:
        runs.pop(next(iter(runs)))
    return run


def _progress(place: DeltaGenerator, run: Run) -> DeltaGenerator:
    with place.container():
        bar = st.progress(0.0)
        st.button("Stop and keep what is done", key="accuracy.stop", on_click=lambda: setattr(run, "stopped", True))
    return bar


def table_is_asked() -> bool:
    """Whether the settings ask for predictions of true records, which only the curator may see."""
    return options_of(current()).scene is Scene.TABLE
