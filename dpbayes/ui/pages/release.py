"""One real release: what it contains, what it costs, the button that makes it, and the result in the same place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.amounts import PrivacyMeasure, amount_in, amount_text, amount_with_symbol, measure_of, number_of
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, many, typed
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms import OF_RECORDS, RELEASABLE, releasable
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.parameters import EPSILON, Calibration
from dpbayes.releases import ledger
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import (
    AdaptiveRequest,
    Chargeable,
    ReleaseRequest,
    parsed_promise,
    question_of,
)
from dpbayes.releases.ledger import Account
from dpbayes.releases.publishing import Published, publish, require_declared, shown_again
from dpbayes.sources.columns import Column, states_of_missing
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.shipped_tables import SHIPPED, shipped_domains
from dpbayes.ui.pages.release_history import budget_boxes, budget_of, check_a_file, example_or_file, history
from dpbayes.ui.session.chosen import Chosen, TableMissing, kind_called
from dpbayes.ui.session.current import change, set_parameter
from dpbayes.ui.session.link import read_parameter
from dpbayes.ui.session.looked import looked_at
from dpbayes.ui.session.roles import HOW, REFUSALS, Act, person
from dpbayes.ui.session.uploads import upload
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import share_python
from dpbayes.ui.widgets.from_python import PATH, program, show_python
from dpbayes.ui.widgets.opened_release import opened_release
from dpbayes.ui.widgets.show import headline, sentence_instead

ADAPTIVE = OF_RECORDS[0].__name__
KINDS = (*(entry.kind.__name__ for entry in RELEASABLE.values()), ADAPTIVE)
"""The mechanisms that have a real release, by the names of their classes."""

CHOOSES_ITS_GRAPH = "Adaptive: choose the graph too"

NEW = "New dataset"
REASON = "Opened with its first release"

_PRESSED, _CHARGED, _RELEASED = "release.pressed", "release.charged", "release.released"


def release_page(chosen: Chosen) -> None:
    """Show the curator what a release costs, and make it; anyone else opens and checks a release."""
    if not (chosen.is_curator and person().may(Act.READ_LEDGER)):
        headline("Anyone can check and use a release without the records.")
        if not person().may(Act.RELEASE):
            st.caption(f"{REFUSALS[Act.RELEASE]} {HOW}")
        example_or_file()
        share_python(lambda: show_python(python_of(None), "release", chosen))
        return
    path = ledger.ledger_path()
    with st.container(key="release.shown"), sentence_instead():
        _release(chosen, path)
    with sentence_instead():
        history(path)
    check_a_file()
    share_python(lambda: show_python(python_of(path if path.exists() else None), "release", chosen))


def python_of(path: Path | None) -> str:
    """Return the code that checks a release file and, with a ledger, prints the remaining budgets."""
    read = 'verification = verify(Path("release.json").read_bytes())  # python -m dpbayes verify release.json'
    check = (PATH, "from dpbayes.releases.verify import verify", read)
    if path is None:
        return program(*check, "print(verification.holds)")
    accounts = f"accounts = ledger.read_books(Path({str(path)!r})).accounts"
    left = "print(verification.holds, {dataset: str(account.left) for dataset, account in accounts.items()})"
    return program(*check, "from dpbayes.releases import ledger", accounts, left)


def _release(chosen: Chosen, path: Path) -> None:
    """Show the request and its cost, then the button or the release. Errors: InputError for an unusable table."""
    place = st.empty()
    with place:
        headline("One step is missing before a real release.")
    require_releasable(chosen)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What is released")
        request = _request(chosen)
    with right:
        st.subheader("What it costs")
        charged = _account_to_charge(chosen, path, request)
    request = replace(request, dataset=charged.account.dataset)
    published = None if charged.is_new else shown_again(path, request)
    with right:
        _costs(charged, request, is_made=published is not None)
        if published is None:
            _seen(chosen)
            _offer(chosen, path, charged, request)
    with place:
        headline(_finding(charged, request, is_made=published is not None))
    if published is not None:
        st.subheader("The release")
        if published.row != st.session_state.get(_RELEASED):
            st.info(
                f"This release exists already, in row {published.row} of the ledger. Showing it again costs no budget."
            )
        opened_release(published.document, key="made")
        st.markdown("Next: download release.json and send it. Its readers check it here, without the records.")


def require_releasable(chosen: Chosen) -> None:
    """Refuse a table that is missing, or whose domains were read from its records. Errors: InputError."""
    if chosen.refused:
        raise TableMissing("The table needs its columns first. Correct them on Data.")
    if chosen.is_connected:
        require_declared(DeclaredColumn(column.name, column) for column in chosen.connected.in_use)
        return
    _ = chosen.dataset
    mine = upload()
    if chosen.settings.data == "upload" and mine is not None:
        try:
            require_declared(DeclaredColumn(column.name, column) for column in mine.encoded)
        except InputError as error:
            raise TableMissing(str(error)) from None


# What is released


def _request(chosen: Chosen) -> Chargeable:
    """Show the mechanism, its privacy loss and what it releases; return the request for the suggested name."""
    _mechanism(chosen)
    if chosen.settings.mechanism not in KINDS:
        label = kind_called(chosen.settings.mechanism).label
        raise InputError(f"The mechanism {label} has no exact sampler and no real release. Choose another one.")
    first, second = st.columns(2)
    with first:
        controls.box("Privacy loss ε", "release.epsilon", typed(chosen.epsilon), _set_epsilon, help=terms.EPSILON)
    dataset = suggested_name(chosen)
    if chosen.reads_records:
        with second:
            delta = st.text_input("δ", typed(chosen.parameter("delta")), help="0 is pure privacy, with larger errors.")
        adaptive = adaptive_request(chosen, dataset, delta)
        _describe_adaptive(adaptive)
        return adaptive
    if "delta" in parameters_of(kind_called(chosen.settings.mechanism)):
        with second:
            shown = typed(chosen.parameter("delta"))
            controls.box("δ", "release.delta.typed", shown, lambda text: _set("delta", text), help=terms.DELTA)
    request = request_of(chosen, dataset)
    _describe(chosen, request)
    return request


def _mechanism(chosen: Chosen) -> None:
    key, name = "release.mechanism", chosen.settings.mechanism
    controls.mirror(key, name if name in KINDS else None)
    st.selectbox(
        "Mechanism",
        KINDS,
        key=key,
        format_func=lambda kind: CHOOSES_ITS_GRAPH if kind == ADAPTIVE else kind_called(kind).label,
        placeholder="Choose a mechanism with exact noise",
        on_change=lambda: change(mechanism=st.session_state[key]),
    )


def _set_epsilon(text: str) -> None:
    _set("epsilon", text)


def _set(name: str, text: str) -> None:
    set_parameter(name, read_parameter(name, text.replace(",", "").strip()))


def _describe(chosen: Chosen, request: ReleaseRequest) -> None:
    network = request.network
    graph = f"{many(len(network.names), 'node')} and {many(len(network.edges), 'arrow')}"
    records = "" if chosen.settings.data == "synthetic" else f" of {many(request.n, 'record')}"  # the title has them
    st.markdown(
        f"**{escaped(chosen.data_title)}**{records}: the tables of the drawn graph with {graph}, as "
        f"{many(request.entry.length(request), 'whole number')} with noise. {escaped(_left_out(chosen, network.names))}"
    )
    values = [f"{name} = {amount_text(value)}" for name, value in request.settings.items()]
    st.caption(
        escaped(
            f"{request.entry.accuracy(request, request.calibrated.scale)} The table has {many(request.n, 'record')}. "
            f"The prior is {_prior(chosen)}."
        )
        + (f" {escaped(', '.join(values))}." if values else "")
    )
    _other_pages()


def _describe_adaptive(request: AdaptiveRequest) -> None:
    st.markdown(
        f"{many(request.n, 'record')}: a graph over {many(len(request.columns.names), 'column')} and its tables, "
        "together under one guarantee. Arrows are added only if they are useful despite the noise."
    )
    _other_pages()


def _other_pages() -> None:
    with st.container(horizontal=True, key="release.links"):
        st.page_link("pages/explore.py", label="Explore: errors and other settings", width="content")
        st.page_link("pages/network.py", label="Network: the graph", width="content")
        st.page_link("pages/data.py", label="Data: the columns", width="content")


def _left_out(chosen: Chosen, names: tuple[str, ...]) -> str:
    others = [name for name in chosen.domains if name not in names]
    return f"Not released: {_listed([brief(name) for name in others[:5]])}{' and others' * (len(others) > 5)}." * bool(
        others
    )


def _prior(chosen: Chosen) -> str:
    return rule_for(kind_called(chosen.settings.mechanism), chosen.settings.prior).title


def suggested_name(chosen: Chosen) -> str:
    """Return a name for the open table: that of its file or of its network, in small letters."""
    settings = chosen.settings
    name = settings.data
    if name == "synthetic":
        name = settings.published or "synthetic"
    elif name not in SHIPPED:
        name = Path(chosen.data_title).stem
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "table"


def request_of(chosen: Chosen, dataset: str) -> ReleaseRequest:
    """Return the request for the tables of the drawn graph: the chosen mechanism and its numbers as texts.

    Errors: InputError for a mechanism without exact sampling, and for one calibrated as stated in the paper.
    """
    kind = kind_called(chosen.settings.mechanism)
    mechanism = next((name for name, entry in RELEASABLE.items() if entry.kind is kind), kind.label)
    values = {name: getattr(chosen.mechanism, name) for name in parameters_of(kind)}
    if values.get("calibration", Calibration.CERTIFIED) is not Calibration.CERTIFIED:
        raise InputError(
            "A real release needs a mechanism with proved noise. Choose the proved calibration on Explore."
        )
    return ReleaseRequest(
        dataset=dataset,
        network=chosen.network,
        mechanism=mechanism,
        **_loss(chosen, mechanism),
        n=chosen.counts.n,
        prior=rule_for(kind, chosen.settings.prior).decimals(chosen.network),
        settings={name: typed(values[name]) for name in releasable(mechanism).settings},
        missing=_missing(chosen, chosen.network.names),
    )


def _loss(chosen: Chosen, mechanism: str) -> dict[str, Any]:
    """Return what the numbers promise: epsilon as typed, or (epsilon, delta), whose rho is charged."""
    if releasable(mechanism).noise.measure is PrivacyMeasure.EPSILON:
        return {"epsilon": decimal("epsilon", typed(chosen.epsilon))}
    return {"stated": parsed_promise(typed(chosen.epsilon), typed(chosen.parameter("delta")))}


def adaptive_request(chosen: Chosen, dataset: str, delta: str) -> AdaptiveRequest:
    """Return the request for a graph and its tables over the columns that are nodes of the drawing.

    Errors: InputError for fewer than two columns, and for a wrong number.
    """
    columns = [name for name in chosen.dataset.names if name in chosen.graph.names]
    if len(columns) < 2:
        raise InputError(
            "Fewer than two nodes of the drawing are columns of the table. Add columns as nodes on Network."
        )
    plan = plan_for(typed(chosen.epsilon), delta)
    return AdaptiveRequest.of(dataset, chosen.dataset.select(columns), plan, _missing(chosen, columns))


def _declared(chosen: Chosen) -> tuple[Column, ...]:
    """Return the declared columns of the table; none for synthetic records, which have no missing values."""
    if chosen.is_connected:
        return chosen.connected.in_use
    if chosen.settings.data in SHIPPED:
        return tuple(column.domain for column in shipped_domains(chosen.settings.data) if column.use and column.domain)
    mine = upload()
    return mine.encoded if chosen.settings.data == "upload" and mine is not None else ()


def _missing(chosen: Chosen, names: Sequence[str]) -> dict[str, str]:
    """Return the states that missing values of these columns count as."""
    return states_of_missing(column for column in _declared(chosen) if column.name in names)


# What it costs


@dataclass(frozen=True, eq=False)
class ChargedAccount:
    """The account that a release is charged to. If it is new, the release opens it for a `reason`."""

    account: Account
    reason: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the ledger does not have the account yet."""
        return bool(self.reason)


