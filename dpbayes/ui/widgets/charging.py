"""What every part of a page has that charges a dataset's budget: whose it is, its cost, what must be declared."""

from pathlib import Path

import streamlit as st

from dpbayes.releases import ledger
from dpbayes.releases.amounts import measure_of
from dpbayes.releases.ledger import Amount, amount_text, amount_told
from dpbayes.releases.publishing import require_declared
from dpbayes.releases.request import DomainChoice
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.uploads import upload


def whose_budget(path: Path, *, key: str) -> str | None:
    """Let the person choose a dataset with a budget; where there is none, lead to the ledger."""
    datasets = [account.dataset for account in ledger.accounts(path)] if path.exists() else []
    if not datasets:
        st.info("No dataset has a budget yet: open one in the ledger.")
        ledger_link()
        return None
    only = 0 if len(datasets) == 1 else None
    return st.selectbox("Whose budget", datasets, index=only, placeholder="Choose a dataset", key=key)


def charge(path: Path, dataset: str, amount: Amount) -> None:
    """Say what will be spent of a budget, in its own terms, and what is left then.

    Errors: InputError for a rho and a budget of pure epsilon.
    """
    account = ledger.account_of(path, dataset)
    cost, symbol = ledger.cost_of(account, amount), account.measure.symbol
    after = account.left - cost
    left, middle, right = st.columns(3)
    left.metric(f"Left of {symbol} = {amount_text(account.budget)}", amount_text(account.left))
    middle.metric(f"It spends {symbol}", amount_text(cost))
    right.metric("Left after it", amount_text(after) if after >= 0 else "too little")
    if measure_of(amount) is not account.measure:
        st.caption(f"The budget is kept in {symbol}, of which {amount_told(amount)} costs {amount_text(cost)}.")


def ledger_link() -> None:
    """Lead to the ledger."""
    st.page_link("pages/ledger.py", label="Ledger", icon=":material/arrow_forward:")


def domain_choice(chosen: Chosen) -> DomainChoice:
    """Return how the table's domains were declared."""
    return DomainChoice.PUBLISHED if chosen.settings.data in SHIPPED else DomainChoice.CURATOR


def require_releasable(chosen: Chosen) -> None:
    """Refuse a table whose domains betray records. Errors: InputError."""
    if chosen.is_connected:
        require_declared(DeclaredColumn(column.name, column) for column in chosen.connected.in_use)
    mine = upload()
    if chosen.settings.data == "upload" and mine is not None:
        require_declared(DeclaredColumn(column.name, column) for column in mine.encoded)
