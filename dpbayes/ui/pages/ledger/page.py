"""The Ledger page: what was spent of each dataset, each release as it was made, and the check of a release file."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.figures.ledger import budget_figure
from dpbayes.releases import ledger
from dpbayes.releases.canonical import decimal
from dpbayes.releases.ledger import Account, amount_text
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import data_and_download, headline, sentence_instead

DELTA = 1e-6
"""The delta at which the composition of many releases is read beside their sum."""


def ledger_page(chosen: Chosen) -> None:
    """Show the curator her accounts; whoever has a release file may open and check it."""
    path = ledger.ledger_path()
    if not chosen.is_curator:
        headline("A release file can be checked and used by anybody, without the records.")
    elif not path.exists():
        headline("No dataset has a budget yet: open one, and the Release page can make a release of it.")
        _open_dataset(path)
    else:
        _accounts(path)
    st.divider()
    _from_file()


def _accounts(path: Path) -> None:
    accounts = ledger.accounts(path)
    headline(_sentence(accounts))
    if accounts:
        parts = np.array([[float(a.released), float(a.reserved), float(a.left)] for a in accounts]).T
        chart(
            budget_figure([account.dataset for account in accounts], parts),
            key="budgets",
            alt="; ".join(f"{a.dataset}: {amount_text(a.spent)} of {amount_text(a.budget)} spent" for a in accounts),
        )
        _releases(path, accounts)
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


def _sentence(accounts: tuple[Account, ...]) -> str:
    if not accounts:
        return "No dataset has a budget yet: open one, and the Release page can make a release of it."
    if len(accounts) == 1:
        account = accounts[0]
        return (
            f"Of the budget of {escaped(account.dataset)}, ε = {amount_text(account.budget)}, "
            f"{amount_text(account.spent)} is spent and {amount_text(account.left)} is left."
        )
    least = min(accounts, key=lambda account: account.left)
    return (
        f"{len(accounts):,} datasets have a budget; {escaped(least.dataset)} has the least left of it, "
        f"ε = {amount_text(least.left)} of {amount_text(least.budget)}."
    )


# Budgets


def _open_dataset(path: Path) -> None:
    with st.form("open", clear_on_submit=True, border=False):
        name = st.text_input("Name of the dataset", placeholder="votes-1984", key="ledger.name")
        budget = st.text_input("Its budget, the total ε", placeholder="1.0", key="ledger.budget")
        reason = st.text_input("Why so much", placeholder="decided by the board in March", key="ledger.reason")
        if st.form_submit_button("Open the dataset"):
            with sentence_instead():
                ledger.open_dataset(path, name, decimal("The budget", budget), reason=reason)
                st.rerun()


def _raise_budget(path: Path, accounts: tuple[Account, ...]) -> None:
    with st.form("raise", border=False):
        name = st.selectbox("Dataset", [account.dataset for account in accounts], key="ledger.raised")
        budget = st.text_input("Its new total ε", key="ledger.new")
        reason = st.text_input("Why more", key="ledger.why")
        if st.form_submit_button("Raise the budget", disabled=not accounts):
            with sentence_instead():
                ledger.raise_budget(path, str(name), decimal("The budget", budget), reason=reason)
                st.rerun()


def _checked(path: Path) -> None:
    kept = st.text_input("A hash that you kept elsewhere, if any", key="ledger.seen").strip()
    checked = ledger.check(path, seen=[kept] if kept else ())
    st.success(f"All {checked.rows:,} rows are as they were written.")
    st.caption(f"The last row's hash, to be kept elsewhere: {checked.head}")
    for note in checked.notes:
        st.info(escaped(note))


# Releases


def _releases(path: Path, accounts: tuple[Account, ...]) -> None:
    st.subheader("Releases")
    spendings = [spending for account in accounts for spending in ledger.spendings(path, account.dataset)]
    if not spendings:
        st.info("Nothing was released yet. The Release page makes a release of what is shown there.")
        st.page_link("pages/release.py", label="Release", icon=":material/arrow_forward:")
        return
    frame = pd.DataFrame(
        {
            "row": [spending.row for spending in spendings],
            "dataset": [spending.reservation.dataset for spending in spendings],
            "ε": [amount_text(spending.epsilon) for spending in spendings],
            "what became of it": [spending.state for spending in spendings],
            "time, UTC": [spending.reservation.time[:19].replace("T", " ") for spending in spendings],
        }
    )
    st.dataframe(frame, hide_index=True)
    data_and_download(lambda: frame, name="ledger", curator_only=True)
    _together(path, accounts)
    released = [spending.row for spending in spendings if spending.release]
    row = st.selectbox("Open a release, by its row", released[::-1], index=None, key="ledger.row")
    if row is not None:
        with sentence_instead():
            opened_release(ledger.outcome(path, row), key="ledger")


def _together(path: Path, accounts: tuple[Account, ...]) -> None:
    """Say what many releases lose together at a small delta, which is less than their sum."""
    with st.expander("What all releases of a dataset lose together", on_change="rerun", key="ledger.together") as part:
        if not part.open:
            return
        for account in accounts:
            epsilons = [spending.epsilon for spending in ledger.spendings(path, account.dataset)]
            total = sum(epsilons, Fraction(0))
            with sentence_instead():
                bound = ledger.composed(epsilons, DELTA) if epsilons else 0.0
                st.markdown(
                    f"{escaped(account.dataset)}: ε = {amount_text(total)} at δ = 0, the exact sum, which decides; "
                    f"at most {bound:.4g} at δ = 0.000001."
                )


# A file


def _from_file() -> None:
    st.subheader("Check and use a release file")
    file = st.file_uploader("release.json", type="json", key="ledger.file")
    if file is None:
        st.caption("The file is read here and kept nowhere. Checking it needs no records.")
        return
    try:
        opened_release(file.getvalue(), key="file")
    except InputError as error:
        st.warning(escaped(str(error)))
