"""The Accuracy page: how well each mechanism's predictions do as epsilon grows; Figure 1 of the paper, and beyond."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.experiments.accuracy import AccuracyStudy, Method, default_target
from dpbayes.experiments.accuracy_frame import parquet_bytes
from dpbayes.figures.accuracy import accuracy_figure, certified_figure, log_loss_figure
from dpbayes.ui import controls
from dpbayes.ui.accuracy_details import details
from dpbayes.ui.accuracy_options import Curves, Scene, Shown
from dpbayes.ui.accuracy_work import (
    network_asked,
    options_of,
    recipe_asked,
    study_asked,
    table_is_asked,
)
from dpbayes.ui.settings import current
from dpbayes.ui.show import chart, data_and_download, escaped, headline, is_curator, refusal, sentence_instead
from dpbayes.validation import InputError

PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""

MARGIN = 0.02
"""How far below the exact posterior's accuracy counts as close."""


def accuracy_page() -> None:
    """Show the curves first, whatever their place on the page; then the controls and what lies behind."""
    place = st.container()
    left, right = st.columns([1, 2], gap="medium")
    with right:
        study = _picture()
    with left:
        _controls()
    if study is None:
        return
    with place:
        headline(verdict(study))
    time.sleep(PAINT)
    with right:
        _numbers(study)
    details(recipe_asked(current()), study)


def verdict(study: AccuracyStudy) -> str:
    """Return where posterior sampling overtakes Laplace, printed and certified, and what privacy costs."""
    ways = [
        (how, study.overtakes(method, Method.LAPLACE))
        for method, how in ((Method.SAMPLER_MANY, "as printed"), (Method.SAMPLER, "certified"))
        if method in study.methods
    ]
    ways.sort(key=lambda way: way[1] is None)
    return f"{_race(ways, study)} {_cost(study)}".strip()


def _race(ways: list[tuple[str, float | None]], study: AccuracyStudy) -> str:
    """Say when sampling is ahead; `ways` have those that overtake first."""
    never = f"never overtakes Laplace up to ε = {study.plan.epsilons[-1]:g}"
    if all(at is None for _, at in ways):
        how = "neither as printed nor certified" if len(ways) == 2 else ways[0][0]
        return f"Posterior sampling {never}, {how}."
    (how, at), *rest = ways
    assert at is not None
    said = f"Posterior sampling {_place(at, study)} {how}"
    if not rest:
        return f"{said}."
    how, at = rest[0]
    up_to = never.removeprefix("never overtakes Laplace ")
    return f"{said}; {how}, it never does {up_to}." if at is None else f"{said}; {how}, it {_place(at, study)}."


def _place(at: float, study: AccuracyStudy) -> str:
    return (
        f"overtakes Laplace at ε = {at:.2g}" if at > study.plan.epsilons[0] else f"is ahead of Laplace from ε = {at:g}"
    )


def _cost(study: AccuracyStudy) -> str:
    exact, majority = float(study.mean(Method.EXACT)[0]), float(study.mean(Method.MAJORITY)[0])
    target = escaped(study.plan.target)
    if exact <= majority:
        return f"But even the exact posterior tells {target} no better than its majority class: {exact:.1%}."
    at = study.within(Method.LAPLACE, MARGIN)
    reach = (
        f"Laplace comes within {100 * MARGIN:g} points of that at ε = {at:.2g}"
        if at is not None
        else f"Laplace is not within {100 * MARGIN:g} points of that at ε = {study.plan.epsilons[-1]:g}"
    )
    return f"Without privacy {target} is predicted rightly in {exact:.1%} of records; {reach}."


# The picture


def _picture() -> AccuracyStudy | None:
    """Show the curves and return the study; what cannot be run, or shown to this seat, gets its sentence."""
    if table_is_asked() and not is_curator():
        st.info(
            "These curves would be computed from the true records of the table, and only the curator may see them. "
            "Synthetic records of the same network show what to expect, and are public."
        )
        return None
    place = st.empty()
    try:
        study = study_asked(recipe_asked(current()).plan, lambda partial: _partial(place, partial))
    except InputError as error:
        refusal(error)
        return None
    place.empty()
    with place.container():
        _chart(study, "accuracy.curves")
    controls.parameter_control("accuracy.shown")
    return study


def _partial(place: DeltaGenerator, study: AccuracyStudy) -> None:
    with place.container():
        _chart(study, f"accuracy.partial.{study.repeats}")


def _chart(study: AccuracyStudy, key: str) -> None:
    shown = options_of(current()).shown
    if shown is Shown.LOG_LOSS:
        chart(log_loss_figure(study), key=key, alt=f"Log loss against epsilon. At the largest: {_ends(study, shown)}.")
    elif shown is Shown.PROVED:
        chart(certified_figure(study), key=key, alt=f"Accuracy against the epsilon proved: {_ends(study, shown)}.")
    else:
        alt = f"Accuracy against epsilon, with bands of two standard errors. At the largest: {_ends(study, shown)}."
        chart(accuracy_figure(study), key=key, alt=alt)


def _ends(study: AccuracyStudy, shown: Shown) -> str:
    values = study.log_loss if shown is Shown.LOG_LOSS else study.mean
    return "; ".join(f"{method.value} {values(method)[-1]:.3f}" for method in study.methods)


# Controls


def _controls() -> None:
    options = options_of(current())
    controls.parameter_control("accuracy.scene")
    if options.scene is Scene.NAIVE_BAYES:
        controls.parameter_control("accuracy.features")
    else:
        with sentence_instead():
            _target()
    controls.parameter_control("accuracy.training")
    if options.scene is not Scene.TABLE:
        controls.parameter_control("accuracy.records")
    controls.parameter_control("accuracy.repeats")
    controls.parameter_control("accuracy.curves")
    with st.expander("Range of epsilon, model, prior and seed"):
        for name in ("low", "high", "points"):
            controls.parameter_control(f"accuracy.{name}")
        if options.scene is not Scene.TABLE:
            controls.parameter_control("accuracy.strength")
        if options.scene is Scene.NAIVE_BAYES:
            with sentence_instead():
                _target()
        controls.text_field("Prior (every Dirichlet parameter)", "prior")
        controls.text_field("Seed of the simulation", "seed", help="A real release has no seed.")
    with st.expander("Mechanisms"):
        if options.curves is not Curves.CERTIFIED:
            controls.parameter_control("accuracy.draws")
        controls.parameter_control("accuracy.stealth")
        if options.curves is not Curves.AS_PRINTED:
            controls.parameter_control("accuracy.cells")


def _target() -> None:
    net = network_asked(current())
    controls.choice("Target: what is predicted from all other nodes", "target", net.names, default=default_target(net))


# Numbers


def _numbers(study: AccuracyStudy) -> None:
    real = table_is_asked()
    plan = study.plan
    models = "each with a new split of the table" if real else "each with a new random model and new records"
    st.caption(
        f"{study.repeats:,} simulated repeats, {models}: {plan.training:,} records to train on, "
        f"{plan.records - plan.training:,} to test. Bands: two standard errors. In every repeat the same noise is "
        "scaled to every ε. " + ("Curator only: not private." if real else "")
    )
    data_and_download(study.frame, name="accuracy", curator_only=real)
    with st.expander("Parquet, with the settings in the file", on_change="rerun", key="accuracy.parquet") as more:
        if more.open:
            st.download_button(
                "Download Parquet",
                parquet_bytes(study),
                file_name=f"{'curator-only-' if real else ''}accuracy.parquet",
                mime="application/vnd.apache.parquet",
                key="download.accuracy.parquet",
                on_click="ignore",
            )
