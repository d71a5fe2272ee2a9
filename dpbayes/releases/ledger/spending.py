"""The work on a ledger: budgets, reservations before anything is sampled, results, tables; the check of all rows."""

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from shlex import quote

import numpy as np

from dpbayes.base.amounts import Amount, PrivacyMeasure, amount_in, amount_text, measure_of, number_of
from dpbayes.base.validation import brief
from dpbayes.base.zcdp import pure_epsilon, zcdp_epsilon
from dpbayes.model.dataset import Dataset
from dpbayes.releases.ledger.books import (
    Account,
    Books,
    BrokenLedgerError,
    EpsilonLostError,
    Event,
    EventKind,
    LedgerError,
    OverBudgetError,
    RepeatedRequestError,
    Spending,
    checked_amount,
    checked_dataset,
    checked_reason,
    content_hash,
)
from dpbayes.releases.ledger.store import begin, reading, writing

# Reading


def read_books(path: Path) -> Books:
    """Return the present books: all accounts, reservations and events, without the bytes of their contents.

    Errors: LedgerError.
    """
    with reading(path) as (_, books):
        return books


def outcome(path: Path, row: int) -> bytes:
    """Return the bytes that were released for the reservation in `row`. Errors: LedgerError if none were."""
    with reading(path) as (rows, books):
        if row not in books.spendings:
            raise LedgerError(f"Row {row} of the ledger {path} is not a reservation. Name the row of a reservation.")
        release = books.spendings[row].release
        if release is None:
            raise LedgerError(f"The reservation in row {row} has no release. Its cost stays charged.")
        return rows.content(release)


# Writing


def open_dataset(path: Path, dataset: str, budget: Amount, *, reason: str) -> Event:
    """Open a dataset with a total budget, an epsilon or a rho, and begin the ledger if there is none.

    Errors: LedgerError.
    """
    name, amount, reason = checked_dataset(dataset), checked_amount("The budget", budget), checked_reason(reason)
    begin(path)
    with writing(path) as (rows, books):
        if name in books.accounts:
            account = books.accounts[name]
            raise LedgerError(
                f"The dataset {brief(name)} is already open, with a budget of {_with_symbol(account.total)}. Pass "
                f"ledger={brief(path.name)} to use it, or raise it: {_raising(path, account, 2 * account.budget)}."
            )
        return rows.add(books, EventKind.OPENED, dataset=name, amount=amount, reason=reason)


def raise_budget(path: Path, dataset: str, budget: Amount, *, reason: str) -> Event:
    """Give a dataset a larger total budget, with a reason.

    Errors: LedgerError unless it is larger, and in the measure of the present budget.
    """
    amount, reason = checked_amount("The budget", budget), checked_reason(reason)
    with writing(path) as (rows, books):
        account = books.account(dataset)
        name, present = account.dataset, account.budget
        if measure_of(budget) is not account.measure:
            has = "no δ, which cannot change. Leave the δ out"
            if account.measure is PrivacyMeasure.RHO:
                has = "a δ, which cannot change. State an ε with a δ: --budget 2 --delta 1e-5"
            raise LedgerError(f"The budget of {brief(name)} has {has}.")
        if number_of(budget) <= present:
            raise LedgerError(
                f"A budget can only be raised. The budget of {brief(name)} is {_with_symbol(account.total)}, and "
                f"{_with_symbol(budget)} is not larger. Write, for example: {_raising(path, account, 2 * present)}."
            )
        return rows.add(books, EventKind.RAISED, dataset=name, amount=amount, reason=reason)


def _raising(path: Path, account: Account, budget: Fraction) -> str:
    """Return a command that raises a budget to this number in its measure, or slightly above."""
    number = amount_text(budget)
    if account.measure is PrivacyMeasure.RHO:  # whose rho is rounded down to six digits
        number = f"{zcdp_epsilon(float(budget), delta=1e-5) * 1.0001 + 0.005:.2f} --delta 1e-5"
    return f"dpbayes ledger raise {quote(account.dataset)} --ledger {quote(str(path))} --budget {number} --reason TEXT"


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
    reservation = _reserve(path, dataset, cost, question, after=after)
    try:
        outcome: bytes | EpsilonLostError = _bytes("An outcome", draw())
    except Exception as error:  # it may quote records, and the error to raise contains nothing of it
        outcome = _lost(reservation, f"The release failed after sampling began ({type(error).__name__})")
    if isinstance(outcome, EpsilonLostError):
        raise outcome  # outside of the handler, so that the original error is not its context
    try:
        return _release(path, reservation, outcome)
    except LedgerError as error:
        raise _lost(reservation, str(error).rstrip(".")) from error


# A reservation and its end


def _bytes(name: str, content: object) -> bytes:
    if not isinstance(content, bytes) or not content:
        raise LedgerError(f"{name} must be bytes, and not empty.")
    return content


def _reserve(path: Path, dataset: str, promised: Amount, question: bytes, *, after: int) -> Event:
    amount = checked_amount(measure_of(promised).value.capitalize(), promised)
    question = _bytes("A question", question)
    with writing(path) as (rows, books):
        account = books.account(dataset)
        _check_newest(books.on(dataset, question), after=after)
        cost = account.cost_of(amount)
        if cost > account.left:
            costs, most = _with_symbol(amount_in(account.measure, cost)), ""
            if measure_of(amount) is not account.measure:
                costs = f"the {costs} that {_with_symbol(amount)} costs"
                most = f", at most ε = {math.floor(1000 * pure_epsilon(float(account.left))) / 1000:g}"
            left = _with_symbol(amount_in(account.measure, account.left))
            raise OverBudgetError(
                f"The budget of {brief(account.dataset)} has {left} left of {amount_text(account.budget)}, less than "
                f"{costs}. Choose a smaller amount{most}, or raise the budget: "
                f"{_raising(path, account, account.spent + cost)}."
            )
        return rows.add(books, EventKind.RESERVED, dataset=account.dataset, amount=amount, content=question)


