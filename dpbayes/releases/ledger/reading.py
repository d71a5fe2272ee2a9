"""Reading a ledger: accounts, spendings, the contents of rows, and the check that nothing was changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpbayes.base.amounts import Amount, amount_in, amount_with_symbol, cost_in, measure_of
from dpbayes.base.validation import brief
from dpbayes.releases.ledger.books import Account, Books, Spending, clock_notes
from dpbayes.releases.ledger.events import BrokenLedgerError, Event, LedgerError, checked_dataset, content_hash
from dpbayes.releases.ledger.store import reading


def accounts(path: Path) -> tuple[Account, ...]:
    """Return the accounts of all datasets, in the order in which they were opened. Errors: LedgerError."""
    with reading(path) as (_, books):
        return tuple(books.accounts.values())


def account_of(path: Path, dataset: str) -> Account:
    """Return the account of one dataset. Errors: LedgerError for one that was not opened."""
    with reading(path) as (_, books):
        return account_in(books, checked_dataset(dataset))


def account_in(books: Books, dataset: str) -> Account:
    """Return the account of one dataset. Errors: LedgerError for one that was not opened."""
    if dataset not in books.accounts:
        raise LedgerError(f"The ledger has no dataset {brief(dataset)}; open it with a budget first.")
    return books.accounts[dataset]


def spendings(path: Path, dataset: str) -> tuple[Spending, ...]:
    """Return all reservations of a dataset, with or without a release, in the order of the rows."""
    with reading(path) as (_, books):
        return books.of(account_in(books, checked_dataset(dataset)).dataset)


def spendings_on(path: Path, dataset: str, question: bytes) -> tuple[Spending, ...]:
    """Return the spendings on this request, in the order of the rows."""
    with reading(path) as (_, books):
        return books.spendings_on(account_in(books, checked_dataset(dataset)).dataset, content_hash(question))


def find(path: Path, dataset: str, question: bytes) -> Spending | None:
    """Return the newest release of this request, which can be shown again at no cost; None if there is none."""
    released = [spending for spending in spendings_on(path, dataset, question) if spending.release]
    return released[-1] if released else None


def cost_of(account: Account, amount: Amount) -> Fraction:
    """Return the cost of an amount in the measure of a budget.

    Errors: LedgerError for a rho and a budget in pure epsilon, because no rho implies a pure epsilon.
    """
    cost = cost_in(account.measure, amount)
    if cost is None:
        raise LedgerError(
            f"The budget of {brief(account.dataset)} is in pure ε, but Gaussian noise needs a budget in ρ. Use Laplace "
            "noise, or a dataset with a budget in ρ."
        )
    return cost


def cost_text(account: Account, amount: Amount) -> str:
    """Return the cost of an amount for a budget, in words. Errors: those of `cost_of`."""
    text = amount_with_symbol(amount_in(account.measure, cost_of(account, amount)))
    return text if measure_of(amount) is account.measure else f"the {text} that {amount_with_symbol(amount)} costs"


def events(path: Path) -> tuple[Event, ...]:
    """Return all events in the order of the rows, without the bytes of their contents."""
    with reading(path) as (_, books):
        return books.events


def request_bytes(path: Path, row: int) -> bytes:
    """Return the bytes of the request for which `row` reserved. Errors: LedgerError if it did not."""
    with reading(path) as (rows, books):
        return rows.content(_spending(books, row).reservation)


def outcome(path: Path, row: int) -> bytes:
    """Return the bytes that were released for the reservation in `row`. Errors: LedgerError if none were."""
    with reading(path) as (rows, books):
        release = _spending(books, row).release
        if release is None:
            raise LedgerError(f"The reservation in row {row} has no release. Its cost stays charged.")
        return rows.content(release)


def _spending(books: Books, row: int) -> Spending:
    if row not in books.spendings:
        raise LedgerError(f"Row {row} of the ledger is not a reservation. Name the row of a reservation.")
    return books.spendings[row]


# Signing keys


@dataclass(frozen=True)
class NamedKey:
    """A signing key in the ledger: its event, its signer as bytes, and the row of the key that replaced it."""

    event: Event
    content: bytes
    replaced_in: int | None = None


def named_keys(path: Path) -> tuple[NamedKey, ...]:
    """Return all signing keys that the ledger names, in the order of their rows. Errors: LedgerError."""
    with reading(path) as (rows, books):
        return tuple(
            NamedKey(books.events[row - 1], rows.content(books.events[row - 1]), replaced_in)
            for row, replaced_in in books.keys.items()
        )


# Checking


@dataclass(frozen=True)
class CheckedLedger:
    """An unchanged ledger: its number of rows, the hash of the last row, and notes."""

    rows: int
    head: str
    notes: tuple[str, ...]


def check(path: Path, *, seen: Iterable[str] = ()) -> CheckedLedger:
    """Return the state of a ledger if version, guards, chain, sums and all contents are unchanged.

    The chain detects edited and missing rows. Only hashes of rows that were `seen` elsewhere detect that the last rows
    were removed, or that the whole chain was computed anew. Errors: LedgerError, one sentence that names the first
    invalid row.
    """
    with reading(path) as (rows, books):
        for event in books.events:
            if event.content_hash is not None:
                rows.content(event)
        damage = rows.damage()
    if damage:
        raise BrokenLedgerError(f"The ledger {path} is damaged: {damage}.")
    hashes = {event.hash for event in books.events}
    for hash_seen in seen:
        if hash_seen not in hashes:
            raise BrokenLedgerError(
                f"The ledger {path} has no row with the hash {brief(hash_seen)}. It is another ledger, or "
                "its last rows were removed."
            )
    return CheckedLedger(len(books.events), books.events[-1].hash, (*clock_notes(books.events), *_never_shown(books)))


def _never_shown(books: Books) -> tuple[str, ...]:
    return tuple(
        f"The reservation in row {spending.row} has no release. Its {measure_of(spending.amount).symbol} stays charged."
        for spending in books.spendings.values()
        if not spending.release
    )
