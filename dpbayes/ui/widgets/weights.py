"""The tables with more weight, for every page on which mechanisms divide their noise among tables."""

import streamlit as st

from dpbayes.base.text import escaped, numeral
from dpbayes.mechanisms.noise.shares import weight_texts
from dpbayes.model.network import Network
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change
from dpbayes.ui.widgets import controls


def weights_control(chosen: Chosen, network: Network) -> None:
    """Offer the tables with more weight, and the weight once there are some."""
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
    """Return the weights as the start of a sentence: "The squared error in the table of dysp counts 10 times"."""
    named = [text.rpartition("=")[0] for text in weight_texts(network, weights)]
    tables = f"the table of {escaped(named[0])}" if len(named) == 1 else f"the tables of {escaped(', '.join(named))}"
    times = sorted({weight for weight in weights if weight != 1})
    often = " to ".join(numeral(weight) for weight in (times if len(times) < 3 else (times[0], times[-1])))
    return f"The squared error in {tables} has weight {often}"
