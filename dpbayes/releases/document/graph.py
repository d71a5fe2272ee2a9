"""A graph that is learnt from a dataset as a release of its own: its request, and its document, written and read.

The document holds the graph, the order in which its nodes were joined, and what the choice was among; all else in it
follows from these and the request, and is worked out again when it is checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpbayes.base.amounts import Amount, amount_text
from dpbayes.base.text import many
from dpbayes.base.validation import InputError
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
from dpbayes.releases.document.canonical import canonical, fraction, fraction_text
from dpbayes.releases.document.certificate import Composed, Provenance, candidates_text, odds, total_text
from dpbayes.releases.document.promises import checked_epsilon, exact
from dpbayes.releases.document.release import (
    composed_from,
    document_content,
    document_shapes,
    hashed_bytes,
    read_content,
)
from dpbayes.releases.document.request import (
    COLUMNS_SHAPE,
    DomainChoice,
    GraphChoice,
    choice_called,
    columns_content,
    columns_from,
    columns_of,
    require_columns,
)

FORMAT = "dpbayes graph"

_MARK = b'"format":' + canonical(FORMAT)


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
        require_columns(self.dataset, self.columns, self.n)
        checked_epsilon(exact("epsilon", self.choice.epsilon))
        if len(self.columns.names) < 2 or self.columns.edges:
            raise InputError("Learning a graph needs at least two columns and starts without arrows.")
        if not isinstance(self.domains, DomainChoice):
            raise InputError("A request for a graph must state how its domains were declared.")
        require_feasible_over(self.choice, self.columns, self.n)
        if self.n < 2 or sum(len(states) > 1 for states in self.columns.states) < 2:
            raise InputError("Learning a graph needs at least two records, and two columns with two or more states.")

    @classmethod
    def of(cls, dataset: str, data: Dataset, choice: StructureChoice, domains: DomainChoice) -> "StructureRequest":
        """Return the request for a graph over all columns of a table; no record is looked at."""
        columns = columns_of(data.names, data.states)
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
    def content(self) -> dict[str, object]:
        """The request as JSON has it."""
        return {
            "dataset": self.dataset,
            "columns": columns_content(self.columns),
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
        return canonical({"format": FORMAT, "request": self.content})

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


@dataclass(frozen=True)
class StructureDocument:
    """A learnt graph as read: what was asked, the graph, the order of its nodes, and what was composed before."""

    request: StructureRequest
    network: Network
    joined: tuple[str, ...]
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @property
    def candidates(self) -> tuple[int, ...]:
        """Among how many pairs of a node and its parents each round chose: public."""
        return tuple(step["candidates"] for step in self.content["rounds"])

    @property
    def stated(self) -> dict[str, Any]:
        """What a release of this graph's tables states of its choice: arguments of `ReleaseRequest`."""
        return {
            "graph": GraphChoice.PRIVATELY,
            "graph_epsilon": self.request.epsilon,
            "graph_candidates": self.candidates,
        }


# Writing


def written_structure(
    request: StructureRequest, network: Network, joined: tuple[str, ...], composed: Composed, drawn: Provenance
) -> bytes:
    """Return the bytes of a document."""
    own = {
        "parents": [list(parents) for parents in network.parents],
        "joined": list(joined),
        "rounds": rounds_content(request, joined),
        "sentences": structure_sentences(request, joined, composed, drawn),
    }
    return hashed_bytes(document_content(FORMAT, request.content, composed, drawn) | own)


def rounds_content(request: StructureRequest, joined: tuple[str, ...]) -> list[dict[str, object]]:
    """Return what a document says of the rounds; all of it follows from what is public and the order of the nodes."""
    return [
        {
            "candidates": step.candidates,
            "epsilon": fraction_text(step.epsilon),
            "sensitivity": int(step.sensitivity),
        }
        for step in request.rounds_of(joined)
    ]