def _account_to_charge(chosen: Chosen, path: Path, request: Chargeable) -> ChargedAccount:
    """Let the person choose the dataset that pays, or fill in a new one. Errors: InputError for an invalid budget."""
    accounts = ledger.read_books(path).accounts if path.exists() else {}
    if accounts:
        options = [*accounts, NEW]
        key = f"release.dataset.{request.dataset}"  # another table has its own choice
        st.session_state.setdefault(key, request.dataset if request.dataset in accounts else NEW)
        if (paid := st.session_state.pop(_CHARGED, None)) in accounts:
            st.session_state[key] = paid
        dataset = st.selectbox("Dataset to charge", options, key=key)
        if dataset in accounts:
            return ChargedAccount(accounts[dataset])
    return _new_account(request, is_taken=request.dataset in accounts)


def _new_account(request: Chargeable, *, is_taken: bool) -> ChargedAccount:
    """Return a new account with its budget as typed. Errors: InputError."""
    st.caption("The release opens a dataset. Its budget limits all releases of these records together.")
    name = st.text_input("Dataset name", "" if is_taken else request.dataset, placeholder="clinic-2026")
    key = f"release.budget.{request.dataset}"  # another table has its own budget
    budget = budget_of(*budget_boxes("Total budget ε", *_promise(request), key=key))
    reason = st.text_input("Justification", REASON)
    if not name.strip() or not reason.strip():
        raise InputError("A new dataset needs a name and a justification.")
    account = Account(dataset=name.strip(), budget=number_of(budget), measure=measure_of(budget))
    return ChargedAccount(account, reason)


