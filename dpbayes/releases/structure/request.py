"""A graph as it is asked for: the columns, how it is to be chosen, and what may be chosen in every round."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms.structure.choice import (
    CandidateFamily,
    Round,
    StructureChoice,
    families_after,
    require_feasible_over,
    round_after,
)
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases.amounts import Amount
from dpbayes.releases.canonical import canonical, fraction_text
from dpbayes.releases.promises import checked_epsilon, exact
from dpbayes.releases.request import MOST_RECORDS, DomainChoice, checked_id, require_few, require_writable

FORMAT = "dpbayes graph"


@dataclass(frozen=True, kw_only=True)
class StructureRequest:
    """A graph as it is asked for; two with the same `question` are the same.

    `columns` is the network without arrows over the declared columns. Errors: InputError.
    """

    dataset: str
    columns: Network
    choice: StructureChoice
    n: int
    domains: DomainChoice

    def __post_init__(self) -> None:
        checked_id(self.dataset)
        whole_number("The number of records", self.n, low=1, high=MOST_RECORDS)
        checked_epsilon(exact("epsilon", self.choice.epsilon))
        require_few(self.columns.names)
        require_writable(self.columns)
        if len(self.columns.names) < 2 or self.columns.edges:
            raise InputError("A graph is learnt over at least two columns, from no arrow on.")
        if not isinstance(self.domains, DomainChoice):
            raise InputError("A request for a graph must say how its domains were declared.")
        require_feasible_over(self.choice, self.columns, self.n)
        if self.n < 2 or sum(len(states) > 1 for states in self.columns.states) < 2:
            raise InputError("A graph is learnt from at least two records, over two columns of two states.")

    @classmethod
    def of(cls, dataset: str, data: Dataset, choice: StructureChoice, domains: DomainChoice) -> "StructureRequest":
        """Return the request for a graph over all columns of a table; no record is looked at."""
        columns = Network(data.names, data.states, ((),) * len(data.names))
        return cls(dataset=dataset, columns=columns, choice=choice, n=data.n, domains=domains)

    @property
    def epsilon(self) -> Fraction:
        """What it costs: the epsilons of all rounds together."""
        return self.choice.epsilon

    @property
    def cost(self) -> Amount:
        """The same."""
        return self.epsilon

    @property
    def first(self) -> str:
        """The node to begin with."""
        return self.columns.names[0] if self.choice.first is None else self.choice.first

    @cached_property
    def told(self) -> dict[str, object]:
        """The request as JSON has it."""
        columns = zip(self.columns.names, self.columns.states, strict=True)
        return {
            "dataset": self.dataset,
            "columns": [{"name": name, "states": list(states)} for name, states in columns],
            "epsilon": fraction_text(self.epsilon),
            "parents": self.choice.parents,
            "most_cells": self.choice.most_cells,
            "first": self.first,
            "n": self.n,
            "domains": self.domains.value,
        }

    @property
    def question(self) -> bytes:
        """The request in its one form: the same bytes ask for the same graph, and for no release of counts."""
        return canonical({"format": FORMAT, "request": self.told})

    def rounds_of(self, joined: tuple[str, ...]) -> tuple[Round, ...]:
        """Return the rounds in which nodes were joined in this order."""
        order = self._places(joined)
        return tuple(round_after(self.choice, self._cards, self.n, order[:k]) for k in range(1, len(order)))

    def is_possible(self, network: Network, joined: tuple[str, ...]) -> bool:
        """Return whether every node, when it was joined, could be chosen with the parents that it has."""
        order = self._places(joined)
        families = [
            CandidateFamily(child, tuple(sorted(self._places(network.parents[network.position[name]]))))
            for child, name in zip(order, joined, strict=True)
        ]
        return families[0] == CandidateFamily(self.columns.position[self.first], ()) and all(
            families[k] in families_after(self.choice, self._cards, order[:k]) for k in range(1, len(order))
        )

    @property
    def _cards(self) -> tuple[int, ...]:
        return tuple(len(states) for states in self.columns.states)

    def _places(self, names: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self.columns.position[name] for name in names)
