"""The verification of a release from its bytes, without its data and without the ledger.

The checks compare the document with itself and with the mathematics. Only the curator's ledger can confirm the
integers, the time and the earlier releases, because anyone can write a document with other integers and their hashes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from os import PathLike
from typing import Any, Protocol

import numpy as np

from dpbayes.audit.registry import audit
from dpbayes.audit.report import SLACK, AuditReport
from dpbayes.base.amounts import Amount, Rho, amount_text, measure_of, number_of
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.choices import SENSITIVITY, PairChoice
from dpbayes.mechanisms.adaptive.draws import confirmed_choice, confirmed_noise, scale_at
from dpbayes.mechanisms.adaptive.process import Measurement, Process, require_course
from dpbayes.mechanisms.exact_form import REACH, opendp
from dpbayes.releases.document.canonical import hash_of
from dpbayes.releases.document.document import Document, content_of, read_document
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.document.sampled import SampledSteps, SampledTables
from dpbayes.releases.signing import NOT_SIGNED, PublicKey, read_public_key, signature_error, signer_from
from dpbayes.sources.files import read_file

MOST_AUDITED = 20_000
"""The largest number of cells of a network for which the audit is run."""

NO_OPENDP = 'The privacy map was not recomputed: OpenDP is not installed here: pip install "dpbayes[release]".'
"""The sentence about a check that was left out."""

_LITTLE = Fraction(1, 2**40)
"""The relative excess that a scale may have, because it is rounded up to a double that OpenDP confirms."""


@dataclass(frozen=True)
class Check:
    """One check: its name, whether it holds, and a sentence on its result."""

    name: str
    holds: bool
    sentence: str


@dataclass(frozen=True, repr=False)
class Verification:
    """The checks of a release, and sentences on the checks that were left out."""

    checks: tuple[Check, ...]
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all checks hold."""
        return all(check.holds for check in self.checks)

    def __repr__(self) -> str:
        lines = [f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.sentence}" for check in self.checks]
        title = "All checks hold" if self.holds else "Not all checks hold"
        return "\n  ".join([title, *lines, *(f"  -    {sentence}" for sentence in self.left_out)])


def verify(
    release: "HasDocument | bytes | str | PathLike[str]", key: PublicKey | bytes | str | PathLike[str] | None = None
) -> Verification:
    """Check a release against itself and the mathematics: hash, noise, guarantee, certificate, audit and signature.

    A file of another kind fails the first check, which states the reason. Without a key, a signature is compared with
    the key that the file names, and a missing signature is reported.

    Args:
        release: The release, the path of its file, or its bytes.
        key: The public key with which the release must be signed: the file of the key, such as key.pem, or its text.

    Returns:
        The checks; `holds` is whether all hold.

    Raises:
        InputError: A file cannot be read, or the key is not a public key.

    Example:
        >>> dp.verify(b"{}").holds
        False
    """
    data = contents_of(release)
    if key is not None and not isinstance(key, PublicKey):
        is_text = isinstance(key, bytes) or "-----BEGIN" in str(key)
        named = "This key" if is_text else f"The file {brief(str(key), 200)}"
        key = read_public_key(key.encode() if is_text and isinstance(key, str) else contents_of(key), named)
    try:
        document = read_document(data)
    except InputError as error:
        return Verification((_fails("form", str(error)),))
    checks = [_holds("form", "The file is a release in canonical form and in a supported version.")]
    left_out: list[str] = []
    sampled = document.sampled
    own = _checked_steps(sampled) if isinstance(sampled, SampledSteps) else _checked_tables(sampled, document)
    for said in (_hash(document.content), *own, _texts(document), _signature(document.content, key)):
        if isinstance(said, Check):
            checks.append(said)
        else:
            left_out.append(said)
    return Verification(tuple(checks), tuple(left_out))


def verified(data: bytes) -> Document:
    """Return the document of a release. Errors: InputError with the first check that fails."""
    if failures := [check.sentence for check in verify(data).checks if not check.holds]:
        raise InputError(f"The release does not verify: {failures[0]}")
    return read_document(data)


class HasDocument(Protocol):
    """A release that has the bytes of its document."""

    @property
    def document(self) -> bytes:
        """The bytes of release.json."""


def contents_of(release: HasDocument | bytes | str | PathLike[str]) -> bytes:
    """Return the bytes of a release, of a file or as given. Errors: InputError for a file that cannot be read."""
    if isinstance(release, bytes):
        return release
    if not isinstance(release, str | PathLike):
        if not hasattr(release, "document"):
            kind = brief(type(release).__name__)
            raise InputError(
                f"release must be a real release, its file or its bytes, not {kind}: dp.release makes one."
            )
        return release.document
    return read_file(release)


