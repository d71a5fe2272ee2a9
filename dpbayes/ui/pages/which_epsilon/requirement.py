"""The question of Which epsilon, an example until a person chooses one, and the search problem that it defines."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, part_of
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.tables import are_drawn_together, planned_tables_steps
from dpbayes.experiments.least_epsilon.wish import LEAST_DRAWS, Question, Wish
from dpbayes.mechanisms import reads_records
from dpbayes.mechanisms.base import Mechanism
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.connected import scanned_records
from dpbayes.ui.session.current import change
from dpbayes.ui.session.options.workflow import SimulatedTables, WhichEpsilonOptions
from dpbayes.ui.session.planned import public_cpts
from dpbayes.ui.session.settings import MECHANISM_NAMES
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.show import readable_names_note

MOST_DRAWS = 1_000_000
"""Simulated releases behind a least epsilon, at most."""

DRAWS = {Reading.AS_REAL: 2000, Reading.NOISE_AWARE: 1000}
"""Simulated releases that take about a second, by their reading."""

EXAMPLE, EXAMPLE_GIVEN = "dysp", ("smoke", "yes")
"""The question on a network that has these, until a person asks one."""

SLOW_DRAWS = 300
"""Simulated releases of a mechanism that adds no noise to counts: those are drawn one after the other."""

MOST_PLANNED = 100_000
"""Records of a planned table, at most: as many as its control takes."""

MOST_VALUES, MOST_RECORDS = 4_000_000, 10_000_000
"""Numbers that all simulated releases hold together, and records of all planned tables that are drawn one by one."""


def target_or_example(chosen: Chosen) -> tuple[str, dict[str, str]]:
    """Return the target and the evidence by node: those of the person, else an example."""
    network, settings = chosen.network, chosen.settings
    states = dict(zip(network.names, network.states, strict=True))
    if settings.target in network.names:
        pairs = [(name, state) for name, state in settings.evidence if state in states.get(name, ())]
        return settings.target, {name: state for name, state in pairs if name != settings.target}
    name, state = EXAMPLE_GIVEN
    if EXAMPLE in network.names and state in states.get(name, ()):
        return EXAMPLE, {name: state}
    return network.names[network.order[-1]], {}


def question_of(chosen: Chosen) -> Question:
    """Return the question: the probability of the target's telling state."""
    return Question.of_telling_state(chosen.network, *target_or_example(chosen))


def ask(chosen: Chosen) -> None:
    """Offer the target and the evidence of the question."""
    network, (target, evidence) = chosen.network, target_or_example(chosen)
    controls.choice("Target", "target", network.names, default=target)
    offered = {
        assignment(name, state): (name, state)
        for name, states in zip(network.names, network.states, strict=True)
        if name != target
        for state in states
    }
    st.session_state["which_epsilon.given"] = [text for text, pair in offered.items() if pair in evidence.items()]

    def give() -> None:
        """Keep one state of each node, the one picked last; with evidence, the shown target is the chosen one."""
        picked = dict(offered[text] for text in st.session_state["which_epsilon.given"])
        change(target=target, evidence=tuple(picked.items()))

    st.multiselect("Evidence", list(offered), key="which_epsilon.given", placeholder="none", on_change=give)
    readable_names_note(chosen, (target, *evidence))


def is_of_the_table(chosen: Chosen) -> bool:
    """Return whether the question is about the loaded or connected table, which only the curator may ask."""
    asks: SimulatedTables = chosen.options("which_epsilon").tables
    return asks is SimulatedTables.LOADED and chosen.is_curator


def records_of_table(chosen: Chosen) -> int | None:
    """Return the public number of records of the open table, as far as it can be planned for; None where unknown."""
    if chosen.settings.data == "synthetic":
        records = chosen.settings.records
    elif chosen.is_connected:
        records = scanned_records(chosen.connected) or 0
    else:
        try:
            records = chosen.dataset.n
        except InputError:  # no table is loaded
            records = 0
    return min(records, MOST_PLANNED) or None


def planned_records(chosen: Chosen) -> int:
    """Return how many records are planned: what was chosen, else as many as the open table has."""
    records: int = chosen.settings.parameter("which_epsilon.records", records_of_table(chosen))
    return records


