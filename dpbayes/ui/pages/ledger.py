"""The Ledger page: privacy budgets, releases and what they cost, and the check of a release file."""

import enum
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import streamlit as st

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_text, cost_in, measure_of, number_of
from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, numeral, numeral_above, typed
from dpbayes.base.validation import InputError, finite_number
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.figures.budgets import budget_figure
from dpbayes.releases import ledger
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import parsed_promise
from dpbayes.releases.ledger import Account, Spending
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import document_place
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import PATH, program, same_from_python
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import data_and_download, folded, headline, sentence_instead

DELTA = "0.000001"
"""The delta at which a budget in rho, or many releases together, are shown as an epsilon, unless another is typed."""


class BudgetKind(enum.Enum):
    """How a budget is stated; the last two are kept in rho."""

    PURE = "ε (pure)"
    APPROXIMATE = "(ε, δ), tracked as zCDP"
    CONCENTRATED = "ρ (zCDP)"


NONE_YET = "No dataset has a privacy budget yet."


def ledger_page(chosen: Chosen) -> None:
    """Show the accounts to persons who may read them; anyone with a release file can open and check it."""
    suspicion = chosen.options("release").suspicion
    path = _readable_ledger() if chosen.is_curator else None
    if path is None:
        headline("Anyone can check and use a release file without the records.")
        if chosen.is_curator:
            with sentence_instead():
                person().require(Act.READ_LEDGER)
        _from_file(suspicion)
    elif not path.exists():
        headline(NONE_YET)
        _begin(path, chosen, suspicion)
    else:
        _accounts(path, chosen, suspicion)
    same_from_python(python_of(path if path is not None and path.exists() else None), name="ledger")


def _readable_ledger() -> Path | None:
    """Return where the ledger is, for persons who may read it."""
    return ledger.ledger_path() if person().may(Act.READ_LEDGER) else None


def _begin(path: Path, chosen: Chosen, suspicion: float) -> None:
    """Offer the first dataset, and beside it the check of a file."""
    left, right = st.columns(2, gap="large")
    with left, st.container(key="ledger.shown"):
        st.subheader("New dataset")
        st.caption("The budget limits the total privacy loss of all releases of a dataset. Each release is charged.")
        _create_dataset(path, chosen, ())
    with right:
        _from_file(suspicion)


def python_of(path: Path | None) -> str:
    """Return the code that checks a release file and, with a ledger, prints the remaining budgets."""
    read = 'verification = verify(Path("release.json").read_bytes())  # python -m dpbayes verify release.json'
    check = (PATH, "from dpbayes.releases.verify import verify", read)
    if path is None:
        return program(*check, "print(verification.holds)")
    accounts = f"accounts = ledger.accounts(Path({str(path)!r}))"
    left = "print(verification.holds, {account.dataset: str(account.left) for account in accounts})"
    return program(*check, "from dpbayes.releases import ledger", accounts, left)


def _accounts(path: Path, chosen: Chosen, suspicion: float) -> None:
    accounts = ledger.accounts(path)
    headline(_sentence(accounts))
    if not accounts:
        _begin(path, chosen, suspicion)
    else:
        with st.container(key="ledger.shown"):
            for measure in PrivacyMeasure:
                _budgets([account for account in accounts if account.measure is measure], measure)
            _left_in_rho([account for account in accounts if account.measure is PrivacyMeasure.RHO])
        _releases(path, accounts, suspicion)
        left, right = st.columns(2)
        with left.expander("New dataset"):
            _create_dataset(path, chosen, accounts)
        with right.expander("Higher budget"):
            _raise_budget(path, accounts)
        st.divider()
        _from_file(suspicion)
    with folded("Integrity of the ledger", key="ledger.check") as is_open:
        if is_open:
            with sentence_instead():
                _checked(path)
    st.caption(f"The ledger is {escaped(str(path))}. Not private (curator view).")


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
    """Show the remaining budgets in rho as epsilon, at a delta that the person may change."""
    if not accounts:
        return
    with sentence_instead():
        delta = _delta("ledger.at")
        st.markdown("\n".join(f"- {left_as_epsilon(account, delta)}" for account in accounts))


