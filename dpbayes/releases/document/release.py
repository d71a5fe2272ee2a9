"""The document of a release, `release.json`, written and read. It contains all that is published.

The document stores the released integers. Clipping, the lift, the prior and the posterior are post-processing, which
`release_of` repeats for each reader.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_in, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.noise.exact import Calibrated
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import canonical, fraction, fraction_text, hash_of, read_canonical
from dpbayes.releases.document.certificate import Composed, Provenance, certificate_of, sentences_of
from dpbayes.releases.document.request import ReleaseRequest, request_from
from dpbayes.releases.document.signature import SIGNED_SHAPE

FORMAT = "dpbayes release"
VERSION = 1


@dataclass(frozen=True, eq=False)
class ReleaseDocument:
    """A document as read: the request, the noise, the integers, and the whole content as JSON has it."""

    request: ReleaseRequest
    calibration: Calibrated
    integers: tuple[int, ...]
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @property
    def network(self) -> Network:
        """The released network."""
        return self.request.network

    @cached_property
    def tables(self) -> Release[Outcome]:
        """The tables for a recipient, as of `release_of`."""
        return release_of(self)


# Writing


def document_bytes(
    request: ReleaseRequest, calibration: Calibrated, integers: Sequence[int], composed: Composed, drawn: Provenance
) -> bytes:
    """Return the bytes of a document."""
    own = {
        "noise": noise_content(request, calibration),
        "integers": list(integers),
        "certificate": certificate_of(request, calibration, composed, drawn),
        "sentences": list(sentences_of(request, calibration, composed)),
    }
    return written_document(FORMAT, request.content, composed, drawn, own)


def written_document(
    form: str, request: Mapping[str, object], composed: Composed, drawn: Provenance, own: Mapping[str, object]
) -> bytes:
    """Return the bytes of a document: the fields of every format, its `own` fields, and the hash of all of them."""
    spent = fraction_text(number_of(composed.spent))
    content = {
        "format": form,
        "version": VERSION,
        "request": request,
        "composed": {"releases": composed.releases, measure_of(composed.spent).value: spent},
        "drawn": vars(drawn),
        **own,
    }
    return canonical(content | {"hash": hash_of(content)})


def composed_from(content: Mapping[str, Any], cost: Amount) -> Composed:
    """Return the earlier releases from JSON, before a release of this cost. Errors: InputError."""
    if len(content) != 2:
        raise InputError("The earlier releases must have a sum in either epsilon or rho.")
    measure = PrivacyMeasure.RHO if PrivacyMeasure.RHO.value in content else PrivacyMeasure.EPSILON
    spent = amount_in(measure, fraction(f"The {measure.value} so far", content[measure.value]))
    composed = Composed(content["releases"], spent)
    composed.after(cost)
    return composed


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


def read_document(data: bytes) -> ReleaseDocument:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
    """
    content = read_content(data, name="release", form=FORMAT, shape=_SHAPE)
    noise, request = content["noise"], request_from(content["request"])
    if request.content != content["request"]:
        raise InputError("The request in the release is not in canonical form.")
    return ReleaseDocument(
        request,
        Calibrated(_double("The scale", noise["scale"]), _double("OpenDP's answer", noise["answer"])),
        tuple(content["integers"]),
        composed_from(content["composed"], request.cost),
        Provenance(**content["drawn"]),
        content,
    )


def read_content(data: bytes, *, name: str, form: str, shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a document of one format and shape, signed or not; errors call it `name`.

    Errors: InputError.
    """
    content = read_canonical(data)
    if not isinstance(content, dict) or content.get("format") != form:
        raise InputError(f'This file is not a {name}: its format is not "{form}".')
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(f"The {name} has version {brief(version)}; this program reads version {VERSION}.")
    require_shape(f"The {name}", content, {**shape, **SIGNED_SHAPE})
    return content


def _double(name: str, text: str) -> Fraction:
    value = fraction(name, text)
    if not value or Fraction(float(value)) != value:
        raise InputError(f"{name} must be above 0 and equal to a double; {brief(text)} is not.")
    return value


_MOST_LETTERS = 2000

_REQUEST_SHAPE: Mapping[str, Any] = {
    "dataset": str,
    "network": [{"name": str, "states": [str], "parents": [str]}],
    "mechanism": str,
    "settings": Mapping,
    "prices?": [int],
    "n": int,
    "prior": [str],
    "domains": str,
    "epsilon?": str,
    "rho?": str,
    "stated?": {"epsilon": str, "delta": str},
}
"""The types of a request's fields; fields with a question mark may be missing."""


def document_shape(request: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the types of a document's fields: those of all formats, its `request`, and its `own` fields."""
    return {
        "format": str,
        "version": int,
        "request": request,
        "composed": {"releases": int, "epsilon?": str, "rho?": str},
        "drawn": dict.fromkeys(("time", "dpbayes", "opendp", "python"), str),
        "sentences": [str],
        "hash": str,
        **own,
    }


_OWN_SHAPE: Mapping[str, Any] = {
    "noise": dict.fromkeys(("law", "integers", "scale", "of", "lemma", "answer", "answered"), str)
    | {"sensitivity": int},
    "integers": [int],
    "certificate": Mapping,
}
"""The types of a release's own fields. The schema says more."""

_SHAPE = document_shape(_REQUEST_SHAPE, _OWN_SHAPE)


def require_shape(what: str, content: object, shape: Any) -> None:
    """Check fields and types. Errors: InputError that names the place with other fields or another type."""
    if isinstance(shape, dict):
        present = content if isinstance(content, dict) else {}
        shape = {name.rstrip("?"): inner for name, inner in shape.items() if name[-1] != "?" or name[:-1] in present}
        if not isinstance(content, dict) or set(content) != set(shape):
            raise InputError(f"{what} must be an object with exactly these fields: {', '.join(shape)}.")
        for name, inner in shape.items():
            require_shape(f'{what}\'s "{name}"', content[name], inner)
    elif isinstance(shape, list):
        if not isinstance(content, list):
            raise InputError(f"{what} must be a list.")
        for item in content:
            require_shape(what, item, shape[0])
    else:
        _require_value(what, content, shape)


def _require_value(what: str, content: object, shape: Any) -> None:
    if shape is Mapping:
        if not isinstance(content, dict):
            raise InputError(f"{what} must be an object.")
    elif type(content) not in (shape if isinstance(shape, tuple) else (shape,)):  # a bool is an int to `isinstance`
        raise InputError(f"{what} has {brief(content)}, which has the wrong type.")
    elif isinstance(content, str) and len(content) > _MOST_LETTERS:
        raise InputError(f"{what} has a text of {len(content):,} letters; the limit is {_MOST_LETTERS:,}.")


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
