"""Noise that a mechanism divides among tables: the tables with more weight, and the search for the best noise."""

from typing import Any

import streamlit as st

from dpbayes.base.text import done, escaped, numeral
from dpbayes.mechanisms.noise.shares import searched, weight_texts
from dpbayes.model.network import Network
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.running import Running, progress, running

# Weights


def weights_control(chosen: Chosen, network: Network) -> None:
    """Show the choice of the tables with more weight, and their weight."""
    matters = [name for name in network.names if name in chosen.settings.matters]
    controls.mirror("matters", matters)
    st.multiselect(
        "Tables with more weight",
        network.names,
        key="matters",
        placeholder="equal weights",
        help="Mechanisms that divide their noise among tables give these tables less noise. The privacy guarantee "
        "stays the same. Explore, Compare mechanisms and Accuracy use these weights.",
        on_change=lambda: change(matters=tuple(st.session_state["matters"])),
    )
    if matters:
        controls.parameter_control("release.weight")


def weights_said(network: Network, weights: tuple[float, ...]) -> str:
    """Return the weights as a sentence without a full stop: "The squared error in the table of dysp has weight 10"."""
    named = [text.rpartition("=")[0] for text in weight_texts(network, weights)]
    tables = f"the table of {escaped(named[0])}" if len(named) == 1 else f"the tables of {escaped(', '.join(named))}"
    times = sorted({weight for weight in weights if weight != 1})
    often = " to ".join(numeral(weight) for weight in (times if len(times) < 3 else (times[0], times[-1])))
    return f"The squared error in {tables} has weight {often}"


# Search


def search_under_way(mechanism: Any) -> Running[None] | None:
    """Search the best scales of the noise for a moment; return the unfinished search, else None.

    Errors: InputError for a network that is too large for the search.
    """
    if not hasattr(mechanism, "design_steps"):
        return None
    network, weights = mechanism.prior.network, mechanism.weights
    # The key is the network's own store of results: a new equal network must be searched again.
    work = running("search", (type(mechanism), network.designs, weights), lambda: searched(mechanism))
    work.work()
    return None if work.done else work


def show_search(work: Running[None], *, key: str) -> None:
    """Show the progress of the search and a button to stop."""
    progress(work, f"{done(work.share)} of the search for the best noise on this network", key=key)
