"""The Ledger page: what was spent of each dataset, each release as it was made, and the check of a release file."""

import enum
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.text import escaped, numeral, numeral_above
from dpbayes.base.validation import InputError, finite_number
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.figures.ledger import budget_figure
from dpbayes.releases import ledger
from dpbayes.releases.amounts import amount_in, cost_in, measure_of, number_of
from dpbayes.releases.canonical import decimal
from dpbayes.releases.ledger import Account, Amount, PrivacyMeasure, Rho, Spending, amount_text, amount_told
from dpbayes.releases.promises import parsed_promise
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import PATH, program, same_from_python
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import data_and_download, headline, sentence_instead

DELTA = "0.000001"
"""At which delta an epsilon is read off what is kept in rho, or off many releases, unless the person types another."""


class BudgetKind(enum.Enum):
    """As what a budget is stated; the last two are kept in rho."""

    PURE = "ε, of pure privacy"
    APPROXIMATE = "ε at a δ, kept in a ρ that gives both"
    CONCENTRATED = "ρ, of zero-concentrated privacy"


def ledger_page(chosen: Chosen) -> None:
    """Show the curator her accounts; whoever has a release file may open and check it."""
    path, suspicion = ledger.ledger_path(), chosen.options("release").suspicion
    if not chosen.is_curator:
        headline("A release file can be checked and used by anybody, without the records.")
    elif not path.exists():
        headline("No dataset has a budget yet: open one, and the Explore page can make a release of it.")
        with st.container(key="ledger.shown"):
            _open_dataset(path)
    else:
        _accounts(path, suspicion)
    st.divider()
    _from_file(suspicion)
    same_from_python(python_of(path if chosen.is_curator and path.exists() else None), name="ledger")


def python_of(path: Path | None) -> str:
    """Return the code that checks a release file and, with a ledger, tells what is left of each budget."""
    read = 'verification = verify(Path("release.json").read_bytes())  # python -m dpbayes verify release.json'
    check = (PATH, "from dpbayes.releases.verify import verify", read)
    if path is None:
        return program(*check, "print(verification.holds)")
    accounts = f"accounts = ledger.accounts(Path({str(path)!r}))"
    left = "print(verification.holds, {account.dataset: str(account.left) for account in accounts})"
    return program(*check, "from dpbayes.releases import ledger", accounts, left)


def _accounts(path: Path, suspicion: float) -> None:
    accounts = ledger.accounts(path)
    headline(_sentence(accounts))
    if accounts:
        with st.container(key="ledger.shown"):
            for measure in PrivacyMeasure:
                _budgets([account for account in accounts if account.measure is measure], measure)
            _left_in_rho([account for account in accounts if account.measure is PrivacyMeasure.RHO])
        _releases(path, accounts, suspicion)
    left, right = st.columns(2)
    with left.expander("Open a dataset", expanded=not accounts):
        _open_dataset(path)
    with right.expander("Raise a budget"):
        _raise_budget(path, accounts)
    with st.expander("Check the ledger", on_change="rerun", key="ledger.check") as checking:
        if checking.open:
            with sentence_instead():
                _checked(path)
    st.caption(f"The ledger is the file {escaped(str(path))}. Curator only: not private.")


def _budgets(accounts: list[Account], measure: PrivacyMeasure) -> None:
    """Draw the budgets that are kept in one measure: those in epsilon and those in rho have no common scale."""
    if not accounts:
        return
    parts = np.array([[float(a.released), float(a.reserved), float(a.left)] for a in accounts]).T
    chart(
        budget_figure([account.dataset for account in accounts], parts, symbol=measure.symbol),
        key="budgets" if measure is PrivacyMeasure.EPSILON else "budgets.rho",
        alt="; ".join(f"{a.dataset}: {amount_text(a.spent)} of {amount_text(a.budget)} spent" for a in accounts),
    )


def _left_in_rho(accounts: list[Account]) -> None:
    """Say what what is left of budgets in rho gives as an epsilon, at a delta that the person may change."""
    if not accounts:
        return
    with sentence_instead():
        delta = _delta("ledger.at")
        st.markdown("\n".join(f"- {left_told(account, delta)}" for account in accounts))


