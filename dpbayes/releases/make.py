"""Drawing a release: the only function here that sees a table's counts, and all that it hands on are integers."""

import platform
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from dpbayes.base.steps import Work, part_of
from dpbayes.base.validation import InputError
from dpbayes.model.counts import Counts
from dpbayes.releases.certificate import Composed, Provenance, time_text
from dpbayes.releases.document import written
from dpbayes.releases.request import ReleaseRequest


def drawing(request: ReleaseRequest, counts: Counts, composed_so_far: Composed, time: datetime) -> Work[bytes]:
    """Draw a release in steps and return its document, the bytes of `release.json`. Each time it is one of its own.

    It yields the shares that are done, never a part of what was drawn.
    Errors: InputError, which says nothing of the counts, where they are not those of the request, OpenDP is not
    installed, or it does not confirm the calibration; then nothing was drawn.
    """
    require_counts_of(request, counts)
    drawn = provenance_at(time)
    calibration = request.calibrated
    integers = yield from part_of(request.entry.draw(request, counts.values, calibration), 0, 1)
    return written(request, calibration, integers, composed_so_far, drawn)


def provenance_at(time: datetime) -> Provenance:
    """Return when and with what is drawn. Errors: InputError for a time without a time zone."""
    return Provenance(time_text(time), _version("dpbayes"), _version("opendp"), platform.python_version())


def require_counts_of(request: ReleaseRequest, counts: Counts) -> None:
    """Refuse counts that are not of the request's network and number of records. Errors: InputError without a count."""
    network = request.network
    if counts.network != network:
        raise InputError("The counts and the request have different networks. Count the table again.")
    if counts.values.ndim != 1 or counts.values.dtype.kind != "i":
        raise InputError("A release is of one table's counts, which are whole numbers.")
    cells = [
        counts.values[first:end] for first, end in zip(network.cell_offsets, network.cell_offsets[1:], strict=False)
    ]
    if counts.n != request.n or any(each.sum() != request.n or each.min() < 0 for each in cells):
        raise InputError("The table has not the number of records that the request states; count the table again.")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of a checkout"
