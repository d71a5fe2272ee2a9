"""One real release: what it contains, what it costs, the button that makes it, and the result in the same place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.audit.risk import SUSPICION, belief_sentence, ceiling
from dpbayes.base import terms
from dpbayes.base.amounts import PrivacyMeasure, amount_in, amount_text, cost_in, measure_of, number_of
from dpbayes.base.looks import BOUND
from dpbayes.base.parameters import parameters_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import escaped, listed, many, numeral, probability_text, typed
from dpbayes.base.validation import InputError
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import PERSON, belief_text
from dpbayes.boards.which_epsilon import SHARE
from dpbayes.experiments.planned_tables import TrueTable
from dpbayes.figures.answer import range_figure
from dpbayes.figures.explore import belief_rise
from dpbayes.figures.style import PERCENT, Axis
from dpbayes.mechanisms import OF_RECORDS, RELEASABLE
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.parameters import Calibration, TableNoise
from dpbayes.posteriors.prior_rules import decimals_of, rule_for
from dpbayes.releases import ledger
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import AdaptiveRequest, Chargeable, ReleaseRequest, parsed_promise, question_of
from dpbayes.releases.ledger import Account
from dpbayes.releases.publishing import Published, publish, require_public, shown_again, states_of_missing
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.pages.explore import inputs_of as explored
from dpbayes.ui.pages.explore import tolerance_inputs
from dpbayes.ui.pages.release_history import (
    BUDGET_DELTA,
    RELEASED,
    as_epsilon,
    budget_of,
    epsilon_of,
    example_or_file,
    followed_box,
    history,
    last_release,
    release_names,
    show_later,
)
from dpbayes.ui.session.chosen import SLOW_SAMPLE, Chosen, TableMissing, kind_called
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.link import read_parameter
from dpbayes.ui.session.looked import OF_BOARDS, OTHERS, looked_at
from dpbayes.ui.session.options import ExploreView
from dpbayes.ui.session.roles import HOW, REFUSALS, Act, person
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.board import share_python, show
from dpbayes.ui.widgets.from_python import FACE, program, show_python
from dpbayes.ui.widgets.opened_release import NEWEST, named_on, opened_release, small_graph
from dpbayes.ui.widgets.show import headline, sentence_instead

ADAPTIVE = OF_RECORDS[0].__name__
KINDS = (*(entry.kind.__name__ for entry in RELEASABLE.values()), ADAPTIVE)
"""The mechanisms that have a real release, by the names of their classes."""

NEW = "New dataset"

SAME = "These records were released before. Their budget pays for all releases of them."
LATER = "One person’s records belong to one dataset: for a later version of a table, choose its former dataset."
OWN_BUDGET = f"{LATER} The ledger recognises a table only if its columns and values are unchanged."

FEW_NAMES = 6  # columns, whose values are not folded
AROUND: Axis = {"tickvals": (0.1, 0.5, 0.9), "ticktext": ("0.4 below", "your table’s answer", "0.4 above")}
"""The axis around an answer that is not known."""

_PRESSED, _CHARGED = "release.pressed", "release.charged"

CHECK = program(FACE, 'print(dp.verify("release.json").holds)  # python -m dpbayes verify release.json')
"""The code that checks a release file."""


def release_page(chosen: Chosen) -> None:
    """Show the curator what a release costs, and make it; anyone else opens and checks a release."""
    if chosen.is_curator and person().may(Act.READ_LEDGER):
        path = ledger.ledger_path()
        with st.container(key="release.shown"), sentence_instead():
            _release(chosen, path)
        with sentence_instead():
            history(path, float(chosen.parameter("delta")))
    else:
        example_or_file(None if chosen.settings.story else last_release())  # a story is about the example
        if not person().may(Act.RELEASE):
            st.caption(REFUSALS[Act.RELEASE], help=HOW)
    share_python(lambda: show_python(CHECK, "release", chosen))


def _release(chosen: Chosen, path: Path) -> None:
    """Show the request and the button, or first the release. Errors: InputError."""
    place, result = st.empty(), st.container()
    try:
        require_releasable(chosen)
        row = st.session_state.get(RELEASED)
        books = ledger.read_books(path) if path.exists() else ledger.Books()
        form = st.container()
        if row is not None:
            account = books.account(books.spendings[row].reservation.dataset)
            left = as_epsilon(account.measure, account.left, float(chosen.parameter("delta")))
            rest = f"ε = {left} is left" if account.left else "a larger budget is needed"
            form = st.expander(f"Another release: {rest} for {escaped(account.dataset)}", key=f"release.another.{row}")
        with form, st.container(key="cards"):
            columns = st.columns(3)
        same = ledger.names_of(path, chosen.dataset) if books.accounts and not chosen.is_connected else ()
        measures = {books.accounts[name].measure for name in same}
        is_pure = chosen.reads_records and measures == {PrivacyMeasure.EPSILON}
        with _card(columns[0], "What goes out"):
            request = _request(chosen, is_pure=is_pure)
            public = request.columns if isinstance(request, AdaptiveRequest) else request.network
            with st.expander("Names and values that go out", expanded=len(public.names) <= FEW_NAMES):
                own = zip(public.names, public.states, strict=True)
                st.markdown("  \n".join(f"**{escaped(name)}**: {escaped('; '.join(states))}" for name, states in own))
        with _card(columns[2], "What it costs"):
            budget, pay, more = (st.container() for _ in range(3))
            with budget:
                charged = _account_to_charge(chosen, books.accounts, same, request, more)
        request = replace(request, dataset=charged.account.dataset)
        published = None if charged.is_new else shown_again(path, request)
        with _card(columns[1], "What readers learn"):
            _worth(chosen, request)
            if published is None:
                _risks(charged)
        if published is not None:
            pay.caption("This release exists and costs no budget again. For another one, change the mechanism or ε.")
        else:
            with pay:
                _costs(charged)
                if looked := _looked(chosen):
                    st.caption(
                        f"The release states that you have looked at {looked}. No guarantee covers choices after that."
                    )
                _offer(chosen, path, charged, request)
    except InputError:
        with place:
            headline("One step is missing.")
        raise
    if published is None:
        with place:
            headline(_finding(charged, request))
        return
    with result:
        show_later(books, published.row, float(charged.delta))
        name = f"The release {release_names(books)[published.row]} is made"
        is_compared = _may_see(chosen) and isinstance(request, ReleaseRequest)
        exact = chosen.mechanism.prior.updated(chosen.counts) if is_compared else None
        opened_release(published.document, name, key=NEWEST, exact=exact)


def _card(place: DeltaGenerator, title: str) -> DeltaGenerator:
    card = place.container(border=True, height="stretch")
    card.subheader(title)
    return card


def require_releasable(chosen: Chosen) -> None:
    """Refuse a table that is missing, or whose domains were read from its records. Errors: InputError."""
    if chosen.refused:
        raise TableMissing("The table needs its columns first. Correct them on Data.")
    if not chosen.is_connected:
        _ = chosen.dataset  # refuses a table that is missing
    try:
        require_public(chosen.declared)
    except InputError as error:
        raise TableMissing(str(error)) from None


# What is released


def _request(chosen: Chosen, *, is_pure: bool) -> Chargeable:
    """Show the mechanism, its privacy loss and what it releases; return the request for the suggested name."""
    first, second = st.columns(2)
    kinds = list(dict.fromkeys((*KINDS, chosen.settings.mechanism)))
    with first:
        controls.choice("Mechanism", "mechanism", kinds, format_func=lambda kind: kind_called(kind).label)
    if chosen.settings.mechanism not in KINDS:
        label = kind_called(chosen.settings.mechanism).label
        raise InputError(f"The mechanism {label} has no exact sampler and no real release. Choose another one.")
    with second:
        controls.box("Privacy loss ε", "release.epsilon", typed(chosen.epsilon), _set_epsilon, help=terms.EPSILON)
        if not chosen.reads_records and st.button(":primary[Which ε?]", type="tertiary", key="release.which"):
            set_parameter("explore.view", ExploreView.EPSILON)
            turn_to("pages/explore.py")
    is_laplace = is_pure or (chosen.reads_records and chosen.parameter("table_noise") is TableNoise.LAPLACE)
    dataset, delta = suggested_name(chosen), "0" if is_laplace else typed(chosen.parameter("delta"))
    if is_pure:
        st.caption("δ = 0, as in the budget of these records: Laplace noise, with larger errors.")
    elif chosen.reads_records or "delta" in parameters_of(kind_called(chosen.settings.mechanism)):
        more = " 0 is Laplace noise, with larger errors." * chosen.reads_records
        controls.box("δ", "release.delta", delta, _set_delta, help=terms.DELTA + more)
    if chosen.reads_records:
        adaptive = adaptive_request(chosen, dataset, delta)
        st.markdown(
            f"**A graph and its noisy tables** over {many(len(adaptive.columns.names), 'column')} of "
            f"{many(adaptive.n, 'record')}. Arrows are chosen with noise: some can be missing or wrong."
        )
        return adaptive
    request = request_of(chosen, dataset)
    _describe(chosen, request)
    return request


def _set_epsilon(text: str) -> None:
    set_parameter("epsilon", read_parameter("epsilon", controls.plain_number(text)))


def _set_delta(text: str) -> None:
    plain = controls.plain_number(text)
    is_pure = Chosen.now().reads_records and not decimal("δ", plain)
    if not is_pure:
        set_parameter("delta", read_parameter("delta", plain))
    set_parameter("table_noise", TableNoise.LAPLACE if is_pure else TableNoise.GAUSSIAN)


def _describe(chosen: Chosen, request: ReleaseRequest) -> None:
    numbers = _numbers(request)
    records = "" if chosen.settings.data == "synthetic" else f"{many(request.n, 'record')} of "  # the title has them
    meaning = ": one for each value of a column, given its parents" * ("count" in numbers)
    st.markdown(f"**{numbers}** from {records}{escaped(chosen.data_title)}{meaning}.")
    small_graph(request.network, named_on(request.network, chosen))
    if values := [f"{name} = {amount_text(value)}" for name, value in request.settings.items()]:
        st.caption(escaped(", ".join(values)))


def _numbers(request: Chargeable) -> str:
    """Return what goes out, in a few words."""
    if isinstance(request, AdaptiveRequest):
        return "A graph and its noisy tables"
    length = request.entry.length(request)
    return many(length, "noisy count" if length == request.network.cell_count else "noisy number")


def _worth(chosen: Chosen, request: Chargeable) -> None:
    """Draw how near releases answer the question of Explore, and the risk for one person.

    The table's own answer is drawn only if the person may know it; otherwise a made-up table stands in for it.
    """
    epsilon, delta = map(float, _promise(request))
    promise, question, name, said = Guarantee(epsilon, delta), "", "", ""
    most, captions, unit = ceiling(SUSPICION, promise), {"person": belief_text(promise)}, {"tickformat": PERCENT}
    rise = belief_rise(SUSPICION, most)
    figures = {"person": range_figure(SUSPICION, most, mark=SUSPICION, name=rise, colour=BOUND, **unit)}
    may_see = _may_see(chosen)
    if not isinstance(request, AdaptiveRequest) and (may_see or request.n <= SLOW_SAMPLE):
        counts = chosen.counts if may_see else chosen.planned_tables.of(1)
        inputs = tolerance_inputs(chosen, TrueTable(replace(counts, values=counts.values.reshape(-1))))
        key = (explored(chosen), chosen.epsilon, may_see)
        within = kept("release.worth", key, lambda: float(inputs.errors_at([chosen.epsilon]).within(SHARE)[0]))
        error, answer = numeral(within, 2), inputs.question.answers(chosen.mechanism.prior.updated(counts).mean)
        at, name, axis, of = 0.5, f"within {error}", AROUND, "a made-up table as large as yours"
        if may_see:
            at, name, axis, of = float(answer), probability_text(float(answer)), {}, "the table"
            said = "The picture is not private (curator view). " * (not chosen.has_public_records)
        figures["answer"] = range_figure(at - within, at + within, mark=at, name=name, **axis)
        captions["answer"] = f"95 of 100 releases answer within {error} of {of}."
        question = f"How likely is {inputs.question.named(inputs.meanings)}?"
    panels = Panel("answer", question, "The range of 95 of 100 releases."), PERSON
    board = Board("explore", "A planned release", panels, {}, private=bool(said))
    view = View(board, lambda _: (Frame("", figures, captions=captions),))
    show("release.planned", (question, name, promise), lambda: view)
    if isinstance(request, AdaptiveRequest):
        st.caption("The error depends on the arrows, which are chosen with noise.")
        st.page_link("pages/explore.py", label="See simulated releases on Explore", icon=":material/arrow_forward:")
        return
    st.caption(f"{said}{request.entry.accuracy(request, request.calibrated.scale)}")


def _may_see(chosen: Chosen) -> bool:
    """Return whether the records are public, or the session has shown exact answers of the table."""
    return chosen.has_public_records or bool({OF_BOARDS["explore"], OTHERS} & {*looked_at(chosen)})


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
        prior=decimals_of(rule_for(kind, chosen.settings.prior).on(chosen.network)),
        settings={name: typed(values[name]) for name in RELEASABLE[mechanism].settings},
        missing=_missing(chosen, chosen.network.names),
    )


def _loss(chosen: Chosen, mechanism: str) -> dict[str, Any]:
    """Return what the numbers promise: epsilon as typed, or (epsilon, delta), whose rho is charged."""
    if RELEASABLE[mechanism].noise.measure is PrivacyMeasure.EPSILON:
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


def _missing(chosen: Chosen, names: Sequence[str]) -> dict[str, str]:
    """Return the states that missing values of these columns count as."""
    return states_of_missing(column for column in chosen.declared if column.name in names)


# What it costs


@dataclass(frozen=True, eq=False)
class ChargedAccount:
    """The account that a release is charged to, and the cost in its measure; None if its budget cannot pay.

    If it is new, the release opens it for a `reason`. `problem` is a sentence about a wrong budget. An amount in rho is
    shown as an epsilon at `delta`.
    """

    account: Account
    cost: Fraction | None
    delta: Fraction
    reason: str = ""
    problem: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the ledger does not have the account yet."""
        return bool(self.reason)

    @property
    def is_enough(self) -> bool:
        """Whether the budget can pay."""
        return not self.problem and self.cost is not None and self.cost <= self.account.left

    @property
    def at_delta(self) -> str:
        """The delta at which amounts are shown, for a sentence; "" for a budget in pure epsilon."""
        return f" at δ = {numeral(float(self.delta))}" * (self.account.measure is PrivacyMeasure.RHO)

    def shown(self, number: Fraction) -> str:
        """Return an amount of the account as an epsilon."""
        return as_epsilon(self.account.measure, number, float(self.delta))


