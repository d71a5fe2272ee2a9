"""The Papers page: every claim with its verdict, its code, its tests, and where to see it; failures computed live."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

import dpbayes
from dpbayes.base.references import PAPERS
from dpbayes.base.text import escaped, numeral
from dpbayes.theory.claims.claim import Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.index import CLAIMS, counterexamples_of
from dpbayes.theory.paper_map import PaperEntry, paper_map
from dpbayes.ui.pages.papers.links import view_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.papers import ClaimShown, claims_listed
from dpbayes.ui.session.settings import set_parameter
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.show import data_and_download, headline, source

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.LOOSE: "green",
    Verdict.AMENDED: "green",
    Verdict.FALSE: "red",
    Verdict.VACUOUS: "gray",
    Verdict.UNCLEAR: "gray",
}

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
    """Show the map, then one claim in full."""
    entries = dict(zip(ClaimShown, _map(), strict=True))
    headline(verdict_sentence(CLAIMS))
    controls.parameter_control("papers.paper")
    listed = claims_listed(chosen.options("papers").paper)
    frame = table_of([entries[shown] for shown in listed])
    st.dataframe(frame, hide_index=True, height=min(38 + 35 * len(frame), 480))
    data_and_download(lambda: frame, name="claims", curator_only=False)
    st.subheader("One claim")
    claim = chosen.options("papers").claim
    if claim not in listed:  # the first that is takes its place
        claim = listed[0]
        set_parameter("papers.claim", claim)
    _claim_control(listed, claim)
    _one(entries[claim])


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
