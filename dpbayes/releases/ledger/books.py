"""The rows of a ledger, each an event with the hash of the previous row, and the accounts that follow from them."""

import enum
import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbayes.base.amounts import Amount, PrivacyMeasure, amount_in, amount_text, cost_in, measure_of, number_of
from dpbayes.base.validation import InputError, brief, is_writable
from dpbayes.releases.document.canonical import one_line

NO_HASH = "0" * 64
"""The hash of the previous row in the first row."""

_TYPES = {"row": int, "reservation": int | None} | {name: str | None for name in ("amount", "content_hash")}

MAX_REASON, MAX_DIGITS = 2000, 100
"""The largest numbers of letters of a reason and of a fraction's text."""


class EventKind(enum.Enum):
    """The kind of an event."""

    BEGUN = "ledger begun"
    OPENED = "dataset opened"
    RAISED = "budget raised"
    RESERVED = "reserved"
    RELEASED = "released"
    TABLE = "table seen"
    KEY = "signing key named"


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row as written, without the bytes of its content; fields that its kind does not have are None or empty.

    `amount` is the total budget of an opened or raised dataset, or the cost of a reservation. `reservation` is the row
    that is closed. The content is the request of a reservation, the document of a release, or the signer of a key.
    `time` is UTC by the clock of the computer.
    """

    row: int
    kind: EventKind
    dataset: str = ""
    amount: Amount | None = None
    reason: str = ""
    reservation: int | None = None
    content_hash: str | None = None
    time: str
    previous: str
    hash: str = ""


def seal(values: dict[str, str | int | None]) -> str:
    """Return the SHA-256 of a row's values without its own hash, as JSON with sorted names and without spaces."""
    kept = {name: value for name, value in values.items() if name != "hash"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def content_hash(content: bytes) -> str:
    """Return the SHA-256 of a request or a document."""
    return hashlib.sha256(content).hexdigest()


def event_of(place: int, values: Mapping[str, Any]) -> Event:
    """Return the event of the values of the row in this place. Errors: BrokenLedgerError for an invalid value."""
    try:
        if not all(isinstance(value, _TYPES.get(name, str)) for name, value in values.items()):
            raise TypeError("a value is of another type")
        return Event(**{**values, "kind": EventKind(values["kind"]), "amount": _read(values["amount"])})
    except (ValueError, TypeError, ZeroDivisionError):
        raise broken(place, "it contains an invalid value") from None


def values_of(event: Event) -> dict[str, str | int | None]:
    """Return a row's values as they are written."""
    return {**vars(event), "kind": event.kind.value, "amount": _written(event.amount)}


def _written(amount: Amount | None) -> str | None:
    """Return an amount with its measure, "epsilon 1/10"."""
    return None if amount is None else f"{measure_of(amount).value} {number_of(amount)}"


def _read(text: str | None) -> Amount | None:
    if text is None:
        return None
    measure, _, number = text.partition(" ")
    amount = amount_in(PrivacyMeasure(measure), Fraction(number))
    if _written(amount) != text:
        raise ValueError(f"{text} is not an amount in lowest terms")
    return amount


# What is refused


class LedgerError(InputError):
    """A refusal of the ledger: nothing was written and nothing was sampled."""


class OverBudgetError(LedgerError):
    """The cost is larger than the remaining budget."""


class RepeatedRequestError(LedgerError):
    """The same request has a reservation already."""


class EpsilonLostError(LedgerError):
    """The reservation stays charged, and there is no release."""


class BrokenLedgerError(LedgerError):
    """The file was edited, is damaged, or is not a ledger that this program can read."""


# What a person gives


def checked_amount(name: str, amount: Amount) -> Amount:
    """Return an exact amount above 0, in its own measure.

    Errors: LedgerError for floats, which are not exact, and for other values.
    """
    number: object = number_of(amount)
    if isinstance(number, bool) or not isinstance(number, int | Fraction):
        raise LedgerError(f"{name} must be an exact fraction, such as 1/10; {brief(number)} is not.")
    if number <= 0:
        raise LedgerError(f"{name} must be above 0; {brief(number)} is not.")
    # An upper bound of the digits, since Python refuses to write numbers that are too long.
    if (number.numerator.bit_length() + number.denominator.bit_length()) * 0.302 > MAX_DIGITS:
        raise LedgerError(f"{name} has too many digits; the limit is {MAX_DIGITS}.")
    return amount_in(measure_of(amount), Fraction(number))


def checked_dataset(dataset: object) -> str:
    """Return a dataset's name in normal form. Errors: those of `one_line`."""
    return unicodedata.normalize("NFC", one_line("The dataset's name", dataset))


def checked_reason(reason: object) -> str:
    """Return a reason. Errors: LedgerError if it is empty, too long, or not text."""
    is_text = isinstance(reason, str) and any(letter.isprintable() and letter != " " for letter in reason)
    if not isinstance(reason, str) or not is_text or len(reason) > MAX_REASON or not is_writable(reason):
        raise LedgerError(f"The reason must have 1 to {MAX_REASON:,} letters, as a justification; not {brief(reason)}.")
    if any(unicodedata.category(letter) == "Cc" and letter not in "\n\r\t" for letter in reason):
        raise LedgerError(f"The justification {brief(reason)} has a control character. Write plain text.")
    return reason.strip()


# The accounts


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget of one dataset and its use; all amounts are exact, in the measure of the budget.

    `released` is the cost of releases, and `reserved` that of reservations without a release. The latter is not given
    back, because the sampled result is not known.
    """

    dataset: str
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
        return self.budget - self.released - self.reserved

    @property
    def total(self) -> Amount:
        """The budget with its measure."""
        return amount_in(self.measure, self.budget)

    @property
    def left_text(self) -> str:
        """A sentence on the remaining budget, with the measure if it is rho."""
        measure = ", in rho" if self.measure is PrivacyMeasure.RHO else ""
        return f"The remaining budget is {amount_text(self.left)} of {amount_text(self.budget)}{measure}."

    def cost_of(self, amount: Amount) -> Fraction:
        """Return the cost of an amount in the measure of the budget.

        Errors: LedgerError for a rho and a budget in pure epsilon, because no rho implies a pure epsilon.
        """
        cost = cost_in(self.measure, amount)
        if cost is None:
            raise LedgerError(
                f"The budget of {brief(self.dataset)} is in pure ε, and cannot pay for Gaussian noise. Use a "
                "delta of 0 here, or open a dataset whose budget has a delta."
            )
        return cost


@dataclass(frozen=True)
class Spending:
    """A reservation, its cost in the measure of the dataset's budget, and its release, or None if there is none."""

    reservation: Event
    cost: Fraction
    measure: PrivacyMeasure
    release: Event | None = None

    @property
    def row(self) -> int:
        """The row of the reservation, which identifies it."""
        return self.reservation.row

    @property
    def amount(self) -> Amount:
        """The cost as stated in the request: an epsilon or a rho."""
        return self.reservation.amount or Fraction(0)

    @property
    def state(self) -> str:
        """Its result, in words."""
        return "released" if self.release else "reserved, no release"


@dataclass(frozen=True)
class Books:
    """All accounts by dataset and all spendings by the row of their reservation, in the order of the rows.

    `keys` has the rows of the signing keys; the newest one signs. `file` is the ledger.
    """

    events: tuple[Event, ...] = ()
    accounts: dict[str, Account] = field(default_factory=dict)
    spendings: dict[int, Spending] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    file: Path | None = None

    def account(self, dataset: str) -> Account:
        """Return the account of one dataset. Errors: LedgerError for one that was not opened."""
        name = checked_dataset(dataset)
        if name not in self.accounts:
            listed = ", ".join(map(brief, list(self.accounts)[:8])) or "none"
            raise LedgerError(
                f"The ledger {self.file} has no dataset {brief(name)}; it has {listed}. Open it with a budget first."
            )
        return self.accounts[name]

    def of(self, dataset: str) -> tuple[Spending, ...]:
        """Return all reservations of a dataset, with or without a release, in the order of the rows."""
        name = self.account(dataset).dataset
        return tuple(spending for spending in self.spendings.values() if spending.reservation.dataset == name)

    def on(self, dataset: str, question: bytes) -> tuple[Spending, ...]:
        """Return the reservations of a dataset for this request."""
        digest = content_hash(question)
        return tuple(spending for spending in self.of(dataset) if spending.reservation.content_hash == digest)

    def newest(self, dataset: str, question: bytes) -> Spending | None:
        """Return the newest release of this request, which can be shown again at no cost; None if there is none."""
        return next((spending for spending in reversed(self.on(dataset, question)) if spending.release), None)


def books_of(events: Iterable[Event]) -> Books:
    """Return the books of the rows. Errors: BrokenLedgerError that names the first invalid row."""
    books, last = Books(tuple(events)), None
    for place, event in enumerate(books.events, start=1):
        _check_link(event, place, last)
        if event.kind is not EventKind.BEGUN:  # its content is the key for the hashes of tables
            _ENTERED[event.kind](event, books)
        last = event
    return books


def broken(row: int, why: str) -> BrokenLedgerError:
    """Return the refusal that names a row."""
    return BrokenLedgerError(f"Row {row} of the ledger is invalid: {why}. Restore a copy of the file.")


def _check_link(event: Event, place: int, last: Event | None) -> None:
    if event.row != place:
        raise broken(place, "it is missing")
    if event.hash != seal(values_of(event)):
        raise broken(place, "its hash does not match, so the row was edited")
    if event.previous != (last.hash if last else NO_HASH):
        raise broken(place, "it does not contain the hash of the previous row")
    if (place == 1) != (event.kind is EventKind.BEGUN):
        raise broken(place, "the first row, and only the first, must be the start of a ledger")


def _opened(event: Event, books: Books) -> None:
    if event.dataset in books.accounts or event.amount is None or number_of(event.amount) <= 0:
        raise broken(event.row, "it opens a dataset that is already open, or opens it without a budget")
    measure, budget = measure_of(event.amount), number_of(event.amount)
    books.accounts[event.dataset] = Account(dataset=event.dataset, budget=budget, measure=measure)


def _raised(event: Event, books: Books) -> None:
    account, raised = _account(event, books), event.amount
    if raised is None or measure_of(raised) is not account.measure or number_of(raised) <= account.budget:
        raise broken(event.row, "it does not raise the budget")
    books.accounts[event.dataset] = replace(account, budget=number_of(raised))


def _reserved(event: Event, books: Books) -> None:
    account = _account(event, books)
    cost = None if event.amount is None else cost_in(account.measure, event.amount)
    if cost is None or not 0 < cost <= account.left:
        raise broken(event.row, "it reserves nothing, or more than the remaining budget")
    books.accounts[event.dataset] = replace(account, reserved=account.reserved + cost)
    books.spendings[event.row] = Spending(event, cost, account.measure)


def _released(event: Event, books: Books) -> None:
    spending = books.spendings.get(event.reservation or 0)
    if spending is None or spending.release or spending.reservation.dataset != event.dataset:
        raise broken(event.row, "it closes a reservation that is not open")
    books.spendings[spending.row] = replace(spending, release=event)
    account, cost = _account(event, books), spending.cost
    books.accounts[event.dataset] = replace(account, reserved=account.reserved - cost, released=account.released + cost)


def _key_named(event: Event, books: Books) -> None:
    books.keys.append(event.row)


def _account(event: Event, books: Books) -> Account:
    if event.dataset not in books.accounts:
        raise broken(event.row, "its dataset was not opened")
    return books.accounts[event.dataset]


_ENTERED: Mapping[EventKind, Callable[[Event, Books], object]] = {
    EventKind.OPENED: _opened,
    EventKind.RAISED: _raised,
    EventKind.RESERVED: _reserved,
    EventKind.RELEASED: _released,
    EventKind.TABLE: _account,
    EventKind.KEY: _key_named,
}
