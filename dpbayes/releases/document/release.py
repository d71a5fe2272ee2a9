"""The documents of both kinds of releases, `release.json`, written and read. They contain all that is published.

A document stores integers: those of a release, or the choices and measurements of an adaptive release. Clipping, the
lift, the graph of an adaptive release, the prior and the posterior are post-processing, which each reader repeats.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_in, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.process import Process
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease
from dpbayes.mechanisms.noise.exact import Calibrated
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.releases.document import shapes
from dpbayes.releases.document.adaptive import process_from, steps_content
from dpbayes.releases.document.canonical import canonical, fraction, fraction_text, hash_of, read_canonical
from dpbayes.releases.document.certificate import (
    Composed,
    Provenance,
    adaptive_sentences,
    certificate_of,
    sentences_of,
)
from dpbayes.releases.document.request import (
    AdaptiveRequest,
    Chargeable,
    ReleaseRequest,
    adaptive_request_from,
    request_from,
)

FORMAT, ADAPTIVE_FORMAT = "dpbayes release", "dpbayes adaptive release"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Document(ABC):
    """A document of either kind as read: the request, the earlier releases, and the whole content as JSON has it."""

    request: Chargeable
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @property
    @abstractmethod
    def network(self) -> Network:
        """The released network."""

    @property
    @abstractmethod
    def tables(self) -> Release[Any]:
        """The tables for a recipient."""


@dataclass(frozen=True, eq=False)
class ReleaseDocument(Document):
    """The document of a release of a given graph: the noise, and the integers."""

    request: ReleaseRequest
    calibration: Calibrated
    integers: tuple[int, ...]

    @property
    def network(self) -> Network:
        """The network of the request."""
        return self.request.network

    @cached_property
    def tables(self) -> Release[Outcome]:
        """The tables for a recipient, as of `release_of`."""
        return release_of(self)


@dataclass(frozen=True, eq=False)
class AdaptiveDocument(Document):
    """The document of an adaptive release: its choices and measurements."""

    request: AdaptiveRequest
    process: Process

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


# Writing


def document_bytes(
    request: ReleaseRequest, calibration: Calibrated, integers: Sequence[int], composed: Composed, drawn: Provenance
) -> bytes:
    """Return the bytes of the document of a release."""
    own = {
        "noise": noise_content(request, calibration),
        "integers": list(integers),
        "certificate": certificate_of(request, calibration, composed, drawn),
        "sentences": list(sentences_of(request, calibration, composed)),
    }
    return _written(FORMAT, request, composed, drawn, own)


def written_adaptive(request: AdaptiveRequest, process: Process, composed: Composed, drawn: Provenance) -> bytes:
    """Return the bytes of the document of an adaptive release."""
    own = {"steps": steps_content(process), "sentences": adaptive_sentences(request, process, composed, drawn)}
    return _written(ADAPTIVE_FORMAT, request, composed, drawn, own)


def _written(form: str, request: Chargeable, composed: Composed, drawn: Provenance, own: Mapping[str, object]) -> bytes:
    spent = fraction_text(number_of(composed.spent))
    content = {
        "format": form,
        "version": VERSION,
        "request": request.content,
        "composed": {"releases": composed.releases, measure_of(composed.spent).value: spent},
        "drawn": vars(drawn),
        **own,
    }
    return canonical(content | {"hash": hash_of(content)})


def noise_content(request: ReleaseRequest, calibration: Calibrated) -> dict[str, object]:
    """Return the description of the noise as JSON has it."""
    return {
        "law": request.entry.law,
        "integers": request.entry.integers,
        "scale": fraction_text(calibration.scale),
        "sensitivity": request.sensitivity.value,
        "of": request.sensitivity.of,
        "lemma": request.sensitivity.lemma,
        "answer": fraction_text(calibration.answer),
        "answered": request.entry.answered,
    }


# Reading


def read_document(data: bytes) -> Document:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
    """
    content = read_canonical(data)
    form = content.get("format") if isinstance(content, dict) else None
    if not isinstance(content, dict) or form not in (FORMAT, ADAPTIVE_FORMAT):
        raise InputError(f'This file is not a release: its format is neither "{FORMAT}" nor "{ADAPTIVE_FORMAT}".')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(f"The release has version {brief(version)}; this program reads version {VERSION}.")
    return _release_from(content) if form == FORMAT else _adaptive_from(content)


