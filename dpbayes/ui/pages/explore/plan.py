"""The request that the Explore page shows as a plan: a file without records, exported and imported."""

import dataclasses
from fractions import Fraction

import streamlit as st

from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms import MECHANISMS
from dpbayes.releases.document.plan import PlanFile, PlannedQuestion, read_plan, write_plan
from dpbayes.releases.document.request import GraphChoice, ReleaseRequest
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.ui.pages.explore.make import request_of
from dpbayes.ui.session.chosen import Chosen, has_question, target_and_evidence
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.session.uploads import upload
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.show import folded, sentence_instead

DATASET = "dataset"
"""The id of the table in an exported plan: the person who makes the release names the dataset in their ledger."""

_OF_THE_TABLE = ("dataset", "n", "domains", "graph", "graph_epsilon", "graph_candidates")
"""Fields of a request that an imported plan does not set on the page."""


def plan_files(chosen: Chosen) -> None:
    """Offer the page's request as a plan, and take the settings of a plan."""
    with folded("Export or import a plan …", key="plan") as is_open:
        if not is_open:
            return
        left, right = st.columns(2)
        with left, sentence_instead():
            data = write_plan(plan_of(chosen))
            name = offered_name("plan", "json")
            st.download_button("Plan (JSON)", data, name, "application/json", key="plan.out", on_click="ignore")
            st.caption(
                "The request that this page shows, without records. `python -m dpbayes release --plan` makes the "
                "release, and charges the dataset that you name."
            )
        with right:
            file = st.file_uploader("Plan", type=["json"], key="plan.file")
            if file is not None and st.button("Use this plan"):
                with sentence_instead():
                    _import(file.getvalue(), chosen)


def plan_of(chosen: Chosen) -> PlanFile:
    """Return the page's request with the bounds of an uploaded table. Errors: InputError if it has no real release."""
    mine = upload() if chosen.settings.data == "upload" else None
    columns = () if mine is None else tuple(DeclaredColumn(column.name, column) for column in mine.encoded)
    question = PlannedQuestion(*target_and_evidence(chosen)) if has_question(chosen) else None
    return PlanFile(request_of(chosen, DATASET, None), columns, question)


def _import(data: bytes, chosen: Chosen) -> None:
    settings = settings_of_plan(read_plan(data), chosen)
    fields = {name.name: getattr(settings, name.name) for name in dataclasses.fields(Settings)}
    replace_drawing("The network of the plan", **fields)
    st.rerun()


def settings_of_plan(plan: PlanFile, chosen: Chosen) -> Settings:
    """Return the settings under which the page shows a plan for its own table.

    Errors: InputError for a plan of another kind, of other columns, or with a part that the page cannot show.
    """
    request = plan.request
    if not isinstance(request, ReleaseRequest):
        raise InputError(
            "This page accepts only plans for releases of a given graph. This plan is of a different kind."
        )
    for name, states in zip(request.network.names, request.network.states, strict=True):
        if chosen.domains.get(name) != states:
            raise InputError(f"The table has no column {brief(name)} with the states of the plan.")
    if len(request.prior) > 1 or (request.rho and request.stated is None):
        raise InputError(
            "This page accepts only plans with one prior for all cells and a guarantee in epsilon and delta."
        )
    if request.graph is not GraphChoice.UNSEEN:
        raise InputError(
            "The graph of the plan was learnt from records. Only a ledger that contains this graph can accept the plan."
        )
    kind = next(kind for kind in MECHANISMS if kind.label == request.entry.label)
    settings = dataclasses.replace(
        chosen.settings,
        mechanism=kind.__name__,
        prior=float(Fraction(request.prior[0])),
        graph=code_of(drawable(Graph.of(request.network))),
    )
    loss = {"epsilon": request.epsilon} if request.stated is None else vars(request.stated)
    for name, value in {**loss, **request.settings}.items():
        settings = settings.with_parameter(name, float(value))
    if plan.question is not None:
        evidence = tuple(plan.question.evidence.items())
        settings = dataclasses.replace(settings, target=plan.question.target, evidence=evidence)
    shown = request_of(Chosen(settings), DATASET, None).content
    other = [name for name, value in request.content.items() if name not in _OF_THE_TABLE and shown.get(name) != value]
    if other:
        raise InputError(f"This page cannot show these parts of the plan: {', '.join(other)}.")
    return settings
