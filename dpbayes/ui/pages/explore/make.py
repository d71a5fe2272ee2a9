"""The real release of the mechanism that Explore shows: its cost, its accuracy, and one confirmation."""

from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.amounts import PrivacyMeasure, amount_text, amount_with_symbol
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, typed
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE, reads_records, releasable
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.model.counts import Counts
from dpbayes.releases.document.promises import parsed_epsilon, parsed_promise
from dpbayes.releases.document.request import GraphChoice, ReleaseRequest
from dpbayes.releases.publishing import LearntGraph, Published, learnt_as, publish
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.widgets.charging import (
    charge_confirmed,
    charged_ledger,
    dataset_to_charge,
    domain_choice,
    earlier_release,
    ledger_link,
    show_cost,
)
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import folded, sentence_instead

EXPLANATION = (
    "The page above shows simulations. A real release samples its noise once, exactly, from this computer’s "
    "randomness. Its cost is charged to the dataset’s budget, and the result may be published."
)
ON_NETWORK = "A real adaptive release is made on Network, under *Adaptive release …*."
UNSEEN = "I chose the graph and the prior without looking at these records."
PRIOR_UNSEEN = "I chose the prior without looking at these records."


def make_release(chosen: Chosen) -> None:
    """Offer to make the release that the page simulates; the curator alone can."""
    with folded("Make this release …", key="make") as is_open:
        if not is_open:
            return
        if reads_records(kind_called(chosen.settings.mechanism)):
            st.markdown(ON_NETWORK)
            st.page_link("pages/network.py", label="Network", icon=":material/arrow_forward:")
            return
        with sentence_instead():
            _make(chosen)


def _make(chosen: Chosen) -> None:
    path = charged_ledger()
    dataset = dataset_to_charge(path, chosen, EXPLANATION, key="make.dataset")
    if dataset is None:
        return
    learnt = learnt_as(path, dataset, chosen.network)
    request = request_of(chosen, dataset, learnt)
    _summary(path, request)
    if getattr(chosen.mechanism, "noise", Noise.WHOLE) is Noise.REAL:
        st.caption(
            "A real release adds integer noise. Choose noise of whole numbers under *More settings* to simulate the "
            "same noise."
        )
    if chosen.weights and request.prices:
        st.caption("The tables with more weight must also have been chosen without looking at these records.")
    if learnt is not None:
        st.caption(
            f"This graph was learnt privately in row {learnt.row} of the ledger. Its "
            f"ε = {amount_text(learnt.document.request.epsilon)} is charged there."
        )
    published = earlier_release(path, request, "This release exists already")
    if published is None and charge_confirmed(
        path,
        dataset,
        chosen,
        label=f"Make release and spend {amount_with_symbol(request.cost)}",
        act="began a release",
        statement=UNSEEN if learnt is None else PRIOR_UNSEEN,
    ):
        published = _published(path, request, chosen.counts)
    if published is not None:
        opened_release(published.document, key="made", suspicion=chosen.options("release").suspicion)
        ledger_link()


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


def _summary(path: Path, request: ReleaseRequest) -> None:
    """Show the cost, the remaining budget, and the accuracy of the release."""
    show_cost(path, request.dataset, request.cost)
    st.caption(escaped(request.entry.accuracy(request, request.calibrated.scale)))


def request_of(chosen: Chosen, dataset: str, learnt: LearntGraph | None) -> ReleaseRequest:
    """Return the request: the page's mechanism and numbers as texts, and the cost of a learnt graph.

    Errors: InputError for a mechanism without exact sampling or with a graph of its own, and for one calibrated as
    stated in the paper.
    """
    kind = kind_called(chosen.settings.mechanism)
    if reads_records(kind):
        raise InputError("Plans of this page are for a given graph, but an adaptive release chooses its own graph.")
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
        prior=(typed(chosen.settings.prior),),
        settings={name: typed(values[name]) for name in releasable(mechanism).settings},
        prices=_prices(chosen, mechanism),
        domains=domain_choice(chosen),
        **({"graph": GraphChoice.UNSEEN} if learnt is None else learnt.document.stated),
    )


def _prices(chosen: Chosen, mechanism: str) -> tuple[int, ...]:
    """Return the prices that suit the weights of the tables; none where all count alike or noise is not shared out."""
    priced = releasable(mechanism).priced
    return priced(chosen.network, np.array(chosen.weights)) if priced is not None and chosen.weights else ()


def _loss(chosen: Chosen, mechanism: str) -> dict[str, Any]:
    """Return what the page's numbers promise: epsilon as typed, or (epsilon, delta), whose rho is charged."""
    if releasable(mechanism).measure is PrivacyMeasure.EPSILON:
        return {"epsilon": parsed_epsilon(typed(chosen.epsilon))}
    delta = getattr(chosen.mechanism, "delta")  # noqa: B009 - of Gaussian noise alone
    return {"stated": parsed_promise(typed(chosen.epsilon), typed(delta))}
