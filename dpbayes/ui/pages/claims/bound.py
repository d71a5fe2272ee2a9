"""The picture and the numbers of a claim's bound: as stated in the paper, as proved, and as measured."""

import math
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.text import many, numeral
from dpbayes.base.validation import InputError
from dpbayes.figures.claims import BoundCurves, bound_figure
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.index import EXHIBITS
from dpbayes.ui.pages.claims.curve import BoundCurve, Evaluation, axis_of, evaluated, is_visible, possible
from dpbayes.ui.pages.claims.headline import shown_as
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.settings import PARAMETERS
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import EPSILON, TABLE, Facts, N
from dpbayes.ui.widgets.controls import pseudo_count_control
from dpbayes.ui.widgets.from_python import FACE, counts_in_python, network_in_python, program
from dpbayes.ui.widgets.limits import Possible, reach_of
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import data_and_download, remark, show_refusal

FACTS: Facts = EPSILON | TABLE | N


def moving(page: Places, chosen: Chosen, claim: BoundClaim) -> tuple[Possible | None, Evaluation | None]:
    """Show a bound and the bounded quantity, at the nearest settings at which they can be computed."""
    nearby, evaluation = None, None
    with page.picture:
        try:
            if is_visible(claim, chosen):
                nearby = possible(chosen, claim)
                remark(nearby.why)
                evaluation = evaluated(chosen, claim, nearby.settings)
            else:
                st.info("This picture is computed from the counts of the table: only the curator sees it.")
        except InputError as error:
            show_refusal(error)
        if evaluation is not None:
            _picture(evaluation)
    if name := main_number(claim):
        page.lead(name, **_control(claim, nearby, name))
    return nearby, evaluation


def main_number(claim: BoundClaim) -> str:
    """Return the name of the number that the main slider sets; "" where a bound has none."""
    return next(iter(_numbers_set(claim)), "")


def _numbers_set(claim: BoundClaim) -> list[str]:
    return [name for name in EXHIBITS[claim.name].knobs if name != "prior"]


def _control(claim: BoundClaim, nearby: Possible | None, name: str) -> dict[str, Any]:
    """Return default and reach of the control of a parameter."""
    defaults = dict(EXHIBITS[claim.name].defaults)
    return {"default": defaults.get(name.rpartition(".")[2]), "reach": reach_of(name, nearby)}


def bound_controls(chosen: Chosen, claim: BoundClaim, nearby: Possible | None) -> None:
    """Show the controls of the bound, except the main control."""
    exhibit = EXHIBITS[claim.name]
    if len(exhibit.axes) > 1:
        _axis_control(claim, axis_of(claim, chosen.settings))
    for name in _numbers_set(claim)[1:]:
        controls.parameter_control(name, **_control(claim, nearby, name))
    if "prior" in exhibit.knobs:
        pseudo_count_control()
    if chosen.is_curator:
        with st.expander("Seed"):
            controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)


def _axis_control(claim: BoundClaim, axis: Axis) -> None:
    """Offer what this claim depends on; the setting keeps an axis that it does not have, for the next claim."""
    axes, key = EXHIBITS[claim.name].axes, f"bounds.axis.{claim.name}"
    controls.mirror(key, axis)
    st.segmented_control(
        "Horizontal axis",
        axes,
        key=key,
        format_func=lambda option: option.value,
        required=True,
        on_change=lambda: set_parameter("bounds.axis", st.session_state[key]),
    )


def _picture(evaluation: Evaluation) -> None:
    bound, measured = evaluation.curve.bound, evaluation.curve.measured
    curves = BoundCurves(
        x=np.array(evaluation.curve.x),
        printed=bound.printed,
        certified=bound.certified,
        violated=measured.violated,
        exact=measured.exact,
        value=measured.value,
        low=measured.low,
        high=measured.high,
        exact_name=measured.exact_name,
        name=measured.name,
    )
    here = {"stated": float(evaluation.bound.printed[0]), "proved": float(evaluation.bound.certified[0])}
    symbol = evaluation.axis.value
    figure = bound_figure(
        curves, x_title=evaluation.axis.title, y_title=evaluation.exhibit.unit, chosen=(evaluation.here, here)
    )
    name, exceeded = evaluation.bound.claim.reference.place, int(measured.violated.sum())
    wrong = f" The stated bound is exceeded at {exceeded} of {many(len(curves.x), 'point')}." if exceeded else ""
    series = ", ".join(filter(None, (f"{name} as stated in the paper and as proved", *names_of(evaluation))))
    chart(
        figure,
        key="bounds",
        simulates=evaluation.exhibit.uses is Uses.SIMULATION,
        alt=f"{evaluation.exhibit.unit} against {symbol}: {series}. At {symbol} = {numeral(evaluation.here, 6)}: "
        + ", ".join(f"{name} {shown_as(value)}" for name, value in here.items())
        + f".{wrong}",
    )


def names_of(evaluation: Evaluation) -> list[str]:
    """Return what is known exactly of the bounded quantity, and what is simulated; "" for neither."""
    return [evaluation.measured.exact_name, evaluation.measured.name]


