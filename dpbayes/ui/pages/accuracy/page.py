"""The Accuracy page: the accuracy of each mechanism's predictions against epsilon, as in Figure 1 of the paper."""

from contextlib import suppress
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.references import Reference
from dpbayes.base.text import escaped, many, near_one, numeral, share_text
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.methods import AT_DELTA, BASELINES, EXACT, MAJORITY, SAMPLER_MANY
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy
from dpbayes.figures.accuracy import accuracy_figure, certified_figure, log_loss_figure, waiting_figure
from dpbayes.mechanisms import Calibration, Noise
from dpbayes.ui.pages.accuracy.work import (
    curves_left_out,
    is_of_a_table,
    methods_on_offer,
    plan_at,
    possible,
    predicting_network,
    scene_of,
    study_run,
    target_of,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.accuracy import CURVES_LEFT_OUT, SCENE, AccuracyOptions, CalibrationsShown, Scene, Shown
from dpbayes.ui.session.settings import parameter_title
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import EPSILON, Facts, pictures_tell, public_records_text
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.limits import Possible, nearest_shown, reach_of
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import assumption, data_and_download, sentence_instead, source


def _table(chosen: Chosen) -> str:
    scene = scene_of(chosen)
    return chosen.data_title if scene is Scene.TABLE else SCENE.label(scene)


def _n(chosen: Chosen) -> str:
    is_table = scene_of(chosen) is Scene.TABLE
    return public_records_text(chosen) if is_table else f"{chosen.options('accuracy').records:,}"


FACTS: Facts = EPSILON | {"table": _table, "n": _n}


def accuracy_page(chosen: Chosen) -> bool:
    """Show the curves first: they move with the number of records; then the controls and the details."""
    pictures_tell(FACTS)
    page = places()
    nearby, plan, work = page.first(_moving, chosen) or (None, None, None)
    with page.controls:
        _controls(chosen, nearby)
    if plan is None or work is None:
        return False
    study = work.result
    with page.beside():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            controls.parameter_control("accuracy.shown")
            if not work.done:  # beside what is always there, so that nothing moves when it goes
                repeats = study.repeats if study is not None else 0
                with st.container():
                    progress(work, f"{repeats:,} of {many(plan.repeats, 'repeat')}", key="accuracy.stop")
        if study is not None:
            st.markdown(comparison_sentence(study, chosen.epsilon))
            _numbers(study)
    if study is None:
        return work.going
    with st.container(key="below"):
        with st.expander("Proved ε and accuracy of each curve"):
            _promises(study)
        with st.expander("Formulas, assumptions and source"):
            _formulas(study)
            _assumptions(study)
            source(Reference("Zhang16", "section 5.1, Figure 1"))
    return work.going


def _moving(page: Places, chosen: Chosen) -> tuple[Possible | None, AccuracyPlan | None, Running[AccuracyStudy] | None]:
    """Work for a moment on the nearest settings that can be run, and show the curves so far."""
    with page.picture:
        nearby = _possible(chosen)
        plan = plan_at(chosen, nearby.settings) if nearby is not None else None
        work = _picture(plan, chosen) if plan is not None else None
    page.lead("accuracy.training", reach=reach_of("accuracy.training", nearby))
    if plan is not None and work is not None:
        page.say(verdict(work.result, chosen.epsilon) if work.result is not None else _beginning(plan))
    return nearby, plan, work


def _beginning(plan: AccuracyPlan) -> str:
    """Return the sentence before the first repeats are done."""
    repeats = many(plan.repeats, "repeat")
    return f"Running the first of {repeats} with {many(plan.training, 'training record')}."


# The picture


def _possible(chosen: Chosen) -> Possible | None:
    """Return the nearest possible settings, with a message if they differ or if this seat sees other records."""
    if scene_of(chosen) is not chosen.options("accuracy").scene:
        st.caption(
            "These curves use synthetic records of the same network. Only the curator may see curves of true records."
        )
    return nearest_shown(lambda: possible(chosen))


def _picture(plan: AccuracyPlan, chosen: Chosen) -> Running[AccuracyStudy] | None:
    """Work for a moment and show the curves so far; what cannot run gets its sentence."""
    shown, work = None, study_run(plan)
    with sentence_instead():
        work.work()
        if work.result is not None:
            _chart(work.result, chosen)
        else:
            looks = [method.look(plan.draws) for method in (*BASELINES, *plan.private)]
            chart(waiting_figure(looks, plan.grid), key="accuracy.curves", alt="The curves are not computed yet.")
        shown = work
    return shown


def _chart(study: AccuracyStudy, chosen: Chosen) -> None:
    shown, key = chosen.options("accuracy").shown, "accuracy.curves"
    if shown is Shown.LOG_LOSS:
        figure = log_loss_figure(study.loss_curves(), study.plan.grid, epsilon=chosen.epsilon)
        chart(
            figure,
            key=key,
            alt=f"Log loss against epsilon. At the largest epsilon: {_last_values(study, shown)}.",
            simulates=True,
        )
    elif shown is Shown.PROVED:
        figure = certified_figure(study.certified_curves())
        chart(
            figure, key=key, alt=f"Accuracy against the proved epsilon: {_last_values(study, shown)}.", simulates=True
        )
    else:
        largest = _last_values(study, shown)
        alt = f"Accuracy against epsilon, with bands of two standard errors. At the largest epsilon: {largest}."
        figure = accuracy_figure(study.curves, study.plan.grid, epsilon=chosen.epsilon)
        chart(figure, key=key, alt=alt, simulates=True)


def _last_values(study: AccuracyStudy, shown: Shown) -> str:
    values = study.log_loss if shown is Shown.LOG_LOSS else study.mean
    return "; ".join(f"{method.called(study.plan.draws)} {near_one(values(method)[-1], 3)}" for method in study.methods)


# Controls


def _drawn_kinds(chosen: Chosen, options: AccuracyOptions) -> tuple[type[Any] | None, ...]:
    """Return the classes of the mechanisms whose curves are drawn; none where no network predicts."""
    with suppress(InputError):
        offered = methods_on_offer(options, predicting_network(chosen), chosen.parameter("noise"))
        left_out = curves_left_out(chosen)
        return tuple({method.kind: None for method in offered if method not in left_out})
    return ()


def _controls(chosen: Chosen, nearby: Possible | None) -> None:
    options: AccuracyOptions = chosen.options("accuracy")

    def limited(name: str) -> None:
        controls.parameter_control(f"accuracy.{name}", reach=reach_of(f"accuracy.{name}", nearby))

    scene = scene_of(chosen)
    controls.parameter_control("accuracy.scene")
    if options.scene is Scene.NAIVE_BAYES:
        controls.parameter_control("accuracy.features")
    else:
        _target(chosen)
    controls.parameter_control("epsilon")
    limited("repeats")
    controls.parameter_control("accuracy.curves")
    with suppress(InputError):
        _mechanisms(chosen, options)
    with st.expander("Records, range of epsilon, prior and seed"):
        limited("testing")
        if scene is not Scene.TABLE:
            controls.parameter_control("accuracy.records")
        for name in ("low", "high", "points"):
            limited(name)
        if scene is not Scene.TABLE:
            controls.parameter_control("accuracy.strength")
        if options.scene is Scene.NAIVE_BAYES:
            _target(chosen)
        prior_control(*_drawn_kinds(chosen, options))
        controls.text_field("Seed of the simulation", "seed", help=terms.SEED)
    with st.expander("Mechanism settings"):
        if options.curves is not CalibrationsShown.CERTIFIED:
            limited("draws")
        controls.parameter_control("noise")
        controls.parameter_control("accuracy.stealth")
        if options.curves is not CalibrationsShown.AS_PRINTED:
            limited("cells")


def _mechanisms(chosen: Chosen, options: AccuracyOptions) -> None:
    """Offer the mechanisms that have curves."""
    offered = set(methods_on_offer(options, predicting_network(chosen), chosen.parameter("noise")))
    names = [name for name, curves in CURVES_LEFT_OUT.items() if offered & set(curves)]
    drawn, key = offered - curves_left_out(chosen), "accuracy.mechanisms"
    kept = [name for name in names if drawn & set(CURVES_LEFT_OUT[name])]
    controls.mirror(key, kept)

    def apply() -> None:
        for name in names:
            set_parameter(f"accuracy.{name}", options.choice_of(name, name in st.session_state[key]))

    st.multiselect("Mechanisms", names, key=key, format_func=_mechanism_name, on_change=apply)


def _mechanism_name(name: str) -> str:
    title = parameter_title(f"accuracy.{name}")
    return title[0].upper() + title[1:]


def _target(chosen: Chosen) -> None:
    with suppress(InputError):  # the error is shown instead of the picture
        net = predicting_network(chosen)
        controls.choice("Target, predicted from all other nodes", "target", net.names, default=target_of(chosen, net))


# Numbers


def _numbers(study: AccuracyStudy) -> None:
    plan = study.plan
    real = is_of_a_table(plan)
    models = "each with a new split of the table" if real else "each with a new random model and new records"
    st.caption(
        f"{many(study.repeats, 'simulated repeat')}, {models}: {many(plan.training, 'training record')}, "
        f"{many(plan.testing, 'test record')}. {_fewer(study)}Bands show two standard errors"
        + (
            " over overlapping splits of this table; the accuracy on another table may differ by more. "
            if real
            else ". "
        )
        + "Within a repeat, all values of ε use the same random numbers. "
        + ("Not private (curator view)." if real else "")
    )
    data_and_download(study.frame, name="accuracy", curator_only=real, simulates=True)


def _fewer(study: AccuracyStudy) -> str:
    """Name the repeats of the curves that take longer than the others."""
    fewest = min(len(measures.accuracy) for measures in study.measures.values())
    return f"Noise-aware curves use the first {fewest:,}. " if fewest < study.repeats else ""


# Sentences


def verdict(study: AccuracyStudy, epsilon: float) -> str:
    """Return the accuracy of the best curve with a proof near an epsilon, and that without privacy."""
    exact, majority = float(study.mean(EXACT)[0]), float(study.mean(MAJORITY)[0])
    target = escaped(study.plan.target)
    if exact <= majority:
        return f"Even the exact posterior predicts {target} no better than its majority class ({share_text(exact)})."
    best = study.best_near(epsilon)
    if best is None:
        return f"Without privacy, {target} is predicted correctly in {share_text(exact)} of records."
    k = study.place_of(epsilon)
    return (
        f"At ε = {numeral(study.plan.epsilons[k])}, the highest accuracy for {target} is "
        f"{share_text(float(study.mean(best)[k]))} ({share_text(exact)} without privacy)."
    )


def comparison_sentence(study: AccuracyStudy, epsilon: float) -> str:
    """Return which curve has the highest accuracy, and how far it is below the exact posterior."""
    best = study.best_near(epsilon)
    if best is None:
        return "No curve in the picture has a proved ε."
    lost = study.behind(best, study.place_of(epsilon))
    return (
        f"The highest private accuracy is that of {escaped(best.called(study.plan.draws))}: {points(lost)} below "
        + ("the exact posterior.")
    )


def points(lost: Estimate) -> str:
    """Return a loss of accuracy in points, with two standard errors on either side."""
    return f"{Estimate(100 * lost.value, 200 * lost.error)} points"


# Guarantees, formulas and assumptions


def _promises(study: AccuracyStudy) -> None:
    columns = list(dict.fromkeys(study.place_of(epsilon) for epsilon in (1.0, 5.0, 20.0)))
    frame = pd.DataFrame(
        {"curve": [m.called(study.plan.draws) for m in study.plan.private]}
        | {
            f"proved at ε = {numeral(study.plan.grid[k])}": [numeral(study.certified[m][k]) for m in study.plan.private]
            for k in columns
        }
        | {
            f"accuracy at ε = {numeral(study.plan.grid[k])}": [
                near_one(study.mean(m)[k], 3) for m in study.plan.private
            ]
            for k in columns
        }
    )
    st.dataframe(frame, hide_index=True)
    notes = [method.note(study.plan) for method in study.methods]
    if any(AT_DELTA in method.title for method in study.methods):
        notes.append(
            f"Gaussian noise has the weaker guarantee (ε, δ) with {AT_DELTA}: the loss exceeds ε with at most that "
            "probability."
        )
    st.caption(
        " ".join(
            [
                "The table compares the proved ε of a whole release with the stated ε. Choose “accuracy by proved ε” "
                "below the picture to draw all curves against the proved ε.",
                *dict.fromkeys(filter(None, notes)),
            ]
        )
    )


def _formulas(study: AccuracyStudy) -> None:
    plan = study.plan
    lines = [
        r"- $\hat y(x) = \arg\max_c \prod_{i:\, y \in F_i} \hat\theta_i(x_{F_i \setminus y}, c)$ over the "
        f"{len(plan.blanket.families)} families that contain the target, $\\hat\\theta$ the released posterior mean."
    ]
    for kind, title in {m.kind: m.option[1] for m in plan.private if Calibration.CERTIFIED in m.calibrations}.items():
        assert kind is not None  # these are no baselines
        parameters = parameters_of(kind)
        lift = {"t": next(iter(plan.increments.values()))} if "t" in parameters else {}
        clipped = " Negative counts are set to zero." if "noise" in parameters else ""
        lines.append(f"- **{title}** at ε = 1: {plan.mechanism(kind, 1.0, **lift).formula}{clipped}")
    st.markdown("\n".join(lines))


def _assumptions(study: AccuracyStudy) -> None:
    plan, real = study.plan, is_of_a_table(study.plan)
    printed = (
        not real
        and (plan.records, plan.training, plan.repeats) == (1000, 50, 100)
        and bool((plan.prior.on(plan.network).alpha == 1).all())
    )
    assumption(
        "1,000 records, 50 training records, uniform priors and 100 repeats, as in the paper's Figure 1.",
        holds=printed,
    )
    assumption("All other nodes are observed in every test record.", holds=True)
    assumption(
        "The records follow the network."
        if not real
        else "The records follow the network. For a real table, this assumption cannot be verified, and the measured "
        "accuracy does not depend on it.",
        holds=not real,
    )
    assumption(
        "The records come from the generator of the paper. The paper does not describe its generator. Here "
        "the probabilities are uniform and the classes equally frequent.",
        holds=False,
    )
    assumption(
        "All curves have the same guarantee at equal ε. Red curves have no proved guarantee.",
        holds=SAMPLER_MANY not in study.methods,
    )
    assumption(
        "The repeats are independent, as the standard errors assume."
        if not real
        else "The repeats are independent, as the standard errors assume. Here the splits overlap, so the accuracy on "
        "another table may differ by more than the bands.",
        holds=not real,
    )
    assumption(
        "The noise is fresh for every ε. Here the same noise is scaled, which makes the curves smooth.", holds=False
    )
    if any("noise" in parameters_of(method.kind) for method in study.methods if method.kind is not None):
        assumption(
            "The noise is integer, as in a real release. Real-valued noise, as in the paper, has a slightly larger "
            "variance at the same ε, especially at large ε.",
            holds=plan.noise is Noise.WHOLE,
        )
