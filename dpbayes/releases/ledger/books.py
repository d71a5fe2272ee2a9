"""The accounts that follow from the rows of a ledger, and the checks of the rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from dpbayes.base.amounts import Amount, PrivacyMeasure, cost_in
from dpbayes.releases.ledger.events import IN_RHO, NO_HASH, BrokenLedgerError, Event, EventKind, seal, values_of


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget of one dataset and its use; all amounts are exact, in the measure of the budget.

    `released` is the cost of releases, and `reserved` that of reservations without a release. The latter is not given
    back, because the sampled result is not known.
    """

    dataset: str
    n: int | None
    budget: Fraction
    measure: PrivacyMeasure = PrivacyMeasure.EPSILON
    released: Fraction = Fraction(0)
    reserved: Fraction = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """The cost of releases, and of reservations without a release."""
        return self.released + self.reserved

    @property
    def left(self) -> Fraction:
        """The remaining budget."""
        return self.budget - self.spent


@dataclass(frozen=True)
class Spending:
    """A reservation and its result: `closing` is its release, its failure, or None if there is neither.

    `measure` is the measure of the dataset's budget.
    """

    reservation: Event
    closing: Event | None = None
    measure: PrivacyMeasure = PrivacyMeasure.EPSILON

    @property
    def row(self) -> int:
        """The row of the reservation, which identifies it."""
        return self.reservation.row

    @property
    def amount(self) -> Amount:
        """The cost as stated in the request: an epsilon or a rho."""
        return self.reservation.spent

    @property
    def cost(self) -> Fraction:
        """The cost in the measure of the budget."""
        return cost_in(self.measure, self.amount) or Fraction(0)

    @property
    def release(self) -> Event | None:
        """The event of its release, or None."""
        return self.closing if self.closing and self.closing.kind is EventKind.RELEASED else None

    @property
    def state(self) -> str:
        """Its result, in words."""
        return "released" if self.release else "reserved, no release"


@dataclass(frozen=True)
class Books:
    """All accounts by dataset and all spendings by the row of their reservation, in the order of the rows.

    `keys` has the signing keys by their rows, each with the row of the key that replaced it, None for one in use.
    """

    events: tuple[Event, ...] = ()
    accounts: Mapping[str, Account] = field(default_factory=dict)
    spendings: Mapping[int, Spending] = field(default_factory=dict)
    keys: Mapping[int, int | None] = field(default_factory=dict)

    def of(self, dataset: str) -> tuple[Spending, ...]:
        """Return the spendings of one dataset."""
        return tuple(spending for spending in self.spendings.values() if spending.reservation.dataset == dataset)

    def spendings_on(self, dataset: str, question: str) -> tuple[Spending, ...]:
        """Return the spendings of one dataset for the question with this hash."""
        return tuple(spending for spending in self.of(dataset) if spending.reservation.content_hash == question)


def books_of(events: Iterable[Event]) -> Books:
    """Return the books of the rows. Errors: BrokenLedgerError that names the first invalid row."""
    events = tuple(events)
    accounts: dict[str, Account] = {}
    spendings: dict[int, Spending] = {}
    keys: dict[int, int | None] = {}
    last: Event | None = None
    for place, event in enumerate(events, start=1):
        _check_link(event, place, last)
        if event.kind is EventKind.KEY:
            _name_key(event, keys)
        else:
            _ENTERED[event.kind](event, accounts, spendings)
        last = event
    return Books(events, accounts, spendings, keys)


def broken(row: int, why: str) -> BrokenLedgerError:
    """Return the refusal that names a row."""
    return BrokenLedgerError(f"Row {row} of the ledger is invalid: {why}. Restore a copy of the file.")


def clock_notes(events: Iterable[Event]) -> tuple[str, ...]:
    """Return a sentence for every row with an earlier time than the previous row: the clock was set back."""
    events = tuple(events)
    return tuple(
        f"Row {later.row} has an earlier time than row {earlier.row}: the clock was set back."
        for earlier, later in pairwise(events)
        if later.time < earlier.time
    )


def _check_link(event: Event, place: int, last: Event | None) -> None:
    if event.row != place:
        raise broken(place, "it is missing")
    if event.hash != seal(values_of(event)):
        raise broken(place, "its hash does not match, so the row was edited")
    if event.previous != (last.hash if last else NO_HASH):
        raise broken(place, "it does not contain the hash of the previous row")
    if (place == 1) != (event.kind is EventKind.BEGUN):
        raise broken(place, "the first row, and only the first, must be the start of a ledger")


def _name_key(event: Event, keys: dict[int, int | None]) -> None:
    if event.reservation is not None:
        if keys.get(event.reservation, event.row) is not None:
            raise broken(event.row, "it replaces a signing key that is not in use")
        keys[event.reservation] = event.row
    keys[event.row] = None


def _begun(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    pass  # its content is the key for the hashes of tables


def _opened(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    if event.dataset in accounts or event.amount is None or event.amount <= 0:
        raise broken(event.row, "it opens a dataset that is already open, or opens it without a budget")
    measure = PrivacyMeasure.RHO if event.kind in IN_RHO else PrivacyMeasure.EPSILON
    accounts[event.dataset] = Account(dataset=event.dataset, n=event.n, budget=event.amount, measure=measure)


def _raised(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    account = _account(event, accounts)
    if event.amount is None or event.amount <= account.budget:
        raise broken(event.row, "it does not raise the budget")
    accounts[event.dataset] = replace(account, budget=event.amount)


def _reserved(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    account = _account(event, accounts)
    cost = cost_in(account.measure, event.spent)
    delta = None if event.kind in IN_RHO else Fraction(0)
    if not event.amount or cost is None or not 0 < cost <= account.left or event.delta != delta:
        raise broken(event.row, "it reserves nothing, or more than the remaining budget")
    accounts[event.dataset] = replace(account, reserved=account.reserved + cost)
    spendings[event.row] = Spending(event, measure=account.measure)


def _closed(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    spending = spendings.get(event.reservation or 0)
    if spending is None or spending.closing or spending.reservation.dataset != event.dataset:
        raise broken(event.row, "it closes a reservation that is not open")
    spendings[spending.row] = replace(spending, closing=event)
    if event.kind is EventKind.RELEASED:
        account = _account(event, accounts)
        accounts[event.dataset] = replace(
            account, reserved=account.reserved - spending.cost, released=account.released + spending.cost
        )


def _table(event: Event, accounts: dict[str, Account], spendings: dict[int, Spending]) -> None:
    _account(event, accounts)


def _account(event: Event, accounts: dict[str, Account]) -> Account:
    if event.dataset not in accounts:
        raise broken(event.row, "its dataset was not opened")
    return accounts[event.dataset]


_ENTERED = {
    EventKind.BEGUN: _begun,
    EventKind.OPENED: _opened,
    EventKind.OPENED_IN_RHO: _opened,
    EventKind.RAISED: _raised,
    EventKind.RESERVED: _reserved,
    EventKind.RESERVED_IN_RHO: _reserved,
    EventKind.RELEASED: _closed,
    EventKind.FAILED: _closed,
    EventKind.TABLE: _table,
}
