"""The document of a release of either kind, `release.json`, written and read. It contains all that is published.

Its certificate answers the questions of NIST SP 800-226 (March 2025) about a guarantee of differential privacy, with
the guarantee, its conditions and its limits. All texts follow from the other fields of the document, so each reader can
compute and compare them.
"""

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import distributions
from typing import Any

from dpbayes.base.amounts import (
    Amount,
    EpsilonDelta,
    PrivacyMeasure,
    Rho,
    amount_in,
    amount_text,
    cost_in,
    measure_of,
    number_of,
)
from dpbayes.base.privacy import Neighbours
from dpbayes.base.text import numeral_above
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.mechanisms.release import Release
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import (
    canonical,
    fraction,
    fraction_text,
    hash_of,
    one_line,
    read_canonical,
    require_shape,
)
from dpbayes.releases.document.request import AdaptiveRequest, Chargeable
from dpbayes.releases.document.sampled import Sampled, SampledSteps, SampledTables

MOST_RELEASES = 10**9

_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Composed:
    """The earlier releases of the dataset: their number, and the exact sum of their costs.

    `spent` is in the measure of the dataset's budget: an epsilon, or a rho that includes the rho of pure releases.
    """

    releases: int = 0
    spent: Amount = Fraction(0)

    def __post_init__(self) -> None:
        whole_number("The number of releases so far", self.releases, low=0, high=MOST_RELEASES)
        number = number_of(self.spent)
        if not isinstance(number, Fraction) or number < 0 or bool(self.releases) != bool(number):
            raise InputError(
                f"The {measure_of(self.spent).value} of all earlier releases together must be a fraction above 0, or "
                "0 if there are no earlier releases."
            )

    def after(self, cost: Amount) -> Amount:
        """Return the sum after a release of this cost. Errors: InputError for a rho and a budget in pure epsilon."""
        measure = measure_of(self.spent)
        own = cost_in(measure, cost)
        if own is None:
            raise InputError("A release with a guarantee in rho needs a dataset with a budget in rho.")
        return amount_in(measure, number_of(self.spent) + own)