def _account_to_charge(
    chosen: Chosen,
    accounts: Mapping[str, Account],
    same: Sequence[str],
    request: Chargeable,
    more: DeltaGenerator,
) -> ChargedAccount:
    """Let the person choose the dataset that pays, or fill in a new one, also in `more`. Records have one budget.

    Errors: InputError.
    """
    delta = _promise(request)[1] or Fraction(typed(chosen.parameter("delta")))
    if accounts:
        options = [*same] or [*accounts, NEW]
        key = f"release.dataset.{request.dataset}"  # another table has its own choice
        paid = st.session_state.pop(_CHARGED, None) or st.session_state.get(key, request.dataset)
        controls.mirror(key, paid if paid in options else options[0] if same else NEW)
        dataset = st.selectbox("Dataset and its budget", options, key=key)
        st.caption(SAME if same else LATER)
        if dataset in accounts:
            account = accounts[dataset]
            return ChargedAccount(account, cost_in(account.measure, request.cost), delta)
    return _new_account(request, delta, more, is_taken=request.dataset in accounts)


def _new_account(request: Chargeable, delta: Fraction, more: DeltaGenerator, *, is_taken: bool) -> ChargedAccount:
    """Return a new account with its budget as typed. Errors: InputError without a name or a justification."""
    table, promise, problem = request.dataset, _promise(request), ""  # another table has its own budget
    left, right = st.columns(2)
    with left:
        name = followed_box("Dataset name", "" if is_taken else table, f"release.name.{table}", help=OWN_BUDGET)
    with right:
        epsilon = followed_box("Total budget ε", amount_text(promise[0]), f"release.budget.{table}.epsilon")
    with more.expander("More about this budget", key=f"release.rare.{table}"):
        rarely = followed_box(
            "δ of the budget", amount_text(promise[1]), f"release.budget.{table}.delta", help=BUDGET_DELTA
        )
        reason = followed_box("Justification", "First release of this table", f"release.reason.{table}")
    account = Account(dataset=name.strip(), budget=Fraction(0), measure=measure_of(request.cost))
    said = "The most that all releases of these records may cost together. It can be raised later."
    try:
        budget = budget_of(epsilon, rarely)
        account = replace(account, budget=number_of(budget), measure=measure_of(budget))
        most, rest = decimal("ε", controls.plain_number(epsilon)), decimal("δ", controls.plain_number(rarely) or "0")
        delta = promise[1] or rest or delta
        if most > promise[0]:
            said += f" If all of it is spent: {belief_sentence(Guarantee(float(most), float(rest)))}"
    except InputError as error:
        problem = str(error)
        said = f":red[{escaped(problem)}]"
    st.caption(said)
    if not name.strip() or not reason.strip():
        raise InputError("A new dataset needs a name and a justification.")
    return ChargedAccount(account, cost_in(account.measure, request.cost), delta, reason, problem)


