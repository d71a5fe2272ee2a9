"""The work on a ledger: budgets, reservations before anything is sampled, their results, and the check of all rows."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dpbayes.base.amounts import (
    Amount,
    amount_in,
    amount_text,
    amount_with_symbol,
    cost_in,
    measure_of,
    number_of,
)
from dpbayes.base.validation import brief
from dpbayes.releases.document.canonical import canonical, read_canonical
from dpbayes.releases.document.signature import Signer, signer_from
from dpbayes.releases.ledger.books import (
    Account,
    Books,
    BrokenLedgerError,
    Entry,
    EpsilonLostError,
    Event,
    EventKind,
    LedgerError,
    OverBudgetError,
    RepeatedRequestError,
    Spending,
    checked_amount,
    checked_bytes,
    checked_dataset,
    checked_reason,
    clock_notes,
    content_hash,
)
from dpbayes.releases.ledger.store import begin, reading, writing

# Reading


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
            "noise, or open another dataset with an ε and a δ: its budget is in ρ."
        )
    return cost


def events(path: Path) -> tuple[Event, ...]:
    """Return all events in the order of the rows, without the bytes of their contents."""
    with reading(path) as (_, books):
        return books.events


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


# Writing


def open_dataset(path: Path, dataset: str, budget: Amount, *, reason: str) -> Event:
    """Open a dataset with a total budget, an epsilon or a rho, and begin the ledger if there is none.

    Errors: LedgerError.
    """
    entry = Entry(
        kind=EventKind.OPENED,
        dataset=checked_dataset(dataset),
        amount=checked_amount("The budget", budget),
        reason=checked_reason(reason),
    )
    begin(path)
    with writing(path) as (rows, books):
        if entry.dataset in books.accounts:
            account = books.accounts[entry.dataset]
            present = f"{amount_text(account.budget)} in {account.measure.symbol}"
            raise LedgerError(
                f"The dataset {brief(entry.dataset)} is already open, with a budget of {present}. Use or raise it."
            )
        return rows.add(books, entry)


def raise_budget(path: Path, dataset: str, budget: Amount, *, reason: str) -> Event:
    """Give a dataset a larger total budget, with a reason.

    Errors: LedgerError unless it is larger, and in the measure of the present budget.
    """
    entry = Entry(
        kind=EventKind.RAISED,
        dataset=checked_dataset(dataset),
        amount=checked_amount("The budget", budget),
        reason=checked_reason(reason),
    )
    with writing(path) as (rows, books):
        account = account_in(books, entry.dataset)
        present = account.budget
        if measure_of(budget) is not account.measure:
            raise LedgerError(
                f"The budget of {brief(entry.dataset)} is in {account.measure.symbol}. State the new budget in "
                f"{account.measure.symbol} too."
            )
        if number_of(budget) <= present:
            raise LedgerError(
                f"A budget can only be raised. The budget of {brief(entry.dataset)} is {amount_text(present)}, and "
                f"{amount_text(number_of(budget))} is not larger."
            )
        return rows.add(books, entry)


def spend(
    path: Path, dataset: str, cost: Amount, question: bytes, draw: Callable[[], bytes], *, after: int = 0
) -> Event:
    """Reserve an epsilon or a rho, sample, write the outcome, and return its release; then it may be shown.

    `question` is the request in canonical form. `draw` is called at most once, after the reservation is on the disk.
    `after` is the row of the newest reservation for this request that the person has seen, or 0 for a new request. So
    a second click, or two persons with the same request, are not charged twice. Errors: OverBudgetError and
    RepeatedRequestError (the request has a reservation, or a newer one) before anything is sampled; EpsilonLostError
    if sampling or writing failed: the cost stays charged. An interruption, which is not an `Exception`, passes through
    and has the same cost.
    """
    reservation = _reserve(path, _reservation(dataset, cost, question), after=after)
    outcome = _drawn(path, reservation, draw)
    if isinstance(outcome, EpsilonLostError):
        raise outcome  # outside of the handler: the original error may quote records, so it must not be the context
    try:
        return _close(path, reservation, Entry(kind=EventKind.RELEASED, content=outcome))
    except LedgerError as error:
        raise _lost(reservation, str(error).rstrip(".")) from error


# A reservation and its end


def _reservation(dataset: str, cost: Amount, question: bytes) -> Entry:
    return Entry(
        kind=EventKind.RESERVED,
        dataset=checked_dataset(dataset),
        amount=checked_amount(measure_of(cost).value.capitalize(), cost),
        content=checked_bytes("A question", question),
    )


def _drawn(path: Path, reservation: Event, draw: Callable[[], bytes]) -> bytes | EpsilonLostError:
    """Return the sample, or the error to raise, which contains nothing of the original error."""
    try:
        return checked_bytes("An outcome", draw())
    except BaseException as error:
        _note_failure(path, reservation, error)
        if isinstance(error, Exception):
            return _lost(reservation, _failure(error))
        raise


def _reserve(path: Path, entry: Entry, *, after: int) -> Event:
    with writing(path) as (rows, books):
        account, amount = account_in(books, entry.dataset), entry.amount or Fraction(0)
        _check_newest(books.spendings_on(entry.dataset, content_hash(entry.content or b"")), after=after)
        cost = cost_of(account, amount)
        if cost > account.left:
            costs = amount_with_symbol(amount_in(account.measure, cost))
            if measure_of(amount) is not account.measure:
                costs = f"the {costs} that {amount_with_symbol(amount)} costs"
            raise OverBudgetError(
                f"The budget of {brief(account.dataset)} has {amount_text(account.left)} left of "
                f"{amount_text(account.budget)}, less than {costs}. Choose a smaller amount, or raise the budget."
            )
        return rows.add(books, entry)


def _check_newest(before: tuple[Spending, ...], *, after: int) -> None:
    newest = before[-1] if before else None
    if newest is None and after:
        raise LedgerError(f"Row {after} of the ledger is not a reservation for this request. Make a new request.")
    if newest is None or newest.row == after:
        return
    raise RepeatedRequestError(
        f"This request was made before, in row {newest.row}. {_state_of(newest)} A new release has the full cost.",
        newest.row,
    )


def _state_of(spending: Spending) -> str:
    if spending.release is not None:
        return "Its release can be shown again at no cost."
    if spending.closing is not None:
        return "It failed and has no release."
    return (
        "Its release is being made at present; wait until it is ready. If its program was stopped, it has no release."
    )


def _close(path: Path, reservation: Event, closing: Entry) -> Event:
    with writing(path) as (rows, books):
        present = books.spendings.get(reservation.row)
        # The file may have been replaced, or the row may have been written despite an error.
        if present is None or present.reservation != reservation or present.closing:
            symbol = measure_of(reservation.amount or Fraction(0)).symbol
            raise LedgerError(f"The ledger {path} does not contain the open reservation of {symbol}.")
        return rows.add(books, replace(closing, dataset=reservation.dataset, reservation=reservation.row))


def _failure(error: BaseException) -> str:
    return f"The release failed after sampling began ({type(error).__name__})"


def _note_failure(path: Path, reservation: Event, error: BaseException) -> None:
    """Record that sampling failed, if the ledger can be written. The text of the error is not recorded."""
    with suppress(LedgerError):
        _close(path, reservation, Entry(kind=EventKind.FAILED, reason=f"{_failure(error)}."))


def _lost(reservation: Event, why: str) -> EpsilonLostError:
    cost = amount_with_symbol(reservation.amount or Fraction(0))
    sentence = f"{why}. Nothing was released, and the {cost} reserved in row {reservation.row} stays charged."
    return EpsilonLostError(sentence, reservation.row)


# Signing keys


@dataclass(frozen=True)
class NamedKey:
    """A key that a ledger names: its row, its signer, the reason for it, and the row of the key that replaced it."""

    row: int
    signer: Signer
    reason: str
    time: str
    replaced_in: int | None = None


def named_keys(path: Path) -> tuple[NamedKey, ...]:
    """Return all signing keys that the ledger names, in the order of their rows. Errors: LedgerError."""
    with reading(path) as (rows, books):
        return tuple(
            _named(books.events[row - 1], rows.content(books.events[row - 1]), replaced_in)
            for row, replaced_in in books.keys.items()
        )


def _named(event: Event, content: bytes, replaced_in: int | None = None) -> NamedKey:
    return NamedKey(event.row, signer_from(read_canonical(content)), event.reason, event.time, replaced_in)


def name_key(path: Path, signer: Signer, *, reason: str, replaces: int | None = None) -> NamedKey:
    """Write a signing key into the ledger, in place of the key in row `replaces` if there is one.

    Errors: LedgerError, also for a key that is not in use and cannot be replaced.
    """
    content = canonical(signer.content)
    entry = Entry(kind=EventKind.KEY, reason=checked_reason(reason), reservation=replaces, content=content)
    with writing(path) as (rows, books):
        if replaces is not None and books.keys.get(replaces, replaces) is not None:
            raise LedgerError(f"Row {replaces} of the ledger does not name a signing key that is in use.")
        return _named(rows.add(books, entry), content)


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
