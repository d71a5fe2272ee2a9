"""A question about the next record, the accuracy that its answer must have, and the least epsilon that satisfies it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpbayes.base.libraries import nx
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.mechanisms.base import Mechanism, require_own_counts
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.noise_model import Reading

LEAST_DRAWS, MOST_DRAWS = 20, 100_000

MOST_NUMBERS = 50_000_000
"""Most numbers of all draws at one epsilon."""


@dataclass(frozen=True)
class Question:
    """P(target = state | evidence) of the next record; this is a cell if the evidence is a state of every parent.

    Errors: InputError for unknown nodes and states, and a target that is part of the evidence.
    """

    network: Network
    target: str
    state: str
    evidence: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, state in ((self.target, self.state), *self.evidence.items()):
            states = self.network.states[self.network.index(name)]
            if state not in states:
                offered = ", ".join(map(brief, states[:8]))
                raise InputError(f"{brief(name)} has no state {brief(state)}; it has {offered}.")
        if self.target in self.evidence:
            raise InputError(
                f"{brief(self.target)} is both the target and part of the evidence. Remove it from the evidence."
            )

    @classmethod
    def of_telling_state(cls, network: Network, target: str, evidence: Mapping[str, str]) -> "Question":
        """Return the question for the probability of the target's telling state."""
        node = network.index(target)
        return cls(network, target, network.states[node][network.telling_state(node)], evidence)

    @property
    def text(self) -> str:
        """The question as a text: "P(grass = wet | rain = yes)"."""
        given = ", ".join(f"{name} = {state}" for name, state in self.evidence.items())
        return f"P({self.target} = {self.state}{' | ' if given else ''}{given})"

    @cached_property
    def cell(self) -> int | None:
        """The cell that is the answer; None if the answer depends on several cells."""
        node = self.network.index(self.target)
        *parents, _ = (self.network.names[member] for member in self.network.families[node])
        if set(parents) != set(self.evidence):
            return None
        cells = np.asarray(self.network.table(np.arange(self.network.cell_count), node))
        places = [self._place(name, self.evidence[name]) for name in parents]
        return int(cells[(*places, self._place(self.target, self.state))])

    @cached_property
    def cells(self) -> IntArray:
        """The cells (C,) that the answer depends on: of the target, of the evidence, and of their ancestors.

        Only rows and states that agree with the evidence matter. A node that is given with all its parents contributes
        the same factor to the probability of every state.
        """
        network, evidence = self.network, dict(self.evidence)
        if self.cell is not None:
            return np.array([self.cell])
        queried = {self.target, *evidence}
        matter = queried.union(*(nx.ancestors(network.graph, name) for name in queried))
        cells, every = [], np.arange(network.cell_count)
        for node, name in enumerate(network.names):
            members = [network.names[member] for member in network.families[node]]
            if name in matter and not set(members) <= set(evidence):
                places = tuple(
                    self._place(member, evidence[member]) if member in evidence else slice(None) for member in members
                )
                cells.append(np.ravel(np.asarray(network.table(every, node))[places]))
        return np.sort(np.concatenate(cells)).astype(np.int64)

    def answers(self, probabilities: FloatArray) -> FloatArray:
        """Return the answers of CPTs (..., K): (...). Errors: those of `query`."""
        if self.cell is not None:
            return np.asarray(probabilities[..., self.cell])
        states = query(self.network, probabilities, self.target, self.evidence)
        return np.asarray(states[..., self._place(self.target, self.state)])

    def _place(self, name: str, state: str) -> int:
        return self.network.states[self.network.index(name)].index(state)


@dataclass(frozen=True, kw_only=True, eq=False)
class Wish:
    """The requirement: within `tolerance` in a share `confidence` of `draws` simulated releases.

    The error is the distance from the exact posterior's answer. `tables` has the counts of one table (K,), or of a
    planned table for each draw (draws, K). The epsilon of the `mechanism` does not matter. Errors: InputError for
    numbers out of range, counts of another network or number of draws, and a mechanism without an epsilon.
    """

    mechanism: Mechanism[Outcome]
    question: Question
    tables: Counts
    tolerance: float
    confidence: float = 0.95
    draws: int = 2000
    reading: Reading = Reading.AS_REAL

    def __post_init__(self) -> None:
        if not finite_number("The tolerance", self.tolerance, low=0, high=1):
            raise InputError("The tolerance must be above 0, because no private answer is exact.")
        finite_number("The confidence", self.confidence, low=0.01, high=0.999)
        whole_number("The number of draws", self.draws, low=LEAST_DRAWS, high=MOST_DRAWS)
        require_own_counts(self.mechanism.prior, self.tables)
        if self.question.network != self.mechanism.prior.network:
            raise InputError(
                "The question and the prior have different networks. Choose a node of the prior’s network."
            )
        if self.tables.values.shape[:-1] not in ((), (self.draws,)):
            raise InputError(f"Planning needs one table for each of the {self.draws:,} simulated releases.")
        if self.draws * self.numbers > MOST_NUMBERS:
            raise InputError(
                f"{self.draws:,} releases of {self.numbers:,} numbers each are too many to simulate; choose fewer."
            )
        if not isinstance(parameters_of(type(self.mechanism)).get("epsilon"), Parameter):
            raise InputError(f"{self.mechanism.label} has no epsilon, so there is no least epsilon to find.")

    @property
    def numbers(self) -> int:
        """The number of values of a release."""
        return self.mechanism.prior.network.cell_count * int(getattr(self.mechanism, "draws", 1))

    @property
    def is_planned(self) -> bool:
        """Whether every draw has another table."""
        return self.tables.values.ndim > 1

    def at(self, epsilon: float) -> Mechanism[Outcome]:
        """Return the mechanism at an epsilon. Errors: InputError if the mechanism does not allow it."""
        turned: Mechanism[Outcome] = replace(self.mechanism, epsilon=float(epsilon))  # type: ignore[type-var]
        return turned


@dataclass(frozen=True, eq=False)
class LeastEpsilon:
    """The least epsilon of a wish, its 95% interval, and the shares that passed (E,) at all tried epsilons (E,).

    `high` is infinite if there are too few draws, or if more than the largest epsilon can be necessary. A result equal
    to the smallest possible epsilon means that this epsilon or a smaller one is sufficient.
    """

    wish: Wish
    epsilon: float
    low: float
    high: float
    epsilons: FloatArray
    shares: FloatArray

    @property
    def mechanism(self) -> Mechanism[Outcome]:
        """The mechanism at the least epsilon."""
        return self.wish.at(self.epsilon)