def _with_symbol(amount: Amount) -> str:
    return f"{measure_of(amount).symbol} = {amount_text(number_of(amount))}"


def _check_newest(before: tuple[Spending, ...], *, after: int) -> None:
    newest = before[-1] if before else None
    if newest is None and after:
        raise LedgerError(f"Row {after} of the ledger is not a reservation for this request. Make a new request.")
    if newest is None or newest.row == after:
        return
    state = "is being made at present, or it failed or was stopped"
    if newest.release:
        state = "can be shown again at no cost"
    raise RepeatedRequestError(
        f"This request was made before, in row {newest.row}. Its release {state}. A new release has the full cost."
    )


def _release(path: Path, reservation: Event, outcome: bytes) -> Event:
    with writing(path) as (rows, books):
        present = books.spendings.get(reservation.row)
        # The file may have been replaced, or the row may have been written despite an error.
        if present is None or present.reservation != reservation or present.release:
            symbol = measure_of(reservation.amount or Fraction(0)).symbol
            raise LedgerError(f"The ledger {path} does not contain the open reservation of {symbol}.")
        own = {"dataset": reservation.dataset, "reservation": reservation.row}
        return rows.add(books, EventKind.RELEASED, content=outcome, **own)


def _lost(reservation: Event, why: str) -> EpsilonLostError:
    cost = _with_symbol(reservation.amount or Fraction(0))
    sentence = f"{why}. Nothing was released, and the {cost} reserved in row {reservation.row} stays charged."
    return EpsilonLostError(sentence)


# The tables of a dataset: a keyed hash that never leaves the ledger is compared with those of earlier tables

RECORDS_ELSEWHERE = (
    "The ledger stores no hash of a table that is counted in place. It cannot detect the same records under another "
    "name, or other records under this name. Use one name for each table."
)
"""The sentence about a release from an engine's counts."""


def table_doubts(path: Path, dataset: str, data: Dataset, *, remember: bool = False) -> tuple[str, ...]:
    """Return a sentence for each doubt about the records of a dataset's name; `remember` stores their hash, too.

    Doubts: other records were used under this name, although its budget is for the same people; or these records were
    used under another name, which would give them a second budget. The key of the hash is in the ledger's first row, so
    a table cannot be compared with the hash without the ledger. Errors: LedgerError.
    """
    with (writing if remember else reading)(path) as (rows, books):
        name, print_of = books.account(dataset).dataset, fingerprint(data, rows.content(books.events[0]))
        # Equal prints have equal hashes.
        own, tables = content_hash(print_of), [event for event in books.events if event.kind is EventKind.TABLE]
        seen = {(event.dataset, event.content_hash == own) for event in tables}
        if remember and (name, True) not in seen:
            rows.add(books, EventKind.TABLE, dataset=name, content=print_of)
        return _doubts(name, seen)


def names_of(path: Path, data: Dataset) -> tuple[str, ...]:
    """Return the datasets for which exactly these records were released before. Errors: LedgerError."""
    with reading(path) as (rows, books):
        own = content_hash(fingerprint(data, rows.content(books.events[0])))
        tables = [event for event in books.events if event.kind is EventKind.TABLE and event.content_hash == own]
        return tuple(dict.fromkeys(event.dataset for event in tables if event.dataset))


def _doubts(name: str, seen: set[tuple[str, bool]]) -> tuple[str, ...]:
    """Return the doubts about a name, by the names of earlier tables and whether they had the same records."""
    same_elsewhere = [
        f"The same records were used under the name {brief(other)}. The cost charged there applies to them too."
        for other in sorted(other for other, is_same in seen if is_same and other != name)
    ]
    if (name, False) not in seen:
        return tuple(same_elsewhere)
    other_records = f"Other records were used before under the name {brief(name)}."
    return (f"{other_records} If these are of other people, name another dataset.", *same_elsewhere)


def fingerprint(data: Dataset, key: bytes) -> bytes:
    """Return the HMAC-SHA256 of a table's records by their names, for any order of records and columns.

    The hash is the same for another order, and for further declared states without records. It differs if a column was
    left out or grouped in another way, so such a table is not recognised.
    """
    order = sorted(range(len(data.names)), key=lambda j: data.names[j])
    records = np.empty((data.n, len(order)), dtype=np.uint8)
    columns = []
    for place, j in enumerate(order):
        present = np.flatnonzero(np.bincount(data.codes[:, j], minlength=len(data.states[j])))
        by_name = sorted(present.tolist(), key=lambda code, states=data.states[j]: states[code])  # type: ignore[misc]
        rank = np.zeros(len(data.states[j]), dtype=np.uint8)
        rank[by_name] = np.arange(len(by_name))
        records[:, place] = rank[data.codes[:, j]]
        columns.append([data.names[j], [data.states[j][code] for code in by_name]])
    if order:
        records = np.sort(records.view(np.dtype((np.void, len(order)))), axis=0)
    digest = hmac.new(key, json.dumps([data.n, columns]).encode(), hashlib.sha256)
    digest.update(b"\0" + records.tobytes())
    return digest.digest()


# Checking


@dataclass(frozen=True)
class CheckedLedger:
    """An unchanged ledger: its number of rows, and the hash of the last row."""

    rows: int
    head: str


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
    return CheckedLedger(len(books.events), books.events[-1].hash)