def left_told(account: Account, delta: float) -> str:
    """Return what is left of a budget in rho, and which epsilon that and the whole budget give at a delta."""
    left, whole = (numeral(zcdp_epsilon(float(rho), delta=delta), 4) for rho in (account.left, account.budget))
    name, at = escaped(account.dataset), f"at δ = {numeral(delta)}"
    if not account.left:
        return f"{name}: nothing is left; all that was spent is ε = {whole} {at}."
    return (
        f"{name}: what is left, ρ = {amount_text(account.left)}, pays for releases that together keep ε = "
        f"{left} {at}; the whole budget keeps ε = {whole} there."
    )


def _delta(key: str) -> float:
    """Let the person type at which delta an epsilon is read. Errors: InputError."""
    typed = st.text_input("ε is read at this δ", value=DELTA, key=key, width=240)
    return finite_number("delta", typed, low=ledger.LEAST_DELTA, high=0.1)


def _sentence(accounts: tuple[Account, ...]) -> str:
    if not accounts:
        return "No dataset has a budget yet: open one, and the Explore page can make a release of it."
    if len(accounts) == 1:
        account = accounts[0]
        return (
            f"Of the budget of {escaped(account.dataset)}, {_budget_told(account)}, "
            f"{amount_text(account.spent)} is spent and {amount_text(account.left)} is left."
        )
    if len({account.measure for account in accounts}) > 1:  # what is left of an epsilon and of a rho does not compare
        least = min(accounts, key=lambda account: account.left / account.budget)
        how = "has the least share of it left"
    else:
        least = min(accounts, key=lambda account: account.left)
        how = "has the least left of it"
    return (
        f"{len(accounts):,} datasets have a budget; {escaped(least.dataset)} {how}, "
        f"{least.measure.symbol} = {amount_text(least.left)} of {amount_text(least.budget)}."
    )


def _budget_told(account: Account) -> str:
    return amount_told(amount_in(account.measure, account.budget))


# Budgets


def _open_dataset(path: Path) -> None:
    kind = _kind("ledger.kind", list(BudgetKind))
    with st.form("open", clear_on_submit=True, border=False):
        name = st.text_input("Name of the dataset", placeholder="votes-1984", key="ledger.name")
        budget, delta = _typed_budget(kind, "Its budget, in all", key="ledger.budget")
        reason = st.text_input("Why so much", placeholder="decided by the board in March", key="ledger.reason")
        if st.form_submit_button("Open the dataset"):
            with sentence_instead():
                ledger.open_dataset(path, name, _amount(kind, budget, delta), reason=reason)
                st.rerun()


def _kind(key: str, kinds: list[BudgetKind]) -> BudgetKind:
    """Let the person choose as what a budget is stated."""
    chosen = st.radio(
        "The budget is",
        kinds,
        format_func=lambda kind: kind.value,
        key=key,
        help="A budget in ε refuses Gaussian noise. One kept in ρ pays it, and pure releases by the ρ that they imply.",
    )
    return kinds[0] if chosen is None else chosen


def _typed_budget(kind: BudgetKind, label: str, *, key: str) -> tuple[str, str]:
    """Let the person type a budget, and the delta that belongs to it, if one does."""
    budget = st.text_input(label, placeholder="0.1" if kind is BudgetKind.CONCENTRATED else "1.0", key=key)
    if kind is not BudgetKind.APPROXIMATE:
        return budget, ""
    return budget, st.text_input("and its δ", placeholder=DELTA, key=f"{key}.delta")


def _amount(kind: BudgetKind, budget: str, delta: str) -> Amount:
    """Return a budget as it was typed. Errors: InputError unless it is one."""
    if kind is BudgetKind.APPROXIMATE:
        return Rho(parsed_promise(budget, delta).rho)
    number = decimal("The budget", budget)
    return Rho(number) if kind is BudgetKind.CONCENTRATED else number


def _raise_budget(path: Path, accounts: tuple[Account, ...]) -> None:
    place = st.selectbox(
        "Dataset", range(len(accounts)), format_func=lambda i: accounts[i].dataset, key="ledger.raised"
    )
    kind = BudgetKind.PURE
    if place is not None and accounts[place].measure is PrivacyMeasure.RHO:
        kind = _kind("ledger.raised.kind", [BudgetKind.APPROXIMATE, BudgetKind.CONCENTRATED])
    with st.form("raise", border=False):
        budget, delta = _typed_budget(kind, "Its new budget, in all", key="ledger.new")
        reason = st.text_input("Why more", key="ledger.why")
        if st.form_submit_button("Raise the budget", disabled=place is None) and place is not None:
            with sentence_instead():
                ledger.raise_budget(path, accounts[place].dataset, _amount(kind, budget, delta), reason=reason)
                st.rerun()


