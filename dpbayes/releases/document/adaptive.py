"""The request for an adaptive release, and its document, written and read.

The document contains all choices and measurements in their order, as integers and fractions. The graph, the tables and
their noise follow from them, and each reader computes them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpbayes.base.amounts import Amount, PrivacyMeasure, amount_in, amount_text, measure_of, number_of
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import ChosenPair
from dpbayes.mechanisms.adaptive.course import require_course
from dpbayes.mechanisms.adaptive.draws import scale_at
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import (
    Event,
    Measurement,
    PairChoice,
    Process,
    most_steps,
    require_feasible,
)
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease
from dpbayes.mechanisms.exact_form import REACH
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import canonical, fraction, fraction_text
from dpbayes.releases.document.certificate import Composed, Provenance, odds, total_text
from dpbayes.releases.document.promises import checked_budget
from dpbayes.releases.document.release import (
    composed_from,
    document_shape,
    read_content,
    require_shape,
    written_document,
)
from dpbayes.releases.document.request import (
    COLUMNS_SHAPE,
    DomainChoice,
    columns_as_network,
    columns_content,
    columns_from,
    domains_called,
    require_domain_choice,
    require_valid_columns,
)

FORMAT = "dpbayes adaptive release"

_MARK = b'"format":' + canonical(FORMAT)

_SHARES = ("one_way", "forest", "pairs", "parents")
_SIZES = ("batches", "most_parents", "most_cells")


@dataclass(frozen=True, kw_only=True)
class AdaptiveRequest:
    """An adaptive release as it is requested; two with the same `question` are the same.

    `columns` is the network without arrows over the declared columns. Errors: InputError.
    """

    dataset: str
    columns: Network
    plan: AdaptivePlan
    n: int
    domains: DomainChoice

    def __post_init__(self) -> None:
        require_valid_columns(self.dataset, self.columns, self.n)
        checked_budget(Fraction(self.plan.epsilon), Fraction(self.plan.delta))
        if self.columns.edges:
            raise InputError("A request for an adaptive release starts without arrows.")
        require_domain_choice(self.domains)
        require_feasible(self.columns.states, self.n)

    @classmethod
    def of(cls, dataset: str, data: Dataset, plan: AdaptivePlan, domains: DomainChoice) -> "AdaptiveRequest":
        """Return the request for a release of all columns of a table. It uses no record."""
        columns = columns_as_network(data.names, data.states)
        return cls(dataset=dataset, columns=columns, plan=plan, n=data.n, domains=domains)

    @property
    def cost(self) -> Amount:
        """The budget of the plan: a rho, or a pure epsilon."""
        return self.plan.budget

    @cached_property
    def content(self) -> dict[str, object]:
        """The request as JSON has it."""
        return {
            "dataset": self.dataset,
            "columns": columns_content(self.columns),
            **self._stated,
            "shares": {name: fraction_text(Fraction(getattr(self.plan, name))) for name in _SHARES},
            "sizes": {name: getattr(self.plan, name) for name in _SIZES},
            "n": self.n,
            "domains": self.domains.value,
        }

    @property
    def _stated(self) -> dict[str, str]:
        """The guarantee: an epsilon, or an epsilon with its delta and rho."""
        epsilon = {"epsilon": fraction_text(Fraction(self.plan.epsilon))}
        if not self.plan.delta:
            return epsilon
        return epsilon | {"delta": fraction_text(Fraction(self.plan.delta)), "rho": fraction_text(self.plan.rho)}

    @property
    def question(self) -> bytes:
        """The request in canonical form: equal bytes request the same release."""
        return canonical({"format": FORMAT, "request": self.content})


@dataclass(frozen=True, eq=False)
class AdaptiveDocument:
    """An adaptive release as read: the request, its steps, and the earlier releases."""

    request: AdaptiveRequest
    process: Process
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @cached_property
    def release(self) -> AdaptiveRelease:
        """The release for a recipient."""
        return AdaptiveRelease(self.request.plan, self.process, is_simulated=False)

    @property
    def network(self) -> Network:
        """The released network."""
        return self.release.network

    @property
    def tables(self) -> Release[ReleasedPosterior]:
        """The tables for a recipient."""
        return self.release.tables

    @cached_property
    def measurements(self) -> tuple[tuple[list[Amount], FloatArray, FloatArray], ...]:
        """Of each measurement: the cost of a change by one of each number, the number's largest value, the integers."""
        process = Process.start(self.request.plan, self.request.columns, self.request.n)
        parts = []
        for event in self.process.events:
            if isinstance(event, Measurement):
                before, prices = process.measured_over(event.parents), np.array(event.prices, dtype=np.int64)
                parts.append((before.moves(prices), before.largest(prices), np.array(event.integers, dtype=np.float64)))
            process = process.after(event)
        return tuple(parts)


