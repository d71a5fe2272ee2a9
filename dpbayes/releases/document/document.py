"""The document of a release of either kind, `release.json`, written and read. It contains all that is published."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpbayes.base.amounts import Amount, PrivacyMeasure, amount_in, measure_of, number_of
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.release import Release
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import (
    canonical,
    fraction,
    fraction_text,
    hash_of,
    read_canonical,
    require_shape,
)
from dpbayes.releases.document.certificate import Composed, Provenance, certificate_of, sentences_of
from dpbayes.releases.document.request import Chargeable
from dpbayes.releases.document.sampled import Sampled, SampledSteps, SampledTables

KINDS: Mapping[str, type[SampledTables] | type[SampledSteps]] = {
    "dpbayes release": SampledTables,
    "dpbayes adaptive release": SampledSteps,
}
"""What is sampled, by the format of the document."""

VERSION = 1

_SHAPE: Mapping[str, Any] = {
    "format": str,
    "version": int,
    "composed": {"releases": int, "epsilon?": str, "rho?": str},
    "drawn": dict.fromkeys(("time", "dpbayes", "opendp", "python"), str),
    "certificate": dict,
    "sentences": [str],
    "hash": str,
    "signer?": {"algorithm": str, "name": str, "public_key": str},
    "signature?": str,
}
"""The types of the fields of every document."""


@dataclass(frozen=True, eq=False)
class Document:
    """A document as read: what was sampled, the earlier releases, and the whole content as JSON has it."""

    sampled: Sampled
    composed: Composed
    drawn: Provenance
    content: Mapping[str, Any]

    @property
    def request(self) -> Chargeable:
        """The request."""
        return self.sampled.request

    @property
    def network(self) -> Network:
        """The released network."""
        return self.sampled.network

    @property
    def tables(self) -> Release[Any]:
        """The tables for a recipient. Errors: InputError if the number of integers is not that of the network."""
        return self.sampled.tables


def document_bytes(sampled: Sampled, composed: Composed, drawn: Provenance) -> bytes:
    """Return the bytes of a document."""
    content = content_of(sampled, composed, drawn)
    return canonical(content | {"hash": hash_of(content)})


def content_of(sampled: Sampled, composed: Composed, drawn: Provenance) -> dict[str, object]:
    """Return the content of a document without its hash, its signer and its signature."""
    form = next(form for form, kind in KINDS.items() if isinstance(sampled, kind))
    spent = fraction_text(number_of(composed.spent))
    return {
        "format": form,
        "version": VERSION,
        "request": sampled.request.content,
        "composed": {"releases": composed.releases, measure_of(composed.spent).value: spent},
        "drawn": vars(drawn),
        **sampled.fields,
        "certificate": certificate_of(sampled, composed, drawn),
        "sentences": sentences_of(sampled, composed),
    }


def read_document(data: bytes) -> Document:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
    """
    content = read_canonical(data)
    kind = KINDS.get(str(content.get("format"))) if isinstance(content, dict) else None
    if not isinstance(content, dict) or kind is None:
        raise InputError(f"This file is not a release: its format is none of {', '.join(KINDS)}.")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(f"The release has version {brief(version)}; this program reads version {VERSION}.")
    require_shape("The release", content, {**_SHAPE, **kind.SHAPE})
    sampled = kind.from_content(content)
    if sampled.request.content != content["request"]:
        raise InputError("The request in the release is not in canonical form.")
    composed = _composed_from(content["composed"], sampled.request.cost)
    return Document(sampled, composed, Provenance(**content["drawn"]), content)


def _composed_from(content: Mapping[str, Any], cost: Amount) -> Composed:
    """Return the earlier releases from JSON, before a release of this cost. Errors: InputError."""
    if len(content) != 2:
        raise InputError("The earlier releases must have a sum in either epsilon or rho.")
    measure = PrivacyMeasure.RHO if PrivacyMeasure.RHO.value in content else PrivacyMeasure.EPSILON
    spent = amount_in(measure, fraction(f"The {measure.value} so far", content[measure.value]))
    composed = Composed(content["releases"], spent)
    composed.after(cost)
    return composed
