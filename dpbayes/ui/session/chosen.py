"""From the settings to the values on the page: the table, the network, the counts, the mechanism.

All caches but that of the shipped tables are the session's own, so an upload never leaves it.
Errors are InputErrors that a page shows as they are.
"""

import hashlib
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms import MECHANISMS, Mechanism, Outcome
from dpbayes.model.counts import Counts, count
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.session.graphs import Graph, code_of, graph_of, network_of
from dpbayes.ui.session.increments import STEALTH, stealth_increment
from dpbayes.ui.session.settings import Cpts, Settings, change
from dpbayes.ui.session.uploads import given_cpts, upload

SLOW_SAMPLE = 500_000
"""Synthetic tables above this show a progress bar while they are drawn."""

FIRST_COLUMNS = 12
"""How many columns of an uploaded table become nodes at first."""


# The table


@st.cache_resource(max_entries=4, show_spinner="Reading the table …")
def _shipped(key: str) -> Dataset:
    return load_shipped(key)


def truth(settings: Settings) -> tuple[Network, np.ndarray]:
    """Return the network and the CPTs that synthetic records come from."""
    network = network_of(graph_of(settings.source))
    given = given_cpts().get(settings.source)
    if settings.cpts is Cpts.GIVEN and given is None:
        raise InputError(
            "The probabilities that this table was drawn from were typed or uploaded in another session. "
            "Load the same BIF file on the Network page, or choose random probabilities on the Data page."
        )
    if settings.cpts is Cpts.GIVEN and given is not None and given.shape == (network.cell_count,):
        return network, given
    if settings.cpts is Cpts.PUBLISHED and settings.source in NAMED:
        return load_named(settings.source)
    return network, random_cpts(network, stream(settings.data_seed, "cpts"))


def _synthetic(settings: Settings) -> Dataset:
    given = given_cpts().get(settings.source)
    mark = hashlib.sha256(given.tobytes()).hexdigest() if given is not None else ""
    key = (settings.source, settings.cpts, settings.records, settings.data_seed, mark)
    kept = st.session_state.get("synthetic")
    if kept and kept[0] == key:
        return kept[1]
    network, cpts = truth(settings)
    rng = stream(settings.data_seed, "records")
    if settings.records > SLOW_SAMPLE:
        bar = st.progress(0.0, f"Drawing {settings.records:,} records …")
        data = sample_dataset(network, cpts, settings.records, rng, progress=bar.progress)
        bar.empty()
    else:
        data = sample_dataset(network, cpts, settings.records, rng)
    st.session_state["synthetic"] = (key, data)
    return data


def dataset(settings: Settings) -> Dataset:
    """Return the table the settings name. Errors: InputError when it was uploaded elsewhere, or not encoded yet."""
    if settings.data == "synthetic":
        return _synthetic(settings)
    if settings.data in SHIPPED:
        return _shipped(settings.data)
    mine = upload()
    if mine is None:
        raise InputError(
            "There is no uploaded table here, and uploads never leave their session. "
            "Load the file on the Data page to see this view."
        )
    if mine.dataset is None:
        raise InputError("The uploaded table has no public domains yet; state them on the Data page.")
    return mine.dataset


def leaking_columns(settings: Settings) -> frozenset[str]:
    """Return the columns whose domains were taken from the data and so tell something of it."""
    mine = upload()
    return mine.leaks if settings.data == "upload" and mine else frozenset()


def data_title(settings: Settings) -> str:
    """Return a short name of the table for headlines."""
    if settings.data in SHIPPED:
        return SHIPPED[settings.data].title
    if settings.data == "synthetic":
        name = NAMED[settings.source].title if settings.source in NAMED else "the drawn network"
        return f"{settings.records:,} synthetic records from {name}"
    mine = upload()
    return mine.name if mine else "an uploaded table"


# The network


def graph(settings: Settings) -> Graph:
    """Return the graph to fit: the drawn one, else the one that comes with the data."""
    if settings.graph:
        return graph_of(settings.graph)
    if settings.data == "synthetic":
        return graph_of(settings.source)
    if settings.data in SHIPPED:
        return Graph.of(default_network(settings.data))
    mine = upload()
    names = mine.dataset.names[:FIRST_COLUMNS] if mine and mine.dataset else ()
    return Graph(names, ())


def domains(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the public states of the table's columns, empty when there is no table."""
    try:
        data = dataset(settings)
    except InputError:
        return {}
    return dict(zip(data.names, data.states, strict=True))


def strays(settings: Settings) -> tuple[str, ...]:
    """Return the nodes that are not columns of the table."""
    known = domains(settings)
    return tuple(name for name in graph(settings).names if name not in known)


def network(settings: Settings) -> Network:
    """Return the network to fit. Errors: InputError for a cycle or a table that would not fit."""
    known = domains(settings)
    key = (settings.graph, settings.data, settings.source, tuple(known.items()))
    kept = st.session_state.get("network")
    if kept and kept[0] == key:
        return kept[1]
    found = network_of(graph(settings), known)
    st.session_state["network"] = (key, found)
    return found


def adopt_as_source(settings: Settings) -> None:
    """Make the drawn network the one that synthetic records come from."""
    drawn = graph(settings)
    code = code_of(Graph(drawn.names, drawn.edges, drawn.places, domains(settings) | dict(drawn.states)))
    change(data="synthetic", source=code, graph="", cpts=Cpts.RANDOM)


# Counts and mechanism


def counts(settings: Settings) -> Counts:
    """Count the table under the network. Errors: InputError, also for nodes that are not columns."""
    data, net = dataset(settings), network(settings)
    missing = [name for name in net.names if name not in data.position]
    if missing:
        raise InputError(
            f"The node {brief(missing[0])} is not a column of the table. Rename or delete it on the Network page, "
            "or draw synthetic records from this network there."
        )
    kept = st.session_state.get("counts")
    if kept and kept[0] is data and kept[1] == net:
        return kept[2]
    found = count(net, data)
    st.session_state["counts"] = (data, net, found)
    return found


def mechanism(settings: Settings, net: Network, name: str = "") -> Mechanism[Outcome]:
    """Return the chosen (or the named) mechanism with the settings' parameters. Errors: InputError."""
    chosen = next(kind for kind in MECHANISMS if kind.__name__ == (name or settings.mechanism))
    defaults = defaults_for(chosen, settings, net)
    prior = Dirichlets.symmetric(net, settings.prior)
    return chosen(prior=prior, **{key: settings.parameter(key, defaults.get(key)) for key in parameters_of(chosen)})


def defaults_for(chosen: type[Any], settings: Settings, net: Network) -> dict[str, object]:
    """Return the parameters that suit this network where the person has chosen none: the t that stealth needs."""
    if "t" not in parameters_of(chosen) or not net.is_binary:
        return {}
    return {"t": stealth_increment(net, settings.parameter("calibration"), STEALTH)}