def _signature(content: Mapping[str, Any], key: PublicKey | None) -> Check | str:
    """Return whether a document is signed by its signer, and with a given key."""
    if key is None and "signer" not in content and "signature" not in content:
        return NOT_SIGNED
    try:
        error = signature_error(content, key)
    except InputError as refusal:
        said = f"The signature was not checked. {refusal}"
        return said if key is None else _fails("signature", said)
    if error:
        return _fails("signature", error)
    signer = signer_from(content["signer"])
    if key is not None:
        return _holds("signature", f"{signer} signed this file, with the given key.")
    return _holds(
        "signature",
        f"{signer} signed this file, by the key in the file. Only verify --key confirms that the key is the signer's.",
    )


def _hash(content: Mapping[str, Any]) -> Check:
    if content["hash"] != hash_of(content):
        return _fails("hash", "The hash does not match the content.")
    return _holds("hash", "The hash matches the content.")


def _texts(document: Document) -> Check:
    """Compare every field that follows from the request and from what was sampled."""
    again = content_of(document.sampled, document.composed, document.drawn)
    wrong = [name for name, value in again.items() if document.content[name] != value]
    if wrong:
        return _fails("certificate", f"The field {wrong[0]} does not match the numbers.")
    return _holds("certificate", "The certificate and its four sentences match the numbers.")


def _holds(name: str, sentence: str) -> Check:
    return Check(name, holds=True, sentence=sentence)


def _fails(name: str, sentence: str) -> Check:
    return Check(name, holds=False, sentence=sentence)


# An adaptive release


def _checked_steps(sampled: SampledSteps) -> Iterator[Check | str]:
    measurements = _measurements(sampled)
    yield _course(sampled)
    yield _step_integers(measurements)
    yield _cost_of_all(sampled)
    yield _steps_by_opendp(sampled, {cost for costs, _, _ in measurements for cost in costs})


def _course(sampled: SampledSteps) -> Check:
    request = sampled.request
    try:
        require_course(request.plan, Process.start(request.plan, request.columns, request.n), sampled.process.events)
    except InputError as error:
        return _fails("steps", str(error))
    return _holds(
        "steps",
        "Each choice has the plan's cost and the candidates that earlier steps leave, and each measurement has the "
        "chosen graph and is within its share.",
    )


_Measured = tuple[list[Amount], FloatArray, FloatArray]
"""Of one measurement: the cost of a change by one of each number, the number's largest value, and the integers."""


def _measurements(sampled: SampledSteps) -> list[_Measured]:
    request = sampled.request
    process, parts = Process.start(request.plan, request.columns, request.n), list[_Measured]()
    for event in sampled.process.events:
        if isinstance(event, Measurement):
            before, prices = process.measured_over(event.parents), np.array(event.prices, dtype=np.int64)
            parts.append((before.moves(prices), before.largest(prices), np.array(event.integers, dtype=np.float64)))
        process = process.after(event)
    return parts


def _step_integers(measurements: Sequence[_Measured]) -> Check:
    """Check that noise of its scale, added to a count or a residual, can give each integer."""
    if all(
        np.all(np.abs(integers) <= largest + REACH * np.array([scale_at(cost) for cost in costs]))
        for costs, largest, integers in measurements
    ):
        return _holds("integers", "All integers are in the possible range for noise of their scale.")
    return _fails("integers", "An integer is outside the possible range for noise of its scale.")


def _cost_of_all(sampled: SampledSteps) -> Check:
    plan, name = sampled.request.plan, sampled.request.plan.measure.value
    with suppress(InputError):  # prices of a changed document that no machine's whole number holds
        if sampled.process.cost <= plan.total:
            return _holds(name, f"All steps, recomputed, cost at most the stated {name} of {amount_text(plan.total)}.")
    return _fails(name, f"All prices and choices together cost more than the stated {name}.")


def _steps_by_opendp(sampled: SampledSteps, noise: Iterable[Amount]) -> Check | str:
    """Check that OpenDP confirms the cost of each choice and of each number's noise."""
    name = sampled.request.plan.measure.value
    try:
        opendp()
    except InputError:
        return NO_OPENDP
    try:
        for cost in noise:
            confirmed_noise(cost)
        for cost in {event.cost for event in sampled.process.events if isinstance(event, PairChoice)}:
            confirmed_choice(SENSITIVITY, cost)
    except InputError:
        return _fails("OpenDP", f"OpenDP's privacy map returns more than the stated {name} of a step.")
    return _holds("OpenDP", f"OpenDP's privacy map, recomputed, confirms the {name} of each step.")


