"""The request that the Explore page shows: made into a real release after one confirmation."""

from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base.amounts import PrivacyMeasure, amount_with_symbol
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, typed
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE, releasable
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.model.counts import Counts
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import ReleaseRequest, parsed_promise
from dpbayes.releases.publishing import Published, publish
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.widgets.charging import Charge, chosen_charge, domain_choice, ledger_link
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
        raise InputError("A release of this page is of a given graph, but an adaptive release chooses its own graph.")
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
        return {"epsilon": decimal("epsilon", typed(chosen.epsilon))}
    delta = getattr(chosen.mechanism, "delta")  # noqa: B009 - of Gaussian noise alone
    return {"stated": parsed_promise(typed(chosen.epsilon), typed(delta))}
