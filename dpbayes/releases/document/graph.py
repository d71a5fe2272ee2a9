"""The request for a learnt graph, which is a release with its own cost, and its document, written and read.

The document contains the graph, the order in which its nodes were added, and the numbers of candidates. All other
fields follow from these and the request; `verify` computes them again.
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
    columns_as_network,
    columns_content,
    columns_from,
    require_valid_columns,
)

FORMAT = "dpbayes graph"

_MARK = b'"format":' + canonical(FORMAT)


@dataclass(frozen=True, kw_only=True)
class StructureRequest:
    """A request for a graph; two requests with the same `question` are the same.

    `columns` is the network without arrows over the declared columns. Errors: InputError.
    """

    dataset: str
    columns: Network
    choice: StructureChoice
    n: int
    domains: DomainChoice

    def __post_init__(self) -> None:
        require_valid_columns(self.dataset, self.columns, self.n)
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
        """Return the request for a graph over all columns of a table. It uses no record."""
        columns = columns_as_network(data.names, data.states)
        return cls(dataset=dataset, columns=columns, choice=choice, n=data.n, domains=domains)

    @property
    def epsilon(self) -> Fraction:
        """The cost: the sum of the epsilons of all rounds."""
        return self.choice.epsilon

    @property
    def cost(self) -> Amount:
        """The cost as an amount."""
        return self.epsilon

    @property
    def first(self) -> str:
        """The first node."""
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
        """The request in canonical form: equal bytes request the same graph, and never a release of counts."""
        return canonical({"format": FORMAT, "request": self.content})

    def rounds_of(self, joined: tuple[str, ...]) -> tuple[Round, ...]:
        """Return the rounds that add the nodes in this order."""
        order = self._places(joined)
        return tuple(round_after(self.choice, self._cards, self.n, order[:k]) for k in range(1, len(order)))

    def is_possible(self, network: Network, joined: tuple[str, ...]) -> bool:
        """Return whether every node was a candidate with its parents when it was added."""
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
    """A learnt graph as read: the request, the graph, the order of its nodes, and the earlier releases."""

    request: StructureRequest
    network: Network
    joined: tuple[str, ...]
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @property
    def candidates(self) -> tuple[int, ...]:
        """The number of candidate pairs of a node and its parents in each round, which is public."""
        return tuple(step["candidates"] for step in self.content["rounds"])

    @property
    def stated(self) -> dict[str, Any]:
        """What a release of this graph's tables states about its choice, as arguments of `ReleaseRequest`."""
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
    """Return the rounds as JSON has them; they follow from public values and the order of the nodes."""
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
    """Return sentences on the content, the guarantee, the spent budget, the sampling, and what is not covered."""
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
    """Return whether bytes state that they are a learnt graph; `read_structure` checks whether they are one.

    In canonical form, no other content contains the mark, because a quote within a text has a backslash before it.
    """
    return _MARK in data


def read_structure(data: bytes) -> StructureDocument:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
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
