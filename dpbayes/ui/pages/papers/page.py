"""The Papers page: every claim with its verdict, its code, its tests, and where to see it; failures computed live."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import dpbayes
from dpbayes.base.looks import BOUND, EXACT, GREEN, INVALID, PURPLE, SLATE, Look
from dpbayes.base.references import PAPERS, THE_NOTES
from dpbayes.base.text import escaped, numeral
from dpbayes.figures.papers import verdicts_figure
from dpbayes.theory.claims.claim import Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.index import CLAIMS, counterexamples_of
from dpbayes.theory.paper_map import PaperEntry, paper_map
from dpbayes.ui.pages.papers.links import view_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.papers import ALL_PAPERS, ClaimShown, PaperShown, claims_listed
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import program, same_from_python
from dpbayes.ui.widgets.page import give_head_start
from dpbayes.ui.widgets.show import data_and_download, headline, source

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

LINES = 5
"""How many lines of a finding a row of the table has room for; the longest take as many."""

WIDTHS = {"claim": 120, "about": 165, "verdict": 95, "page": 80, "finding": 325}
"""Of the columns, in pixels: with the boxes at their left they fill a screen of 853, 1280 x 720 at 150%."""

FORMULA = "papers-formula"
"""A formula wider than the page scrolls by itself."""

SCROLLS = f"""<style>
.st-key-{FORMULA} .katex-display {{overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0}}
@media (max-width: 500px) {{.st-key-{FORMULA} .katex-display {{font-size: 0.88em}}}}
</style>"""


@st.cache_resource(max_entries=1, show_spinner="Reading the docstrings …")
def _map() -> tuple[PaperEntry, ...]:
    package = Path(dpbayes.__file__).parent
    return paper_map(package, package.parent / "tests")


def papers_page(chosen: Chosen) -> None:
    """Show what became of the claims, the map, then one claim in full."""
    headline(verdict_sentence(CLAIMS))
    _verdicts()
    give_head_start()
    entries = dict(zip(ClaimShown, _map(), strict=True))
    st.caption(THE_NOTES)
    controls.parameter_control("papers.paper")
    of_paper = claims_listed(chosen.options("papers").paper)
    words = st.text_input("Search", key="papers.search", placeholder="sensitivity, Lemma 4, false …")
    listed = [shown for shown in of_paper if tells(entries[shown].claim, words)]
    if not listed:
        st.caption(f"No claim here tells of {escaped(words)}.")
        listed = of_paper
    _table(listed, entries)
    _citations()
    st.subheader("One claim")
    claim = chosen.options("papers").claim
    if claim not in listed:  # the first that is takes its place
        claim = listed[0]
        set_parameter("papers.claim", claim)
    _claim_control(listed, claim)
    _one(entries[claim])
    same_from_python(python_of(entries[claim].claim), name="papers")


def python_of(claim: Claim) -> str:
    """Return the code that gives a claim's verdict or, where it fails, the true and the printed value."""
    named = f"claim = next(claim for claim in CLAIMS if str(claim.reference) == {str(claim.reference)!r})"
    if not counterexamples_of(claim):
        return program("from dpbayes.theory.index import CLAIMS", named, "print(claim.verdict.value)")
    return program(
        "from dpbayes.theory.index import CLAIMS, counterexamples_of",
        named,
        "print(*((each.truth, each.printed) for each in counterexamples_of(claim)))",
    )


def _verdicts() -> None:
    """Draw how many claims of each paper met each verdict."""
    papers = [paper for paper in PaperShown if paper is not ALL_PAPERS]
    counts = verdict_counts(papers)
    looks = [Look(verdict.value, colour) for verdict, colour in LOOKS.items()]
    told = ", ".join(f"{paper.value} {total}" for paper, total in zip(papers, counts.sum(axis=0), strict=True))
    chart(
        verdicts_figure([paper.value for paper in papers], looks, counts),
        key="papers.verdicts",
        alt=f"Bars: claims by verdict, for each paper: {told}.",
    )


def verdict_counts(papers: Sequence[PaperShown]) -> np.ndarray:
    """Return how many claims of each paper met each verdict: (verdicts, papers), in the order of `LOOKS`."""
    tally = Counter((claim.verdict, claim.reference.paper) for claim in CLAIMS)
    return np.array([[tally[verdict, paper.name] for paper in papers] for verdict in LOOKS])


def tells(claim: Claim, words: str) -> bool:
    """Return whether a claim has all of the words: in its place, its title, its verdict or its finding."""
    text = f"{claim.reference} {claim.title} {claim.verdict.value} {claim.finding}".casefold()
    return all(word in text for word in words.casefold().split())


