"""The Claims page: every claim of the papers with its statement, its verdict and its picture."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID, PURPLE, SLATE, Look
from dpbayes.base.references import PAPERS
from dpbayes.base.text import escaped
from dpbayes.base.validation import brief
from dpbayes.experiments.robustness import Robustness
from dpbayes.figures.claims import verdicts_figure
from dpbayes.theory.claims.claim import Claim, Verdict
from dpbayes.theory.index import CLAIMS
from dpbayes.ui.pages.claims import bound, families
from dpbayes.ui.pages.claims.curve import Evaluation
from dpbayes.ui.pages.claims.details import (
    entries,
    failures,
    formula_and_conditions,
    literal,
    python_of,
    sources,
    table_1_live,
    where_it_fails,
)
from dpbayes.ui.pages.claims.headline import finding, shown_as
from dpbayes.ui.pages.claims.selection import Selection, pick_picture, selected, turn_to_page
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.research import ALL_PAPERS, ClaimShown, PaperShown, claims_listed
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import pictures_tell
from dpbayes.ui.widgets.frames import Frames, counts_of
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.limits import Possible
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import data_and_download, folded, inside

CLAIM_OF = dict(zip(ClaimShown, CLAIMS, strict=True))

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.LOOSE: "green",
    Verdict.AMENDED: "green",
    Verdict.FALSE: "red",
    Verdict.VACUOUS: "gray",
    Verdict.UNCLEAR: "gray",
}

LOOKS = {
    Verdict.HOLDS: GREEN,
    Verdict.LOOSE: EXACT,
    Verdict.AMENDED: SLATE,
    Verdict.FALSE: INVALID,
    Verdict.VACUOUS: BOUND,
    Verdict.UNCLEAR: PURPLE,
}
"""The colours of verdicts in the picture."""

SHORT = {
    Verdict.HOLDS: "✓ holds",
    Verdict.LOOSE: "✓ holds",
    Verdict.AMENDED: "△ corrected",
    Verdict.FALSE: "✗ fails",
    Verdict.VACUOUS: "○ vacuous",
    Verdict.UNCLEAR: "? unclear",
}
"""The verdicts as the list has room for them."""

ROW, ROWS = 30, 11
"""The height of a row of the list in pixels, and the number of visible rows."""

WIDTHS = {"paper": 54, "place": 182, "verdict": 90, "statement": 320}
"""Of the columns of the list, in pixels; a list that is narrower scrolls sideways."""

_mount_list = st.components.v2.component(
    "dpbayes_claims_list", js=(Path(__file__).parent / "list.js").read_text(encoding="utf-8")
)


def claims_page(chosen: Chosen) -> bool:
    """Show the picture of a claim, which moves with its main control; all claims beside it, its formula below."""
    shown = selected(chosen)
    page = places(widths=(1, 1))
    if shown.shows_families:
        return _with_families(page, chosen, shown)
    if shown.bound is not None:
        return _with_bound(page, chosen, shown)
    pictures_tell({})
    page.say(verdict_sentence(shown.claim))
    with page.picture:
        formula_and_conditions(shown.claim, None)
        where_it_fails(shown.claim)
    with page.controls:
        _choose(chosen, shown)
    _sources(chosen, shown.claim)
    same_from_python(python_of(shown.claim), name="papers")
    return False


def _with_bound(page: Places, chosen: Chosen, shown: Selection) -> bool:
    """Show a claim by its bound; return whether its curves continue."""
    claim = shown.bound
    assert claim is not None
    pictures_tell(bound.FACTS)

    def moving(page: Places, chosen: Chosen) -> tuple[Possible | None, Evaluation | None]:
        nearby, evaluation = bound.moving(page, chosen, claim)
        page.say(verdict_sentence(shown.claim) if evaluation is None else finding(evaluation))
        return nearby, evaluation

    nearby, evaluation = page.first(moving, chosen, frames=Frames(bound.main_number(claim), counts_of)) or (None, None)
    with page.controls:
        _choose(chosen, shown)
        bound.bound_controls(chosen, claim, nearby)
    if evaluation is not None:
        with page.beside():
            bound.below(evaluation)
    with st.container(key="below"):
        _details(chosen, shown, evaluation)
    if evaluation is not None:
        same_from_python(bound.python_of(chosen, evaluation), name="bounds", chosen=chosen)
    return evaluation is not None and evaluation.work.going


def _with_families(page: Places, chosen: Chosen, shown: Selection) -> bool:
    """Show a claim by how far one replaced record moves the posterior of hypothetical tables."""
    pictures_tell(families.FACTS)

    def moving(page: Places, chosen: Chosen) -> tuple[Robustness, Robustness]:
        curves, here = families.moving(page, chosen)
        page.say(families.finding(here))
        return curves, here

    drawn = page.first(moving, chosen, frames=Frames("robustness.prior"))
    with page.controls:
        _choose(chosen, shown)
        families.families_controls(chosen)
    if drawn is not None:
        with page.beside():
            families.below(*drawn, chosen)
    with st.container(key="below"):
        _details(chosen, shown, None)
        if drawn is not None:
            with st.expander("The numbers in the formulas", expanded=True):
                families.formulas(drawn[1], chosen)
    options = families.possible_priors(chosen).settings.options("robustness")
    same_from_python(families.python_of(options), name="robustness")
    return False


def verdict_sentence(claim: Claim) -> str:
    """Return the verdict of a claim as a sentence, with the numbers of a setting at which it fails, if there is one."""
    verb, example = "is " if claim.verdict is Verdict.VACUOUS else "", next(iter(failures(claim)), None)
    start = f"{claim.reference.in_words} {verb}{claim.verdict.value}"
    if example is None:
        return f"{start}."
    truth, stated = shown_as(example.truth), shown_as(example.printed)
    return f"{start}: it states {stated}, but the true value is {truth} ({literal(example.unit)})."


# The list


def _choose(chosen: Chosen, shown: Selection) -> None:
    """Offer all claims, by words and by paper; then the claim that is shown, with its statement and verdict."""
    left, right = st.columns(2, gap="small")
    with left:
        words = st.text_input(
            "Search", key="papers.search", placeholder="Search: sensitivity, fails …", label_visibility="collapsed"
        )
    with right:
        _paper_control(chosen.options("papers").paper)
    of_paper = claims_listed(chosen.options("papers").paper)
    listed = [option for option in of_paper if matches(CLAIM_OF[option], words or "")]
    if not listed:
        st.caption(f"No claim matches {escaped(brief(words))}.")
        listed = of_paper
    _list(listed, shown.option)
    _claim_control(listed, shown.option)
    _about(chosen, shown)


def matches(claim: Claim, words: str) -> bool:
    """Return whether a claim has all of the words: in its place, its statement, its verdict or its finding."""
    text = f"{claim.reference} {claim.title} {claim.verdict.value} {claim.finding}".casefold()
    return all(word in text for word in words.casefold().split())


def _paper_control(paper: PaperShown) -> None:
    key = "parameter.papers.paper"
    controls.mirror(key, paper)
    st.selectbox(
        "Paper",
        list(PaperShown),
        key=key,
        format_func=lambda option: str(option.value).capitalize() if option is ALL_PAPERS else str(option.value),
        on_change=lambda: set_parameter("papers.paper", st.session_state[key]),
        label_visibility="collapsed",
    )


def _list(listed: Sequence[ClaimShown], shown: ClaimShown) -> None:
    """List claims, with the row of the claim that is shown marked and in view; a click on a row opens its claim.

    Another list is another table, which begins at its top if it does not have this claim.
    """
    frame, key = claims_table([CLAIM_OF[option] for option in listed]), f"papers-rows-{abs(hash(tuple(listed)))}"
    row = listed.index(shown) if shown in listed else None
    _mark(key, row)
    width = st.column_config.TextColumn
    with st.container(key="claims-list", gap=None):
        st.dataframe(
            frame[list(WIDTHS)],
            hide_index=True,
            height=38 + ROW * min(len(frame), ROWS),
            row_height=ROW,
            column_config={name: width(width=pixels) for name, pixels in WIDTHS.items()},
            key=key,
            on_select=lambda: open_cells(listed, st.session_state[key]["selection"]["cells"]),
            selection_mode="single-cell",
        )
        top = ROW * max(0, (row or 0) - 1) if len(frame) > ROWS else 0
        _mount_list(key="claims-scroll", data={"table": key, "top": top})


def _mark(key: str, row: int | None) -> None:
    """Mark a row of the list, or none. A cell of this row that a person has picked stays marked."""
    cells = [] if row is None else [(row, "place")]
    if _marked_rows(st.session_state.get(key)) != [place for place, _ in cells]:
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": cells}}


def _marked_rows(state: Any) -> list[int]:
    """Return the rows with a marked cell; none if the state is not that of a table."""
    try:
        return [row for row, _ in state["selection"]["cells"]]
    except (TypeError, LookupError, ValueError):
        return []


def claims_table(claims: Sequence[Claim]) -> "pd.DataFrame":
    """Return claims as a table, one line for each."""
    return pd.DataFrame(
        {
            "paper": [_paper(claim).partition(" ")[0] for claim in claims],
            "place": [claim.reference.place for claim in claims],
            "verdict": [SHORT[claim.verdict] for claim in claims],
            "statement": [claim.title for claim in claims],
            "finding": [claim.finding for claim in claims],
        }
    )


def open_cells(listed: Sequence[ClaimShown], cells: Sequence[tuple[int, str]]) -> None:
    """Open the claim of the cell that was picked; a cell that is let go leaves it open."""
    for row, _ in cells:
        set_parameter("papers.claim", listed[row])


def _claim_control(listed: Sequence[ClaimShown], claim: ClaimShown) -> None:
    """Offer the claims that are listed, and the one that is shown."""
    key, options = "parameter.papers.claim", list(listed) if claim in listed else [claim, *listed]
    controls.mirror(key, claim)
    st.selectbox(
        "Claim",
        options,
        key=key,
        format_func=lambda option: place_of(CLAIM_OF[option]),
        on_change=lambda: set_parameter("papers.claim", st.session_state[key]),
        label_visibility="collapsed",
    )


def place_of(claim: Claim) -> str:
    """Return the paper and the place in it."""
    return f"{_paper(claim)}, {claim.reference.place}"


def _paper(claim: Claim) -> str:
    return PAPERS[claim.reference.paper].name.removeprefix("the ")


# One claim


def _about(chosen: Chosen, shown: Selection) -> None:
    """Show what the claim states, its verdict and its finding, and which picture is drawn of it."""
    claim = shown.claim
    verdict = claim.verdict.value.capitalize()
    st.markdown(f"**{claim.title}**  \n:{COLOURS[claim.verdict]}[**{verdict}.**] {claim.finding}")
    if claim.mechanism and claim.mechanism != chosen.settings.mechanism:
        about, other = (inside(kind_called(name).label) for name in (claim.mechanism, chosen.settings.mechanism))
        st.caption(f"This claim is about {about}; the mechanism chosen is {other}.")
    opens = f"Open {claim.page}"
    if claim.page and st.button(opens, key="papers.page", type="tertiary", icon=":material/arrow_forward:"):
        turn_to_page(claim.page)
    if len(shown.pictures) > 1:
        _picture_control(shown)


def _picture_control(shown: Selection) -> None:
    key = "parameter.papers.picture"
    controls.mirror(key, shown.picture)
    st.selectbox(
        "Picture",
        shown.pictures,
        key=key,
        format_func=lambda picture: str(picture.value),
        on_change=lambda: pick_picture(st.session_state[key]),
    )


def _details(chosen: Chosen, shown: Selection, evaluation: Evaluation | None) -> None:
    st.subheader("Formula and conditions")
    formula_and_conditions(shown.claim, evaluation)
    where_it_fails(shown.claim)
    _sources(chosen, shown.claim)


def _sources(chosen: Chosen, claim: Claim) -> None:
    """Show where a claim is in code, tests and papers, Table 1 of the paper, and all verdicts."""
    sources(claim)
    table_1_live(chosen)
    with folded("Verdicts by paper", key="papers.overview") as is_open:
        if is_open:
            _verdicts()
    data_and_download(_map, name="claims", curator_only=False)


def _map() -> "pd.DataFrame":
    """Return all claims with the code and the tests that name them."""
    named = entries()
    mentions = {
        kind: [", ".join(map(str, getattr(named[claim], kind))) for claim in CLAIMS] for kind in ("code", "tests")
    }
    return claims_table(CLAIMS).assign(**mentions)


def _verdicts() -> None:
    """Draw how many claims of each paper met each verdict."""
    papers = [paper for paper in PaperShown if paper is not ALL_PAPERS]
    counts = verdict_counts(papers)
    looks = [Look(verdict.value, colour) for verdict, colour in LOOKS.items()]
    totals = ", ".join(f"{paper.value} {total}" for paper, total in zip(papers, counts.sum(axis=0), strict=True))
    chart(
        verdicts_figure([paper.value for paper in papers], looks, counts),
        key="papers.verdicts",
        alt=f"Bars: claims by verdict, for each paper: {totals}.",
    )
    st.caption(tally_sentence())


def verdict_counts(papers: Sequence[PaperShown]) -> np.ndarray:
    """Return how many claims of each paper met each verdict: (verdicts, papers), in the order of `LOOKS`."""
    tally = Counter((claim.verdict, claim.reference.paper) for claim in CLAIMS)
    return np.array([[tally[verdict, paper.name] for paper in papers] for verdict in LOOKS])


def tally_sentence() -> str:
    """Return how many claims there are, and how many of them fail."""
    fails = sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    return f"Of the {len(CLAIMS)} claims in the papers, {fails} fail as stated."
