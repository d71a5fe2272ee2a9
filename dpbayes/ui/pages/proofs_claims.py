"""Proofs, second part: every claim of the papers with its statement, its verdict and its board."""

import enum
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.memo import Memo
from dpbayes.base.references import PAPERS
from dpbayes.base.text import escaped, typed
from dpbayes.base.validation import InputError
from dpbayes.boards.proofs import claim_view, example_view
from dpbayes.experiments.claims import (
    CLEAREST_FIRST,
    MAIN,
    BoundClaim,
    ClaimInputs,
    ClaimShown,
    bounds_of,
    claim_of,
    exhibit_of,
    failure_text,
    failures_of,
    in_plain_words,
    live_table_1,
    mentions,
    setting,
    shown_by,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import forget_parameters, set_parameter
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.session.options import Experiment
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.show import assumption, folded, refusals_said_once, sentence_instead, source

COLOURS = {"✓": "green", "△": "orange", "✗": "red", "○": "gray", "?": "gray", "=": "gray"}
"""The colours of verdicts, by their marks in the list."""

COUNTED = {
    "★": "main",
    "✓": "hold",
    "△": "corrected",
    "✗": "fail",
    "○": "other",
    "⋯": "in all",
}
"""What the parts of the list have, behind the number of such claims."""

SUMMARY = "Is what the papers state true? A release uses only what is proved."
"""The question of this part, and what its answer is for a release."""


@refusals_said_once()
def claims_part(chosen: Chosen) -> None:
    """Show the claim that is picked with its board, the list of all claims, and their sources."""
    is_own = False
    with suppress(InputError):
        is_own = chosen.network.is_binary
    if not is_own:
        chosen = Chosen(Settings(seat=chosen.settings.seat, parameters=chosen.settings.parameters))
    shown, bound = selected(chosen)
    claim = claim_of(shown)
    drawn = bound if bound is not None and (chosen.is_curator or exhibit_of(bound).uses.is_for_all) else None
    with st.container(key="beside.claims"):
        left, main = st.columns([5, 10], gap="medium")
    with left:
        _list(shown)
        if drawn is not None:
            _bound_controls(chosen, shown, drawn)
    with main.container(key="proofs-board", gap="xsmall"):
        with st.container(key="finding", gap="xsmall"):
            verdict = f":{COLOURS[claim.verdict.sign]}[**{claim.verdict.sign}** {claim.verdict.value}.]"
            lines = [
                f"**{label}:** {verdict if label == 'What is true' else ''} {escaped(text)}"
                for label, text in in_plain_words(shown, bound).items()
            ]
            st.markdown("  \n".join(lines))
            source(claim.reference)
            if not is_own:
                st.caption("A claim on a network is shown for Asia, because no network of binary nodes is open.")
        with sentence_instead():
            inputs = None if drawn is None else claim_inputs(chosen, drawn)
            is_seen = inputs and (claim.verdict.sign != "✗" or _memo().once(_inputs_key(inputs), inputs.is_exceeded))
            if failures(shown) and not is_seen:
                show("claim.example", shown, lambda: example_view(shown), "")
            if inputs is not None:
                _bound_board(chosen, inputs)
            elif claim.formula and not failures(shown):
                st.latex(claim.formula)
            if drawn is not bound:
                st.info("The picture uses the counts, so only the curator sees it. Explore changes the view.")
        _page_about(shown)
    with st.container(key="below"):
        _details(chosen, shown, drawn)
        with sentence_instead():
            _table_1_live(chosen)


# The selection


def selected(chosen: Chosen) -> tuple[ClaimShown, BoundClaim | None]:
    """Return the claim that the settings name, and its bound; else one that fails."""
    explicit = dict(chosen.settings.parameters)
    named = explicit.get("proofs.bound")
    if "proofs.claim" not in explicit:
        bound = named or MAIN[0]
        return shown_by(bound), bound
    shown = explicit["proofs.claim"]
    bounds = bounds_of(shown)
    return shown, named if named in bounds else next(iter(bounds), None)


# The list


def _parts() -> dict[str, list[ClaimShown]]:
    """Return the claims of each part of the list, the clearest first."""
    signs = {shown: claim_of(shown).verdict.sign for shown in CLEAREST_FIRST}
    main = {shown_by(bound) for bound in MAIN}
    parts = [[shown for shown, sign in signs.items() if sign in part] for part in ("✓", "△", "✗", "○?=", "✓△✗○?=")]
    return dict(zip(COUNTED, [[shown for shown in signs if shown in main], *parts], strict=True))


def _list(opened: ClaimShown) -> None:
    """Count the claims by verdict, and list the main ones, those of one verdict, or all; a click opens a claim."""
    parts = _parts()
    with st.container(key="claims", gap="xsmall"):
        wanted = st.pills(
            "Claims of the papers",
            list(COUNTED),
            key="proofs-verdict",
            default=next(part for part, claims in parts.items() if opened in claims),
            help="✓ holds, △ holds with a correction, ✗ fails. Claims with a picture are listed first.",
            format_func=lambda part: f":{COLOURS.get(part, 'gray')}[**{part}**] {len(parts[part])} {COUNTED[part]}",
            width="stretch",
            on_change=lambda: _open_listed(parts.get(st.session_state["proofs-verdict"], []), opened),
        )
        if wanted == "○":
            st.caption(
                "○ true but vacuous (it excludes nothing, or applies to almost nothing), ? undecided, = a definition."
            )
        listed = parts[wanted or "⋯"]
        key = f"proofs-rows-{wanted}"
        controls.mirror(key, opened if opened in listed else None)
        st.radio(
            "Claims",
            listed,
            key=key,
            format_func=_line,
            label_visibility="collapsed",
            width="stretch",
            on_change=lambda: _open(st.session_state[key]),
        )


def _open(shown: ClaimShown | None) -> None:
    """Open a claim at the setting that shows its verdict, not at that of the claim before; none if a list closes."""
    if shown is not None:
        forget_parameters("bounds")
        set_parameter("proofs.claim", shown)


def _open_listed(listed: list[ClaimShown], opened: ClaimShown) -> None:
    """Open the first claim of a list that has not the open one."""
    _open(None if opened in listed else next(iter(listed), None))


def _line(shown: ClaimShown) -> str:
    """Return a claim in the list: its mark, its statement and its place."""
    mark, title = claim_of(shown).verdict.sign, escaped(claim_of(shown).title)
    return f":{COLOURS[mark]}[**{mark}**] {title} :gray[:small[{claim_place(shown)}]]"


def claim_place(shown: ClaimShown) -> str:
    """Return the paper and the place in it."""
    reference = claim_of(shown).reference
    return f"{PAPERS[reference.paper].name.removeprefix('the ')}, {reference.place}"


# One claim


def _page_about(shown: ClaimShown) -> None:
    """Offer the page that is about the claim."""
    page = claim_of(shown).page
    title, _, experiment = page.partition(": ")
    if page and st.button(f"Open {page}", key="proofs.page", type="tertiary", icon=":material/arrow_forward:"):
        if experiment:
            set_parameter("lab.experiment", Experiment(experiment))
        turn_to(f"pages/{title.lower()}.py")


def claim_inputs(chosen: Chosen, bound: BoundClaim) -> ClaimInputs:
    """Return what the board of a bound is computed from. Errors: InputError."""
    exhibit, settings = exhibit_of(bound), chosen.settings
    own = dict(exhibit.defaults)
    epsilon, usual = own.pop("epsilon", None), own.pop("prior", settings.prior.pseudo_count)
    suited = {name: settings.parameter(f"bounds.{name}", value) for name, value in own.items()}
    counts = chosen.counts if chosen.is_curator and exhibit.uses.reads_counts else None
    prior = float(settings.parameter("bounds.prior", usual))
    numbers = {
        "epsilon": settings.parameter("bounds.epsilon", epsilon),
        "draws": settings.parameter("draws"),
        "knobs": replace(settings.options("bounds"), **suited),
    }
    subject, at = setting(chosen.network, prior, chosen.n, counts, chosen.seed, _memo(), **numbers)
    return ClaimInputs(exhibit, subject, at, _axis(chosen, bound))


def _axis(chosen: Chosen, bound: BoundClaim) -> Any:
    """Return the axis that the settings name; of a claim without this axis, its first."""
    axes = exhibit_of(bound).axes
    wanted = chosen.settings.parameter("bounds.axis", axes[0])
    return wanted if wanted in axes else axes[0]


def value_of(chosen: Chosen, inputs: ClaimInputs) -> str:
    """Return the point of the axis that the settings name, as text. Errors: InputError without a table."""
    here = inputs.here
    if inputs.axis.control == "bounds.n":
        here = chosen.parameter("bounds.n", int(here))
    return typed(here)


def _memo() -> Memo:
    """Return what the session has computed for this page, so that the counts of an upload never leave it."""
    memo: Memo = st.session_state.setdefault("bounds.memo", Memo())
    return memo


def _inputs_key(inputs: ClaimInputs) -> Hashable:
    """Return what the board depends on, without the number on its axis."""
    subject, at = inputs.point(inputs.stops[0])
    counts = inputs.subject.counts and inputs.subject.counts.digest
    return (
        inputs.exhibit.title,
        inputs.axis,
        at,
        subject.network,
        subject.concentration,
        subject.n,
        counts,
        subject.seed,
    )


def _bound_board(chosen: Chosen, inputs: ClaimInputs) -> None:
    """Show the bound of a claim along its axis."""
    value, key = value_of(chosen, inputs), _inputs_key(inputs)
    view = claim_view(inputs).stating({"table": chosen.data_title} if inputs.exhibit.uses.reads_counts else {})
    show("claim", key, lambda: view, value)
    share(view, value)


def _bound_controls(chosen: Chosen, shown: ClaimShown, bound: BoundClaim) -> None:
    """Show the controls of a bound, except the one that its slider is."""
    exhibit, axis = exhibit_of(bound), _axis(chosen, bound)
    defaults = {"prior": chosen.settings.prior.pseudo_count} | dict(exhibit.defaults)
    if len(bounds_of(shown)) > 1:
        _choice("Bound", "proofs.bound", bounds_of(shown), bound)
    if len(exhibit.axes) > 1:
        _choice("Horizontal axis", "bounds.axis", exhibit.axes, axis)
    for name in exhibit.knobs:
        if name not in (axis.control, "bounds.n"):
            controls.parameter_control(name, default=defaults.get(name.rpartition(".")[2]))


def _choice(label: str, name: str, options: Sequence[enum.Enum], value: object) -> None:
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


failures = server_cache(100)(failures_of)
"""The settings at which a claim fails, computed once; nothing in them depends on a table."""
_entries = server_cache(1, spinner="Reading the docstrings …")(mentions)


def _details(chosen: Chosen, shown: ClaimShown, drawn: BoundClaim | None) -> None:
    """Show the claim as a formula, its bound with the present numbers, where it fails, and what names and proves it."""
    claim = claim_of(shown)
    with folded("Formula, conditions, code and citation", key="proofs.details") as is_open:
        if not is_open:
            return
        st.markdown(escaped(claim.finding))
        st.latex(claim.formula)
        if drawn is not None:
            with sentence_instead():
                _filled_in(chosen, drawn)
        if failing := failures(shown):
            st.markdown("\n- ".join(["**Where the statement fails as it is written**", *map(failure_text, failing)]))
        entry = _entries()[claim]
        for title, places in (("Code", entry.code), ("Tests", entry.tests)):
            st.markdown(f"**{title}**: " + (", ".join(f"`{place}`" for place in places) or "none found"))
        st.code(PAPERS[claim.reference.paper].bibtex, language="bibtex", wrap_lines=True)


def _filled_in(chosen: Chosen, bound: BoundClaim) -> None:
    inputs = claim_inputs(chosen, bound)
    subject, at = inputs.point(value_of(chosen, inputs))
    inputs.exhibit.limit(subject, at)
    evaluated = inputs.exhibit.bound(subject, at)
    st.markdown(f"**At this setting**\n{inputs.exhibit.formula(subject, at, evaluated)}")
    for condition in evaluated.assumptions:
        assumption(condition.text, holds=condition.holds)
    if not evaluated.applies:
        st.caption("A condition marked ✗ is not met here; the stated bound is still shown.")


def _table_1_live(chosen: Chosen) -> None:
    """Show Table 1 of [Zhang16] at this setting; a recipient sees its public values."""
    with folded("Table 1 of AAAI 2016 at these settings", key="bounds.table1") as is_open:
        if not is_open:
            return
        prior = float(chosen.parameter("bounds.prior", chosen.settings.prior.pseudo_count))
        numbers = {"epsilon": chosen.epsilon, "draws": chosen.parameter("draws"), "knobs": chosen.options("bounds")}
        at = setting(chosen.network, prior, chosen.counts.n, chosen.counts, chosen.seed, _memo(), **numbers)
        rows, missing = live_table_1(*at, is_curator=chosen.is_curator)
        st.dataframe(pd.DataFrame(rows), hide_index=True)
        for sentence in missing:
            st.caption(sentence)
        seat = "Not private (curator view)." if chosen.is_curator else "Only the curator sees values of the counts."
        st.caption(
            f"All numbers are those of this page. Fourier: its largest table. MAP: the first binary root. {seat}"
        )