def _promise(request: Chargeable) -> tuple[str, str]:
    """Return the epsilon and the delta of a request as texts."""
    if isinstance(request, AdaptiveRequest):
        return amount_text(Fraction(request.plan.epsilon)), amount_text(Fraction(request.plan.delta))
    assert isinstance(request, ReleaseRequest)
    if request.stated is None:
        return amount_text(request.epsilon), "0"
    return amount_text(request.stated.epsilon), amount_text(request.stated.delta)


def _costs(charged: ChargedAccount, request: Chargeable, *, is_made: bool) -> None:
    """Show what is left, the cost and what remains. Errors: InputError for a rho and a budget in pure epsilon."""
    account, symbol = charged.account, charged.account.measure.symbol
    cost = account.cost_of(request.cost)
    left, middle, right = st.columns(3)
    left.metric(f"Left of the budget ({symbol})", f"{amount_text(account.left)} of {amount_text(account.budget)}")
    if not is_made:
        middle.metric(f"Cost ({symbol})", amount_text(cost))
        right.metric("Left after the release", amount_text(account.left - cost) if cost <= account.left else "—")
    if measure_of(request.cost) is not account.measure:
        st.caption(
            f"The budget is tracked in {symbol}: {amount_with_symbol(request.cost)} costs {symbol} = "
            f"{amount_text(cost)}."
        )


