"""The values that the settings name: table, network, counts, mechanism and question.

Only public tables are cached for all sessions. An upload stays in its session.
"""

import hashlib
from collections.abc import Container, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.text import many
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.epsilon_curves import sufficient_increment
from dpbayes.experiments.planned_tables import PlannedTables, has_columns
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, Mechanism, NetworkMechanism, Outcome, reads_records
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.question import Question, first_question
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import rule_for
from dpbayes.sources.columns import Column
from dpbayes.sources.data_files import ReadableName, readable_names
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped, shipped_domains
from dpbayes.ui.session.connected import Connected, connected, counts_of, scanned_records
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.graphs import Graph, code_of, graph_of, network_of
from dpbayes.ui.session.kept import kept, server_cache, session_cache
from dpbayes.ui.session.roles import HOW, REFUSALS, Act, person
from dpbayes.ui.session.settings import CONNECTED, Cpts, Seat, Settings
from dpbayes.ui.session.uploads import Upload, given_cpts, upload

SLOW_SAMPLE = 500_000
"""Records of a synthetic table above which a table is not shared, and a message is shown during sampling."""

FIRST_COLUMNS = 12
"""The number of columns of an uploaded table that are nodes at first."""

USUAL_RECORDS = 1_000
"""The number of records of a made-up table if the table in use has no public number of records."""

NEGATIVE = 0.1
"""The default share of Fourier releases that may have a negative count."""

stealth_increment = session_cache(128)(sufficient_increment)
"""The t of a graph for such a share, which takes a search."""


def kind_called(name: str) -> type[NetworkMechanism[Outcome]]:
    """Return the class of this name among the mechanisms that release a network."""
    return next(kind for kind in (*MECHANISMS, *OF_RECORDS) if kind.__name__ == name)


class TableMissing(InputError):
    """The settings name a table that this session does not have, or whose domains are not stated; see Data."""

    @classmethod
    def because(cls, sentence: str, act: Act) -> "TableMissing":
        """Return the refusal of a table that is not here, with the reason why this person cannot bring it."""
        return cls(sentence if person().may(act) else f"{REFUSALS[act]} {HOW}")


class GraphUnusable(InputError):
    """The drawn graph is no network, or not one of the table's columns; see Network."""


def choose_table(data: str) -> None:
    """Make this the table, and forget what was about another one."""
    change(data=data, graph="", target="", state="", evidence=())