def structure_sentences(
    request: StructureRequest, joined: tuple[str, ...], composed: Composed, drawn: Provenance
) -> list[str]:
    """Return what the document is, what it promises, what has been spent, how it was drawn, what is not covered."""
    total, number = composed.after(request.cost), composed.releases + 1
    candidates = tuple(step.candidates for step in request.rounds_of(joined))
    share = request.epsilon / len(candidates)
    return [
        f"This file is a graph over {len(joined):,} columns of the dataset {request.dataset}, chosen privately from "
        f"{request.n:,} records, and holds no record and no count.",
        f"Neighbours are tables of the same number of records of which one is replaced: whoever reads the graph, and "
        f"whatever they know besides, {odds(request.epsilon)}, at an epsilon of {amount_text(request.epsilon)}.",
        f"{many(number, 'release')} of this dataset, this one included, have spent "
        f"{total_text(total)}; from all of them together, a reader {odds(total)}.",
        f"{candidates_text(candidates)}, with up to {request.choice.parents:,} parents and "
        f"{request.choice.most_cells:,} cells: by permute-and-flip on whole scores, how far from independent they are, "
        f"at epsilon {amount_text(share)} a round.",
        f"OpenDP {drawn.opendp} drew it from the operating system's randomness, with dpbayes {drawn.dpbayes}, on "
        f"Python {drawn.python}; {drawn.time}.",
        f"Not covered: which columns were taken, that {request.first} is the first of them, and their states, declared "
        f"{request.domains.value}, as the curator states.",
    ]


# Reading


def is_structure(data: bytes) -> bool:
    """Return whether bytes say that they are a learnt graph; whether they are one, `read_structure` says.

    In the one form nothing else reads so: a quote inside of a text has a backslash before it.
    """
    return _MARK in data


def read_structure(data: bytes) -> StructureDocument:
    """Return a document from its bytes; whether it is true is asked by `verify`.

    Errors: InputError for what is no learnt graph, is one of another version, or was written in any other form.
    """
    content = read_content(data, name="learnt graph", form=FORMAT, shapes=_SHAPES)
    request, joined = structure_request_from(content["request"]), tuple(content["joined"])
    if sorted(joined) != sorted(request.columns.names) or len(content["parents"]) != len(joined):
        raise InputError("The document must list every column exactly once, with its parents.")
    return StructureDocument(
        request,
        Network(request.columns.names, request.columns.states, tuple(map(tuple, content["parents"]))),
        joined,
        composed_from(content["composed"]),
        Provenance(**content["drawn"]),
        content,
    )


def structure_request_from(content: Mapping[str, Any]) -> StructureRequest:
    """Return the request that JSON of its shape states. Errors: InputError."""
    request = StructureRequest(
        dataset=content["dataset"],
        columns=columns_from(content["columns"]),
        choice=StructureChoice(
            epsilon=fraction("epsilon", content["epsilon"]),
            parents=content["parents"],
            most_cells=content["most_cells"],
            first=content["first"],
        ),
        n=content["n"],
        domains=choice_called(DomainChoice, content["domains"]),
    )
    if request.content != content:
        raise InputError("The request in the document of the graph is not in canonical form.")
    return request


REQUEST_SHAPE = {**COLUMNS_SHAPE, "epsilon": str, "parents": int, "most_cells": int, "first": str}
"""The types of a request's fields."""

_ROUND = {"candidates": int, "epsilon": str, "sensitivity": int}
_SHAPES = document_shapes(REQUEST_SHAPE, {"parents": [[str]], "joined": [str], "rounds": [_ROUND], "hash": str})


def same_graph(network: Network, other: Network) -> bool:
    """Return whether two networks have the same nodes, states and arrows, whatever their order."""
    return _families(network) == _families(other)


def _families(network: Network) -> dict[str, tuple[tuple[str, ...], frozenset[str]]]:
    nodes = zip(network.names, network.states, network.parents, strict=True)
    return {name: (states, frozenset(parents)) for name, states, parents in nodes}
