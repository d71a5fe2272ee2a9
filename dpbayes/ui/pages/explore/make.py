"""The request that the Explore page shows: made into a real release after one confirmation, or exported as a plan."""

import dataclasses
from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base.amounts import PrivacyMeasure, amount_with_symbol
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, typed
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms import MECHANISMS, RELEASABLE, releasable
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.model.counts import Counts
from dpbayes.posteriors.prior_rules import rule_of
from dpbayes.releases.document.plan import PlanFile, PlannedQuestion, read_plan, write_plan
from dpbayes.releases.document.promises import parsed_epsilon, parsed_promise
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.publishing import Published, publish
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.ui.session.chosen import Chosen, has_question, kind_called, target_and_evidence
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.session.uploads import upload
from dpbayes.ui.widgets.charging import Charge, chosen_charge, domain_choice, ledger_link
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import folded, sentence_instead

EXPLANATION = (
    "The page above shows simulations. A real release samples its noise once, exactly, from this computer’s "
    "randomness. Its cost is charged to the dataset’s budget, and the result may be published."
)
ON_NETWORK = "A real adaptive release is made on Network, under *Adaptive release …*."
UNSEEN = "I chose the graph and the prior without looking at these records."


def make_release(chosen: Chosen) -> None:
    """Offer to make the release that the page simulates; the curator alone can."""
    with folded("Make this release …", key="make") as is_open:
        if not is_open:
            return
        if chosen.reads_records:
            st.markdown(ON_NETWORK)
            st.page_link("pages/network.py", label="Network", icon=":material/arrow_forward:")
            return
        with sentence_instead():
            _make(chosen)


def _make(chosen: Chosen) -> None:
    charge = chosen_charge(chosen, EXPLANATION, key="make.dataset")
    if charge is None:
        return
    request = request_of(chosen, charge.dataset)
    published = charge.released(request, lambda: _once_confirmed(charge, request), exists="This release exists already")
    if published is not None:
        opened_release(published.document, key="made", suspicion=chosen.options("release").suspicion)
        ledger_link()


def _once_confirmed(charge: Charge, request: ReleaseRequest) -> Published | None:
    """Show what the release will be, and make it once it is confirmed."""
    chosen = charge.chosen
    st.caption(escaped(request.entry.accuracy(request, request.calibrated.scale)))
    if getattr(chosen.mechanism, "noise", Noise.WHOLE) is Noise.REAL:
        st.caption(
            "A real release adds integer noise. Choose noise of whole numbers under *More settings* to simulate the "
            "same noise."
        )
    is_confirmed = charge.is_confirmed(
        label=f"Make release and spend {amount_with_symbol(request.cost)}",
        act="began a release",
        statement=UNSEEN,
    )
    return _published(charge.path, request, chosen.counts) if is_confirmed else None


def _published(path: Path, request: ReleaseRequest, counts: Counts) -> Published:
    """Publish under a bar. A click meanwhile, by which Streamlit ends a run, waits until the ledger has the release."""
    bar, ended = st.progress(0.0, "Sampling the noise …"), list[BaseException]()

    def show(share: float) -> None:
        if not ended:
            try:
                bar.progress(share, "Sampling the noise …")
            except BaseException as end:  # raised into the draw, it would cost epsilon for nothing
                ended.append(end)

    published = publish(path, request, counts, progress=show)
    if ended:
        raise ended[0]
    bar.empty()
    return published


def request_of(chosen: Chosen, dataset: str) -> ReleaseRequest:
    """Return the request: the page's mechanism and numbers as texts.

    Errors: InputError for a mechanism without exact sampling or with a graph of its own, and for one calibrated as
    stated in the paper.
    """
    if chosen.reads_records:
        raise InputError("Plans of this page are for a given graph, but an adaptive release chooses its own graph.")
    kind = kind_called(chosen.settings.mechanism)
    mechanism = next((name for name, entry in RELEASABLE.items() if entry.label == kind.label), kind.label)
    values = {name: getattr(chosen.mechanism, name) for name in parameters_of(kind)}
    if values.get("calibration", Calibration.CERTIFIED) is not Calibration.CERTIFIED:
        raise InputError("A real release needs a mechanism with proved noise. Choose the proved calibration.")
    return ReleaseRequest(
        dataset=dataset,
        network=chosen.network,
        mechanism=mechanism,
        **_loss(chosen, mechanism),
        n=chosen.counts.n,
        prior=rule_for(kind, chosen.settings.prior).decimals(chosen.network),
        settings={name: typed(values[name]) for name in releasable(mechanism).settings},
        domains=domain_choice(chosen),
    )


def _loss(chosen: Chosen, mechanism: str) -> dict[str, Any]:
    """Return what the page's numbers promise: epsilon as typed, or (epsilon, delta), whose rho is charged."""
    if releasable(mechanism).measure is PrivacyMeasure.EPSILON:
        return {"epsilon": parsed_epsilon(typed(chosen.epsilon))}
    delta = getattr(chosen.mechanism, "delta")  # noqa: B009 - of Gaussian noise alone
    return {"stated": parsed_promise(typed(chosen.epsilon), typed(delta))}


# The request as a plan: a file without records, exported and imported


DATASET = "dataset"
"""The id of the table in an exported plan: the person who makes the release names the dataset in their ledger."""

_OF_THE_TABLE = ("dataset", "n", "domains")
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
            download_button("Plan (JSON)", data, name, "application/json", key="plan.out")
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
    return PlanFile(request_of(chosen, DATASET), columns, question)


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
    kind = next(kind for kind in MECHANISMS if kind.label == request.entry.label)
    now, prior = chosen.settings.prior, rule_of(request.dirichlets)
    if rule_for(kind, now).fits(request.dirichlets):  # on narrow nodes, several rules give one prior
        prior = now
    if prior is None or (request.rho and request.stated is None):
        raise InputError(
            "This page accepts only plans with a capped prior, BDeu or one prior for all cells, and a guarantee in "
            "epsilon and delta."
        )
    settings = dataclasses.replace(
        chosen.settings,
        mechanism=kind.__name__,
        prior=prior,
        graph=code_of(drawable(Graph.of(request.network))),
    )
    loss = {"epsilon": request.epsilon} if request.stated is None else vars(request.stated)
    for name, value in {**loss, **request.settings}.items():
        settings = settings.with_parameter(name, float(value))
    if plan.question is not None:
        evidence = tuple(plan.question.evidence.items())
        settings = dataclasses.replace(settings, target=plan.question.target, evidence=evidence)
    shown = request_of(Chosen(settings), DATASET).content
    other = [name for name, value in request.content.items() if name not in _OF_THE_TABLE and shown.get(name) != value]
    if other:
        raise InputError(f"This page cannot show these parts of the plan: {', '.join(other)}.")
    return settings