@dataclass(frozen=True, eq=False)
class Chosen:
    """The settings of one run, and the values that they name. A page and its parts take all values from this object.

    Each value is computed at its first use. Errors: InputError at that moment if the session does not have what the
    settings name, or if no network is possible. A page shows this message unchanged.
    """

    settings: Settings

    @classmethod
    def now(cls) -> "Chosen":
        """Return the current choice. A page, or a part that reruns alone, calls this once at its start."""
        return cls(current())

    @property
    def is_curator(self) -> bool:
        """Whether values that are not private may be shown."""
        return self.settings.seat is Seat.CURATOR

    @property
    def seed(self) -> int:
        """The seed of all simulations."""
        return self.settings.seed

    @property
    def epsilon(self) -> float:
        """The privacy parameter."""
        return float(self.parameter("epsilon"))

    def parameter(self, name: str, default: object = None) -> Any:
        """Return the value of a parameter or option: the chosen one, else `default`, else the typical one."""
        return self.settings.parameter(name, default)

    def options(self, page: str) -> Any:
        """Return all options of a page."""
        return self.settings.options(page)

    # The table

    @cached_property
    def dataset(self) -> Dataset:
        """The table. Errors: InputError if it is in another session, has no domains yet, or stays in its engine."""
        if self.settings.data == "synthetic":
            return self._synthetic()
        if self.settings.data in SHIPPED:
            return _shipped(self.settings.data)
        if self.is_connected:
            raise InputError(
                f"This view needs records, but the records of {self.connected.title} stay at the source. On Data, "
                "generate synthetic records or take a random sample of the table."
            )
        mine = upload()
        if mine is None:
            raise TableMissing.because(
                "No uploaded table is in this session, and uploads never leave their session. Load the file on Data.",
                Act.UPLOAD,
            )
        if mine.dataset is None:
            raise TableMissing("The uploaded table needs its columns first. Correct them on Data.")
        return mine.dataset

    @property
    def records_of_nodes(self) -> Dataset:
        """The table. Errors: as for `dataset`, and InputError for nodes that are not columns."""
        data = self.dataset
        self._require_columns(data.position)
        return data

    @property
    def declared(self) -> tuple[Column, ...]:
        """The declared columns in use; none for synthetic records. Errors: InputError for what is not declared."""
        if self.is_connected:
            return self.connected.in_use
        data, mine = self.settings.data, upload()
        if data in SHIPPED:
            return tuple(column.domain for column in shipped_domains(data) if column.use and column.domain)
        return mine.encoded if data == "upload" and mine is not None else ()

    @property
    def is_connected(self) -> bool:
        """Whether the table stays in its engine, so that only its counts are known here."""
        return self.settings.data.partition(":")[0] == CONNECTED

    @cached_property
    def connected(self) -> Connected:
        """The connected table. Errors: InputError if no table is connected in this session."""
        mine = self._connected_here
        if mine is None:
            raise TableMissing.because("No table is connected in this session. Connect one on Data.", Act.CONNECT)
        return mine

    @property
    def _connected_here(self) -> Connected | None:
        return connected(self.settings.data.partition(":")[2])

    @property
    def own(self) -> Connected | Upload | None:
        """The uploaded or connected table that is chosen, if it is in this session."""
        return self._connected_here if self.is_connected else upload() if self.settings.data == "upload" else None

    @property
    def refused(self) -> str:
        """The message about the declared columns of an own table that cannot be used; "" without one."""
        return self.own.refused if self.own else ""

    @property
    def n(self) -> int | None:
        """The public number of records; None without a table, and for a connected table that is not counted yet."""
        try:
            return self.records
        except InputError:
            return None

    @property
    def records_text(self) -> str:
        """The public number of records as text, "" if it is unknown; a table is neither sampled nor counted for it."""
        if self.settings.data == "synthetic":
            return f"{self.settings.records:,}"
        try:
            n = scanned_records(self.connected) if self.is_connected else self.n
        except InputError:
            return ""
        return "" if n is None else f"{n:,}"

    @property
    def records(self) -> int:
        """The public number of records. Errors: InputError without a table, and for a table that is not counted yet."""
        if not self.is_connected:
            return self.dataset.n
        records = scanned_records(self.connected)
        return self.counts.n if records is None else records

    @cached_property
    def truth(self) -> tuple[Network, np.ndarray]:
        """The network and the CPTs (K,) that synthetic records are sampled from. Errors: InputError for lost CPTs."""
        settings, network = self.settings, network_of(graph_of(self.settings.source))
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

    @cached_property
    def public_source(self) -> tuple[Network, np.ndarray] | None:
        """The public network and CPTs (K,) that the drawn columns are sampled from, regardless of the drawn arrows.

        None without one: typed or uploaded probabilities may have been learnt from private records.
        """
        settings = self.settings
        is_made = settings.data == "synthetic" and settings.cpts is not Cpts.GIVEN
        if not is_made and settings.source not in NAMED:
            return None
        with suppress(InputError):  # a graph that is no network
            source = self.truth if is_made else load_named(settings.source)
            return source if has_columns(source[0], self.network) else None
        return None

    @property
    def planned_tables(self) -> PlannedTables:
        """Planned tables with as many records as the table in use, which depend on no record. Errors: InputError."""
        network, key = self.network, self.settings.graph or self.settings.source
        published = load_named(key) if key in NAMED else (None, None)
        random = stream(self.seed, "best_noise", "cpts")
        if published[0] == network:
            return PlannedTables(network, published[1], self.n or USUAL_RECORDS, self.seed)
        cpts, source = random_cpts(network, random), "with random probabilities, because none are published"
        return PlannedTables(network, cpts, self.n or USUAL_RECORDS, self.seed, source)

    def _synthetic(self) -> Dataset:
        settings = self.settings
        given = given_cpts().get(settings.source)
        mark = hashlib.sha256(given.tobytes()).hexdigest() if given is not None else ""
        key = (settings.source, settings.cpts, settings.records, settings.data_seed, mark)
        if self.has_public_records and settings.records <= SLOW_SAMPLE:
            return _drawn_for_all(self, key)
        return kept("synthetic", key, self._drawn)

    def _drawn(self) -> Dataset:
        settings, rng = self.settings, stream(self.settings.data_seed, "records")
        waits = settings.records > SLOW_SAMPLE
        with st.spinner(f"Sampling {settings.records:,} records …") if waits else nullcontext():
            return sample_dataset(*self.truth, settings.records, rng)

    @property
    def has_public_records(self) -> bool:
        """Whether the records are public: shipped, or sampled from probabilities that the link determines."""
        settings = self.settings
        return settings.data in SHIPPED or (settings.data == "synthetic" and settings.cpts is not Cpts.GIVEN)

    @property
    def leaking_columns(self) -> frozenset[str]:
        """The columns whose domains were read from the data, and therefore reveal something about it."""
        return self.own.leaks if self.own else frozenset()

    @property
    def data_title(self) -> str:
        """A short name of the table for headlines."""
        settings = self.settings
        if settings.data in SHIPPED:
            return SHIPPED[settings.data].title
        if settings.data == "synthetic":
            name = f"{NAMED[settings.source].title} network" if settings.source in NAMED else "drawn network"
            return f"{many(settings.records, 'synthetic record')} of the {name}"
        if self.own is not None:
            return self.own.title
        return "a connected table" if self.is_connected else "an uploaded table"

    # The network

    @cached_property
    def graph(self) -> Graph:
        """The graph to fit: the drawn graph, else the graph that comes with the data."""
        settings = self.settings
        if settings.graph:
            return graph_of(settings.graph)
        if settings.data == "synthetic":
            return graph_of(settings.source)
        if settings.data in SHIPPED:
            return Graph.of(default_network(settings.data))
        if self.is_connected:
            return Graph(tuple(self.domains)[:FIRST_COLUMNS], ())
        mine = upload()
        names = mine.dataset.names[:FIRST_COLUMNS] if mine and mine.dataset else ()
        return Graph(names, ())

    @cached_property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """The public states of the table's columns, empty when there is no table."""
        try:
            if self.is_connected:
                return {column.name: column.domain for column in self.connected.in_use}
            data = self.dataset
        except InputError:
            return {}
        return dict(zip(data.names, data.states, strict=True))

    @property
    def readable(self) -> Mapping[str, ReadableName]:
        """The readable names of nodes and columns, by published name, if the table or the graph has any."""
        settings, own = self.settings, self.own
        table = settings.source if settings.data == "synthetic" else settings.data
        return {
            **readable_names(settings.graph),
            **readable_names(table),
            **{one.name: ReadableName(one.meaning, one.meaning) for one in (own.columns if own else ()) if one.meaning},
        }

    @property
    def strays(self) -> tuple[str, ...]:
        """The nodes that are not columns of the table."""
        return tuple(name for name in self.graph.names if name not in self.domains)

    @cached_property
    def network(self) -> Network:
        """The network to fit. Errors: InputError for a cycle, too many cells, and values that are not public."""
        settings = self.settings
        if not self.is_curator and (leaks := self.leaking_columns.intersection(self.graph.names)):
            raise InputError(
                f"A recipient sees no values that are not declared public, here those of {many(len(leaks), 'column')}. "
                "Declare them on Data, in the curator’s view."
            )
        if self.is_connected and not self.graph.names:
            self.connected.in_use  # noqa: B018 - raises the reason why there are no columns
        elif not self.graph.names and not settings.graph:
            self.dataset  # noqa: B018 - the same for a table that is not in this session
        key = (settings.graph, settings.data, settings.source, tuple(self.domains.items()))
        try:
            return kept("network", key, lambda: network_of(self.graph, self.domains))
        except InputError as error:
            raise GraphUnusable(str(error)) from None

    def adopt_as_source(self) -> None:
        """Sample synthetic records from the drawn network from now on."""
        drawn = self.graph
        code = code_of(Graph(drawn.names, drawn.edges, drawn.places, self.domains | dict(drawn.states)))
        change(data="synthetic", source=code, graph="", cpts=Cpts.RANDOM)

    # Counts and mechanism

    @cached_property
    def counts(self) -> Counts:
        """The table's counts under the network. Errors: InputError, also for nodes that are not columns."""
        if self.is_connected:
            self._require_columns([column.name for column in self.connected.in_use])
            return counts_of(self.connected, self.network)
        data, net = self.records_of_nodes, self.network
        return kept("counts", (data, net), lambda: count(net, data))

    @property
    def statistic(self) -> Counts:
        """The counts, with the records if the chosen mechanism reads them. Errors: InputError, as for both."""
        if not self.reads_records:
            return self.counts
        data, net, mechanism = self.records_of_nodes, self.network, self.mechanism
        return kept("records", (data, net), lambda: mechanism.statistic(data))

    @property
    def reads_records(self) -> bool:
        """Whether the chosen mechanism needs the records, and not only the counts of the graph."""
        return reads_records(kind_called(self.settings.mechanism))

    def _require_columns(self, columns: Container[str]) -> None:
        missing = [name for name in self.network.names if name not in columns]
        if missing:
            raise GraphUnusable(
                f"The node {brief(missing[0])} is not a column of the table. Rename or delete it on the Network page, "
                "or sample synthetic records from this network there."
            )

    @cached_property
    def prior(self) -> Dirichlets:
        """The prior of the network's rows."""
        return self.settings.prior.on(self.network)

    @cached_property
    def mechanism(self) -> Mechanism[Outcome]:
        """The chosen mechanism. Errors: InputError if it cannot be run."""
        return self.mechanism_called(self.settings.mechanism)

    def mechanism_called(self, name: str) -> Mechanism[Outcome]:
        """Return the mechanism of this class with the chosen parameters. Errors: InputError."""
        return self._mechanisms.once(name, Chosen._mechanism, self, kind_called(name))

    @cached_property
    def _mechanisms(self) -> Memo:
        """The mechanisms of this run. Each one keeps the result of the search for its noise."""
        return Memo()

    def _mechanism(self, kind: type[NetworkMechanism[Outcome]]) -> Mechanism[Outcome]:
        defaults = self.defaults_for(kind)
        values = {name: self.parameter(name, defaults.get(name)) for name in parameters_of(kind)}
        return kind(prior=self._prior_of(kind), **values)

    def _prior_of(self, kind: type[Any]) -> Dirichlets:
        rule = rule_for(kind, self.settings.prior)
        return self.prior if rule == self.settings.prior else rule.on(self.network)

    def defaults_for(self, kind: type[Any]) -> dict[str, object]:
        """Return the default values that depend on the network: the increment for non-negative releases."""
        if not hasattr(kind, "increment") or not self.network.is_binary:
            return {}
        others = {name: self.parameter(name) for name in parameters_of(kind) if name != kind.increment}
        law = kind(prior=self._prior_of(kind), **others).noise_law.drawn_once
        return {kind.increment: stealth_increment(self.network, self.parameter("calibration"), NEGATIVE, law)}


