"""The ledger's budgets and releases, and the check of a release that somebody has."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.audit.risk import belief_sentence
from dpbayes.base.amounts import Amount, PrivacyMeasure, amount_text, measure_of, number_of
from dpbayes.base.libraries import pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import escaped, numeral, typed
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.releases import ledger
from dpbayes.releases.document.request import typed_amount
from dpbayes.releases.ledger import Account, Books, Spending
from dpbayes.sources.data_files import read_data
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import document_place
from dpbayes.ui.widgets.controls import mirror, plain_number
from dpbayes.ui.widgets.opened_release import EXAMPLE, FILE, opened_release
from dpbayes.ui.widgets.show import sentence_instead

RELEASED = "release.released"
"""Where a session stores the row of the release that it made last."""

EXAMPLE_FILE = "releases/asia.json"
"""A real release of a made-up table, which is the same for everybody and charged to no budget."""

AS_READ = "Your last release, as its readers see it"
BUDGET_DELTA = (
    "The probability that the limit of ε fails. With 0, the budget pays for Laplace noise only. Above 0, it pays "
    "for Gaussian noise, too. Whether it is 0 cannot change later."
)


# Budgets as typed


def followed_box(label: str, shown: str, key: str, **more: Any) -> str:
    """Show a text box with a text that may change, until somebody types into it; what was typed stays."""
    followed = f"{key}.followed"
    if st.session_state.get(key) == st.session_state.get(followed):  # nothing was typed
        st.session_state[followed] = shown
        mirror(key, shown)
    text: str = st.text_input(label, key=key, persist_state="session", **more)
    return text


def budget_of(epsilon: str, delta: str) -> Amount:
    """Return a typed budget: a pure epsilon, or the rho that gives (epsilon, delta). Errors: InputError."""
    return typed_amount(plain_number(epsilon), plain_number(delta) or "0")


# The ledger


def history(path: Path, delta: float) -> None:
    """Show the ledger as epsilons at `delta`. Errors: LedgerError."""
    books = ledger.read_books(path) if path.exists() else Books()
    accounts = tuple(books.accounts.values())
    if not accounts:
        return
    st.subheader("Ledger")
    st.caption("Not private (curator view)")
    st.table(pd.DataFrame.from_records([_budget_line(account, delta) for account in accounts], index="dataset"))
    every, names = [spending for dataset in books.accounts for spending in books.of(dataset)], release_names(books)
    if every:
        lines = [_release_line(names[spending.row], spending, delta) for spending in every]
        st.dataframe(pd.DataFrame.from_records(lines), hide_index=True)
    if any(account.measure is PrivacyMeasure.RHO for account in accounts):
        st.caption(f"For budgets with a δ, and for Gaussian noise, ε is stated at δ = {numeral(delta)}.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rows = [spending.row for spending in every if spending.release]
        more: dict[str, Any] = {"placeholder": "Release", "key": "ledger.row", "width": 260}
        row = st.selectbox("Open a release", rows, None, format_func=lambda row: names[row], **more)
        with st.popover("Raise a budget"):
            _raise(path, books.accounts, delta)
        with st.popover("Check the ledger", on_change="rerun", key="ledger.check") as part:
            if part.open:
                with sentence_instead():
                    _check(path)
    if row is not None:
        with sentence_instead():
            show_later(books, row, delta)
            opened_release(ledger.outcome(path, row), f"Release {names[row]}", key="ledger")


def release_names(books: Books) -> dict[int, str]:
    """Return the names of all releases by their rows: that of the dataset, and the place among its releases."""
    own = {dataset: books.of(dataset) for dataset in books.accounts}
    return {spending.row: f"{name}-{k}" for name, every in own.items() for k, spending in enumerate(every, start=1)}


def show_later(books: Books, row: int, delta: float) -> None:
    """Show what all releases of a dataset cost together, if there are later ones than that in `row`."""
    dataset = books.spendings[row].reservation.dataset
    account, every = books.account(dataset), books.of(dataset)
    if every[-1].row != row:
        of_all = belief_sentence(Guarantee(epsilon_of(account.measure, account.spent, delta)))
        st.markdown(f"**There are later releases.** All {len(every)} of {escaped(dataset)} together: {of_all}")


def epsilon_of(measure: PrivacyMeasure, number: Fraction, delta: float) -> float:
    """Return an amount in a measure as an epsilon, for a rho at `delta`."""
    return float(number) if measure is PrivacyMeasure.EPSILON else zcdp_epsilon(float(number), delta=delta)


def as_epsilon(measure: PrivacyMeasure, number: Fraction, delta: float) -> str:
    """Return an amount in a measure as an epsilon: exactly, or for a rho at `delta` in four digits."""
    if measure is PrivacyMeasure.EPSILON or not number:
        return amount_text(number)
    return numeral(epsilon_of(measure, number, delta), 4)


def _budget_line(account: Account, delta: float) -> dict[str, str]:
    amounts = {"budget": account.budget, "spent": account.spent, "left": account.left}
    shown = {f"{name}, ε": as_epsilon(account.measure, number, delta) for name, number in amounts.items()}
    return {"dataset": account.dataset, **shown}


def _release_line(name: str, spending: Spending, delta: float) -> dict[str, object]:
    return {
        "release": name,
        "privacy loss, ε": as_epsilon(measure_of(spending.amount), number_of(spending.amount), delta),
        "status": spending.state,
        "time (UTC)": spending.reservation.time[:16].replace("T", " "),
    }


def _raise(path: Path, accounts: Mapping[str, Account], delta: float) -> None:
    dataset = st.selectbox("Dataset", [*accounts][::-1], key=f"ledger.raised.{[*accounts]}")  # the newest first
    account = accounts[dataset]
    present = as_epsilon(account.measure, account.budget, delta)
    with st.form(f"raise.{dataset}", border=False):
        new = st.text_input(f"New total budget ε, above {present}", key=f"ledger.budget.{dataset}")
        at_delta = "0"  # which cannot change
        if account.measure is PrivacyMeasure.RHO:
            at_delta = st.text_input("δ of the budget", typed(delta), key=f"ledger.delta.{dataset}")
        reason = st.text_input("Justification", placeholder="Approved by the board in March", key="ledger.why")
        if st.form_submit_button("Raise budget"):
            with sentence_instead():
                person().require(Act.RELEASE)
                ledger.raise_budget(path, dataset, budget_of(new, at_delta), reason=reason)
                st.rerun()


def _check(path: Path) -> None:
    seen = st.text_input("Stored hash of an earlier row (optional)", key="ledger.seen").strip()
    checked = ledger.check(path, seen=[seen] if seen else ())
    st.success(f"{'The only row is' if checked.rows == 1 else f'All {checked.rows:,} rows are'} unchanged.")
    st.caption(f"File: {escaped(str(path))}. Store the hash of the last row separately: {checked.head}")


# A release that somebody has


def last_release() -> bytes | None:
    """Return the last release of the session, if the person may read the ledger."""
    row = st.session_state.get(RELEASED) if person().may(Act.READ_LEDGER) else None
    return None if row is None else ledger.outcome(ledger.ledger_path(), row)


def example_or_file(mine: bytes | None) -> None:
    """Let anyone open a release of their own, or show the last one of the session, `mine`, or the example."""
    above, (left, right) = st.container(), st.columns(2, gap="large")
    with left:
        file = document_place("release.json (not stored, and not part of a link)", key="release.file")
    with sentence_instead():
        if file is not None:
            data, name, key = file.getvalue(), f"Your file {file.name}", FILE
        else:
            data, name, key = (
                (mine, AS_READ, "mine") if mine else (read_data(EXAMPLE_FILE), "Built-in example", EXAMPLE)
            )
        opened_release(data, name, key=key, places=(above, left, right))