def _checked(path: Path) -> None:
    kept = st.text_input("A hash that you kept elsewhere, if any", key="ledger.seen").strip()
    checked = ledger.check(path, seen=[kept] if kept else ())
    st.success(f"{'The 1 row is' if checked.rows == 1 else f'All {checked.rows:,} rows are'} as they were written.")
    st.caption(f"The last row's hash, to be kept elsewhere: {checked.head}")
    for note in checked.notes:
        st.info(escaped(note))


# Releases


def _releases(path: Path, accounts: tuple[Account, ...], suspicion: float) -> None:
    st.subheader("Releases")
    spendings = [spending for account in accounts for spending in ledger.spendings(path, account.dataset)]
    if not spendings:
        st.info("Nothing was released yet. The Explore page makes a release of what is shown there.")
        st.page_link("pages/explore.py", label="Explore", icon=":material/arrow_forward:")
        return
    frame = pd.DataFrame(
        {
            "row": [spending.row for spending in spendings],
            "dataset": [spending.reservation.dataset for spending in spendings],
            "ε": [_stated(spending, PrivacyMeasure.EPSILON) for spending in spendings],
            "what became of it": [spending.state for spending in spendings],
            "time, UTC": [spending.reservation.time[:19].replace("T", " ") for spending in spendings],
        }
    )
    if any(account.measure is PrivacyMeasure.RHO for account in accounts):
        frame.insert(3, "ρ", [_stated(spending, PrivacyMeasure.RHO) for spending in spendings])
    st.dataframe(frame, hide_index=True)
    data_and_download(lambda: frame, name="ledger", curator_only=True)
    _together(path, accounts)
    released = [spending.row for spending in spendings if spending.release]
    row = st.selectbox("Open a release, by its row", released[::-1], index=None, key="ledger.row")
    if row is not None:
        with sentence_instead():
            opened_release(ledger.outcome(path, row), key="ledger", suspicion=suspicion)


def _stated(spending: Spending, measure: PrivacyMeasure) -> str:
    """Return what a release costs in a measure: what it promises, or what a budget in rho pays for that."""
    if measure_of(spending.amount) is measure:
        return amount_text(number_of(spending.amount))
    return amount_text(spending.cost) if spending.measure is measure else "–"


def _together(path: Path, accounts: tuple[Account, ...]) -> None:
    """Say what many releases lose together at a small delta, which is less than their sum."""
    with st.expander("What all releases of a dataset lose together", on_change="rerun", key="ledger.together") as part:
        if not part.open:
            return
        with sentence_instead():
            delta = _delta("ledger.together.at")
            for account in accounts:
                amounts = [spending.amount for spending in ledger.spendings(path, account.dataset)]
                st.markdown(f"{escaped(account.dataset)}: {_composed(account, amounts, delta)}")


def _composed(account: Account, amounts: list[Amount], delta: float) -> str:
    bound, at = ledger.composed(amounts, delta), f"at δ = {numeral(delta)}"
    if account.measure is PrivacyMeasure.RHO:
        spent = f"ρ = {amount_text(account.spent)}, the exact sum, which decides"
        return f"{spent}; at most ε = {numeral_above(bound, 4)} {at}."
    spent = f"ε = {amount_text(account.spent)} at δ = 0, the exact sum, which decides"
    rho = sum((cost_in(PrivacyMeasure.RHO, amount) or Fraction(0) for amount in amounts), start=Fraction(0))
    return f"{spent}; at most {numeral_above(bound, 4)} {at}. In a budget kept in ρ it would be {amount_text(rho)}."


# A file


def _from_file(suspicion: float) -> None:
    st.subheader("Check and use a release file")
    file = st.file_uploader("release.json", type="json", key="ledger.file")
    if file is None:
        st.caption("The file is read here and kept nowhere. Checking it needs no records.")
        return
    try:
        opened_release(file.getvalue(), key="file", suspicion=suspicion)
    except InputError as error:
        st.warning(escaped(str(error)))
