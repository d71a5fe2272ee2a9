"""The Bounds page: one claim, as printed, as certified and as measured, against what it depends on."""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.text import many, numeral
from dpbayes.base.validation import InputError
from dpbayes.figures.bounds import BoundCurves, bound_figure
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.index import EXHIBITS
from dpbayes.ui.pages.bounds.curve import BoundCurve, Evaluation, axis_of, evaluated, is_visible, possible
from dpbayes.ui.pages.bounds.details import details, table_1_live
from dpbayes.ui.pages.bounds.headline import verdict
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.from_python import FACE, counts_in_python, network_in_python, program, same_from_python
from dpbayes.ui.widgets.limits import Possible
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import data_and_download, refusal, remark

FACTS: Facts = EPSILON | TABLE | N


def bounds_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with the claim's first parameter, all else follows when the hand rests."""
    pictures_tell(FACTS)
    net, page = chosen.network, places()
    nearby, evaluation = page.first(_moving, chosen) or (None, None)
    with page.controls:
        _controls(chosen, chosen_claim(chosen), nearby)
    if evaluation is not None:
        with page.picture:
            _progress(evaluation.work)
            _numbers(evaluation)
        details(evaluation)
    table_1_live(chosen, net)
    if evaluation is not None:
        same_from_python(python_of(chosen, evaluation), name="bounds", chosen=chosen)
    return evaluation is not None and evaluation.work.going


def python_of(chosen: Chosen, evaluation: Evaluation) -> str:
    """Return the code that gives the bound as printed and as certified, at the setting at hand."""
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


def _moving(page: Places, chosen: Chosen) -> tuple[Possible | None, Evaluation | None]:
    """Show the bound and what it bounds, from the settings nearest to those asked for that it can be computed for."""
    claim = chosen_claim(chosen)
    nearby, evaluation = None, None
    with page.picture:
        try:
            if is_visible(claim, chosen):
                nearby = possible(chosen, claim)
                remark(nearby.why)
                evaluation = evaluated(chosen, claim, nearby.settings)
            else:
                _for_the_curator(claim, chosen)
        except InputError as error:
            refusal(error)
        if evaluation is not None:
            _picture(evaluation)
    for name in _numbers_asked(claim)[:1]:
        page.lead(name, **_control(claim, nearby, name))
    if evaluation is not None:
        page.say(verdict(evaluation))
    return nearby, evaluation


def chosen_claim(chosen: Chosen) -> BoundClaim:
    """Return the claim that was chosen; else the first, and for the recipient the first that is public."""
    claim = chosen.parameter("bounds.claim", _usual_claim(chosen))
    assert isinstance(claim, BoundClaim)
    return claim


def _usual_claim(chosen: Chosen) -> BoundClaim:
    return next(claim for claim in BoundClaim if is_visible(claim, chosen))


def _for_the_curator(claim: BoundClaim, chosen: Chosen) -> None:
    public = [each for each, exhibit in EXHIBITS.items() if exhibit.uses.is_for_all]
    st.info(
        f"{claim.value.partition(':')[0]} is computed from the counts, so only the curator may see it. The other "
        f"{len(public)} of the {len(EXHIBITS)} claims depend on public things alone, such as "
        f"{_usual_claim(chosen).value.partition(':')[0]}: they are for you too."
    )


def _numbers_asked(claim: BoundClaim) -> list[str]:
    return [name for name in EXHIBITS[claim.name].knobs if name != "prior"]


def _control(claim: BoundClaim, nearby: Possible | None, name: str) -> dict[str, Any]:
    """Return default and reach of the control of a parameter."""
    exhibit = EXHIBITS[claim.name]
    reach = nearby.stops(name) if nearby is not None and name in exhibit.gives else None
    return {"default": dict(exhibit.defaults).get(name.rpartition(".")[2]), "reach": reach}


def _controls(chosen: Chosen, claim: BoundClaim, nearby: Possible | None) -> None:
    exhibit = EXHIBITS[claim.name]
    controls.parameter_control("bounds.claim", default=_usual_claim(chosen))
    if len(exhibit.axes) > 1:
        _axis_control(claim, axis_of(claim, chosen.settings))
    for name in _numbers_asked(claim)[1:]:
        controls.parameter_control(name, **_control(claim, nearby, name))
    if "prior" in exhibit.knobs:
        controls.text_field("Prior: pseudo-count of every cell", "prior", help=terms.PRIOR)
    if chosen.is_curator:
        with st.expander("Seed"):
            controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)


