"""A question about the next record: how likely a state is, given the states of other nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import type_checked
from dpbayes.model.network import Network, statement
from dpbayes.model.query import agreeing, conditioned, place_of, places_of, relevant


@type_checked
@dataclass(frozen=True)
class Question:
    """P(target = state | evidence) of the next record; this is a cell if the evidence is a state of every parent.

    Args:
        network: The network.
        target: The node in question.
        state: The state of the target in question.
        evidence: States of other nodes, by name; True is the state "True".

    Raises:
        InputError: A node or a state is unknown, or the target is part of the evidence.

    Example:
        >>> network, _ = dp.load_named("asia")
        >>> dp.Question(network, "bronc", "yes", {"smoke": "yes"}).text
        'bronc = yes if smoke = yes'
    """

    network: Network
    target: str
    state: Annotated[str, "or True and False"]
    evidence: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places_of(self.network, self.target, self.evidence)
        place_of(self.network, self.target, self.state)
        object.__setattr__(self, "state", str(self.state))
        object.__setattr__(self, "evidence", {name: str(state) for name, state in self.evidence.items()})

    @property
    def text(self) -> str:
        """The question as a text: "grass = wet if rain = yes"."""
        return self.named({})

    def named(self, meanings: Mapping[str, str]) -> str:
        """Return the question as a text, with what nodes mean in place of their names."""
        pairs = (self.target, self.state), *self.evidence.items()
        event, *given = (statement(meanings.get(name, name), state) for name, state in pairs)
        return f"{event} if {' and '.join(given)}" if given else event

    @cached_property
    def cell(self) -> int | None:
        """The cell that is the answer; None if the answer depends on several cells."""
        node, observed = places_of(self.network, self.target, self.evidence)
        if observed.keys() != set(self.network.families[node][:-1]):
            return None
        return int(self._agreeing(node, observed)[place_of(self.network, self.target, self.state)])

    @cached_property
    def cells(self) -> IntArray:
        """The cells (C,) that the answer depends on: of the target, of the evidence, and of their ancestors.

        Only rows and states that agree with the evidence matter. A node that is given with all its parents contributes
        the same factor to the probability of every state.
        """
        if self.cell is not None:
            return np.array([self.cell])
        aim, observed = places_of(self.network, self.target, self.evidence)
        matter = relevant(self.network, (aim, *observed))
        nodes = (node for node in matter if not observed.keys() >= set(self.network.families[node]))
        return np.sort(np.concatenate([self._agreeing(node, observed) for node in nodes]))

    def _agreeing(self, node: int, observed: Mapping[int, int]) -> IntArray:
        """Return the cells of a node that agree with the evidence, by state of the others."""
        own = self.network.table(np.arange(self.network.cell_count), node)[agreeing(self.network, node, observed)]
        return np.asarray(own, dtype=np.int64).ravel()

    @type_checked
    def answers(self, probabilities: FloatArray) -> FloatArray:
        """Return the answers of CPTs (..., K): (...). Errors: those of `query`."""
        probabilities = np.asarray(probabilities)
        if self.cell is not None and probabilities.shape[-1:] == (self.network.cell_count,):
            return np.asarray(probabilities[..., self.cell])
        states = conditioned(self.network, probabilities, self.target, self.evidence)
        return np.asarray(states[..., place_of(self.network, self.target, self.state)])


def first_question(network: Network, node: int | None = None, state: str = "") -> Question:
    """Return the question about a state of a node, by default of the last with parents, if one parent is known."""
    if node is None:
        node = max((k for k, parents in enumerate(network.parents) if parents), default=len(network.names) - 1)
    telling = [states[network.telling_state(k)] for k, states in enumerate(network.states)]
    parents = sorted(map(network.index, network.parents[node]), key=lambda k: network.cards[k])
    given = parents if network.cell_count > 150 else parents[:1]  # an answer from many cells takes long
    return Question(network, network.names[node], state or telling[node], {network.names[k]: telling[k] for k in given})
