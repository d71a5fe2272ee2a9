"""A release: its epsilon is reserved, its noise is sampled, the ledger stores it, and then it is shown.

If the ledger names a signing key, a release is signed before the ledger stores it.
"""

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from dpbayes.base.amounts import amount_in
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.draws import OpenDPDraws
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.noise.exact import opendp
from dpbayes.model.counts import Counts
from dpbayes.model.dataset import Dataset
from dpbayes.releases import ledger
from dpbayes.releases.document.certificate import Composed, Provenance, time_text
from dpbayes.releases.document.document import document_bytes
from dpbayes.releases.document.request import AdaptiveRequest, Chargeable, ReleaseRequest, question_of
from dpbayes.releases.document.sampled import SampledSteps, SampledTables
from dpbayes.releases.signing import signed, signing_key
from dpbayes.sources.domains import DeclaredColumn

MOST_NAMED = 5
"""Columns that a refusal names."""


@dataclass(frozen=True)
class Published:
    """A release that may be shown: the row of its reservation in the ledger, and the bytes of its document."""

    row: int
    document: bytes


def require_declared(columns: Iterable[DeclaredColumn]) -> None:
    """Refuse domains that reveal records, because their states were read from them.

    Errors: InputError that names the columns in use with the same remedy.
    """
    domains = {column.name: column.domain for column in columns if column.use}
    if undeclared := [name for name, domain in domains.items() if domain is None]:
        raise InputError(f"No states are declared for {_columns(undeclared)}. Declare them on the Data page.")
    if read_off := [name for name, domain in domains.items() if domain and not domain.public]:
        raise InputError(
            f"The states of {_columns(read_off)} were read from the records, which leaks information. On the Data "
            "page, declare them from public knowledge, and tick them as known without the data."
        )


def _columns(names: Sequence[str]) -> str:
    listed = ", ".join(brief(name) for name in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"the column{'s' if len(names) > 1 else ''} {listed}{more}"


def shown_again(path: Path, request: Chargeable) -> Published | None:
    """Return the newest release of this request, which has no further cost; None if there is none."""
    spending = ledger.find(path, request.dataset, question_of(request))
    return None if spending is None else Published(spending.row, ledger.outcome(path, spending.row))


def publish(
    path: Path,
    request: ReleaseRequest,
    counts: Counts,
    *,
    after: int = 0,
) -> Published:
    """Make a release of a table's counts and charge it to its dataset in the ledger at `path`.

    A repeated request is refused unless `after` is the row of its newest release. Errors: InputError before anything
    is spent; `ledger.EpsilonLostError` if epsilon was spent and there is no release.
    """
    require_counts_of(request, counts)
    _ = request.calibrated  # an error here costs nothing
    return _charged(path, request, partial(drawn_document, request, counts), after=after)


def publish_adaptive(path: Path, request: AdaptiveRequest, data: Dataset, *, after: int = 0) -> Published:
    """Make an adaptive release of a table, which is charged before anything is sampled.

    The dataset's budget must be in rho, unless the plan is pure. `after` and errors are those of `publish`.
    """
    require_drawable(request, data)
    return _charged(path, request, partial(drawn_adaptive, request, data), after=after)


def _charged(path: Path, request: Chargeable, draw: Callable[[Composed], bytes], *, after: int) -> Published:
    key = signing_key(path)  # an error here costs nothing

    def drawn() -> bytes:
        document = draw(_composed_before(path, request))
        return document if key is None else signed(document, key)

    ledger.spend(path, request.dataset, request.cost, question_of(request), drawn, after=after)
    published = shown_again(path, request)
    assert published is not None, "it was released above, and no row is ever taken back"
    return published


def _composed_before(path: Path, request: Chargeable) -> Composed:
    """Return the releases of the dataset in the ledger without the reservation for this request.

    Reservations of others at the same time are counted too, so the sum may be too large but never too small.
    """
    account, spendings = ledger.account_of(path, request.dataset), ledger.spendings(path, request.dataset)
    before = sum(spending.cost for spending in spendings) - ledger.cost_of(account, request.cost)
    return Composed(len(spendings) - 1, amount_in(account.measure, before))


# Sampling


def drawn_document(
    request: ReleaseRequest,
    counts: Counts,
    composed: Composed,
    *,
    time: datetime | None = None,
) -> bytes:
    """Sample a release and return its document, the bytes of `release.json`. Each call samples new noise.

    The time is the present one by default. Errors: InputError, without information about the counts, if they do not
    match the request, if OpenDP is not installed, or if it does not confirm the calibration; then nothing was sampled.
    """
    require_counts_of(request, counts)
    drawn = provenance_at(time or datetime.now(UTC))
    calibration = request.calibrated
    integers = request.entry.draw(request, counts.values, calibration.scale)
    return document_bytes(SampledTables(request, calibration, integers), composed, drawn)


def drawn_adaptive(request: AdaptiveRequest, data: Dataset, composed: Composed) -> bytes:
    """Sample an adaptive release and return its document. Errors: those of `require_drawable`."""
    require_drawable(request, data)
    sampled = SampledSteps(request, carried_out(request.plan, data, OpenDPDraws()))
    return document_bytes(sampled, composed, provenance_at(datetime.now(UTC)))


def provenance_at(time: datetime) -> Provenance:
    """Return the time of sampling and the versions. Errors: InputError for a time without a time zone."""
    return Provenance(time_text(time), _version("dpbayes"), _version("opendp"), platform.python_version())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of a checkout"


# What is refused before anything is spent


def require_counts_of(request: ReleaseRequest, counts: Counts) -> None:
    """Refuse counts that are not of the request's network and number of records. Errors: InputError without a count."""
    network = request.network
    if counts.network != network:
        raise InputError("The counts and the request have different networks. Count the table again.")
    if counts.values.ndim != 1 or counts.values.dtype.kind != "i":
        raise InputError("A release needs the counts of one table, as integers.")
    tables = np.add.reduceat(counts.values, network.cell_offsets[:-1])
    if counts.n != request.n or (tables != request.n).any() or counts.values.min() < 0:
        raise InputError("The number of records differs from the request. Count the table again.")


def require_drawable(request: AdaptiveRequest, data: Dataset) -> None:
    """Refuse a table that does not match the request, and a computer without OpenDP.

    Errors: InputError, without information about the records.
    """
    if (data.names, data.states) != (request.columns.names, request.columns.states) or data.n != request.n:
        raise InputError("The columns or the number of records differ from the request.")
    opendp()