def _axis_control(claim: BoundClaim, axis: Axis) -> None:
    """Offer what this claim depends on; the setting keeps an axis that it does not have, for the next claim."""
    axes, key = EXHIBITS[claim.name].axes, f"bounds.axis.{claim.name}"
    controls.mirror(key, axis)
    st.segmented_control(
        "Drawn against",
        axes,
        key=key,
        format_func=lambda each: each.value,
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
    here = {"printed": float(evaluation.bound.printed[0]), "certified": float(evaluation.bound.certified[0])}
    symbol = evaluation.axis.value
    figure = bound_figure(
        curves, x_title=evaluation.axis.title, y_title=evaluation.exhibit.unit, chosen=(evaluation.here, here)
    )
    name = evaluation.bound.claim.reference.place
    wrong = f" The printed one is violated at {int(measured.violated.sum())} of {many(len(curves.x), 'point')}."
    chart(
        figure,
        key="bounds",
        simulates=evaluation.exhibit.uses is Uses.SIMULATION,
        alt=f"{evaluation.exhibit.unit} against {symbol}: {name} as printed and as certified"
        + "".join(f", {each}" for each in (measured.exact_name, measured.name) if each)
        + f". At {symbol} = {numeral(evaluation.here, 6)}, "
        + ", ".join(f"{name} {numeral(value) if math.isfinite(value) else 'unknown'}" for name, value in here.items())
        + "."
        + (wrong if measured.violated.any() else ""),
    )


def _progress(work: Running[tuple[BoundCurve, ...]]) -> None:
    if work.is_long:
        points = sum(len(part.x) for part in work.so_far)
        progress(work, f"{many(points, 'point')} of the curves", key="bounds.stop")


def _numbers(evaluation: Evaluation) -> None:
    """Show the numbers at hand, say what is simulated, and offer the curves."""
    bound, measured = evaluation.bound, evaluation.measured
    known = {
        "Printed": bound.printed,
        "Certified": bound.certified,
        measured.exact_name: measured.exact,
        "Simulated" if measured.name else "": measured.value,
    }
    tiles = {name: float(value[0]) for name, value in known.items() if name}
    for column, (name, value) in zip(st.columns(len(tiles)), tiles.items(), strict=True):
        text = numeral(value) if math.isfinite(value) else "unknown"
        column.metric(name[0].upper() + name[1:], text)
    remarks = []
    if measured.releases:
        remarks.append(
            f"A simulation of {measured.releases:,} {evaluation.exhibit.trials} with a seed, not a release; bars are "
            "95% intervals." + _range(evaluation)
        )
        if not np.isfinite(measured.value[0]):
            remarks.append("Too few to tell where this quantile is: only larger δ have a dot.")
    if measured.note:
        remarks.append(measured.note)
    if evaluation.axis is Axis.RECORDS and evaluation.exhibit.uses is not Uses.PUBLIC:
        remarks.append("Along n the counts keep the table’s proportions.")
    remarks.append("Nothing here depends on the counts." if evaluation.is_private else "Curator only: not private.")
    st.caption(" ".join(remarks))
    data_and_download(
        lambda: _frame(evaluation),
        name="bounds",
        curator_only=not evaluation.is_private,
        simulates=evaluation.exhibit.uses is Uses.SIMULATION,
    )


def _range(evaluation: Evaluation) -> str:
    low, high = float(evaluation.measured.low[0]), float(evaluation.measured.high[0])
    name = evaluation.measured.name
    return f" The {name}: {numeral(low)} to {numeral(high)}." if math.isfinite(low + high) else ""


def _frame(evaluation: Evaluation) -> pd.DataFrame:
    bound, measured = evaluation.curve.bound, evaluation.curve.measured
    columns = {evaluation.axis.value: evaluation.curve.x, "printed": bound.printed, "certified": bound.certified}
    if measured.exact_name:
        columns[measured.exact_name] = measured.exact
    if measured.name:
        columns |= {measured.name: measured.value, "interval from": measured.low, "to": measured.high}
        columns["share above the printed bound"] = measured.exceeded
        columns["standard error of the share"] = measured.exceeded_error
    columns["printed bound violated"] = measured.violated
    return pd.DataFrame(columns).dropna(axis="columns", how="all")