# Writing


def written_adaptive(request: AdaptiveRequest, process: Process, composed: Composed, drawn: Provenance) -> bytes:
    """Return the bytes of a document."""
    own = {
        "steps": [_written(event) for event in process.events],
        "sentences": adaptive_sentences(request, process, composed, drawn),
    }
    return written_document(FORMAT, request.content, composed, drawn, own)


def _written(event: Event) -> dict[str, object]:
    if isinstance(event, Measurement):
        parents = [list(own) for own in event.parents]
        return {
            "stage": event.stage,
            "parents": parents,
            "prices": list(event.prices),
            "integers": list(event.integers),
        }
    chosen = event.chosen
    return {
        "stage": event.stage,
        "pair": list(chosen.pair or ()),
        "candidates": chosen.candidates,
        measure_of(chosen.cost).value: fraction_text(number_of(chosen.cost)),
        "taken": chosen.is_taken,
    }


def adaptive_sentences(request: AdaptiveRequest, process: Process, composed: Composed, drawn: Provenance) -> list[str]:
    """Return sentences on the content, the guarantee, the spent budget, the sampling, and what is not covered."""
    total, number = composed.after(request.cost), composed.releases + 1
    choices = [event for event in process.events if isinstance(event, PairChoice)]
    network = process.measured.network
    noise = "discrete Gaussian" if measure_of(request.cost) is PrivacyMeasure.RHO else "discrete Laplace"
    return [
        f"This file has a graph over {many(len(network.names), 'column')} of the dataset {request.dataset}, chosen "
        f"privately from {request.n:,} records, and its tables with noise. It holds no record.",
        f"Neighbours are tables of the same number of records of which one is replaced: whoever reads the file, and "
        f"whatever they know, {odds(request.cost)}.",
        f"{_guarantee_text(request.plan)}. It covers all choices and measurements together.",
        f"{many(number, 'release')} of this dataset, this one included, have spent {total_text(total)}; from all of "
        f"them together, a reader {odds(total)}.",
        f"{many(len(choices), 'choice')} by the exponential mechanism on whole scores and "
        f"{many(len(process.events) - len(choices), 'measurement')} with {noise} noise were made.",
        f"OpenDP {drawn.opendp} drew all of them from the operating system's randomness, with dpbayes "
        f"{drawn.dpbayes}, on Python {drawn.python}; {drawn.time}.",
        "Not covered: which columns were taken, and their states, declared "
        f"{request.domains.value}, as the curator states.",
    ]


def _guarantee_text(plan: AdaptivePlan) -> str:
    epsilon = amount_text(Fraction(plan.epsilon))
    if not plan.delta:
        return f"The guarantee is pure, with epsilon {epsilon}"
    delta = amount_text(Fraction(plan.delta))
    return (
        f"The guarantee is zero-concentrated, with rho {amount_text(plan.rho)}, which gives epsilon {epsilon} at delta "
        f"{delta}"
    )


# Reading


def is_adaptive(data: bytes) -> bool:
    """Return whether bytes state that they are an adaptive release; `read_adaptive` checks whether they are one."""
    return _MARK in data


