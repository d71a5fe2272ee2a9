"""What a page shows, asked from Python: the same numbers, to copy and run."""

import streamlit as st

from dpbayes.model.network import Network
from dpbayes.sources.named_networks import NAMED, load_named

MOST_NODES = 60
"""A network of more nodes would be a page of code; it is read from its file instead."""


def same_from_python(python: str, *, name: str) -> None:
    """Offer code whose last line prints what the page shows."""
    with st.expander("The same from Python", key=f"python.{name}"):
        st.code(python, language="python", wrap_lines=True)


def network_in_python(network: Network) -> str:
    """Return the code that makes a network, as `network`: by its name, in full, or from the file of its drawing."""
    if key := next((key for key in NAMED if load_named(key)[0] == network), ""):
        return f"network, _ = dp.load_named({key!r})"
    if len(network.names) > MOST_NODES:
        return 'network, _ = dp.read_bif(open("network.bif", encoding="utf-8").read())  # Network, Import or export'
    states = dict(zip(network.names, network.states, strict=True))
    return f"network = dp.Network.from_edges({list(network.names)!r}, {list(network.edges)!r}, {states!r})"
