"""Making a release: its epsilon is reserved, its noise is drawn, the ledger keeps it, and only then is it shown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dpbayes.base.steps import Partial
from dpbayes.base.validation import InputError, brief
from dpbayes.model.counts import Counts
from dpbayes.releases import ledger
from dpbayes.releases.certificate import Composed
from dpbayes.releases.make import drawing
from dpbayes.releases.request import ReleaseRequest
from dpbayes.sources.columns import DropRecord
from dpbayes.sources.domains import DeclaredColumn


@dataclass(frozen=True)
class Published:
    """A release that may be shown: the row of its reservation in the ledger, and the bytes of `release.json`."""

    row: int
    document: bytes


def require_declared(columns: Iterable[DeclaredColumn]) -> None:
    """Refuse domains that betray records: read off them, or such that the number of records depends on them.

    Errors: InputError that names the first such column in use.
    """
    for column in columns:
        if not column.use:
            continue
        if column.domain is None:
            raise InputError(f"Nothing is declared of the column {brief(column.name)}; declare its states.")
        if not column.domain.public:
            raise InputError(
                f"The states of the column {brief(column.name)} are marked as read off the records, which a release "
                "would betray; declare them from what is known without the table, and say that they are public."
            )
        if isinstance(column.domain.missing, DropRecord):
            raise InputError(
                f"Records without a value of {brief(column.name)} are dropped, so that the number of records depends "
                "on them, which a release takes for public; make missing values a state of their own."
            )


def shown_again(path: Path, request: ReleaseRequest) -> Published | None:
    """Return the newest release of this very request, which costs nothing more; None if there is none."""
    spending = ledger.find(path, request.dataset, request.question)
    return None if spending is None else Published(spending.row, ledger.outcome(path, spending.row))


def publish(
    path: Path,
    request: ReleaseRequest,
    counts: Counts,
    *,
    after: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Published:
    """Make a release of a table's counts and charge it to its dataset in the ledger at `path`.

    A request that was made before is refused, but as the next one `after` the row of the newest that the person has
    seen. Errors: InputError before anything is spent; `ledger.EpsilonLostError` once it is and there is nothing to
    show.
    """

    def draw() -> bytes:
        work = drawing(request, counts, _composed_before(path, request), datetime.now(UTC))
        while True:
            try:
                step = next(work)
            except StopIteration as done:
                document: bytes = done.value
                return document
            progress(step.share if isinstance(step, Partial) else step)

    request.entry.calibrated(request.sensitivity.value, request.epsilon)  # what cannot be drawn here costs nothing
    if after:
        ledger.spend_again(path, request.dataset, request.epsilon, request.question, draw, after=after)
    else:
        ledger.spend(path, request.dataset, request.epsilon, request.question, draw)
    published = shown_again(path, request)
    assert published is not None, "it was released above, and no row is ever taken back"
    return published


def _composed_before(path: Path, request: ReleaseRequest) -> Composed:
    """What the ledger has of the dataset besides the reservation for this request, which is among its rows by now.

    What others reserve at the same moment is counted too: too much rather than too little.
    """
    spendings = ledger.spendings(path, request.dataset)
    total = sum(spending.epsilon for spending in spendings) - request.epsilon
    return Composed(len(spendings) - 1, total)