def below(evaluation: Evaluation) -> None:
    """Show the progress of the curves, the present values, and where the stated bound fails; offer the curves."""
    _progress(evaluation.work)
    _numbers(evaluation)
    _lead_to_failure(evaluation)
    st.caption(" ".join(_remarks(evaluation)))
    data_and_download(
        lambda: _frame(evaluation),
        name="bounds",
        curator_only=not evaluation.is_private,
        simulates=evaluation.exhibit.uses is Uses.SIMULATION,
    )


def _progress(work: Running[tuple[BoundCurve, ...]]) -> None:
    if work.is_long:
        points = sum(len(part.x) for part in work.so_far)
        progress(work, f"{many(points, 'point')} of the curves", key="bounds.stop")


def _numbers(evaluation: Evaluation) -> None:
    bound, measured = evaluation.bound, evaluation.measured
    series = {
        "As stated in the paper": bound.printed,
        "Proved": bound.certified,
        measured.exact_name: measured.exact,
        "Simulated" if measured.name else "": measured.value,
    }
    tiles = {name: float(value[0]) for name, value in series.items() if name}
    for column, (name, value) in zip(st.columns(len(tiles)), tiles.items(), strict=True):
        column.metric(name[0].upper() + name[1:], shown_as(value))


def _lead_to_failure(evaluation: Evaluation) -> None:
    """Offer the nearest setting at which the stated bound is exceeded, if it is not exceeded at the present one."""
    exceeded = np.array(evaluation.curve.x)[evaluation.curve.measured.violated]
    name = "epsilon" if evaluation.axis is Axis.EPSILON else f"bounds.{evaluation.axis.field}"
    if evaluation.measured.violated[0] or not exceeded.size or name not in PARAMETERS:
        return
    nearest = float(exceeded[np.abs(exceeded - evaluation.here).argmin()])
    st.button(
        f"Show where the bound is exceeded ({evaluation.axis.symbol} = {numeral(nearest)})",
        key="claims.exceeded",
        on_click=lambda: set_parameter(name, PARAMETERS[name].checked(name, nearest)),
    )


def _remarks(evaluation: Evaluation) -> list[str]:
    measured, remarks = evaluation.measured, []
    if measured.releases:
        remarks.append(
            f"Simulated: {measured.releases:,} {evaluation.exhibit.trials} with a fixed seed; none of them is "
            "published. Bars are 95% intervals." + _range(evaluation)
        )
        if not np.isfinite(measured.value[0]):
            remarks.append("There are too few simulations for this quantile: only larger values of δ have a dot.")
    if measured.note:
        remarks.append(measured.note)
    if evaluation.axis is Axis.RECORDS and evaluation.exhibit.uses is not Uses.PUBLIC:
        remarks.append("For other values of n, the counts keep the proportions of the table.")
    remarks.append("Nothing here depends on the counts." if evaluation.is_private else "Not private (curator view).")
    return remarks


def _range(evaluation: Evaluation) -> str:
    low, high = float(evaluation.measured.low[0]), float(evaluation.measured.high[0])
    name = evaluation.measured.name
    return f" The {name}: {numeral(low)} to {numeral(high)}." if math.isfinite(low + high) else ""


def _frame(evaluation: Evaluation) -> "pd.DataFrame":
    bound, measured = evaluation.curve.bound, evaluation.curve.measured
    columns = {evaluation.axis.value: evaluation.curve.x, "as stated": bound.printed, "proved": bound.certified}
    if measured.exact_name:
        columns[measured.exact_name] = measured.exact
    if measured.name:
        columns |= {measured.name: measured.value, "interval from": measured.low, "to": measured.high}
        columns["share above the stated bound"] = measured.exceeded
        columns["standard error of the share"] = measured.exceeded_error
    columns["stated bound exceeded"] = measured.violated
    return pd.DataFrame(columns).dropna(axis="columns", how="all")


def python_of(chosen: Chosen, evaluation: Evaluation) -> str:
    """Return the code that gives the bound as stated in the paper and as proved, at the present setting."""
    subject, at, exhibit = evaluation.subject, evaluation.at, evaluation.exhibit
    needs_counts = exhibit.uses is Uses.COUNTS and subject.counts is not None
    table = counts_in_python(chosen) if needs_counts else network_in_python(subject.network)
    counts = "counts" if needs_counts else "None"
    names = [name.rpartition(".")[2] for name in exhibit.knobs if name.startswith("bounds.")]
    knobs = ", ".join(f"{name}={getattr(at.knobs, name)!r}" for name in names)
    return program(
        FACE,
        "from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject",
        "from dpbayes.theory.index import EXHIBITS",
        table,
        f"subject = Subject(network, {subject.concentration!r}, {subject.n!r}, {counts}, seed=0)",
        f"at = EvaluationPoint({at.epsilon!r}, {at.draws!r}, ClaimParameters.usual({knobs}))",
        f"bound = EXHIBITS[{evaluation.claim.name!r}].bound(subject, at)",
        "print(bound.printed[0], bound.certified[0])",
    )
