"""The parts of a page that makes a real release: the dataset that pays, the cost, the warnings, the button."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.amounts import Amount, amount_text, amount_with_symbol, measure_of
from dpbayes.base.text import escaped
from dpbayes.releases import ledger
from dpbayes.releases.document.request import Chargeable, DomainChoice
from dpbayes.releases.publishing import Published, require_declared, shown_again
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import upload


@dataclass(frozen=True, eq=False)
class Charge:
    """The dataset that pays for a real release of the chosen table, in the ledger at `path`."""

    path: Path
    dataset: str
    chosen: Chosen

    def show_cost(self, amount: Amount) -> None:
        """Show the cost of a release in the measure of the budget, and the remaining budget.

        Errors: InputError for a rho and a budget of pure epsilon.
        """
        account = ledger.account_of(self.path, self.dataset)
        cost, symbol = ledger.cost_of(account, amount), account.measure.symbol
        after = account.left - cost
        left, middle, right = st.columns(3)
        self._show_left(left)
        middle.metric(f"Cost ({symbol})", amount_text(cost))
        right.metric("Remaining after the release", amount_text(after) if after >= 0 else "not enough")
        if measure_of(amount) is not account.measure:
            st.caption(
                f"The budget is tracked in {symbol}: {amount_with_symbol(amount)} costs {symbol} = {amount_text(cost)}."
            )

    def _show_left(self, place: DeltaGenerator) -> None:
        account = ledger.account_of(self.path, self.dataset)
        budget = f"{account.measure.symbol} = {amount_text(account.budget)}"
        place.metric(f"Remaining (of {budget})", amount_text(account.left))

    def released(self, request: Chargeable, ask: Callable[[], Published | None], *, exists: str) -> Published | None:
        """Return the newest release of the same request, else what `ask` makes after it was confirmed; None if neither.

        Above it, the budget is shown as it is then: what is released costs nothing more. `exists` begins the sentence
        about a release that was made before. Errors: those of `show_cost` and of `ask`.
        """
        budget, question = st.empty(), st.empty()
        published = self._earlier_release(request, exists)
        if published is None:
            with budget.container():
                self.show_cost(request.cost)
            with question.container():
                published = ask()
        if published is not None:
            question.empty()
            self._show_left(budget.container())
        return published

    def _earlier_release(self, request: Chargeable, sentence: str) -> Published | None:
        """Return the newest release of the same request, and say in which row of the ledger it is; None without one."""
        earlier = shown_again(self.path, request)
        if earlier is not None:
            st.info(f"{sentence}, in row {earlier.row} of the ledger. Showing it again costs no budget.")
        return earlier

    def is_confirmed(self, *, label: str, statement: str = "") -> bool:
        """Show the warnings about the table and the button that makes the release; return whether it was pressed.

        With a pressed button, the hash of the table is stored in the ledger. The person must tick the `statement`
        first, if there is one. A connected table has no hash, because its records stay in its engine.
        """
        if self.chosen.is_connected:
            st.caption(ledger.RECORDS_ELSEWHERE)
        else:
            for doubt in ledger.table_doubts(self.path, self.dataset, self.chosen.dataset):
                st.warning(escaped(doubt))
        is_stated = not statement or st.checkbox(statement, key=_STATED)
        st.button(label, disabled=not is_stated, type="primary", on_click=_press, args=(bool(statement),))
        is_pressed = bool(st.session_state.pop(_PRESSED, False))
        if is_pressed and not self.chosen.is_connected:
            ledger.remember_table(self.path, self.dataset, self.chosen.dataset)
        return is_pressed


_STATED, _PRESSED = "make.unseen", "make.pressed"


def _press(must_state: bool) -> None:  # noqa: FBT001 - Streamlit passes it by place
    """Confirm one release: the next one must be stated and confirmed anew."""
    st.session_state[_PRESSED] = st.session_state.get(_STATED, False) if must_state else True
    st.session_state[_STATED] = False


def chosen_charge(chosen: Chosen, explanation: str, *, key: str) -> Charge | None:
    """Show what a real release is, and let the person choose the dataset that pays for it.

    Returns None while no dataset is chosen; a person without a dataset gets a link to the ledger. Errors: InputError
    for all but the curator, and for a table whose domains were read from its records.
    """
    person().require(Act.RELEASE)
    path = ledger.ledger_path()
    _require_releasable(chosen)
    st.markdown(explanation)
    datasets = [account.dataset for account in ledger.accounts(path)] if path.exists() else []
    if not datasets:
        st.info("No dataset has a privacy budget yet. Create one on Ledger.")
        ledger_link()
        return None
    only = 0 if len(datasets) == 1 else None
    dataset = st.selectbox("Dataset to charge", datasets, index=only, placeholder="Choose a dataset", key=key)
    return None if dataset is None else Charge(path, dataset, chosen)


def ledger_link() -> None:
    """Show a link to the ledger."""
    st.page_link("pages/ledger.py", label="Ledger", icon=":material/arrow_forward:")


def domain_choice(chosen: Chosen) -> DomainChoice:
    """Return how the table's domains were declared."""
    return DomainChoice.PUBLISHED if chosen.settings.data in SHIPPED else DomainChoice.CURATOR


def _require_releasable(chosen: Chosen) -> None:
    """Refuse a table whose domains were read from its records. Errors: InputError."""
    if chosen.is_connected:
        require_declared(DeclaredColumn(column.name, column) for column in chosen.connected.in_use)
    mine = upload()
    if chosen.settings.data == "upload" and mine is not None:
        require_declared(DeclaredColumn(column.name, column) for column in mine.encoded)
