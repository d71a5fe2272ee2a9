"""The parts of a page that charges a dataset's budget: the dataset, the cost, the declarations."""

from pathlib import Path

import streamlit as st

from dpbayes.base.amounts import Amount, amount_text, amount_with_symbol, measure_of
from dpbayes.releases import ledger
from dpbayes.releases.document.request import DomainChoice
from dpbayes.releases.publishing import require_declared
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import upload


def charged_ledger() -> Path:
    """Return where the ledger is that a real release is charged to. Errors: InputError for all but the curator."""
    person().require(Act.RELEASE)
    return ledger.ledger_path()


def noted(act: str, dataset: str = "") -> None:
    """Add to the ledger's audit log what this person does. Errors: LedgerError where it cannot be written."""
    ledger.record_access(ledger.ledger_path(), person().name, act, dataset)


def whose_budget(path: Path, *, key: str) -> str | None:
    """Let the person choose among their datasets with a budget; where there is none, lead to the ledger."""
    accounts, who = ledger.accounts(path) if ledger.exists(path) else (), person()
    datasets = [account.dataset for account in accounts if who.may(Act.RELEASE, account.dataset)]
    if not datasets:
        st.info("No dataset has a privacy budget yet. Create one on Ledger.")
        ledger_link()
        return None
    only = 0 if len(datasets) == 1 else None
    return st.selectbox("Dataset to charge", datasets, index=only, placeholder="Choose a dataset", key=key)


def charge(path: Path, dataset: str, amount: Amount) -> None:
    """Show the cost of a release in the measure of the budget, and what is left.

    Errors: InputError for a rho and a budget of pure epsilon.
    """
    account = ledger.account_of(path, dataset)
    cost, symbol = ledger.cost_of(account, amount), account.measure.symbol
    after = account.left - cost
    left, middle, right = st.columns(3)
    left.metric(f"Remaining (of {symbol} = {amount_text(account.budget)})", amount_text(account.left))
    middle.metric(f"Cost ({symbol})", amount_text(cost))
    right.metric("Remaining after the release", amount_text(after) if after >= 0 else "not enough")
    if measure_of(amount) is not account.measure:
        st.caption(
            f"The budget is tracked in {symbol}: {amount_with_symbol(amount)} costs {symbol} = {amount_text(cost)}."
        )


def ledger_link() -> None:
    """Lead to the ledger."""
    st.page_link("pages/ledger.py", label="Ledger", icon=":material/arrow_forward:")


def domain_choice(chosen: Chosen) -> DomainChoice:
    """Return how the table's domains were declared."""
    return DomainChoice.PUBLISHED if chosen.settings.data in SHIPPED else DomainChoice.CURATOR


def require_releasable(chosen: Chosen) -> None:
    """Refuse a table whose domains are read off the records. Errors: InputError."""
    if chosen.is_connected:
        require_declared(DeclaredColumn(column.name, column) for column in chosen.connected.in_use)
    mine = upload()
    if chosen.settings.data == "upload" and mine is not None:
        require_declared(DeclaredColumn(column.name, column) for column in mine.encoded)
