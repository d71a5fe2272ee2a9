"""From the settings to the values on the page: the table, the network, the counts, the mechanism.

All caches but that of the shipped tables are the session's own, so an upload never leaves it.
Errors are InputErrors that a page shows as they are.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.regression.records import OwnColumns
from dpbayes.mechanisms import MECHANISMS, Calibration, Mechanism, Outcome
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.model.counts import Counts, count
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.proposals import Proposal
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.zhang16.fourier import CoefficientNoise, certified_noise, printed_noise
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability
from dpbayes.ui.session.graphs import Graph, code_of, graph_of, network_of
from dpbayes.ui.session.settings import Cpts, Settings, change, current
from dpbayes.ui.session.stories import Story

SLOW_SAMPLE = 500_000
"""Synthetic tables above this show a progress bar while they are drawn."""

MOST_SIMULATED = 5_000
"""Cells of a network whose increments are still simulated at once. What is proved for larger tables is as good: the
proof adds up cells, which hardly depend on each other there."""

STEALTH = 0.9
"""How often a Fourier release should be non-negative where the person has not said."""

FIRST_COLUMNS = 12
"""How many columns of an uploaded table become nodes at first."""


@dataclass(frozen=True, eq=False)
class Upload:
    """A person's own table: the file as text, what is declared of its columns, and the records. Lives in the session.

    `proposals` and `columns` go by the file's columns: what was read off the data, and what the person declares; the
    declared domain counts where there is one. `dataset` is None until the columns in use have domains that its values
    fit; `encoded` are those domains. `number` tells the tables of a session apart; `version` counts the changes to what
    is declared of this one, but for those typed into the page's own table. `bounds` and `target` are what is typed for
    a regression, one line for every column of numbers, and `own` the columns once they are complete. `said` is how the
    file was read; `source` is the same when one file is read twice, in two ways.
    """

    name: str
    frame: pd.DataFrame
    dataset: Dataset | None = None
    proposals: tuple[Proposal, ...] = ()
    columns: tuple[DeclaredColumn, ...] = ()
    encoded: tuple[Column, ...] = ()
    number: int = 0
    version: int = 0
    bounds: pd.DataFrame | None = None
    target: str = ""
    own: OwnColumns | None = None
    said: str = ""
    source: str = ""

    @property
    def leaks(self) -> frozenset[str]:
        """The columns whose domains were taken from the data, or are not said to be public."""
        return frozenset(column.name for column in self.encoded if not column.public)

    def domain(self, place: int) -> Column | None:
        """Return the domain of a column of the file: the declared one, else the proposed one, else None."""
        return self.columns[place].domain or self.proposals[place].domain

    def declared(self, columns: Iterable[DeclaredColumn]) -> "Upload":
        """Return the table with other declared columns, which its page has not shown yet."""
        return replace(self, columns=tuple(columns), version=self.version + 1)


def keep_upload(mine: Upload) -> None:
    """Make this the session's uploaded table."""
    st.session_state["upload"] = mine


def upload() -> Upload | None:
    """Return this session's uploaded table, if any."""
    found = st.session_state.get("upload")
    return found if isinstance(found, Upload) else None


def given_cpts() -> dict[str, np.ndarray]:
    """Return the CPTs given by hand or by a BIF file, by graph text; session only."""
    tables: dict[str, np.ndarray] = st.session_state.setdefault("given_cpts", {})
    return tables


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


def stealth_increment(net: Network, calibration: Calibration, probability: float) -> float:
    """Return the t that keeps releases of this graph non-negative with this probability, to four digits, rounded up."""
    is_small = is_simulated(net)
    t = increment_for(probability, needed(net, calibration)) if is_small else _proved(net, calibration, probability)
    return math.ceil(t * 1e4) / 1e4


def is_simulated(net: Network) -> bool:
    """Return whether `stealth_increment` comes from a simulation; it is proved by a formula for large networks."""
    return net.cell_count <= MOST_SIMULATED


@st.cache_data(scope="session", max_entries=128, show_spinner=False, hash_funcs={Network: hash})
def _proved(net: Network, calibration: Calibration, probability: float) -> float:
    return certified_increment(net, probability, noise=noise_of(net, calibration))


def noise_of(net: Network, calibration: Calibration) -> CoefficientNoise:
    """Return what the bounds need to know of a calibration."""
    return certified_noise(net) if calibration is Calibration.CERTIFIED else printed_noise(net)


def kept_share(net: Network, calibration: Calibration, t: float) -> float:
    """Return how often t keeps releases of no data non-negative: as simulated, or at least as often as proved."""
    if is_simulated(net):
        return float(np.mean(needed(net, calibration) <= t))
    return 1 - float(negative_marginal_probability(net, noise=noise_of(net, calibration), t=t))


@st.cache_data(scope="session", max_entries=32, show_spinner="Simulating the noise …", hash_funcs={Network: hash})
def needed(net: Network, calibration: Calibration) -> np.ndarray:
    """Return simulated needed increments of the Fourier mechanism; they depend on the graph only."""
    draws = 10_000 if net.cell_count < 1000 else 2_000
    return needed_increments(net, calibration, stream(0, "stealth"), draws=draws)


def open_story(story: Story) -> None:
    """Show a ready example from the seat the person sits in; uploads stay where they are. `story_page` leads to it."""
    st.session_state["settings"] = replace(story.settings, seat=current().seat)
    st.session_state["story.opened"] = story
    st.session_state["story.page"] = story.page


def story_page() -> str | None:
    """Return, once, the page of a story that was just opened: a callback cannot turn to it, the next run can."""
    return st.session_state.pop("story.page", None)