@dataclass(frozen=True)
class Provenance:
    """The time of sampling, the versions of the software, and what the curator states to have `looked` at before."""

    time: str
    dpbayes: str
    opendp: str
    python: str
    looked: str = ""

    def __post_init__(self) -> None:
        try:
            moment = datetime.strptime(self.time, _TIME)
        except ValueError:
            moment = None
        if moment is None or moment.strftime(_TIME) != self.time:
            raise InputError("The time of a release must have the form 2026-03-31T12:00:00Z.")
        if self.looked:
            one_line("What the curator looked at", self.looked)

    @classmethod
    def at(cls, time: datetime, looked: str = "") -> "Provenance":
        """Return a time, in UTC to the second, and the versions here. Errors: InputError without a time zone."""
        if time.tzinfo is None:
            raise InputError("The time of a release needs a time zone.")
        text = time.astimezone(UTC).strftime(_TIME)
        dpbayes, opendp = (
            next((package.version for package in distributions(name=name)), "(source code)")
            for name in ("dpbayes", "opendp")
        )
        return cls(text, dpbayes, opendp, platform.python_version(), looked)


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
    "drawn": dict.fromkeys(("time", "dpbayes", "opendp", "python", "looked?"), str),
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
    spent, fields = fraction_text(number_of(composed.spent)), dict(vars(drawn))
    if not drawn.looked:
        del fields["looked"]
    return {
        "format": next(form for form, kind in KINDS.items() if isinstance(sampled, kind)),
        "version": VERSION,
        "request": sampled.request.content,
        "composed": {"releases": composed.releases, measure_of(composed.spent).value: spent},
        "drawn": fields,
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


# The certificate, and four sentences

_WEAK = 10
"""From this epsilon on, a guarantee protects almost nothing: odds may change by a factor of 22,000."""

UNIT = "One record: all that the table says of one person, or of one unit that a row stands for."
NEIGHBOURS = f"Replace one: {Neighbours.REPLACE_ONE.value}."
CHOSEN = "if it was made after looking at the records, it may reveal them."
DECLARED = "the curator states that anyone could list them without the records."
READ_CUTS = "the records to choose cut points"
"""What the curator `looked` at before a release with cut points that come from the records."""

EXCEPT_CUTS = DECLARED[:-1] + ", except cut points, which come from the records and may reveal them."
TRUST = (
    "Central model: the curator holds the records, and is trusted with them and with sampling once. No reader of this "
    "file needs to be trusted."
)
"""Sentences of the certificates of all releases."""

NO_MISSING = "The request states no rule for missing values: the table has none."
MISSING_RULE = (
    "A missing value counts as the state that the request states for its column, which may be a state of missing "
    "values alone. This rule looks at one record alone, so tables that differ in one record still differ in at "
    "most one, and the guarantee is the same."
)
"""The states that missing values count as, and why the guarantee holds."""


def certificate_of(sampled: Sampled, composed: Composed, drawn: Provenance) -> dict[str, object]:
    """Return the certificate as names and texts; `not_covered` is a list of sentences."""
    looked = [f"Before the release, the curator looked at {drawn.looked}."] * bool(drawn.looked)
    return {
        "unit": UNIT,
        "neighbours": NEIGHBOURS,
        **_promise(sampled.request),
        "composed": _composed(sampled.request, composed),
        "trust": TRUST,
        "noise": sampled.noise,
        "drawn": (
            f"OpenDP {drawn.opendp} sampled the noise from the operating system's randomness, after its own "
            "calculation had confirmed the privacy loss. OpenDP publishes proofs of these functions, and has not yet "
            "reviewed all of the proofs."
        ),
        "made_with": f"dpbayes {drawn.dpbayes}, OpenDP {drawn.opendp}, Python {drawn.python}; {drawn.time}.",
        "missing_values": MISSING_RULE if sampled.request.missing else NO_MISSING,
        "not_covered": [*_choices_of(sampled.request, drawn), *looked, *NEVER_COVERED],
    }


def _promise(request: Chargeable) -> dict[str, object]:
    cost = request.cost
    if isinstance(cost, Rho):
        return {
            "rho": fraction_text(cost.value),
            "promise": (
                f"Zero-concentrated: whatever else is known, the Rényi divergence of every order alpha above 1 is at "
                f"most {amount_text(cost.value)} alpha when one record is replaced by any other that the declared "
                f"states allow. No event becomes more than {_factor_text(likely_loss(cost))} times as likely, except "
                f"for a part of it with a probability of at most one in a million.{_stated(request.stated)}"
            ),
        }
    return {
        "epsilon": fraction_text(cost),
        "delta": "0/1",
        "promise": (
            f"Whatever else is known, no event becomes more than exp({amount_text(cost)}) times as likely because one "
            "record is replaced by any other that the declared states allow."
        ),
    }


def _stated(stated: EpsilonDelta | None) -> str:
    if stated is None:
        return ""
    epsilon, delta = amount_text(stated.epsilon), amount_text(stated.delta)
    return (
        f" The request states epsilon {epsilon} at delta {delta}, which this rho implies: no event becomes more than "
        f"exp({epsilon}) times as likely, except for an addition of {delta}. The rho is charged."
    )


def _composed(request: Chargeable, composed: Composed) -> str:
    """Return a sentence on all releases of the dataset, this one included."""
    total, number = composed.after(request.cost), composed.releases + 1
    spent = f"{measure_of(total).value} {amount_text(number_of(total))}"
    if number == 1:
        return f"This is the first release of this dataset, which has spent {spent}."
    return (
        f"This is release {number:,} of this dataset. All {number:,} releases together have spent "
        f"{spent}. From all of them, a reader {_odds(total)}."
    )


NEVER_COVERED = (
    "The time that sampling took, which somebody with access to the curator's machine might measure.",
    "A person with several records in the table, and linked records, as those of one household: the guarantee is for "
    "one record.",
    "What else is published about the same people: by themselves, by others, or from another dataset.",
    "Facts about the whole population: readers may learn them, and apply them to people inside and outside the table.",
)
"""What the guarantee of no release covers."""


def _choices_of(request: Chargeable, drawn: Provenance) -> list[str]:
    """Return sentences on the curator's choices, which the guarantee does not cover."""
    n = f"The number of records, {request.n:,}, is public"
    states = EXCEPT_CUTS if READ_CUTS in drawn.looked else DECLARED
    if isinstance(request, AdaptiveRequest):
        return [f"The choice of epsilon: {CHOSEN}", f"The columns and their states: {states}", f"{n}."]
    public = "so are the prior and the prices of the noise" if request.prices else "so is the prior"
    return [
        f"The choice of epsilon, the graph and the prior: {CHOSEN}",
        f"The states of the nodes: {states}",
        f"{n}, and {public}.",
    ]


def sentences_of(sampled: Sampled, composed: Composed) -> list[str]:
    """Return sentences on the content, the guarantee, the spent budget, and the accuracy."""
    request = sampled.request
    return [
        sampled.described,
        f"A reader of this file {_odds(request.cost)}.",
        _composed(request, composed),
        sampled.accuracy,
    ]


def _odds(amount: Amount) -> str:
    """Return what a reader can learn at an epsilon or a rho, as the rest of a sentence."""
    loss = likely_loss(amount)
    if loss >= _WEAK:
        return f"may learn nearly all of any one record, because this {measure_of(amount).value} hides next to nothing"
    rarely = ", except in one release in a million" if isinstance(amount, Rho) else ""
    most = numeral_above(math.exp(loss))
    return f"can change their odds on a record that is independent of the others by a factor of at most {most}{rarely}"


def _factor_text(loss: float) -> str:
    return f"exp({numeral_above(loss)})" if loss >= _WEAK else numeral_above(math.exp(loss))


_RARE = 1e-6
"""The probability with which a reader may learn more than a sentence on a rho states."""


def likely_loss(amount: Amount) -> float:
    """Return the largest loss at an epsilon; at a rho, a loss that is exceeded once in a million at most.

    The latter is rho + 2 sqrt(rho ln 1/_RARE), [Bun16] Proposition 1.3. It bounds the loss itself. So it holds for each
    release, also for a reader who knows only a distribution of the other records, because the divergence of mixtures of
    neighbours is no larger.
    """
    number = float(number_of(amount))
    return number + 2 * math.sqrt(number * -math.log(_RARE)) if isinstance(amount, Rho) else number