@server_cache(8)
def _drawn_for_all(_chosen: Chosen, key: tuple[Any, ...]) -> Dataset:
    """Return the table of these settings: one object in all sessions, which share the computations on it."""
    return _chosen._drawn()


@server_cache(4, spinner="Reading the table …")
def _shipped(key: str) -> Dataset:
    return load_shipped(key)


# The question

EXAMPLE = ("bronc", "yes"), ("smoke", "yes")
"""The event and the condition asked about in a network that has these nodes and states, until the person asks."""


def question_of(chosen: Chosen) -> Question:
    """Return the question about the network: see `question_on`."""
    return question_on(chosen.network, chosen.settings)


def question_on(net: Network, settings: Settings) -> Question:
    """Return what the person asks, else the example, else a question about the last node of the arrows."""
    states = dict(zip(net.names, net.states, strict=True))
    if settings.target in states:
        target = settings.target
        given = {name: state for name, state in settings.evidence if name != target and state in states.get(name, ())}
        telling = states[target][net.telling_state(net.index(target))]
        return Question(net, target, settings.state if settings.state in states[target] else telling, given)
    if all(state in states.get(name, ()) for name, state in EXAMPLE):
        event, condition = EXAMPLE
        return Question(net, *event, dict([condition]))
    return first_question(net)