def _finding(charged: ChargedAccount, request: Chargeable, *, is_made: bool) -> str:
    account, name = charged.account, escaped(charged.account.dataset)
    symbol, cost = account.measure.symbol, account.cost_of(request.cost)
    if is_made:
        return f"{name} is released, and {symbol} = {amount_text(account.left)} of its budget is left."
    if cost > account.left:
        return f"This release costs {symbol} = {amount_text(cost)}, more than {name} has left."
    left = (
        f"This release costs {symbol} = {amount_text(cost)} and leaves {symbol} = {amount_text(account.left - cost)}."
    )
    spent = " No further release of these records is then possible without a larger budget."
    return left + spent * (cost == account.left)


def _seen(chosen: Chosen) -> None:
    """State what this session has shown of the records, which the guarantee does not cover."""
    seen, choice = looked_at(chosen), "the columns, ε or δ" if chosen.reads_records else "the graph or the prior"
    if seen:
        st.markdown(
            f"You have looked at {_listed(seen)} of this table. If that influenced {choice}, the guarantee does not "
            "cover this choice."
        )
    else:
        st.markdown(
            "This session has shown you nothing that was computed from the records of this table. Earlier visits are "
            "not part of this session."
        )


# The release


def _offer(chosen: Chosen, path: Path, charged: ChargedAccount, request: Chargeable) -> None:
    """Show doubts about the table and the button; make the release for which it was pressed."""
    account = charged.account
    if chosen.is_connected:
        st.caption(ledger.RECORDS_ELSEWHERE)
    elif not charged.is_new:
        for doubt in ledger.table_doubts(path, account.dataset, chosen.dataset):
            st.warning(escaped(doubt))
    is_enough = account.cost_of(request.cost) <= account.left
    if not is_enough:
        _too_small(charged)
    st.button(
        f"Release and spend {amount_with_symbol(request.cost)}",
        type="primary",
        disabled=not is_enough,
        key="release.make",
        on_click=lambda: st.session_state.update({_PRESSED: question_of(request)}),
    )
    if st.session_state.pop(_PRESSED, None) == question_of(request):  # what was shown, and nothing else
        published = _publish(chosen, path, charged, request)
        st.session_state.update({_CHARGED: account.dataset, _RELEASED: published.row})
        st.rerun()


def _too_small(charged: ChargedAccount) -> None:
    """State the ways out of a budget that is too small, and offer to spend what is left of a pure epsilon."""
    account, place = charged.account, "above" if charged.is_new else "below, under Ledger"
    st.info(f"Choose a smaller ε, or raise the total budget {place}.")
    if account.measure is PrivacyMeasure.EPSILON and account.left >= EPSILON.low:
        left = amount_text(account.left)
        st.button(f"Use ε = {left}, all that is left", key="release.left", on_click=_set_epsilon, args=(left,))


def _publish(chosen: Chosen, path: Path, charged: ChargedAccount, request: Chargeable) -> Published:
    """Open the account if it is new, and make the release. Errors: InputError."""
    person().require(Act.RELEASE)
    if charged.is_new:
        account = charged.account
        budget = amount_in(account.measure, account.budget)
        ledger.open_dataset(path, account.dataset, budget, reason=charged.reason)
    if not chosen.is_connected:
        ledger.table_doubts(path, charged.account.dataset, chosen.dataset, remember=True)
    data = chosen.dataset.select(list(request.columns.names)) if isinstance(request, AdaptiveRequest) else chosen.counts
    with st.spinner("Sampling the noise …", show_time=True):
        return publish(path, request, data)


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in words: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
