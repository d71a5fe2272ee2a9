"""The document of a release, `release.json`: all that leaves the curator, in one form of bytes; written and read.

What is stored are the whole numbers as released. Clipping, the lift, the prior and the posterior are post-processing,
which `release_of` does again for whoever reads it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.base import Outcome, Release
from dpbayes.mechanisms.confirmed import Calibrated
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.releases.canonical import canonical, digest, fraction, fraction_text, read_canonical
from dpbayes.releases.certificate import Composed, Provenance, certificate_of, sentences_of
from dpbayes.releases.request import ReleaseRequest, request_from

FORMAT = "dpbayes release"
VERSION = 1


@dataclass(frozen=True, eq=False)
class ReleaseDocument:
    """A document as read: what was asked for, the noise, the integers, and all that it says, as JSON has it."""

    request: ReleaseRequest
    calibration: Calibrated
    integers: tuple[int, ...]
    composed: Composed
    drawn: Provenance
    told: Mapping[str, Any]


# Writing


def written(
    request: ReleaseRequest, calibration: Calibrated, integers: Sequence[int], composed: Composed, drawn: Provenance
) -> bytes:
    """Return the bytes of a document."""
    told: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "request": request.told,
        "noise": noise_told(request, calibration),
        "integers": list(integers),
        "composed": {"releases": composed.releases, "epsilon": fraction_text(composed.epsilon)},
        "drawn": {
            "time": drawn.time,
            "dpbayes": drawn.dpbayes,
            "opendp": drawn.opendp,
            "python": drawn.python,
        },
        "certificate": certificate_of(request, calibration, composed, drawn),
        "sentences": list(sentences_of(request, calibration, composed)),
    }
    return canonical(told | {"hashes": hashes_of(told)})


def noise_told(request: ReleaseRequest, calibration: Calibrated) -> dict[str, object]:
    """Return what a document says of the noise."""
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


def hashes_of(told: Mapping[str, object]) -> dict[str, str]:
    """Return the SHA-256 of what was asked, of the integers, and of the whole content but the hashes."""
    content = {name: value for name, value in told.items() if name != "hashes"}
    return {"request": digest(told["request"]), "integers": digest(told["integers"]), "content": digest(content)}


# Reading


def read_document(data: bytes) -> ReleaseDocument:
    """Return a document from its bytes; whether it is true is asked by `verify`.

    Errors: InputError for what is no release, is one of another version, or was written in any other form.
    """
    told = read_told(data, name="release", form=(FORMAT, VERSION), shape=_SHAPE)
    noise, composed = told["noise"], told["composed"]
    return ReleaseDocument(
        _same_request(told["request"]),
        Calibrated(_double("The scale", noise["scale"]), _double("OpenDP's answer", noise["answer"])),
        tuple(told["integers"]),
        Composed(composed["releases"], fraction("The epsilon so far", composed["epsilon"])),
        Provenance(**told["drawn"]),
        told,
    )


def read_told(data: bytes, *, name: str, form: tuple[str, int], shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what bytes of one format and version tell, of this shape; `name` is what they are called in a refusal.

    Errors: InputError.
    """
    told = read_canonical(data)
    if not isinstance(told, dict) or told.get("format") != form[0]:
        raise InputError(f'This file is no {name}: its format is not "{form[0]}".')
    version = told.get("version")
    if type(version) is not int or version != form[1]:
        raise InputError(f"The {name} is of version {brief(version)}; this program reads version {form[1]}.")
    require_shape(f"The {name}", told, shape)
    return told


def _double(name: str, text: str) -> Fraction:
    value = fraction(name, text)
    if not value or Fraction(float(value)) != value:
        raise InputError(f"{name} must be above 0 and just what a double holds; {brief(text)} is not.")
    return value


def _same_request(told: Mapping[str, Any]) -> ReleaseRequest:
    request = request_from(told)
    if request.told != told:
        raise InputError("The release states its request in another form than it is written in.")
    return request


_MOST_LETTERS = 2000

_TEXT_OR_NONE = (str, type(None))

_SHAPE: Mapping[str, Any] = {
    "format": str,
    "version": int,
    "request": {
        "dataset": str,
        "network": [{"name": str, "states": [str], "parents": [str]}],
        "mechanism": str,
        "settings": Mapping,
        "epsilon": str,
        "n": int,
        "prior": [str],
        "graph": str,
        "graph_epsilon": _TEXT_OR_NONE,
        "graph_candidates": [int],
        "domains": str,
    },
    "noise": dict.fromkeys(("law", "integers", "scale", "of", "lemma", "answer", "answered"), str)
    | {"sensitivity": int},
    "integers": [int],
    "composed": {"releases": int, "epsilon": str},
    "drawn": dict.fromkeys(("time", "dpbayes", "opendp", "python"), str),
    "certificate": Mapping,
    "sentences": [str],
    "hashes": dict.fromkeys(("request", "integers", "content"), str),
}
"""The types of what a document has; the schema says more."""


def require_shape(what: str, told: object, shape: Any) -> None:
    """Refuse what has not exactly these fields and types. Errors: InputError that names the place."""
    if isinstance(shape, dict):
        if not isinstance(told, dict) or set(told) != set(shape):
            raise InputError(f"{what} must be an object of exactly these fields: {', '.join(shape)}.")
        for name, inner in shape.items():
            require_shape(f'{what}\'s "{name}"', told[name], inner)
    elif isinstance(shape, list):
        if not isinstance(told, list):
            raise InputError(f"{what} must be a list.")
        for each in told:
            require_shape(what, each, shape[0])
    else:
        _require_value(what, told, shape)


def _require_value(what: str, told: object, shape: Any) -> None:
    if shape is Mapping:
        if not isinstance(told, dict):
            raise InputError(f"{what} must be an object.")
    elif type(told) not in (shape if isinstance(shape, tuple) else (shape,)):  # a bool is an int to `isinstance`
        raise InputError(f"{what} has {brief(told)}, which is of another type than it must be.")
    elif isinstance(told, str) and len(told) > _MOST_LETTERS:
        raise InputError(f"{what} has a text of {len(told):,} letters; {_MOST_LETTERS:,} are the most.")


# What a recipient makes of it


def release_of(document: ReleaseDocument) -> Release[Outcome]:
    """Return the release as the pages know one: outcome, guarantee and public facts.

    Errors: InputError where the integers are not as many as the network needs.
    """
    request = document.request
    if len(document.integers) != request.entry.length(request):
        raise InputError(
            f"The release has {len(document.integers):,} whole numbers; its network needs "
            f"{request.entry.length(request):,}."
        )
    outcome = request.entry.outcome(request, np.array(document.integers, dtype=np.int64))
    reference = request.entry.simulated(request).certified.reference
    public: dict[str, float | int | str] = {"n": request.n, "epsilon": float(request.epsilon)}
    public |= {name: float(value) for name, value in request.settings.items()}
    return Release(outcome, Guarantee(float(request.epsilon), reference=reference), request.entry.label, public)


def posterior_of(document: ReleaseDocument) -> Dirichlets:
    """Return the private posterior (K,), from the integers. Errors: InputError for a MAP estimate, which has none."""
    return release_of(document).posterior


def loss_of(document: ReleaseDocument) -> Fraction:
    """Return the epsilon that the scale and the sensitivity of a document give, exactly."""
    noise = document.calibration
    sensitivity: int = document.told["noise"]["sensitivity"]
    return document.request.entry.least_scale(sensitivity, Fraction(1)) / noise.scale