def _table(listed: Sequence[ClaimShown], entries: Mapping[ClaimShown, PaperEntry]) -> None:
    """List the claims; a click on a row opens it. Another list is another table, so that no row stays picked."""
    frame = table_of([entries[shown] for shown in listed])
    key = f"papers.rows {hash(tuple(listed))}"
    width = st.column_config.TextColumn
    st.dataframe(
        frame[["claim", "about", "verdict", "page", "finding"]],
        hide_index=True,
        height=min(38 + LINES * 21 * len(frame), 480),
        row_height=LINES * 21,
        column_config={name: width(width=pixels) for name, pixels in WIDTHS.items()},
        key=key,
        on_select=lambda: open_row(listed, rows_of(st.session_state[key]["selection"])),
        selection_mode=["single-row", "single-cell"],
    )
    st.caption("A click on a row opens its claim below.")
    data_and_download(lambda: frame, name="claims", curator_only=False)


def rows_of(selection: Mapping[str, Sequence[Any]]) -> list[int]:
    """Return the row that is picked, as a whole or by one of its cells; none where it was let go."""
    return [*selection["rows"], *(row for row, _ in selection["cells"])]


def open_row(listed: Sequence[ClaimShown], rows: Sequence[int]) -> None:
    """Open the claim of the row that was picked; a row that is let go leaves it open."""
    for row in rows:
        set_parameter("papers.claim", listed[row])


def _citations() -> None:
    with st.expander("Cite the papers"):
        entries = "\n".join(paper.bibtex for paper in PAPERS.values())
        st.download_button("Download BibTeX", entries, "dpbayes.bib", "application/x-bibtex", on_click="ignore")
        st.code(entries, language="bibtex", wrap_lines=True)


def _claim_control(listed: Sequence[ClaimShown], claim: ClaimShown) -> None:
    """Offer the claims that are listed."""
    key = "parameter.papers.claim"
    controls.mirror(key, claim)
    st.selectbox(
        "Claim",
        listed,
        key=key,
        format_func=lambda shown: str(shown.value),
        on_change=lambda: set_parameter("papers.claim", st.session_state[key]),
    )


def verdict_sentence(claims: tuple[Claim, ...]) -> str:
    """Return how many claims there are, and what became of them."""
    tally = Counter(claim.verdict for claim in claims)
    rest = len(claims) - sum(tally[v] for v in (Verdict.HOLDS, Verdict.LOOSE, Verdict.AMENDED, Verdict.FALSE))
    return (
        f"Of {len(claims)} claims in the papers, {tally[Verdict.HOLDS]} hold as printed, {tally[Verdict.LOOSE]} more "
        f"can be sharpened, {tally[Verdict.AMENDED]} hold once a slip is mended, and "
        f"{tally[Verdict.FALSE]} are false; {rest} say nothing, or cannot be checked as printed."
    )


def table_of(entries: Sequence[PaperEntry]) -> pd.DataFrame:
    """Return the map as a table, one line for each claim; the page is empty where none shows it."""
    views = [view_of(entry.claim) for entry in entries]
    return pd.DataFrame(
        {
            "claim": [str(entry.claim.reference) for entry in entries],
            "about": [entry.claim.title for entry in entries],
            "verdict": [entry.claim.verdict.value for entry in entries],
            "finding": [entry.claim.finding for entry in entries],
            "page": [view.title if view else "" for view in views],
            "code": [", ".join(map(str, entry.code)) for entry in entries],
            "tests": [", ".join(map(str, entry.tests)) for entry in entries],
        }
    )


def _one(entry: PaperEntry) -> None:
    claim = entry.claim
    st.markdown(f"**{claim.title}**")
    st.html(SCROLLS)
    with st.container(key=FORMULA):
        st.latex(claim.formula)
    st.markdown(f":{COLOURS[claim.verdict]}[**{claim.verdict.value.capitalize()}.**] {claim.finding}")
    failing = counterexamples_of(claim)
    if failing:
        st.markdown("Where it fails, computed now:\n" + "\n".join(map(_fails, failing)))
    _where(claim, fails=bool(failing))
    with st.expander("Code and tests that name it"):
        for title, mentions in (("Code", entry.code), ("Tests", entry.tests)):
            st.markdown(f"**{title}**: " + (", ".join(f"`{mention}`" for mention in mentions) or "none found"))
    source(claim.reference)
    with st.expander("Cite this paper"):
        st.code(PAPERS[claim.reference.paper].bibtex, language="bibtex", wrap_lines=True)
    st.caption(f"Papers: {', '.join(paper.title for paper in PAPERS.values() if paper.link)}.")


def _fails(example: Counterexample) -> str:
    """Return one setting with its numbers, as an item of a list."""
    setting, unit = example.setting.rstrip("."), escaped(example.unit)
    return (
        f"- {escaped(setting[0].upper() + setting[1:])}: truly **{_number(example.truth)}**, "
        f"printed {_number(example.printed)}, certified {_number(example.certified)} ({unit})."
    )


def _number(value: float) -> str:
    """Return a number in words where there is none, or no finite one."""
    if math.isnan(value):
        return "unknown"
    return numeral(value) if math.isfinite(value) else "infinite"


def _where(claim: Claim, *, fails: bool) -> None:
    """Lead to the page that shows the claim at work, if one does."""
    view = view_of(claim)
    if view is not None:
        if st.button(f"See it at work on {view.title}", key="papers.work"):
            view.open()
    elif fails:
        st.caption("No other page shows it at work; its counterexample is above.")