def left_as_epsilon(account: Account, delta: float) -> str:
    """Return the remaining budget in rho, and the epsilon of this and of the whole budget at a delta."""
    left, whole = (numeral(zcdp_epsilon(float(rho), delta=delta), 4) for rho in (account.left, account.budget))
    name, at = escaped(account.dataset), f"at δ = {numeral(delta)}"
    if not account.left:
        return f"{name}: no budget is left. The total spent is ε = {whole} {at}."
    return (
        f"{name}: the remaining ρ = {amount_text(account.left)} is ε = {left} {at}. "
        f"The total budget is ε = {whole} {at}."
    )


def _delta(key: str) -> float:
    """Let the person type the delta at which an epsilon is shown. Errors: InputError."""
    delta = st.text_input("δ", value=DELTA, key=key, width=240)
    return finite_number("delta", delta, low=ledger.LEAST_DELTA, high=0.1)


def _sentence(accounts: tuple[Account, ...]) -> str:
    if not accounts:
        return NONE_YET
    if len(accounts) == 1:
        return f"{escaped(accounts[0].dataset)} has {_left_text(accounts[0])} left."
    if len({account.measure for account in accounts}) > 1:  # an epsilon and a rho cannot be compared
        least = min(accounts, key=lambda account: account.left / account.budget)
        return f"{escaped(least.dataset)} has the smallest share of its budget left: {_left_text(least)}."
    least = min(accounts, key=lambda account: account.left)
    return f"{escaped(least.dataset)} has the least budget left: {_left_text(least)}."


def _left_text(account: Account) -> str:
    return f"{account.measure.symbol} = {amount_text(account.left)} of {amount_text(account.budget)}"


# Budgets


def _create_dataset(path: Path, chosen: Chosen, accounts: tuple[Account, ...]) -> None:
    """Offer a dataset with a budget; the form begins with the open table and its epsilon."""
    kind = _kind("ledger.kind", list(BudgetKind))
    name, taken = suggested_name(chosen), {account.dataset for account in accounts}
    with st.form("open", clear_on_submit=True, border=False):
        name = st.text_input("Dataset name", "" if name in taken else name, placeholder="votes-1984", key="ledger.name")
        budget, delta = _typed_budget(kind, "Total budget", typed(chosen.epsilon), key="ledger.budget")
        reason = st.text_input("Justification", placeholder="Approved by the board in March", key="ledger.reason")
        if st.form_submit_button("Create dataset", type="primary"):
            with sentence_instead():
                person().require(Act.RELEASE)
                ledger.open_dataset(path, name, _amount(kind, budget, delta), reason=reason)
                st.rerun()


def suggested_name(chosen: Chosen) -> str:
    """Return a name for the open table: that of its file or of its network, in small letters."""
    settings = chosen.settings
    name = settings.data
    if name == "synthetic":
        name = settings.published or "synthetic"
    elif name not in SHIPPED:
        name = Path(chosen.data_title).stem
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]


def _kind(key: str, kinds: list[BudgetKind]) -> BudgetKind:
    """Let the person choose how a budget is stated."""
    chosen = st.radio(
        "Budget type",
        kinds,
        format_func=lambda kind: kind.value,
        key=key,
        horizontal=True,
        help="A budget in pure ε cannot pay for Gaussian noise. A zCDP budget pays for Gaussian noise, and for pure "
        "releases at the cost of the ρ that their ε implies.",
    )
    return kinds[0] if chosen is None else chosen


def _typed_budget(kind: BudgetKind, label: str, epsilon: str, *, key: str) -> tuple[str, str]:
    """Let the person type a budget, an `epsilon` at first, and the delta that belongs to it, if one does."""
    if kind is BudgetKind.CONCENTRATED:
        return st.text_input(f"{label} (ρ)", placeholder="0.1", key=f"{key}.rho"), ""
    budget = st.text_input(f"{label} (ε)", epsilon, placeholder="1.0", key=key)
    if kind is BudgetKind.PURE:
        return budget, ""
    return budget, st.text_input("δ of the budget", placeholder=DELTA, key=f"{key}.delta")


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
        budget, delta = _typed_budget(kind, "New total budget", "", key="ledger.new")
        reason = st.text_input("Justification", key="ledger.why")
        if st.form_submit_button("Raise budget", disabled=place is None) and place is not None:
            with sentence_instead():
                ledger.raise_budget(path, accounts[place].dataset, _amount(kind, budget, delta), reason=reason)
                st.rerun()


