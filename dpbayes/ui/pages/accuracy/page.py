"""The Accuracy page: how well each mechanism's predictions do as epsilon grows; Figure 1 of the paper, and beyond."""

from contextlib import suppress

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.text import escaped, many, near_one
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.methods import BASELINES
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy, default_target
from dpbayes.experiments.commands.accuracy import AccuracyRecipe, parquet_bytes
from dpbayes.figures.accuracy import accuracy_figure, certified_figure, log_loss_figure, waiting_figure
from dpbayes.ui.pages.accuracy.details import details
from dpbayes.ui.pages.accuracy.headline import best_said, verdict
from dpbayes.ui.pages.accuracy.work import (
    is_of_a_table,
    methods_on_offer,
    network_asked,
    possible,
    recipe_asked,
    shares_noise,
    study_run,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.accuracy import CURVES_LEFT_OUT, AccuracyOptions, CalibrationsShown, Scene, Shown
from dpbayes.ui.session.settings import called
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, Facts, pictures_tell, records_told
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.limits import Possible
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import data_and_download, refusal, remark, sentence_instead
from dpbayes.ui.widgets.weights import weights_control, weights_said


def _table(chosen: Chosen) -> str:
    scene = chosen.options("accuracy").scene
    return chosen.data_title if scene is Scene.TABLE else str(scene.value)


def _n(chosen: Chosen) -> str:
    options = chosen.options("accuracy")
    return records_told(chosen) if options.scene is Scene.TABLE else f"{options.records:,}"


FACTS: Facts = EPSILON | {"table": _table, "n": _n}


def accuracy_page(chosen: Chosen) -> bool:
    """Show the curves first: they move with the number of records; then the controls and what lies behind."""
    pictures_tell(FACTS)
    page = places()
    nearby, recipe, work = page.first(_moving, chosen) or (None, None, None)
    with page.controls:
        _controls(chosen, nearby)
    if recipe is None or work is None:
        return False
    study = work.result
    with page.picture:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            controls.parameter_control("accuracy.shown")
            if not work.done:  # beside what is always there, so that nothing moves when it goes
                repeats = study.repeats if study is not None else 0
                with st.container():
                    progress(work, f"{repeats:,} of {many(recipe.plan.repeats, 'repeat')}", key="accuracy.stop")
        if study is not None:
            _numbers(recipe, study)
    if study is None:
        return work.going
    return details(recipe, study, epsilon=chosen.epsilon, under_way=work.going) or work.going


def _moving(
    page: Places, chosen: Chosen
) -> tuple[Possible | None, AccuracyRecipe | None, Running[AccuracyStudy] | None]:
    """Work for a moment on the nearest that can be run to what is asked for, and show the curves so far."""
    with page.picture:
        nearby = _possible(chosen)
        recipe = recipe_asked(chosen, nearby.settings) if nearby is not None else None
        work = _picture(recipe.plan, chosen.options("accuracy").shown) if recipe is not None else None
    page.lead("accuracy.training", reach=nearby.stops("accuracy.training") if nearby is not None else None)
    if recipe is not None and work is not None:
        said = (verdict(work.result), best_said(work.result, chosen.epsilon)) if work.result is not None else ()
        page.say(" ".join(said) or _beginning(recipe.plan))
    return nearby, recipe, work


def _beginning(plan: AccuracyPlan) -> str:
    """Return what is said while there is nothing to say of the curves yet."""
    repeats = many(plan.repeats, "repeat")
    return f"With {many(plan.training, 'record')} to train on, the first of {repeats} is under way."


# The picture


def _possible(chosen: Chosen) -> Possible | None:
    """Return what can be run, nearest to what is asked for; what cannot, or not be shown to this seat, is said."""
    if chosen.options("accuracy").scene is Scene.TABLE and not chosen.is_curator:
        st.info(
            "These curves would be computed from the true records of the table, and only the curator may see them. "
            "Synthetic records of the same network show what to expect, and are public."
        )
        return None
    try:
        nearby = possible(chosen)
    except InputError as error:
        refusal(error)
        return None
    remark(nearby.why)
    return nearby


def _picture(plan: AccuracyPlan, shown: Shown) -> Running[AccuracyStudy] | None:
    """Work for a moment and show the curves so far; what turns out not to run gets its sentence."""
    work = study_run(plan)
    try:
        work.work()
    except InputError as error:
        refusal(error)
        return None
    study = work.result
    if study is not None:
        _chart(study, "accuracy.curves", shown)
    else:
        looks = [method.look(plan.draws) for method in (*BASELINES, *plan.private)]
        chart(waiting_figure(looks, plan.grid), key="accuracy.curves", alt="The curves are not known yet.")
    return work


def _chart(study: AccuracyStudy, key: str, shown: Shown) -> None:
    if shown is Shown.LOG_LOSS:
        figure = log_loss_figure(study.loss_curves(), study.plan.grid)
        chart(figure, key=key, alt=f"Log loss against epsilon. At the largest: {_ends(study, shown)}.", simulates=True)
    elif shown is Shown.PROVED:
        figure = certified_figure(study.certified_curves())
        chart(figure, key=key, alt=f"Accuracy against the epsilon proved: {_ends(study, shown)}.", simulates=True)
    else:
        alt = f"Accuracy against epsilon, with bands of two standard errors. At the largest: {_ends(study, shown)}."
        chart(accuracy_figure(study.curves(), study.plan.grid), key=key, alt=alt, simulates=True)


def _ends(study: AccuracyStudy, shown: Shown) -> str:
    values = study.log_loss if shown is Shown.LOG_LOSS else study.mean
    return "; ".join(f"{method.called(study.plan.draws)} {near_one(values(method)[-1], 3)}" for method in study.methods)


# Controls


def _controls(chosen: Chosen, nearby: Possible | None) -> None:
    options: AccuracyOptions = chosen.options("accuracy")

    def limited(name: str) -> None:
        reach = nearby.stops(f"accuracy.{name}") if nearby is not None else None
        controls.parameter_control(f"accuracy.{name}", reach=reach)

    controls.parameter_control("accuracy.scene")
    if options.scene is Scene.NAIVE_BAYES:
        controls.parameter_control("accuracy.features")
    else:
        with sentence_instead():
            _target(chosen)
    limited("testing")
    if options.scene is not Scene.TABLE:
        controls.parameter_control("accuracy.records")
    limited("repeats")
    controls.parameter_control("accuracy.curves")
    with suppress(InputError):
        _mechanisms(chosen, options)
    with st.expander("Range of epsilon, model, prior and seed"):
        for name in ("low", "high", "points"):
            limited(name)
        if options.scene is not Scene.TABLE:
            controls.parameter_control("accuracy.strength")
        if options.scene is Scene.NAIVE_BAYES:
            with sentence_instead():
                _target(chosen)
        controls.text_field("Prior (every Dirichlet parameter)", "prior")
        controls.text_field("Seed of the simulation", "seed", help=terms.SEED)
    with st.expander("Settings of the mechanisms"):
        if options.curves is not CalibrationsShown.CERTIFIED:
            limited("draws")
        controls.parameter_control("noise")
        controls.parameter_control("accuracy.stealth")
        if options.curves is not CalibrationsShown.AS_PRINTED:
            limited("cells")
        with suppress(InputError):
            weights_control(chosen, network_asked(chosen))


def _mechanisms(chosen: Chosen, options: AccuracyOptions) -> None:
    """Offer the mechanisms that there are curves of, to leave some out."""
    offered = set(methods_on_offer(options, network_asked(chosen), chosen.parameter("noise")))
    names = [name for name, curves in CURVES_LEFT_OUT.items() if offered & set(curves)]
    kept, key = [name for name in names if options.draws_curves(name)], "accuracy.mechanisms"
    controls.mirror(key, kept)

    def apply() -> None:
        for name in names:
            set_parameter(f"accuracy.{name}", options.choice_of(name, name in st.session_state[key]))

    st.multiselect("Mechanisms", names, key=key, format_func=_mechanism_name, on_change=apply)


def _mechanism_name(name: str) -> str:
    title = called(f"accuracy.{name}")
    return title[0].upper() + title[1:]


def _target(chosen: Chosen) -> None:
    net = network_asked(chosen)
    controls.choice("Target: what is predicted from all other nodes", "target", net.names, default=default_target(net))


# Numbers


def _numbers(recipe: AccuracyRecipe, study: AccuracyStudy) -> None:
    real, plan = is_of_a_table(recipe), study.plan
    models = "each with a new split of the table" if real else "each with a new random model and new records"
    st.caption(
        f"{many(study.repeats, 'simulated repeat')}, {models}: {many(plan.training, 'record')} to train on, "
        f"{plan.testing:,} to test. {_fewer(study)}Bands: two standard errors"
        + (" of this table's splits, which overlap: another table may differ by more. " if real else ". ")
        + "In every repeat the same draws give the noise at every ε. "
        + _shared(plan)
        + ("Curator only: not private." if real else "")
    )
    data_and_download(lambda: recipe.frame(study), name="accuracy", curator_only=real, simulates=True)
    with st.expander("Parquet, with the settings in the file", on_change="rerun", key="accuracy.parquet") as more:
        if more.open:
            st.download_button(
                "Download Parquet",
                parquet_bytes(study, recipe.settings),
                file_name=offered_name("accuracy", "parquet", simulates=True, curator_only=real),
                mime="application/vnd.apache.parquet",
                key="download.accuracy.parquet",
                on_click="ignore",
            )


def _shared(plan: AccuracyPlan) -> str:
    """Say which curves go by the tables that matter more."""
    if not plan.weights:
        return ""
    titles = ", ".join(escaped(method.called(plan.draws)) for method in plan.methods if shares_noise(method))
    return f"{weights_said(plan.network, plan.weights)} for how the noise is shared out: {titles}. "


def _fewer(study: AccuracyStudy) -> str:
    """Say of which repeats the curves are that take longer than the others."""
    fewest = min(len(each.accuracy) for each in study.measures.values())
    return f"Noise-aware curves are of the first {fewest:,}. " if fewest < study.repeats else ""
