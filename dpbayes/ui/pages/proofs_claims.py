"""Proofs, second part: every claim of the papers with its statement, its verdict and its board."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

import dpbayes
from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.memo import Memo
from dpbayes.base.references import PAPERS
from dpbayes.base.text import numeral, typed
from dpbayes.base.validation import InputError
from dpbayes.boards.board import View
from dpbayes.boards.proofs import claim_view
from dpbayes.experiments.claims import ClaimInputs, claim_verdict, shown_as
from dpbayes.theory.claims.claim import Claim, Counterexample, Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject, place
from dpbayes.theory.index import CLAIMS, EXHIBITS, OPENING, counterexamples_of
from dpbayes.theory.paper_map import PaperEntry, paper_map
from dpbayes.theory.zhang16.summary import Table1Row, not_computable, table_1
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.session.options import BoundClaim, ClaimShown, Experiment
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.from_python import (
    FACE,
    counts_in_python,
    network_in_python,
    program,
    show_python,
)
from dpbayes.ui.widgets.show import assumption, folded, refusals_said_once, sentence_instead, source

CLAIM_OF = dict(zip(ClaimShown, CLAIMS, strict=True))
OPTION_OF = dict(zip(CLAIMS, ClaimShown, strict=True))

BOUNDS: dict[Claim, list[BoundClaim]] = {
    claim: [BoundClaim[name] for name, exhibit in EXHIBITS.items() if exhibit.claim == claim] for claim in CLAIMS
}
"""The bounds that are drawn of each claim: none of some, two of one."""

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.LOOSE: "green",
    Verdict.AMENDED: "green",
    Verdict.FALSE: "red",
    Verdict.VACUOUS: "gray",
    Verdict.UNCLEAR: "gray",
}

SHORT = {
    Verdict.HOLDS: "✓ holds",
    Verdict.LOOSE: "✓ holds",
    Verdict.AMENDED: "△ corrected",
    Verdict.FALSE: "✗ fails",
    Verdict.VACUOUS: "○ vacuous",
    Verdict.UNCLEAR: "? unclear",
}
"""The verdicts as the list has room for them."""


@refusals_said_once()
def claims_part(chosen: Chosen) -> None:
    """Show the claim that is picked with its board, the list of all claims, and their sources."""
    claim, bound = selected(chosen)
    with st.container(key="beside.claims"):
        left, main = st.columns([4, 9], gap="medium")
    with left:
        _list(claim)
    with main.container(key="proofs-board", gap="xxsmall"):
        verdict = claim.verdict.value.capitalize()
        st.markdown(f"Stated: **{claim.title}.** Verdict: :{COLOURS[claim.verdict]}[**{verdict}.**]")
        with sentence_instead():
            if bound is not None:
                _bound_board(chosen, claim, bound)
            else:
                st.markdown(f"## {claim_verdict(claim, failures(claim))}".replace("$", r"\$"))
        _finding(claim)
    with left:
        if bound is not None and (chosen.is_curator or EXHIBITS[bound.name].uses.is_for_all):
            _bound_controls(chosen, claim, bound)
    with st.container(key="below"), sentence_instead():
        _details(chosen, claim, bound)
        _sources(claim)
        _table_1_live(chosen)


# The selection


def selected(chosen: Chosen) -> tuple[Claim, BoundClaim | None]:
    """Return the claim that the settings name, and its bound; else one that fails as things are set."""
    explicit = dict(chosen.settings.parameters)
    named = explicit.get("proofs.bound")
    if "proofs.claim" not in explicit:
        bound = named or _opening(chosen)
        return EXHIBITS[bound.name].claim, bound
    claim = CLAIM_OF[explicit["proofs.claim"]]
    bounds = BOUNDS[claim]
    return claim, named if named in bounds else next(iter(bounds), None)


def _opening(chosen: Chosen) -> BoundClaim:
    """Return the first of `OPENING` that this seat can see as things are set."""
    for name in OPENING[:-1]:
        if chosen.is_curator or EXHIBITS[name].uses.is_for_all:
            try:
                inputs = claim_inputs(chosen, BoundClaim[name])
                EXHIBITS[name].limit(inputs.subject, inputs.at)
            except InputError:
                continue
            return BoundClaim[name]
    return BoundClaim[OPENING[-1]]


# The list


def _list(claim: Claim) -> None:
    """List all claims with their verdicts; a click on a row opens its claim."""
    key = "parameter.proofs.claim"
    controls.mirror(key, OPTION_OF[claim])
    st.selectbox(
        "Claim",
        list(ClaimShown),
        key=key,
        format_func=lambda option: claim_place(CLAIM_OF[option]),
        on_change=lambda: set_parameter("proofs.claim", st.session_state[key]),
    )
    with st.container(key="claims-list", gap=None):
        st.dataframe(
            claims_table(),
            hide_index=True,
            height=420,
            key="proofs-rows",
            on_select=_open_row,
            selection_mode="single-row",
        )
    fails = sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    st.caption(f"Of the {len(CLAIMS)} claims in the papers, {fails} fail as stated. Click a row to open its claim.")


def _open_row() -> None:
    try:
        rows = list(st.session_state["proofs-rows"]["selection"]["rows"])
    except (TypeError, LookupError):
        return
    for row in rows:
        if isinstance(row, int) and 0 <= row < len(CLAIMS):
            set_parameter("proofs.claim", list(ClaimShown)[row])


def claims_table() -> "pd.DataFrame":
    """Return all claims as a table, one line for each, in the order of `CLAIMS`."""
    return pd.DataFrame(
        {
            "verdict": [SHORT[claim.verdict] for claim in CLAIMS],
            "paper": [_paper(claim).partition(" ")[0] for claim in CLAIMS],
            "place": [claim.reference.place for claim in CLAIMS],
            "statement": [claim.title for claim in CLAIMS],
            "finding": [claim.finding for claim in CLAIMS],
        }
    )


def claim_place(claim: Claim) -> str:
    """Return the paper and the place in it."""
    return f"{_paper(claim)}, {claim.reference.place}"


def _paper(claim: Claim) -> str:
    return PAPERS[claim.reference.paper].name.removeprefix("the ")


# One claim


def _finding(claim: Claim) -> None:
    """Show what was found about the claim, and the page that is about it."""
    st.markdown(f"**Finding.** {claim.finding}")
    opens = f"Open {claim.page}"
    if claim.page and st.button(opens, key="proofs.page", type="tertiary", icon=":material/arrow_forward:"):
        _turn_to_page(claim.page)


def _turn_to_page(page: str) -> None:
    """Go to the page that a claim names by its title, at the view that may follow behind a colon."""
    title, _, view = page.partition(": ")
    if view:
        set_parameter("lab.experiment", Experiment(view))
    turn_to(f"pages/{title.lower()}.py")


def claim_inputs(chosen: Chosen, bound: BoundClaim) -> ClaimInputs:
    """Return what the board of a bound is computed from. Errors: InputError."""
    exhibit, settings = EXHIBITS[bound.name], chosen.settings
    suited = {name: settings.parameter(f"bounds.{name}", value) for name, value in exhibit.defaults}
    options = replace(settings.options("bounds"), **suited)
    counts = chosen.counts if chosen.is_curator and exhibit.uses is not Uses.PUBLIC else None
    prior = float(settings.parameter("bounds.prior", settings.prior.pseudo_count))
    subject = Subject(chosen.network, prior, chosen.n, counts, chosen.seed, _memo())
    at = EvaluationPoint((settings.parameter("epsilon"),), settings.parameter("draws"), options)
    wanted = settings.parameter("bounds.axis", exhibit.axes[0])
    axis = wanted if wanted in exhibit.axes else exhibit.axes[0]
    return ClaimInputs(exhibit, subject, at, axis)


def value_of(chosen: Chosen, inputs: ClaimInputs) -> str:
    """Return the point of the axis that the settings name, as text. Errors: InputError without a table."""
    here = place(inputs.subject, inputs.at, inputs.axis)
    if inputs.axis is Axis.RECORDS:
        here = chosen.parameter("bounds.n", int(here))
    return typed(here)


def _memo() -> Memo:
    """Return what the session has computed for this page, so that the counts of an upload never leave it."""
    memo = st.session_state.setdefault("bounds.memo", Memo())
    assert isinstance(memo, Memo)
    return memo


def _inputs_key(inputs: ClaimInputs, bound: BoundClaim) -> Hashable:
    """Return what the board depends on, without the number on its axis."""
    subject, at = inputs.subject, inputs.at
    fixed = tuple(
        (name, getattr(at if hasattr(at, name) else at.knobs, name))
        for name in sorted({knob.rpartition(".")[2] for knob in inputs.exhibit.knobs} - {inputs.axis.field, "n"})
        if name != "prior"
    )
    prior = 0.0 if inputs.axis is Axis.PRIOR else subject.concentration
    return bound, inputs.axis, fixed, subject.network, prior, subject.n, subject.digest, subject.seed


def _bound_board(chosen: Chosen, claim: Claim, bound: BoundClaim) -> None:
    """Show the bound of a claim along its axis."""
    exhibit = EXHIBITS[bound.name]
    if not (chosen.is_curator or exhibit.uses.is_for_all):
        st.markdown(f"## {claim_verdict(claim, failures(claim))}".replace("$", r"\$"))
        st.info("This picture is computed from the counts of the table: only the curator sees it.")
        return
    inputs = claim_inputs(chosen, bound)
    value = value_of(chosen, inputs)
    facts = {} if exhibit.uses is Uses.PUBLIC else {"table": chosen.data_title}

    def view() -> View:
        return claim_view(inputs).stating(facts)

    def python() -> None:
        show_python(python_of_bound(chosen, bound, *inputs.point(value)), "bounds", chosen)

    show("claim", _inputs_key(inputs, bound), view, value)
    share(view(), value, python=python)


def _bound_controls(chosen: Chosen, claim: Claim, bound: BoundClaim) -> None:
    """Show the controls of a bound, except the one that its slider is."""
    exhibit, settings = EXHIBITS[bound.name], chosen.settings
    wanted = settings.parameter("bounds.axis", exhibit.axes[0])
    axis = wanted if wanted in exhibit.axes else exhibit.axes[0]
    defaults = dict(exhibit.defaults) | {"prior": settings.prior.pseudo_count}
    if len(BOUNDS[claim]) > 1:
        _choice("Bound", "proofs.bound", BOUNDS[claim], bound)
    if len(exhibit.axes) > 1:
        _choice("Horizontal axis", "bounds.axis", exhibit.axes, axis)
    for name in exhibit.knobs:
        if name not in (axis.control, "bounds.n"):
            controls.parameter_control(name, default=defaults.get(name.rpartition(".")[2]))
    if chosen.is_curator:
        controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)


def _choice(label: str, name: str, options: "list[BoundClaim] | tuple[Axis, ...]", value: object) -> None:
    key = f"proofs.choice.{name}"
    controls.mirror(key, value)
    st.selectbox(
        label,
        options,
        key=key,
        format_func=lambda option: str(option.value),
        on_change=lambda: set_parameter(name, st.session_state[key]),
    )


# Below the board


def failures(claim: Claim) -> tuple[Counterexample, ...]:
    """Return the settings at which a claim fails, computed once; nothing in them depends on a table."""
    return _failures(str(claim.reference))


@server_cache(100)
def _failures(name: str) -> tuple[Counterexample, ...]:
    return counterexamples_of(next(claim for claim in CLAIMS if str(claim.reference) == name))


def _details(chosen: Chosen, claim: Claim, bound: BoundClaim | None) -> None:
    """Show the formula with the present numbers, the conditions, and where the claim fails."""
    st.subheader("Formula and conditions")
    st.latex(claim.formula)
    is_shown = bound is not None and (chosen.is_curator or EXHIBITS[bound.name].uses.is_for_all)
    if bound is not None and is_shown:
        with sentence_instead():
            _filled_in(chosen, bound)
    source(claim.reference)
    if failing := failures(claim):
        st.markdown("**Where it fails**\n" + "\n".join(map(_fails, failing)))


def _filled_in(chosen: Chosen, bound: BoundClaim) -> None:
    inputs = claim_inputs(chosen, bound)
    subject, at = inputs.point(value_of(chosen, inputs))
    inputs.exhibit.limit(subject, at)
    evaluated = inputs.exhibit.bound(subject, at)
    st.markdown(inputs.exhibit.formula(subject, at, evaluated))
    for condition in evaluated.assumptions:
        assumption(condition.text, holds=condition.holds)
    if not evaluated.assumptions:
        st.caption("The claim has no conditions.")
    elif not evaluated.applies:
        st.caption("A condition marked ✗ does not hold here; the stated bound is still shown.")


def _fails(example: Counterexample) -> str:
    """Return one setting with its numbers, as an item of a list."""
    setting = example.setting.rstrip(".")
    text = f"{setting[0].upper()}{setting[1:]}: the true value is **{shown_as(example.truth)}**, the paper states "
    text += f"{shown_as(example.printed)}, and the proved bound is {shown_as(example.certified)} ({example.unit})."
    return "- " + text.replace("$", "\\$").replace("~", "\\~")


def python_of_bound(chosen: Chosen, bound: BoundClaim, subject: Subject, at: EvaluationPoint) -> str:
    """Return the code that gives the bound as stated in the paper and as proved, at one setting."""
    exhibit = EXHIBITS[bound.name]
    needs_counts = exhibit.uses is Uses.COUNTS and subject.counts is not None and subject.n == chosen.n
    table = counts_in_python(chosen) if needs_counts else network_in_python(subject.network)
    counts = "counts" if needs_counts else "None"
    names = [name.rpartition(".")[2] for name in exhibit.knobs if name.startswith("bounds.")]
    numbers = ", ".join(f"{name}={getattr(at.knobs, name)!r}" for name in names if name not in ("n", "prior"))
    return program(
        FACE,
        "from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject",
        "from dpbayes.theory.index import EXHIBITS",
        table,
        f"subject = Subject(network, {subject.concentration!r}, {subject.n!r}, {counts}, seed=0)",
        f"at = EvaluationPoint({at.epsilon!r}, {at.draws!r}, ClaimParameters.usual({numbers}))",
        f"bound = EXHIBITS[{bound.name!r}].bound(subject, at)",
        "print(bound.printed[0], bound.certified[0])",
    )


# Sources, Table 1, verdicts


@server_cache(1, spinner="Reading the docstrings …")
def _entries() -> Mapping[Claim, PaperEntry]:
    """Return, by claim, where the code and the tests name it."""
    package = Path(dpbayes.__file__).parent
    return {entry.claim: entry for entry in paper_map(package, package.parent / "tests")}


def _sources(claim: Claim) -> None:
    """Show which code and which tests name the claim, and how to cite its paper."""
    with folded("Code, tests and citation", key="proofs.sources") as is_open:
        if is_open:
            entry = _entries()[claim]
            for title, mentions in (("Code", entry.code), ("Tests", entry.tests)):
                st.markdown(f"**{title}**: " + (", ".join(f"`{mention}`" for mention in mentions) or "none found"))
            st.code(PAPERS[claim.reference.paper].bibtex, language="bibtex", wrap_lines=True)


def _table_1_live(chosen: Chosen) -> None:
    """Show Table 1 of [Zhang16] at this setting; a recipient sees its public values."""
    with folded("Table 1 of AAAI 2016 at these settings", key="bounds.table1") as is_open:
        if not is_open:
            return
        rows, missing = _table_1(chosen), not_computable(chosen.network, chosen.counts.n)
        st.dataframe(pd.DataFrame([_as_row(row, chosen) for row in rows]), hide_index=True)
        for mechanism, why in missing.items():
            st.caption(f"{mechanism} is not in the table: {why}.")
        hidden = "" if chosen.is_curator else " Values computed from the counts are shown to the curator only."
        st.caption(
            "ε, δ, t, ω, L0, the prior and the number of samples are those set on this page. The row of Fourier is "
            f"for its largest table, and the row of MAP is for the first binary node without parents.{hidden}"
            + (" Not private (curator view)." if chosen.is_curator else "")
        )


def _table_1(chosen: Chosen) -> tuple[Table1Row, ...]:
    prior = float(chosen.parameter("bounds.prior", chosen.settings.prior.pseudo_count))
    subject = Subject(chosen.network, prior, chosen.counts.n, chosen.counts, chosen.seed, _memo())
    return table_1(subject, EvaluationPoint((chosen.epsilon,), chosen.parameter("draws"), chosen.options("bounds")))


def _as_row(row: Table1Row, chosen: Chosen) -> dict[str, str]:
    promises = "; ".join(
        f"{_value(bound.printed)} (proved {_value(bound.certified)}) {bound.unit}" for bound in row.privacy
    )
    is_seen = chosen.is_curator or row.uses.is_for_all
    return {
        "mechanism": row.mechanism,
        "privacy, as stated": promises,
        "utility of": row.utility_of,
        "utility, as stated": _value(row.utility.printed) if is_seen else "curator only",
        "utility, proved": _value(row.utility.certified) if is_seen else "curator only",
        "unit": row.utility.unit,
    }


def _value(values: np.ndarray) -> str:
    """Return the largest of some numbers."""
    largest = float(np.max(values))
    return numeral(largest) if math.isfinite(largest) else "unknown"