def _release_from(content: Mapping[str, Any]) -> ReleaseDocument:
    shapes.require_shape("The release", content, shapes.RELEASE)
    request, noise = request_from(content["request"]), content["noise"]
    calibration = Calibrated(_double("The scale", noise["scale"]), _double("OpenDP's answer", noise["answer"]))
    return ReleaseDocument(request, *_common(request, content), calibration, tuple(content["integers"]))


def _adaptive_from(content: Mapping[str, Any]) -> AdaptiveDocument:
    shapes.require_shape("The adaptive release", content, shapes.ADAPTIVE)
    request = adaptive_request_from(content["request"])
    return AdaptiveDocument(request, *_common(request, content), process_from(request, content["steps"]))


def _common(request: Chargeable, content: Mapping[str, Any]) -> tuple[Composed, Provenance, Mapping[str, Any]]:
    """Return the fields of both kinds, apart from the request. Errors: InputError."""
    if request.content != content["request"]:
        raise InputError("The request in the release is not in canonical form.")
    return _composed_from(content["composed"], request.cost), Provenance(**content["drawn"]), content


def _composed_from(content: Mapping[str, Any], cost: Amount) -> Composed:
    """Return the earlier releases from JSON, before a release of this cost. Errors: InputError."""
    if len(content) != 2:
        raise InputError("The earlier releases must have a sum in either epsilon or rho.")
    measure = PrivacyMeasure.RHO if PrivacyMeasure.RHO.value in content else PrivacyMeasure.EPSILON
    spent = amount_in(measure, fraction(f"The {measure.value} so far", content[measure.value]))
    composed = Composed(content["releases"], spent)
    composed.after(cost)
    return composed


def _double(name: str, text: str) -> Fraction:
    value = fraction(name, text)
    if not value or Fraction(float(value)) != value:
        raise InputError(f"{name} must be above 0 and equal to a double; {brief(text)} is not.")
    return value


# The release for a recipient


def release_of(document: ReleaseDocument) -> Release[Outcome]:
    """Return the release of a document: outcome, distribution of the noise, guarantee and public facts.

    Errors: InputError if the number of integers is not that of the network.
    """
    request = document.request
    if len(document.integers) != request.entry.length(request):
        raise InputError(
            f"The release has {len(document.integers):,} integers; its network needs {request.entry.length(request):,}."
        )
    # The simulated scale may be used: the exact one is larger by at most a part in 10^12.
    outcome = request.entry.outcome(request, np.array(document.integers, dtype=np.int64))
    public: dict[str, float | int | str] = {
        "n": request.n,
        measure_of(request.cost).value: float(number_of(request.cost)),
    }
    public |= {name: float(value) for name, value in request.settings.items()}
    return Release(outcome, _guarantee(request), request.entry.label, public)


def _guarantee(request: ReleaseRequest) -> Guarantee:
    """Return the guarantee in doubles, for display only."""
    certified = request.entry.simulated(request).certified
    if isinstance(request.cost, Rho):
        return replace(certified, rho=float(request.rho))
    return Guarantee(float(request.epsilon), reference=certified.reference)


def loss_of(document: ReleaseDocument) -> Fraction:
    """Return the exact epsilon or rho of a document's scale and sensitivity."""
    noise = document.calibration
    sensitivity: int = document.content["noise"]["sensitivity"]
    return document.request.entry.noise.loss(sensitivity, noise.scale)
