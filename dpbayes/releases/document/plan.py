"""A plan: a request for a release without its table, as a file to export, discuss, and import again.

The file is JSON that a person can read and edit. It contains no record and no result computed from records.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import Network
from dpbayes.releases.document import adaptive, release
from dpbayes.releases.document.adaptive import AdaptiveRequest
from dpbayes.releases.document.canonical import read_json
from dpbayes.releases.document.request import MOST_LETTERS, ReleaseRequest, request_from
from dpbayes.sources.domains import DeclaredColumn, read_domains, write_domains

FORMAT = "dpbayes plan"
VERSION = 1

PlannedRequest = ReleaseRequest | AdaptiveRequest


@dataclass(frozen=True)
class PlannedQuestion:
    """The question that the release should answer: the probabilities of a node's states, given states of others."""

    target: str
    evidence: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanFile:
    """A request, the domains of the columns with their bounds, and perhaps a question.

    Args:
        request: What is released: tables of a given graph, a graph, or both in an adaptive release.
        columns: The declared columns of the table. Without them, the table must come with a domain description.
        question: What the release should answer.

    Raises:
        InputError: A column has other states than the request, or the question has a name that the request lacks.
    """

    request: PlannedRequest
    columns: tuple[DeclaredColumn, ...] = ()
    question: PlannedQuestion | None = None

    def __post_init__(self) -> None:
        network = self.network
        if self.columns:
            domains = {c.name: c.domain.domain for c in self.columns if c.use and c.domain is not None}
            for name, states in zip(network.names, network.states, strict=True):
                if domains.get(name) != states:
                    raise InputError(
                        f"The columns and the request of the plan declare different states for {brief(name)}."
                    )
        if self.question is not None:
            _require_states(network, self.question)

    @property
    def network(self) -> Network:
        """The network of the request, or its columns without arrows."""
        return self.request.network if isinstance(self.request, ReleaseRequest) else self.request.columns


def _require_states(network: Network, question: PlannedQuestion) -> None:
    network.index(question.target)
    if question.target in question.evidence:
        raise InputError(f"The question of the plan has {brief(question.target)} as the target and as given.")
    for name, state in question.evidence.items():
        if state not in network.states[network.index(name)]:
            raise InputError(
                f"The question of the plan names the state {brief(state)}, which {brief(name)} does not have."
            )


def write_plan(plan: PlanFile) -> bytes:
    """Return the bytes of a plan, which `read_plan` reads."""
    question = plan.question
    content = {
        "format": FORMAT,
        "version": VERSION,
        "kind": next(kind for kind, (cls, _, _) in _KINDS.items() if isinstance(plan.request, cls)),
        "request": plan.request.content,
        "domains": json.loads(write_domains(plan.columns)) if plan.columns else None,
        "question": None if question is None else {"target": question.target, "given": dict(question.evidence)},
    }
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_plan(data: bytes) -> PlanFile:
    """Return a plan from its bytes.

    Errors: InputError for another format or version, and for an unknown field, type or value.
    """
    content = read_json(data)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'This file is not a plan: its format is not "{FORMAT}".')
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise InputError(f"The plan has version {brief(content.get('version'))}; this program reads version {VERSION}.")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"The plan has the kind {brief(kind)}; this program reads {', '.join(_KINDS)}.")
    _, shape, build = _KINDS[kind]
    release.require_shape("The plan", content, {**_SHAPE, "request": shape})
    request = build(content["request"])
    if request.content != content["request"]:
        raise InputError("The request of the plan has a number or a text in an unusual form. Export the plan again.")
    domains, question = content["domains"], content["question"]
    columns = () if domains is None else read_domains(json.dumps(domains))
    return PlanFile(request, columns, None if question is None else _question(question))


def _question(content: object) -> PlannedQuestion:
    release.require_shape('The plan\'s "question"', content, {"target": str, "given": Mapping})
    assert isinstance(content, dict), "require_shape has checked it"
    given = content["given"]
    if not all(isinstance(state, str) and len(state) <= MOST_LETTERS for state in given.values()):
        raise InputError('The plan\'s "given" must have the name of a state for every node.')
    return PlannedQuestion(content["target"], given)


_SHAPE: Mapping[str, Any] = {
    "format": str,
    "version": int,
    "kind": str,
    "domains": (dict, type(None)),
    "question": (dict, type(None)),
}

_KINDS: Mapping[str, Any] = {
    "release": (ReleaseRequest, release.REQUEST_SHAPE, request_from),
    "adaptive release": (AdaptiveRequest, adaptive.REQUEST_SHAPE, adaptive.adaptive_request_from),
}
"""The kinds of plans: the type of the request, the types of its fields, and its reader."""