def _promise(request: Chargeable) -> tuple[Fraction, Fraction]:
    """Return the epsilon and the delta of a request."""
    stated = request.stated
    return (stated.epsilon, stated.delta) if stated else (number_of(request.cost), Fraction(0))


def _risks(charged: ChargedAccount) -> None:
    """State the risk for one person of all releases of the records with this one, if there are others."""
    account, own = charged.account, charged.cost or Fraction(0)
    spent = account.spent + own
    if spent > own > 0:
        of_all = Guarantee(epsilon_of(account.measure, spent, float(charged.delta)))
        rise = belief_rise(SUSPICION, ceiling(SUSPICION, of_all))
        st.metric(f"With all releases of these records, ε = {charged.shown(spent)}", rise)


def _costs(charged: ChargedAccount) -> None:
    """Draw the cost of all releases with this one as a part of the budget, and state what is left, as epsilons."""
    account, cost = charged.account, charged.cost
    if cost is None or not charged.is_enough:
        return
    spent, left = account.spent + cost, account.left - cost
    rest = f"ε = {charged.shown(left)} is left." if left > 0 else "Nothing is left."
    said = f"Then ε = **{charged.shown(spent)}** of **{charged.shown(account.budget)}** is spent{charged.at_delta}."
    st.progress(float(spent / account.budget), text=f"{said} {rest}")