@dataclass(frozen=True, eq=False)
class AccuracyRequirement:
    """The question of one run of the page with its public inputs, and the table's counts for the curator."""

    chosen: Chosen
    question: Question
    options: WhichEpsilonOptions
    cpts: FloatArray
    is_published: bool
    counts: Counts | None = None

    @classmethod
    def now(cls, chosen: Chosen) -> "AccuracyRequirement":
        """Return the question of the page. Errors: InputError if its table has no counts."""
        counts = chosen.counts if is_of_the_table(chosen) else None
        options = replace(chosen.options("which_epsilon"), records=planned_records(chosen))
        return cls(chosen, question_of(chosen), options, *public_cpts(chosen), counts)

    @property
    def network(self) -> Network:
        """The network of the question."""
        return self.chosen.network

    @property
    def n(self) -> int:
        """How many records every released table has."""
        return self.options.records if self.counts is None else self.counts.n

    @property
    def tables_of(self) -> str:
        """The public distribution of planned records, in words."""
        return "the network’s published probabilities" if self.is_published else "randomly chosen probabilities"

    @property
    def share_of_tables(self) -> float:
        """About what share of a search goes by before its tables are drawn."""
        return 0.0 if self.counts is not None or are_drawn_together(self.network) else 0.3

    def mechanism(self, name: str) -> Mechanism[Outcome]:
        """Return a mechanism at the chosen epsilon. Errors: InputError if it cannot be run."""
        if reads_records(kind_called(name)):
            raise InputError("This page plans releases of a given graph. Choose a mechanism other than Adaptive.")
        return self.chosen.mechanism_called(name)

    def reading(self, name: str) -> Reading:
        """Return the reading of a mechanism's releases, which is naive if they do not state their noise."""
        return self.options.recipient if states_noise(name) else Reading.AS_REAL

    def key(self, name: str, *others: object) -> tuple[object, ...]:
        """Return the key of the work on a mechanism: its inputs and `others`, without epsilon and the tolerance."""
        settings, options = self.chosen.settings, replace(self.options, tolerance=0.05)
        parameters = tuple(
            settings.parameter(parameter) for parameter in parameters_of(kind_called(name)) if parameter != "epsilon"
        )
        table = None if self.counts is None else (self.counts.n, self.counts.values.tobytes())
        question_key = self.question.text, options, table
        return (self.network, name, parameters, settings.prior, settings.seed, *question_key, *others)

    def draws(self, name: str, most: int = MOST_DRAWS) -> int:
        """Return the number of simulated releases of a mechanism. Errors: InputError if it is too small."""
        n = self.n
        draws = min(most, DRAWS[self.reading(name)] if states_noise(name) else SLOW_DRAWS)
        draws = min(draws, MOST_VALUES // self.network.cell_count)
        if self.counts is None and not are_drawn_together(self.network):
            draws = min(draws, MOST_RECORDS // n)
        if draws < LEAST_DRAWS:
            raise InputError(
                f"Releases of a network with {self.network.cell_count:,} probabilities and {n:,} records take too long "
                "to simulate. Choose fewer records or a smaller network."
            )
        return draws

    def wishing(self, name: str, most: int = MOST_DRAWS) -> Work[Wish]:
        """Make the wish of a mechanism, of as many draws as there is time for, in steps. Errors: InputError."""
        draws, mechanism, tables = self.draws(name, most), self.mechanism(name), self.counts
        if tables is None:
            rng = stream(self.chosen.seed, "which_epsilon", "tables")
            tables = yield from part_of(planned_tables_steps(self.network, self.cpts, self.n, draws, rng), 0.0, 1.0)
        return Wish(
            mechanism=mechanism,
            question=self.question,
            tables=tables,
            tolerance=self.options.tolerance,
            confidence=self.options.confidence,
            draws=draws,
            reading=self.reading(name),
        )

    def luck(self, *words: str) -> np.random.Generator:
        """Return the generator of one kind of work."""
        return stream(self.chosen.seed, "which_epsilon", *words)


def states_noise(name: str) -> bool:
    """Return whether releases of a mechanism state their noise, so that a recipient can take it into account."""
    return hasattr(kind_called(name), "noise_model")


def others(chosen: Chosen) -> list[str]:
    """Return the other mechanisms' names, those that take a moment first."""
    rest = [name for name in MECHANISM_NAMES if name != chosen.settings.mechanism]
    return sorted(rest, key=lambda name: not states_noise(name))
