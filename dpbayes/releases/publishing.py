"""A release: its epsilon is reserved, its noise is sampled, the ledger stores it, and then it is shown.

If the ledger names a signing key, a release is signed before the ledger stores it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpbayes.base.amounts import amount_in, measure_of
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.draws import OpenDPDraws
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.exact_form import opendp
from dpbayes.model.dataset import Counts, Dataset
from dpbayes.releases import ledger
from dpbayes.releases.document.document import Composed, Provenance, document_bytes
from dpbayes.releases.document.request import AdaptiveRequest, Chargeable, ReleaseRequest, question_of
from dpbayes.releases.document.sampled import SampledSteps, SampledTables
from dpbayes.releases.signing import named_keys, signed, signing_key
from dpbayes.sources.columns import Column, code_of_missing


@dataclass(frozen=True)
class Published:
    """A release that may be shown: the row of its reservation in the ledger, and the bytes of its document."""

    row: int
    document: bytes


def states_of_missing(columns: Iterable[Column]) -> dict[str, str]:
    """Return, by column, the state that a missing value counts as."""
    return {column.name: column.domain[code_of_missing(column)] for column in columns}


def require_public(columns: Iterable[Column]) -> None:
    """Refuse domains that reveal records, because their states were read from them. Errors: InputError."""
    if read_off := [brief(column.name) for column in columns if not column.public]:
        listed = f"{', '.join(read_off[:5])}{' and others' * (len(read_off) > 5)}"
        raise InputError(
            f"The values of the column{'s' * (len(read_off) > 1)} {listed} were read from the records and can reveal "
            "them. On Data, confirm that anyone could list them without the records, or type others."
        )


# Charging


def shown_again(path: Path, request: Chargeable) -> Published | None:
    """Return the newest release of this request, which has no further cost; None if there is none."""
    newest = ledger.read_books(path).newest(request.dataset, question_of(request))
    return None if newest is None else Published(newest.row, ledger.outcome(path, newest.row))


def publish(path: Path, request: Chargeable, data: Counts | Dataset, *, after: int = 0, looked: str = "") -> Published:
    """Make a release and charge it to its dataset in the ledger at `path`, before anything is sampled.

    An adaptive request needs the table, another one its counts. A repeated request is refused unless `after` is the row
    of its newest reservation. The dataset's budget must be in rho if the request is. Errors: InputError before anything
    is spent; `ledger.EpsilonLostError` if epsilon was spent and there is no release.
    """
    require_drawable(request, data)
    key = signing_key(path)  # an error here costs nothing

    def sampled() -> bytes:
        books = ledger.read_books(path)
        account, spendings = books.account(request.dataset), books.of(request.dataset)
        # Reservations of others at the same time are counted too: the sum may be too large, but never too small.
        before = sum(spending.cost for spending in spendings) - account.cost_of(request.cost)
        composed = Composed(len(spendings) - 1, amount_in(account.measure, before))
        document = drawn_document(request, data, composed, Provenance.at(datetime.now(UTC), looked))
        return document if key is None else signed(document, key)

    release = ledger.spend(path, request.dataset, request.cost, question_of(request), sampled, after=after)
    assert release.reservation is not None, "a release closes its reservation"
    return Published(release.reservation, ledger.outcome(path, release.reservation))


def publish_once(
    path: Path, request: Chargeable, data: Counts | Dataset, *, again: bool = False
) -> tuple[Published, bool]:
    """Return the release of this request, and whether it is new: the earlier one, unless `again` or there is none.

    Errors: those of `publish`.
    """
    published = None if again else shown_again(path, request)
    if published is not None:
        return published, False
    past = ledger.read_books(path).on(request.dataset, question_of(request)) if again else ()
    return publish(path, request, data, after=past[-1].row if past else 0), True


def unsigned_note(path: Path, document: bytes) -> str:
    """Return a sentence about an earlier release that the ledger's later key did not sign; "" for others.

    The document stays as it is: another one would not be the one that the ledger contains.
    """
    if "signature" in json.loads(document) or not named_keys(path):
        return ""
    return (
        "This release is not signed, because it is older than the ledger's signing key. Publish it without a "
        "signature, or make a new release, which is signed and charged again: --again, or again=True in Python."
    )


# Sampling


def drawn_document(
    request: Chargeable, data: Counts | Dataset, composed: Composed | None = None, drawn: Provenance | None = None
) -> bytes:
    """Sample a release and return its document, the bytes of `release.json`. Each call samples new noise.

    Without `composed`, it is the first release of its dataset. `drawn` is by default the present. Errors: those of
    `require_drawable`; then nothing was sampled.
    """
    require_drawable(request, data)
    drawn = drawn or Provenance.at(datetime.now(UTC))
    composed = composed or Composed(0, amount_in(measure_of(request.cost), Fraction(0)))
    if isinstance(request, AdaptiveRequest):
        assert isinstance(data, Dataset)
        steps = SampledSteps(request, carried_out(request.plan, data, OpenDPDraws()))
        return document_bytes(steps, composed, drawn)
    assert isinstance(data, Counts)
    integers = request.entry.draw(request, data.values, request.calibrated.scale)
    return document_bytes(SampledTables(request, request.calibrated, integers), composed, drawn)


# What is refused before anything is spent


def require_drawable(request: Chargeable, data: Counts | Dataset) -> None:
    """Refuse data that do not match the request, and noise that OpenDP does not confirm or cannot sample here.

    Errors: InputError, without information about the records, except that a prior has at least their counts.
    """
    if isinstance(request, AdaptiveRequest):
        columns = request.columns
        if not isinstance(data, Dataset) or (data.names, data.states, data.n) != (
            columns.names,
            columns.states,
            request.n,
        ):
            raise InputError("The columns or the number of records differ from the request.")
        opendp()
    else:
        _require_counts_of(request, data)
        _ = request.calibrated


def _require_counts_of(request: ReleaseRequest, counts: Counts | Dataset) -> None:
    """Refuse counts that are not of the request's network and number of records, and a prior that contains them."""
    network = request.network
    if not isinstance(counts, Counts) or counts.network != network:
        raise InputError("The counts and the request have different networks. Count the table again.")
    if counts.values.ndim != 1 or counts.values.dtype.kind != "i":
        raise InputError("A release needs the counts of one table, as integers.")
    tables = np.add.reduceat(counts.values, network.cell_offsets[:-1])
    if counts.n != request.n or (tables != request.n).any() or counts.values.min() < 0:
        raise InputError("The number of records differs from the request. Count the table again.")
    alpha, starts = request.dirichlets.alpha, network.cell_offsets[:-1]
    is_rule = (np.maximum.reduceat(alpha, starts) == np.minimum.reduceat(alpha, starts)).all()
    if counts.n >= _LEAST_OF_POSTERIOR and not is_rule and (alpha >= counts.values).all():
        raise InputError(
            "The prior has at least the table's count in every cell, as a posterior of this table has, and a release "
            "publishes its prior. Give the prior from before the records."
        )


_LEAST_OF_POSTERIOR = 20
"""The least number of records for which a prior is compared with the counts: a usual prior may exceed smaller ones."""