def _finding(charged: ChargedAccount, request: Chargeable) -> str:
    if charged.problem:
        return "One step is missing: enter a valid total budget."
    if charged.cost is None or not charged.is_enough:
        why = "has δ = 0, and this release needs δ above 0" if charged.cost is None else "cannot pay for this release"
        return f"The budget of {escaped(charged.account.dataset)} {why}."
    return f"{_numbers(request)} can go out at a cost of ε = {charged.shown(charged.cost)}{charged.at_delta}."


def _looked(chosen: Chosen) -> str:
    """Return what this session has shown of the records; "" for public ones."""
    return "" if chosen.has_public_records else listed(looked_at(chosen))


# The release


def _offer(chosen: Chosen, path: Path, charged: ChargedAccount, request: Chargeable) -> None:
    """Show doubts about the table and the button; make the release for which it was pressed."""
    account = charged.account
    if chosen.is_connected:
        st.caption(ledger.RECORDS_ELSEWHERE)
    elif not charged.is_new:
        for doubt in ledger.table_doubts(path, account.dataset, chosen.dataset):
            st.warning(escaped(doubt))
    if charged.cost is None:
        st.info("Set δ to 0, or choose a mechanism with Laplace noise.")
        return
    if not charged.is_enough and not charged.problem:
        smaller = "Choose a smaller ε, or raise" if account.left > 0 else "Raise"
        way = f"{smaller} the total budget {'above' if charged.is_new else 'below, under Ledger'}."
        st.info(f"The cost is ε = {charged.shown(charged.cost)}, and {charged.shown(account.left)} is left. {way}")
    st.caption("A release cannot be undone, and its cost stays charged.")
    st.button(
        f"Release and spend ε = {charged.shown(charged.cost)}",
        type="primary",
        disabled=not charged.is_enough,
        key="release.make",
        width="stretch",
        on_click=lambda: st.session_state.update({_PRESSED: question_of(request)}),
    )
    if st.session_state.pop(_PRESSED, None) == question_of(request):  # what was shown, and nothing else
        published = _publish(chosen, path, charged, request)
        st.session_state.update({_CHARGED: account.dataset, RELEASED: published.row})
        st.rerun()


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
        return publish(path, request, data, looked=_looked(chosen))
