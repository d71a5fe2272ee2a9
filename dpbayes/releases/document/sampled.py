"""What is sampled for a release of either kind: its JSON, what a recipient computes from it, and its description.

A document stores integers: those of a release of tables, or the choices and measurements of an adaptive release.
Clipping, the lift, the graph of an adaptive release, the prior and the posterior are post-processing, which each reader
repeats.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpbayes.base.amounts import PrivacyMeasure, Rho, amount_in, amount_text, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import many
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.choices import PairChoice
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import Event, Measurement, Process, most_steps
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease
from dpbayes.mechanisms.exact_form import NINE_OF_TEN, Calibrated, nine_of_ten
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import fraction, fraction_text, require_shape
from dpbayes.releases.document.request import (
    REQUEST_SHAPE,
    SHARES,
    SIZES,
    AdaptiveRequest,
    ReleaseRequest,
    adaptive_request_from,
    request_from,
)


@dataclass(frozen=True, eq=False)
class SampledTables:
    """The tables of a given graph: the scale of the noise, and the noisy integers."""

    request: ReleaseRequest
    calibration: Calibrated
    integers: tuple[int, ...]

    SHAPE: ClassVar[Mapping[str, Any]] = {
        "request": {
            **REQUEST_SHAPE,
            "network": [{"name": str, "states": [str], "parents": [str]}],
            "mechanism": str,
            "settings": dict,
            "prior": [str],
            "prices?": [int],
        },
        "noise": dict.fromkeys(("law", "integers", "scale", "of", "lemma", "answer", "answered"), str)
        | {"sensitivity": int},
        "integers": [int],
    }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "SampledTables":
        """Return what the JSON of a document has. Errors: InputError."""
        noise = content["noise"]
        calibration = Calibrated(_double("The scale", noise["scale"]), _double("OpenDP's answer", noise["answer"]))
        return cls(request_from(content["request"]), calibration, tuple(content["integers"]))

    @property
    def fields(self) -> dict[str, object]:
        """The fields that only documents of this kind have."""
        request = self.request
        noise: dict[str, object] = {
            "law": request.entry.law,
            "integers": request.entry.integers,
            "scale": fraction_text(self.calibration.scale),
            "sensitivity": request.sensitivity.value,
            "of": request.sensitivity.of,
            "lemma": request.sensitivity.lemma,
            "answer": fraction_text(self.calibration.answer),
            "answered": request.entry.answered,
        }
        return {"noise": noise, "integers": list(self.integers)}

    @property
    def network(self) -> Network:
        """The network of the request."""
        return self.request.network

    @cached_property
    def tables(self) -> Release[Outcome]:
        """The release for a recipient: outcome, distribution of the noise, guarantee and public facts.

        Errors: InputError if the number of integers is not that of the network.
        """
        request = self.request
        if len(self.integers) != request.entry.length(request):
            raise InputError(
                f"The release has {len(self.integers):,} integers; its network needs {request.entry.length(request):,}."
            )
        # The simulated scale may be used: the exact one is larger by at most a part in 10^12.
        outcome = request.entry.outcome(request, np.array(self.integers, dtype=np.int64))
        public: dict[str, float | int | str] = {
            "n": request.n,
            measure_of(request.cost).value: float(number_of(request.cost)),
        }
        public |= {name: float(value) for name, value in request.settings.items()}
        return Release(outcome, self._guarantee, request.entry.label, public, is_simulated=False)

    @property
    def _guarantee(self) -> Guarantee:
        """The guarantee in doubles, for display only."""
        request = self.request
        certified = request.entry.simulated(request).certified
        if isinstance(request.cost, Rho):
            return replace(certified, rho=float(request.rho))
        return Guarantee(float(request.epsilon), reference=certified.reference)

    @property
    def described(self) -> str:
        """What the file has instead of records."""
        request = self.request
        return (
            f"This file describes {request.n:,} records of the dataset {request.dataset} in "
            f"{many(len(request.network.names), 'column')} by {request.entry.length(request):,} integers with noise. "
            "It contains no record."
        )

    @property
    def accuracy(self) -> str:
        """How accurate the integers are."""
        return self.request.entry.accuracy(self.request, self.calibration.scale)

    @property
    def noise(self) -> str:
        """The distribution of the noise and its scale."""
        sensitivity, scale = self.request.sensitivity, f"{float(self.calibration.scale):.6g}"
        return f"{self.request.entry.law}; scale {scale}, sensitivity {sensitivity.value} ({sensitivity.of})."


def _double(name: str, text: str) -> Fraction:
    value = fraction(name, text)
    if not value or Fraction(float(value)) != value:
        raise InputError(f"{name} must be above 0 and equal to a double; {brief(text)} is not.")
    return value


@dataclass(frozen=True, eq=False)
class SampledSteps:
    """The choices and measurements of an adaptive release, in their order."""

    request: AdaptiveRequest
    process: Process

    SHAPE: ClassVar[Mapping[str, Any]] = {
        "request": {
            **REQUEST_SHAPE,
            "columns": [{"name": str, "states": [str]}],
            "shares": dict.fromkeys(SHARES, str),
            "sizes": dict.fromkeys(SIZES, int),
            "target?": str,
        },
        "steps": [dict],
    }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "SampledSteps":
        """Return what the JSON of a document has. Errors: InputError."""
        request, steps = adaptive_request_from(content["request"]), content["steps"]
        process, columns = Process.start(request.plan, request.columns, request.n), len(request.columns.names)
        if len(steps) > most_steps(request.plan, columns):
            raise InputError("The adaptive release has more steps than its plan allows.")
        for step in steps:
            process = process.after(_event(step, columns, request.plan))
        return cls(request, process)

    @property
    def fields(self) -> dict[str, object]:
        """The fields that only documents of this kind have."""
        return {"steps": [_step(event) for event in self.process.events]}

    @cached_property
    def release(self) -> AdaptiveRelease:
        """The release for a recipient."""
        return AdaptiveRelease(self.request.plan, self.process, is_simulated=False)

    @property
    def network(self) -> Network:
        """The chosen graph."""
        return self.release.network

    @property
    def tables(self) -> Release[ReleasedPosterior]:
        """The tables for a recipient."""
        return self.release.tables

    @property
    def described(self) -> str:
        """What the file has instead of records."""
        request = self.request
        return (
            f"This file has a graph over {many(len(request.columns.names), 'column')} of the dataset "
            f"{request.dataset}, chosen privately from {request.n:,} records, and its tables with noise. One guarantee "
            "covers both. It contains no record."
        )

    @property
    def accuracy(self) -> str:
        """How accurate the tables are, by the largest variance of their noise."""
        variance = self.network.residuals.cell_variances(self.release.measured.variances).max()
        target = self.request.plan.target
        aim = f" The graph was chosen for predictions of {target}." if target else ""
        return nine_of_ten("count in the tables", math.ceil(NINE_OF_TEN * math.sqrt(variance))) + aim

    @property
    def noise(self) -> str:
        """The distributions that the steps were sampled from."""
        law = "Gaussian" if isinstance(self.request.cost, Rho) else "Laplace"
        return f"Choices by the exponential mechanism on integer scores, measurements with discrete {law} noise."


Sampled = SampledTables | SampledSteps
"""What is sampled for a request of either kind."""

# A step of an adaptive release

_CHOICE = {"stage": str, "pair": [int]}
_MEASUREMENT = {"stage": str, "parents": [[int]], "prices": [int], "integers": [int]}


def _step(event: Event) -> dict[str, object]:
    if isinstance(event, Measurement):
        return {
            "stage": event.stage,
            "parents": [list(own) for own in event.parents],
            "prices": list(event.prices),
            "integers": list(event.integers),
        }
    return {
        "stage": event.stage,
        "pair": list(event.pair or ()),
        measure_of(event.cost).value: fraction_text(number_of(event.cost)),
    }


def _event(step: Mapping[str, Any], columns: int, plan: AdaptivePlan) -> Event:
    if "prices" in step:
        require_shape("A step", step, _MEASUREMENT)
        return _measurement(step, columns, plan.measure)
    require_shape("A step", step, _CHOICE | {plan.measure.value: str})
    return _choice(step, columns, plan)


def _measurement(step: Mapping[str, Any], columns: int, measure: PrivacyMeasure) -> Measurement:
    parents, prices = tuple(tuple(own) for own in step["parents"]), step["prices"]
    if len(parents) != columns or not all(0 <= j < columns for own in parents for j in own):
        raise InputError("A measurement must name the parents of every column by their places.")
    if not prices or min(prices) < 0 or max(prices) >= 1 << 60:
        raise InputError("The prices of a measurement must be integers that are not negative.")
    if measure is PrivacyMeasure.RHO and prices[0]:
        raise InputError("The price of the empty set must be 0.")
    return Measurement(step["stage"], parents, tuple(prices), tuple(step["integers"]))


def _choice(step: Mapping[str, Any], columns: int, plan: AdaptivePlan) -> PairChoice:
    pair, measure = step["pair"], plan.measure
    if pair and (len(pair) != 2 or not all(0 <= j < columns for j in pair)):
        raise InputError("A choice must name two columns by their places, or none.")
    cost = fraction(f"The {measure.value} of a choice", step[measure.value])
    if not 0 < cost <= plan.total:
        raise InputError(f"The {measure.value} of a choice must be above 0 and at most {amount_text(plan.total)}.")
    chosen = (pair[0], pair[1]) if pair else None
    return PairChoice(step["stage"], chosen, amount_in(measure, cost))