def _checked(path: Path) -> None:
    kept = st.text_input("Stored hash of an earlier row (optional)", key="ledger.seen").strip()
    checked = ledger.check(path, seen=[kept] if kept else ())
    st.success(f"{'The only row is' if checked.rows == 1 else f'All {checked.rows:,} rows are'} unchanged.")
    st.caption(f"Store the hash of the last row separately: {checked.head}")
    for note in checked.notes:
        st.info(escaped(note))


# Releases


def _releases(path: Path, accounts: tuple[Account, ...], suspicion: float) -> None:
    st.subheader("Releases")
    spendings = [spending for account in accounts for spending in ledger.spendings(path, account.dataset)]
    if not spendings:
        st.info("There are no releases yet. Make one on Explore.")
        st.page_link("pages/explore.py", label="Explore", icon=":material/arrow_forward:")
        return
    frame = pd.DataFrame(
        {
            "row": [spending.row for spending in spendings],
            "dataset": [spending.reservation.dataset for spending in spendings],
            "ε": [_stated(spending, PrivacyMeasure.EPSILON) for spending in spendings],
            "status": [spending.state for spending in spendings],
            "time (UTC)": [spending.reservation.time[:19].replace("T", " ") for spending in spendings],
        }
    )
    if any(account.measure is PrivacyMeasure.RHO for account in accounts):
        frame.insert(3, "ρ", [_stated(spending, PrivacyMeasure.RHO) for spending in spendings])
    st.dataframe(frame, hide_index=True)
    data_and_download(lambda: frame, name="ledger", curator_only=True)
    _combined_loss(path, accounts)
    released = [spending.row for spending in spendings if spending.release]
    row = st.selectbox("Release (row)", released[::-1], index=None, placeholder="Choose a release", key="ledger.row")
    if row is not None:
        with sentence_instead():
            opened_release(ledger.outcome(path, row), key="ledger", suspicion=suspicion)


def _stated(spending: Spending, measure: PrivacyMeasure) -> str:
    """Return the cost of a release in a measure: its own amount, or the rho that it costs a zCDP budget."""
    if measure_of(spending.amount) is measure:
        return amount_text(number_of(spending.amount))
    return amount_text(spending.cost) if spending.measure is measure else "–"


def _combined_loss(path: Path, accounts: tuple[Account, ...]) -> None:
    """Show the privacy loss of all releases together at a small delta, which is less than their sum."""
    with folded("Total privacy loss", key="ledger.together") as is_open:
        if not is_open:
            return
        with sentence_instead():
            delta = _delta("ledger.together.at")
            for account in accounts:
                amounts = [spending.amount for spending in ledger.spendings(path, account.dataset)]
                st.markdown(f"{escaped(account.dataset)}: {_composed(account, amounts, delta)}")


def _composed(account: Account, amounts: list[Amount], delta: float) -> str:
    bound, at = ledger.composed(amounts, delta), f"at δ = {numeral(delta)}"
    if account.measure is PrivacyMeasure.RHO:
        spent = f"ρ = {amount_text(account.spent)} is charged"
        return f"{spent}. The privacy loss is at most ε = {numeral_above(bound, 4)} {at}."
    spent = f"ε = {amount_text(account.spent)} at δ = 0 is charged"
    rho = sum((cost_in(PrivacyMeasure.RHO, amount) or Fraction(0) for amount in amounts), start=Fraction(0))
    return (
        f"{spent}. The privacy loss is at most ε = {numeral_above(bound, 4)} {at}. "
        f"A zCDP budget would be charged ρ = {amount_text(rho)}."
    )


# A file


def _from_file(suspicion: float) -> None:
    st.subheader("Release file")
    file = document_place("Release to check (release.json)", type="json", key="ledger.file")
    if file is None:
        st.caption("The check needs no records, and the file is not stored.")
        return
    try:
        opened_release(file.getvalue(), key="file", suspicion=suspicion)
    except InputError as error:
        st.warning(escaped(str(error)))