def read_adaptive(data: bytes) -> AdaptiveDocument:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
    """
    content = read_content(data, name="adaptive release", form=FORMAT, shape=_SHAPE)
    request = adaptive_request_from(content["request"])
    process = Process.start(request.plan, request.columns, request.n)
    if len(content["steps"]) > most_steps(request.plan, len(request.columns.names)):
        raise InputError("The adaptive release has more steps than its plan allows.")
    for step in content["steps"]:
        process = process.after(_read(step, len(request.columns.names), request.plan))
    drawn = Provenance(**content["drawn"])
    return AdaptiveDocument(request, process, composed_from(content["composed"], request.cost), drawn, content)


def _read(step: Mapping[str, Any], columns: int, plan: AdaptivePlan) -> Event:
    measure = plan.measure
    require_shape("A step", step, _MEASUREMENT if "prices" in step else _CHOICE | {measure.value: str})
    if "prices" in step:
        parents = tuple(tuple(own) for own in step["parents"])
        places = [j for own in parents for j in own]
        prices = step["prices"]
        if len(parents) != columns or not all(0 <= j < columns for j in places):
            raise InputError("A measurement must name the parents of every column by their places.")
        if not prices or min(prices) < 0 or max(prices) >= 1 << 60:
            raise InputError("The prices of a measurement must be integers that are not negative.")
        if measure is PrivacyMeasure.RHO and prices[0]:
            raise InputError("The price of the empty set must be 0.")
        return Measurement(step["stage"], parents, tuple(prices), tuple(step["integers"]))
    pair = step["pair"]
    if pair and (len(pair) != 2 or not all(0 <= j < columns for j in pair)):
        raise InputError("A choice must name two columns by their places, or none.")
    chosen = (pair[0], pair[1]) if pair else None
    cost = fraction(f"The {measure.value} of a choice", step[measure.value])
    if not 0 < cost <= plan.total:
        raise InputError(f"The {measure.value} of a choice must be above 0 and at most {amount_text(plan.total)}.")
    return PairChoice(step["stage"], ChosenPair(chosen, step["candidates"], amount_in(measure, cost), step["taken"]))


def adaptive_request_from(content: Mapping[str, Any]) -> AdaptiveRequest:
    """Return the request that JSON of its shape states. Errors: InputError."""
    columns = columns_from(content["columns"])
    settings: dict[str, Any] = {name: fraction(f"The share {name}", content["shares"][name]) for name in _SHARES}
    settings |= {name: content["sizes"][name] for name in _SIZES}
    delta = fraction("delta", content["delta"]) if "delta" in content else Fraction(0)
    plan = AdaptivePlan(epsilon=fraction("epsilon", content["epsilon"]), delta=delta, **settings)
    request = AdaptiveRequest(
        dataset=content["dataset"],
        columns=columns,
        plan=plan,
        n=content["n"],
        domains=domains_called(content["domains"]),
    )
    if request.content != content:
        raise InputError("The request in the adaptive release is not in canonical form.")
    return request


# Checking


def course_error(document: AdaptiveDocument) -> str:
    """Return how the steps differ from those that the plan allows, as a sentence; "" if they are allowed."""
    request = document.request
    try:
        require_course(request.plan, Process.start(request.plan, request.columns, request.n), document.process.events)
    except InputError as error:
        return str(error)
    return ""


def step_costs(document: AdaptiveDocument) -> tuple[frozenset[Amount], frozenset[Amount]]:
    """Return the distinct costs of a change by one in all measurements, and those of the choices."""
    noise = {cost for costs, _, _ in document.measurements for cost in costs}
    return frozenset(noise), frozenset(e.chosen.cost for e in document.process.events if isinstance(e, PairChoice))


def has_plausible_integers(document: AdaptiveDocument) -> bool:
    """Return whether every integer is one that noise of its scale, added to a count or a residual, can give."""
    return all(
        np.all(np.abs(integers) <= largest + REACH * np.array([scale_at(cost) for cost in costs]))
        for costs, largest, integers in document.measurements
    )


_CHOICE = {"stage": str, "pair": [int], "candidates": int, "taken": bool}
_MEASUREMENT = {"stage": str, "parents": [[int]], "prices": [int], "integers": [int]}

_REQUEST_SHAPE: Mapping[str, Any] = {
    **COLUMNS_SHAPE,
    "epsilon": str,
    "delta?": str,
    "rho?": str,
    "shares": dict.fromkeys(_SHARES, str),
    "sizes": dict.fromkeys(_SIZES, int),
}
"""The types of a request's fields."""

_SHAPE = document_shape(_REQUEST_SHAPE, {"steps": [Mapping]})