# A release of tables


def _checked_tables(sampled: SampledTables, document: Document) -> Iterator[Check | str]:
    request, stated = sampled.request, document.content["noise"]["sensitivity"]
    yield _sensitivity(request, stated)
    yield _loss(request, request.entry.noise.loss(stated, sampled.calibration.scale))
    yield _integers(sampled)
    yield _map(sampled, document.drawn.opendp)
    yield _audit(request)


def _sensitivity(request: ReleaseRequest, stated: int) -> Check:
    proved = request.sensitivity
    if stated != proved.value:
        return _fails("sensitivity", f"The stated sensitivity is {stated:,}; that of the network is {proved.value:,}.")
    where = "the network and the prices" if request.prices else "the network"
    return _holds("sensitivity", f"The sensitivity of {proved.of} is {stated:,}, recomputed from {where}.")


def _loss(request: ReleaseRequest, loss: Fraction) -> Check:
    promised, name = number_of(request.cost), measure_of(request.cost).value
    if loss > promised:
        sentence = f"At this scale and sensitivity {name} is {numeral(float(loss), 12)}, more than stated."
        return _fails(name, sentence)
    if loss < promised * (1 - _LITTLE):
        return _fails(name, f"The scale is larger than the stated {name} needs.")
    how, rounding = ("exactly", "") if loss == promised else ("at most", ", and less only by rounding")
    return _holds(name, f"Scale and sensitivity give {how} the stated {name} of {amount_text(promised)}{rounding}.")


def _integers(sampled: SampledTables) -> Check:
    request, integers = sampled.request, sampled.integers
    number = request.entry.length(request)
    if len(integers) != number:
        return _fails("integers", f"The file has {len(integers):,} integers; the network needs {number:,}.")
    low, high = request.entry.span(request, sampled.calibration.scale)
    if min(integers) < low or max(integers) > high:
        return _fails("integers", f"An integer is outside [{low:,}, {high:,}], the range for noise of this scale.")
    return _holds(
        "integers", f"The file has the {number:,} integers that the network needs, all in the possible range."
    )


def _map(sampled: SampledTables, opendp_named: str) -> Check | str:
    request, said = sampled.request, sampled.calibration
    allowed, name = request.entry.noise.allowed(number_of(request.cost)), measure_of(request.cost).value
    if said.answer > allowed:
        return _fails("OpenDP", f"The recorded result of OpenDP's privacy map is more than the stated {name}.")
    try:
        answer = Fraction(request.entry.answer(request, float(said.scale)))
    except InputError:
        return NO_OPENDP
    if answer > allowed:
        return _fails("OpenDP", f"OpenDP's privacy map returns more than the stated {name}.")
    if answer != said.answer:  # for any version: a result that cannot be confirmed is not accepted
        versions = f"OpenDP {version('opendp')} gives, and the file names OpenDP {opendp_named}"
        return _fails("OpenDP", f"The recorded result of OpenDP's privacy map is not the one that {versions}.")
    return _holds("OpenDP", f"OpenDP's privacy map, recomputed, confirms the stated {name}.")


def _audit(request: ReleaseRequest) -> Check | str:
    if request.network.cell_count > MOST_AUDITED:
        return f"There was no audit: the network has more than {MOST_AUDITED:,} cells."
    try:
        report = audit(request.entry.simulated(request), n=request.n, epsilons=[])
    except InputError as error:
        return f"There was no audit: {error}"
    if isinstance(request.cost, Rho):
        return _audited_at_delta(report)
    loss, epsilon = report.exact, float(request.epsilon)
    if loss > epsilon * (1 + SLACK):
        return _fails("audit", f"The audit finds a loss of {numeral(loss, 6)}, more than stated.")
    is_exact = report.at_least >= loss * (1 - SLACK)
    what = "The worst-case privacy loss is" if is_exact else "The worst-case privacy loss is at most"
    return _holds("audit", f"{what} {numeral(loss, 6)}, by the audit of this mechanism with these parameters.")


def _audited_at_delta(report: AuditReport) -> Check:
    """Compare the epsilon of a rho at a small delta with the epsilon of the worst pair."""
    promised, needed = report.certified, numeral(report.needed, 6)
    at_delta = f"at delta {numeral(promised.delta)}"
    if report.needed > promised.epsilon * (1 + SLACK):
        return _fails("audit", f"The audit finds a loss of {needed} {at_delta}, more than the stated rho allows.")
    return _holds("audit", f"The worst-case privacy loss by the audit is {needed} {at_delta}, within the stated rho.")
