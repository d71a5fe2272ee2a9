"""The Accuracy page: how well each mechanism's predictions do as epsilon grows; Figure 1 of the paper, and beyond."""

import time
from contextlib import suppress

import streamlit as st

from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.command import Recipe, parquet_bytes
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy, Progress, default_target
from dpbayes.figures.accuracy import accuracy_figure, certified_figure, log_loss_figure
from dpbayes.ui.pages.accuracy.details import details
from dpbayes.ui.pages.accuracy.headline import verdict
from dpbayes.ui.pages.accuracy.work import (
    methods_on_offer,
    network_asked,
    options_of,
    possible,
    recipe_asked,
    study_run,
    table_is_asked,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.accuracy import CURVES_LEFT_OUT, AccuracyOptions, Curves, Drawn, Scene, Shown
from dpbayes.ui.session.settings import called, current, set_parameter, write_link
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.limits import Possible
from dpbayes.ui.widgets.running import Coming, progress, run_again
from dpbayes.ui.widgets.show import chart, data_and_download, headline, is_curator, refusal, remark, sentence_instead

PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""


def accuracy_page(_chosen: Chosen) -> None:
    """Show the curves first, whatever their place on the page; then the controls and what lies behind."""
    place = st.container()
    left, right = st.columns([1, 2], gap="medium")
    with right:
        nearby = _possible()
        run = _picture(recipe_asked(nearby.settings).plan) if nearby is not None else None
    with left:
        _controls(nearby)
    if nearby is None or run is None:
        return
    going = run.going
    if run.last is not None and run.last.study is not None:
        study, recipe = run.last.study, recipe_asked(nearby.settings)
        with place:
            headline(verdict(study))
        time.sleep(PAINT)
        with right:
            _numbers(recipe, study)
        going |= details(recipe, study, under_way=run.going)
    if going:
        write_link()
        run_again()


# The picture


def _possible() -> Possible | None:
    """Return what can be run, nearest to what is asked for; what cannot, or not be shown to this seat, is said."""
    if table_is_asked() and not is_curator():
        st.info(
            "These curves would be computed from the true records of the table, and only the curator may see them. "
            "Synthetic records of the same network show what to expect, and are public."
        )
        return None
    try:
        nearby = possible(current())
    except InputError as error:
        refusal(error)
        return None
    remark(nearby.why)
    return nearby


def _picture(plan: AccuracyPlan) -> Coming[Progress] | None:
    """Work for a moment and show the curves so far; what turns out not to run gets its sentence."""
    try:
        run = study_run(plan)
    except InputError as error:
        refusal(error)
        return None
    last = run.last
    if last is not None and last.study is not None:
        _chart(last.study, "accuracy.curves")
    if last is not None and not run.done:
        done = last.study.repeats if last.study is not None else 0
        progress(run, last.share, f"{done:,} of {plan.repeats:,} repeats", key="accuracy.stop")
    controls.parameter_control("accuracy.shown")
    return run


def _chart(study: AccuracyStudy, key: str) -> None:
    shown = options_of(current()).shown
    if shown is Shown.LOG_LOSS:
        figure = log_loss_figure(study.loss_curves(), study.plan.grid)
        chart(figure, key=key, alt=f"Log loss against epsilon. At the largest: {_ends(study, shown)}.")
    elif shown is Shown.PROVED:
        figure = certified_figure(study.certified_curves())
        chart(figure, key=key, alt=f"Accuracy against the epsilon proved: {_ends(study, shown)}.")
    else:
        alt = f"Accuracy against epsilon, with bands of two standard errors. At the largest: {_ends(study, shown)}."
        chart(accuracy_figure(study.curves(), study.plan.grid), key=key, alt=alt)


def _ends(study: AccuracyStudy, shown: Shown) -> str:
    values = study.log_loss if shown is Shown.LOG_LOSS else study.mean
    return "; ".join(f"{method.title} {values(method)[-1]:.3f}" for method in study.methods)


# Controls


def _controls(nearby: Possible | None) -> None:
    options = options_of(current())

    def limited(name: str) -> None:
        reach = nearby.stops(f"accuracy.{name}") if nearby is not None else None
        controls.parameter_control(f"accuracy.{name}", reach=reach)

    controls.parameter_control("accuracy.scene")
    if options.scene is Scene.NAIVE_BAYES:
        controls.parameter_control("accuracy.features")
    else:
        with sentence_instead():
            _target()
    limited("training")
    limited("testing")
    if options.scene is not Scene.TABLE:
        controls.parameter_control("accuracy.records")
    limited("repeats")
    controls.parameter_control("accuracy.curves")
    with suppress(InputError):
        _mechanisms(options)
    with st.expander("Range of epsilon, model, prior and seed"):
        for name in ("low", "high", "points"):
            limited(name)
        if options.scene is not Scene.TABLE:
            controls.parameter_control("accuracy.strength")
        if options.scene is Scene.NAIVE_BAYES:
            with sentence_instead():
                _target()
        controls.text_field("Prior (every Dirichlet parameter)", "prior")
        controls.text_field("Seed of the simulation", "seed", help="A real release has no seed.")
    with st.expander("Settings of the mechanisms"):
        if options.curves is not Curves.CERTIFIED:
            limited("draws")
        controls.parameter_control("accuracy.stealth")
        if options.curves is not Curves.AS_PRINTED:
            limited("cells")


def _mechanisms(options: AccuracyOptions) -> None:
    """Offer the mechanisms that there are curves of, to leave some out."""
    offered = set(methods_on_offer(options, network_asked(current())))
    names = [name for name, curves in CURVES_LEFT_OUT.items() if offered & set(curves)]
    kept, key = [name for name in names if getattr(options, name) is Drawn.YES], "accuracy.mechanisms"
    controls.mirror(key, kept)

    def apply() -> None:
        for name in names:
            set_parameter(f"accuracy.{name}", Drawn.YES if name in st.session_state[key] else Drawn.NO)

    st.multiselect("Mechanisms", names, key=key, format_func=_mechanism_name, on_change=apply)


def _mechanism_name(name: str) -> str:
    title = called(f"accuracy.{name}")
    return title[0].upper() + title[1:]


def _target() -> None:
    net = network_asked(current())
    controls.choice("Target: what is predicted from all other nodes", "target", net.names, default=default_target(net))


# Numbers


def _numbers(recipe: Recipe, study: AccuracyStudy) -> None:
    real = table_is_asked()
    plan = study.plan
    models = "each with a new split of the table" if real else "each with a new random model and new records"
    st.caption(
        f"{study.repeats:,} simulated repeats, {models}: {plan.training:,} records to train on, "
        f"{plan.testing:,} to test. Bands: two standard errors"
        + (" of this table's splits, which overlap: another table may differ by more. " if real else ". ")
        + "In every repeat the same noise is scaled to every ε. "
        + ("Curator only: not private." if real else "")
    )
    data_and_download(lambda: recipe.frame(study), name="accuracy", curator_only=real)
    with st.expander("Parquet, with the settings in the file", on_change="rerun", key="accuracy.parquet") as more:
        if more.open:
            st.download_button(
                "Download Parquet",
                parquet_bytes(study, recipe.settings),
                file_name=f"{'curator-only-' if real else ''}accuracy.parquet",
                mime="application/vnd.apache.parquet",
                key="download.accuracy.parquet",
                on_click="ignore",
            )
